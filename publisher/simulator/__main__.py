"""`python -m publisher.simulator` is the same as `publisher simulate`."""

import sys

from publisher.cli import main

sys.argv.insert(1, "simulate")
main()
