"""Who may do what is said in one module."""

import re
from datetime import timedelta
from pathlib import Path

import pytest

from publisher.base.errors import Forbidden
from publisher.blog.members import permissions
from publisher.installation import Site
from tests.factories import delete_post, make_author, make_post

ROOT = Path(__file__).parents[2]


def test_own_posts_and_all_posts(site: Site) -> None:
    """Authors may change their own posts, admins all; a post without an author is the admins'."""
    admin, author = make_author(site), make_author(site, "bob")
    owners = (author.id, admin.id, make_author(site, "eve").id, None)
    own, of_admin, *others = (make_post(site, author_id=number) for number in owners)
    seen = [permissions.may_edit(author, post) for post in (own, of_admin, *others)]
    assert seen == [True, False, False, False]
    assert all(permissions.may_edit(admin, post) for post in (own, of_admin, *others))
    with pytest.raises(Forbidden):
        permissions.required(author, of_admin)
    assert not permissions.is_admin(None)


def test_others_see_what_readers_see(site: Site) -> None:
    """A draft and its tags are its author's and the admins'; nobody's tags stay when it goes."""
    admin, author = make_author(site), make_author(site, "bob")
    make_post(site, author_id=admin.id, tags=["Public", "both"])
    eve = make_author(site, "eve")
    own, of_admin, of_eve = (
        make_post(site, at=site.clock() + timedelta(days=1), author_id=who.id, tags=[tag, "Both"])
        for who, tag in ((author, "mine"), (admin, "hers"), (eve, "theirs"))
    )
    assert permissions.may_see(author, own)
    assert permissions.may_see(admin, own)
    assert not permissions.may_see(author, of_admin)
    assert not permissions.may_see(author, of_eve)
    with site.database.read() as db:
        assert permissions.tags_seen(db, author) == ["both", "mine", "Public"]
        assert permissions.tags_seen(db, admin) == ["both", "hers", "mine", "Public", "theirs"]
    delete_post(site, own.id)
    with site.database.read() as db:
        assert permissions.tags_seen(db, author) == ["both", "Public"]
    permissions.check_remove_feed(admin)
    with pytest.raises(Forbidden):
        permissions.check_remove_feed(author)


def test_nobody_else_looks_at_roles() -> None:
    """Neither a view nor a template compares a role: they ask the one module that decides.

    Naming a role (making somebody admin, showing what somebody is) is no decision.
    """
    decides = re.compile(r"(?<!person)\.role\s*(==|!=|in\b)")
    files = [*ROOT.glob("publisher/**/*.py"), *ROOT.glob("templates/**/*.html")]
    assert len(files) > 200
    deciding = {file.name for file in files if decides.search(file.read_text())}
    assert deciding == {"permissions.py"}
