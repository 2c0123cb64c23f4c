"""Where pages mention XML-RPC: the head of public pages, and the account's page of programs."""

from flask import render_template


def in_head() -> str:
    """The link by which editors find the calls."""
    return render_template("xml_rpc/head.html")


def address() -> str:
    """The address that an editor is given."""
    return render_template("xml_rpc/address.html")


def words() -> str:
    """How an editor logs in."""
    return render_template("xml_rpc/words.html")
