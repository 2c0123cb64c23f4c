"""What becomes of an upload, good and bad."""

import io
import struct
import zlib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image, ImageCms

from publisher.base.errors import InvalidData, StorageUnavailable, TooLarge
from publisher.base.media_files import MediaFolder
from publisher.blog import media_names
from publisher.blog.post_files import media, pictures
from publisher.installation import Site
from publisher.storage.tables.blog import Media
from tests.conftest import FakeClock
from tests.factories import make_mp3


def picture(kind: str = "PNG", size: tuple[int, int] = (60, 40), **options: object) -> bytes:
    out = io.BytesIO()
    mode = str(options.pop("mode", "RGB"))
    Image.new(mode, size, options.pop("color", "teal")).save(out, kind, **options)  # type: ignore[arg-type]
    return out.getvalue()


def opened(accepted: media.Accepted, number: int = 0) -> Image.Image:
    return Image.open(io.BytesIO(list(accepted.files.values())[number]))


def animation(kind: str, frames: int = 3, size: tuple[int, int] = (600, 20)) -> bytes:
    out = io.BytesIO()
    pages = [Image.new("RGB", size, (20 * n % 256, 90, 90)) for n in range(frames)]
    pages[0].save(out, kind, save_all=True, append_images=pages[1:], duration=50, loop=0)
    return out.getvalue()


def png_header(width: int, height: int) -> bytes:
    """A PNG that claims a size and has a few bytes: the classic bomb."""

    def chunk(name: bytes, body: bytes) -> bytes:
        crc = zlib.crc32(name + body)
        return struct.pack(">I", len(body)) + name + body + struct.pack(">I", crc)

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(b"\0" * 100_000)
    return (
        b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b"")
    )


def test_metadata_does_not_survive() -> None:
    """Place, camera and comments are gone from every version."""
    exif = Image.Exif()
    exif[0x010F], exif[0x9286] = "a camera", "somewhere private"
    data = picture("JPEG", (1200, 800), exif=exif, comment=b"a remark")
    accepted = media.accept(data)
    for number, content in enumerate(accepted.files.values()):
        assert not opened(accepted, number).getexif()
        assert b"private" not in content
        assert b"remark" not in content


def test_orientation_is_kept_as_pixels() -> None:
    """A phone's picture that says "turn me" is turned."""
    exif = Image.Exif()
    exif[0x0112] = 6  # rotate by 90 degrees to see it upright
    accepted = media.accept(picture("JPEG", (120, 80), exif=exif))
    assert (accepted.width, accepted.height) == (80, 120)
    assert opened(accepted).size == (80, 120)


def test_profile_is_applied_then_dropped() -> None:
    """Colours are converted to sRGB, so that no profile has to be sent along."""
    lab_like = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    accepted = media.accept(picture("PNG", icc_profile=lab_like))
    assert "icc_profile" not in opened(accepted).info


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (picture("JPEG"), "image/jpeg"),
        (picture("PNG"), "image/png"),
        (picture("PNG", mode="RGBA", color=(1, 2, 3, 40)), "image/png"),
        (picture("PNG", mode="P"), "image/png"),
        (picture("PNG", mode="I;16", color=40_000), "image/png"),
        (picture("PNG", mode="1", color=1), "image/png"),
        (picture("PNG", mode="LA", color=(9, 90)), "image/png"),
        (picture("WEBP"), "image/webp"),
        (picture("GIF"), "image/png"),
        (picture("AVIF"), "image/webp"),
        (picture("JPEG", mode="CMYK", color=(9, 90, 9, 9)), "image/jpeg"),
    ],
)
def test_formats(data: bytes, kind: str) -> None:
    """Each kind of picture is encoded anew, as itself where browsers know it."""
    accepted = media.accept(data)
    assert accepted.content_type == kind
    assert opened(accepted).size == (60, 40)
    assert Image.MIME[opened(accepted).format or ""] == kind


