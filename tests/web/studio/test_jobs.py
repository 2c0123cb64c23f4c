"""The page of a long job and the file that it made; that jobs are done is in test_moving."""

from pathlib import Path

import pytest

from publisher.exchange import jobs
from publisher.installation import Site
from publisher.installation.settings import load_settings
from tests.web.studio.browser import Browser


def test_the_file_of_a_job_is_had_when_it_is_done(ada: Browser, site: Site) -> None:
    """While it waits, its page is loaded again and again, and there is no file."""
    ada.get("/studio/moving")
    page = ada.post("/studio/moving/export").location or ""
    number = int(page.rpartition("/")[2])
    waiting = ada.client.get(page)
    assert (waiting.status_code, "Refresh" in waiting.headers) == (200, True)
    assert waiting.headers["Cache-Control"] == "no-store"
    assert ada.client.get(f"{page}/file").status_code == 404
    with site.database.write() as db:
        job = jobs.get(db, number)
        job.state = jobs.DONE
        made = f"export-{job.created_at:%Y-%m-%d}.zip"
        place = jobs.folder(site.environment) / job.file
    assert "Refresh" not in ada.client.get(page).headers
    assert ada.client.get(f"{page}/file").status_code == 404  # deleted, or never made
    place.write_bytes(b"all of it")
    answer = ada.client.get(f"{page}/file", buffered=True)
    assert answer.data == b"all of it"
    assert made in answer.headers["Content-Disposition"]
    assert answer.headers["Cache-Control"] == "private, no-store"
    answer.close()


@pytest.mark.parametrize("place", ["relative", "/srv\0x", "/nowhere/at/all"])
def test_backups_need_a_folder_that_can_be_written(ada: Browser, site: Site, place: str) -> None:
    ada.get("/studio/moving")
    answer = ada.post("/studio/moving/backups", backup_folder=place, backup_hours="6")
    assert answer.status_code == 422
    assert "there is no such folder" in answer.text.lower()
    with site.database.read() as db:
        assert load_settings(db).backup_folder == ""


def test_the_folder_for_backups_is_kept(ada: Browser, site: Site, tmp_path: Path) -> None:
    ada.get("/studio/moving")
    kept = {"backup_folder": str(tmp_path), "backup_hours": "6", "backup_keep": "3"}
    assert ada.post("/studio/moving/backups", **kept).location == "/studio/moving"
    with site.database.read() as db:
        settings = load_settings(db)
    assert (settings.backup_folder, settings.backup_hours) == (str(tmp_path), 6)
    assert settings.backup_keep == 3
