"""Numbers that no row can have, and addresses that are none, in forms and in addresses of ours."""

from itertools import product

import pytest
from flask import Flask

from tests.web.studio.browser import Browser


@pytest.mark.parametrize(
    ("path", "fields"),
    [
        ("/studio/posts/new", {"source": "a", "base_version": "9" * 5_000}),
        ("/studio/posts/new", {"source": "a", "enclosure_url": "http://["}),
        ("/studio/navigation", {"action": "up:" + "9" * 5_000}),
        ("/studio/login", {"held_post_id": "9" * 5_000, "name": "ada", "password": "x"}),
        ("/studio/login", {"held_post_id": "9" * 10, "name": "ada", "password": "x"}),
        ("/studio/tags/1/merge", {"into": "9" * 10}),
    ],
)
def test_numbers_and_addresses_that_are_none(
    ada: Browser, path: str, fields: dict[str, str]
) -> None:
    assert ada.post(path, **fields).status_code < 500


def test_numbers_in_queries_that_no_row_has(ada: Browser) -> None:
    """They name nothing, or nothing that is there."""
    addresses = (
        "/studio/posts?after=2024-03-04T09:30:00Z~{}", "/studio/reached?post={}",
        "/studio/posts/new?unsaved={}", "/river?before=2024-03-04T09:30:00Z~{}",
    )  # fmt: skip
    for address, number in product(addresses, (2**31, 2**63 - 1, 2**63)):
        answer = ada.client.get(address.format(number))
        assert answer.status_code in (200, 404), (address, number)


@pytest.mark.parametrize("number", [2**31, 2**63 - 1])
def test_numbers_larger_than_any_row_has(ada: Browser, app: Flask, number: int) -> None:
    """Every address with a number in it answers in words, also where rows have shorter numbers."""
    addresses = app.url_map.bind("blog.example")
    routes = [
        (addresses.build(rule.endpoint, dict.fromkeys(rule.arguments, number) | fixed), rule)
        for rule in app.url_map.iter_rules()
        for fixed in [dict(rule.defaults or {})]
        if "<int" in rule.rule
    ]
    assert len(routes) > 30
    for path, rule in routes:
        for method in sorted((rule.methods or set()) & {"GET", "POST"}):
            answer = ada.client.get(path) if method == "GET" else ada.post(path)
            assert answer.status_code < 500, (method, path)
