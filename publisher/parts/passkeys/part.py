"""What the engine knows of passkeys."""

from publisher.part import Part

PART = Part(
    name="passkeys",
    tables="tables",
    blueprints=("pages:blueprint",),
    places={
        "login": "pages:on_login_page",
        "account": "pages:on_account_page",
        "person": "pages:on_person_page",
        "ways-in": "pages:among_ways_in",
    },
    hooks={"end_logins": "keys:remove_all"},
)