def test_sizes_and_their_addresses_agree() -> None:
    """The sizes on disk are those that the address promises to browsers."""
    accepted = media.accept(picture("JPEG", (3000, 1500)))
    assert (accepted.width, accepted.height) == (2560, 1280)
    responsive = media_names.responsive(accepted.path)
    assert responsive is not None
    promised = [part.split()[0] for part in responsive.srcset.split(", ")]
    assert sorted(promised) == sorted(media_names.PREFIX + name for name in accepted.files)
    assert [opened(accepted, n).width for n in range(4)] == [2560, 480, 960, 1600]
    assert all(media.is_name(name) for name in accepted.files)


def test_large_pasted_photograph_becomes_jpeg() -> None:
    """A PNG of two megabytes and more without transparency is a photograph: JPEG."""
    noise = Image.effect_noise((1400, 1400), 80).convert("RGB")
    out = io.BytesIO()
    noise.save(out, "PNG")
    assert media.accept(out.getvalue()).content_type == "image/jpeg"


@pytest.mark.parametrize("kind", ["GIF", "WEBP", "PNG", "AVIF"])
def test_animations_move_on(kind: str) -> None:
    """An animation keeps its frames and has one size, and its address says so. One in AVIF, a file
    of frames with a length, was stored as a sound, with all that it says of its place and owner."""
    accepted = media.accept(animation(kind))
    assert getattr(opened(accepted), "n_frames", 1) == 3
    responsive = media_names.responsive(accepted.path)
    assert responsive is not None
    assert responsive.srcset == f"{accepted.path} 600w"


def test_address_of_a_row_is_the_address_of_the_file(site: Site, clock: FakeClock) -> None:
    """What the database knows leads to the file, for stills, animations and sounds."""
    for data in (picture("JPEG", (700, 70)), picture(), animation("GIF"), make_mp3()):
        accepted = media.accept(data)
        with site.database.write() as db:
            row = media.record(db, accepted, "name", None, clock())
            again = media.record(db, accepted, "other", None, clock(), alt="A teal field.")
            assert media.path(row) == accepted.path
            assert (again.id, again.alt) == (row.id, "A teal field.")


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (b"", InvalidData, "empty"),
        (b"I am a text file called holiday.png", InvalidData, "not a picture"),
        (b"<svg xmlns='http://www.w3.org/2000/svg' onload='alert(1)'/>", InvalidData, "SVG"),
        (b"<?xml version='1.0'?><svg/>", InvalidData, "SVG"),
        (b"<html><script>alert(1)</script>", InvalidData, "not a picture"),
        (picture("JPEG", (600, 600))[:400], InvalidData, "damaged"),
        (b"ID3\x04\0\0\0\0\0\0 a text that calls itself a sound", InvalidData, "not a picture"),
        (b"OggS and nothing else", InvalidData, "not a picture"),
        (b"noise in a file called film.mp4", InvalidData, "video .MP4 or WebM. or PDF"),
        (b"\0\0\0\x18ftypisom\0\0\0\0isommp42", InvalidData, "this video or sound is damaged"),
        (b"\x1aE\xdf\xa3\x93B\x82\x88matroska", InvalidData, "kind of video is not accepted"),
        (b"RIFF\x10\0\0\0AVI LIST", InvalidData, "kind of video is not accepted"),
        (b"RIFF\x10\0\0\0WAVEfmt ", InvalidData, "kind of sound is not accepted"),
        (png_header(40_000, 40_000), TooLarge, "pixels"),
        (animation("GIF", pictures.MAX_FRAMES + 1, (2, 2)), TooLarge, "animation"),
        (b"\0" * (media.MAX_BYTES + 1), TooLarge, "32 MB"),
    ],
    ids=lambda value: str(value)[:24] if isinstance(value, str) else None,
)
def test_bad_uploads(data: bytes, error: type[Exception], words: str) -> None:
    """Whatever is no picture or sound, is damaged or too large is refused in words."""
    with pytest.raises(error, match=words):
        media.accept(data)


