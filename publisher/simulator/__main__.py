"""`python -m publisher.simulator` is the same as `publisher simulate`."""

import runpy
import sys

sys.argv.insert(1, "simulate")
runpy.run_module("publisher", run_name="__main__", alter_sys=True)
