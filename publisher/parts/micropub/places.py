"""Where pages mention Micropub: the head of public pages, and the account's page of programs."""

from flask import render_template


def in_head() -> str:
    """The links by which programs find their addresses."""
    return render_template("micropub/head.html")


def addresses() -> str:
    """The addresses that a program is given where it does not find them."""
    return render_template("micropub/addresses.html")


def words() -> str:
    """What a program needs to be told."""
    return render_template("micropub/words.html")