def test_all_frames_of_an_animation_count(monkeypatch: pytest.MonkeyPatch) -> None:
    data = animation("GIF", frames=3, size=(60, 20))
    monkeypatch.setattr(pictures, "MAX_ANIMATION_PIXELS", 3 * 60 * 20)
    assert pictures.encode(data).content_type == "image/gif"
    monkeypatch.setattr(pictures, "MAX_ANIMATION_PIXELS", 3 * 60 * 20 - 1)
    with pytest.raises(TooLarge, match="animation"):
        pictures.encode(data)


def test_sound_is_measured() -> None:
    """A podcast episode tells its type and its length."""
    accepted = media.accept(make_mp3(seconds=12))
    assert (accepted.content_type, accepted.seconds) == ("audio/mpeg", 12)
    assert accepted.path.endswith(".mp3")


def test_files_are_written_whole(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """When the disk fills up, no half file stays, and the error says what happened."""
    accepted = media.accept(picture("JPEG", (1000, 500)))

    def full(_file: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("publisher.base.system.whole_files.os.fsync", full)
    with pytest.raises(StorageUnavailable, match="disk is full"):
        media.store(MediaFolder(tmp_path), accepted)
    assert list(tmp_path.iterdir()) == []
    monkeypatch.undo()
    media.store(MediaFolder(tmp_path), accepted)
    media.store(MediaFolder(tmp_path), accepted)
    assert sorted(file.name for file in tmp_path.iterdir()) == sorted(accepted.files)


def test_a_file_that_was_cut_off_is_mended_by_sending_it_again(tmp_path: Path) -> None:
    """As an interrupted copy of the folder leaves one, or a proxy that answers everything."""
    accepted = media.accept(picture())
    media.store(MediaFolder(tmp_path), accepted)
    for name, data in accepted.files.items():
        (tmp_path / name).write_bytes(data[:50])
    media.store(MediaFolder(tmp_path), accepted)
    assert {name: (tmp_path / name).read_bytes() for name in accepted.files} == accepted.files


def test_same_content_is_the_same_file(site: Site, clock: FakeClock) -> None:
    """Uploading a picture twice keeps one file and one row."""
    first, second = media.accept(picture()), media.accept(picture())
    assert first.path == second.path
    with site.database.write() as db:
        ids = {media.record(db, file, "x.png", None, clock()).id for file in (first, second)}
        assert len(ids) == db.query(Media).count() == 1


@pytest.mark.parametrize("change", [str.upper, lambda name: "../" + name, lambda name: name + "x"])
def test_only_our_own_names_are_served(change: Callable[[str], str]) -> None:
    """A name that `store` does not give leads nowhere."""
    (name,) = media.accept(picture()).files
    assert media.is_name(name)
    assert not media.is_name(change(name))


def test_a_small_file_of_many_pixels_is_refused_by_its_header() -> None:
    """A PNG of 8000 x 8000 has a few hundred kilobytes and would fill the memory."""
    out = io.BytesIO()
    Image.new("1", (8000, 8000)).save(out, "PNG")
    with pytest.raises(TooLarge, match="40 million"):
        media.accept(out.getvalue())


@pytest.mark.parametrize(
    ("size", "head_size", "filled"),
    [((900, 900), (128, 128), True), ((1300, 1000), (166, 128), True),
     ((1400, 1000), (179, 128), False), ((2000, 100), (512, 26), False),
     ((40, 40), (40, 40), True)],
)  # fmt: skip
def test_the_sites_picture_and_its_icon(
    size: tuple[int, int], head_size: tuple[int, int], filled: bool
) -> None:
    """The picture fits the head of a page; the icon is a square, which only a picture that is
    nearly one fills."""
    head, icon = media.accept_emblem(picture("PNG", size))
    assert (head.content_type, (head.width, head.height)) == ("image/webp", head_size)
    assert opened(head).size == head_size
    assert (icon.content_type, opened(icon).size) == ("image/png", (180, 180))
    edge = (0, 128, 128, 255) if filled else (0, 0, 0, 0)
    assert opened(icon).convert("RGBA").getpixel((90, 1)) == edge
    for bad, error in ((b"", InvalidData), (b"no picture", InvalidData)):
        with pytest.raises(error):
            media.accept_emblem(bad)
