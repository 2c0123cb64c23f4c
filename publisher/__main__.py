"""`python -m publisher` is the same as `publisher`."""

from publisher.cli import main

main()
