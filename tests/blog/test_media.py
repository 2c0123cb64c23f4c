"""What becomes of an upload, good and bad."""

import errno
import io
import os
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
     ((40, 40), (40, 40), True), ((134, 100), (134, 100), True), ((135, 100), (135, 100), False)],
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


def swapped_profile() -> bytes:
    """A colour profile in which red is what is green elsewhere."""
    profile = ImageCms.ImageCmsProfile(ImageCms.createProfile("sRGB")).tobytes()
    return profile.replace(b"rXYZ", b"?XYZ").replace(b"gXYZ", b"rXYZ").replace(b"?XYZ", b"gXYZ")


@pytest.mark.parametrize(
    ("mode", "colour", "shown"),
    [("RGB", (255, 0, 0), (0, 255, 0)), ("RGBA", (255, 0, 0, 90), (0, 255, 0, 90)),
     ("P", 1, None)],
)  # fmt: skip
def test_colours_are_those_of_the_pictures_own_profile(
    mode: str, colour: object, shown: tuple[int, ...] | None
) -> None:
    """Transparency stays; a profile that cannot be used changes nothing."""
    made = pictures.encode(picture("PNG", mode=mode, color=colour, icc_profile=swapped_profile()))
    seen = Image.open(io.BytesIO(made.versions[0]))
    plain = pictures.encode(picture("PNG", mode=mode, color=colour, icc_profile=b"nonsense"))
    unchanged = Image.open(io.BytesIO(plain.versions[0])).getpixel((0, 0))
    assert seen.getpixel((0, 0)) == (shown or unchanged)
    assert mode == "P" or unchanged == colour


@pytest.mark.parametrize(
    ("mode", "colour", "pixel"),
    [("I;16", 40_000, 156), ("1", 1, (255, 255, 255)), ("L", 77, 77),
     ("LA", (9, 90), (9, 9, 9, 90)), ("RGB", (1, 2, 3), (1, 2, 3)),
     ("RGBA", (1, 2, 3, 4), (1, 2, 3, 4))],
)  # fmt: skip
def test_pixels_are_as_light_as_before(mode: str, colour: object, pixel: object) -> None:
    """In each way in which a PNG stores them; a miniature is the same, small."""
    made = pictures.encode(picture("PNG", (400, 400), mode=mode, color=colour))
    with Image.open(io.BytesIO(made.versions[0])) as seen:
        got = seen.getpixel((0, 0))
        assert got == pixel
    for wide, size in ((False, (144, 144)), (True, (340, 340))):
        with Image.open(
            io.BytesIO(pictures.miniature(io.BytesIO(made.versions[0]), wide))
        ) as small:
            assert (small.format, small.size) == ("WEBP", size)


def test_a_palette_may_have_a_transparent_colour() -> None:
    made = pictures.encode(picture("PNG", mode="P", color=0, transparency=0))
    with Image.open(io.BytesIO(made.versions[0])) as seen:
        assert (seen.mode, seen.getpixel((0, 0))) == ("RGBA", (0, 0, 0, 0))


@pytest.mark.parametrize(
    ("size", "versions"),
    [((480, 9), {0: (480, 9)}), ((481, 9), {0: (481, 9), 480: (480, 9)}),
     ((1000, 333), {0: (1000, 333), 480: (480, 160), 960: (960, 320)}),
     ((2000, 1), {0: (2000, 1), 480: (480, 1), 960: (960, 1), 1600: (1600, 1)}),
     ((2561, 2), {0: (2560, 2), 480: (480, 1), 960: (960, 1), 1600: (1600, 1)})],
)  # fmt: skip
def test_smaller_versions(size: tuple[int, int], versions: dict[int, tuple[int, int]]) -> None:
    """Of the same shape, a pixel high at least."""
    made = pictures.encode(picture("PNG", size))
    sizes = {width: Image.open(io.BytesIO(data)).size for width, data in made.versions.items()}
    assert sizes == versions
    assert (made.width, made.height) == versions[0]


@pytest.mark.parametrize(
    ("name", "most", "data"),
    [("MAX_WHOLE_PIXELS", 2_400, picture("PNG")), ("MAX_PIXELS", 2_400, picture("JPEG")),
     ("MAX_FRAMES", 3, animation("GIF", 3)), ("MAX_ANIMATION_PIXELS", 36_000, animation("GIF", 3))],
)  # fmt: skip
def test_each_limit_is_the_last_thing_allowed(
    name: str, most: int, data: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One pixel or frame more is refused; other formats have another limit."""
    monkeypatch.setattr(pictures, name, most)
    assert pictures.encode(data)
    monkeypatch.setattr(pictures, name, most - 1)
    with pytest.raises(TooLarge):
        pictures.encode(data)
    monkeypatch.undo()
    other = {"MAX_WHOLE_PIXELS": "MAX_PIXELS", "MAX_PIXELS": "MAX_WHOLE_PIXELS"}.get(name)
    if other:
        monkeypatch.setattr(pictures, other, 1)
        assert pictures.encode(data)


def test_a_photograph_is_one_only_without_transparency(monkeypatch: pytest.MonkeyPatch) -> None:
    """And only if it is large as PNG."""
    data = picture("PNG")
    size = len(pictures.encode(data).versions[0])
    for most, kind in ((size, "png"), (size - 1, "jpg")):
        monkeypatch.setattr(pictures, "MAX_PNG_BYTES", most)
        assert pictures.encode(data).extension == kind
        assert pictures.encode(picture("PNG", mode="RGBA")).extension == "png"
        assert pictures.encode(picture("WEBP")).extension == "webp"


@pytest.mark.parametrize("kind", ["GIF", "PNG", "WEBP"])
def test_an_animation_keeps_nothing_but_its_frames(kind: str) -> None:
    """No remark, and nothing of its camera."""
    out, exif = io.BytesIO(), Image.Exif()
    exif[0x010F] = "a camera"
    pages = [Image.new("RGB", (9, 9), (20 * n, 90, 90)) for n in range(3)]
    options = {"comment": b"a remark"} if kind == "GIF" else {"exif": exif, "icc_profile": b"icc"}
    pages[0].save(out, kind, save_all=True, append_images=pages[1:], **options)
    assert (b"a remark" if kind == "GIF" else b"a camera") in out.getvalue()
    made = pictures.encode(out.getvalue())
    (data,) = made.versions.values()
    assert (made.extension, made.width, made.height) == (kind.lower(), 9, 9)
    assert b"a remark" not in data
    assert b"a camera" not in data
    assert b"icc" not in data.lower()


def test_the_file_itself_is_written_last() -> None:
    """Where it is, its smaller versions are."""
    accepted = media._named(pictures.encode(picture("PNG", (1000, 10))), b"")
    written: list[str] = []

    class Place(MediaFolder):
        def __init__(self, sizes: dict[str, int]) -> None:
            self.sizes = sizes

        def size(self, name: str) -> int | None:
            return self.sizes.get(name)

        def write(self, name: str, data: bytes) -> None:
            written.append(name)

    whole, small, medium = accepted.files
    media.store(Place({}), accepted)
    assert written == [medium, small, whole]
    written.clear()
    media.store(Place({name: len(data) for name, data in accepted.files.items()}), accepted)
    media.store(Place({small: len(accepted.files[small]) + 1, whole: 0, medium: 1}), accepted)
    assert written == [medium, small, whole]
    assert accepted.bytes == len(accepted.files[whole])


@pytest.mark.parametrize(
    ("error", "words"),
    [(errno.ENOSPC, "the disk is full"), (errno.EDQUOT, "the disk is full"),
     (errno.EACCES, "the media folder: Permission denied")],
)  # fmt: skip
def test_a_disk_that_fails_is_told(error: int, words: str, tmp_path: Path) -> None:
    """As what it is."""
    accepted = media._named(pictures.encode(picture()), b"")

    class Place(MediaFolder):
        def write(self, name: str, data: bytes) -> None:
            raise OSError(error, os.strerror(error))

    with pytest.raises(StorageUnavailable, match=words):
        media.store(Place(tmp_path), accepted)


def test_the_largest_upload(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is taken; one byte more is not, and the limit is told."""
    monkeypatch.setattr(media, "MAX_BYTES", 3 * 1024 * 1024)
    media._check_length(b"x" * 3 * 1024 * 1024)
    with pytest.raises(TooLarge, match="has 3 MB; the limit is 3 MB"):
        media._check_length(b"x" * (3 * 1024 * 1024 + 1))


STEM = "/media/0123456789abcdef0123"


@pytest.mark.parametrize(
    ("address", "widths"),
    [
        (f"{STEM}-1000x500.jpg", [480, 960, 1000]), (f"{STEM}-1000x500a.gif", [1000]),
        (f"{STEM}-480x9.png", [480]), (f"{STEM}-481x9.png", [480, 481]), (f"{STEM}.mp3", None),
        (f"{STEM}-1000x500-480.jpg", None), (f"{STEM[7:]}-1000x500.jpg", None),
        (f"{STEM}.jpg", None),
        (f"{STEM}-1601x2.webp", [480, 960, 1600, 1601]), (f"x{STEM}-9x9.jpg", None),
    ],
)  # fmt: skip
def test_an_address_tells_the_sizes_of_a_picture(address: str, widths: list[int] | None) -> None:
    """Of the whole one; that of a smaller version tells nothing, nor that of a sound."""
    found = media_names.responsive(address)
    assert (found is None) is (widths is None)
    if found is not None and widths is not None:
        assert [int(part.split()[1][:-1]) for part in found.srcset.split(", ")] == widths
        assert f"-{found.width}x{found.height}" in address
        stem, _, extension = address.rpartition(".")
        names = [f"{stem}-{width}.{extension}" for width in widths[:-1]] + [address]
        assert [part.split()[0] for part in found.srcset.split(", ")] == names


@pytest.mark.parametrize(
    ("size", "several", "small", "name"),
    [((1000, 500), True, 0, "-1000x500.jpg"), ((1000, 500), True, 480, "-1000x500-480.jpg"),
     ((1000, 500), False, 0, "-1000x500a.jpg"), ((480, 500), False, 0, "-480x500.jpg"),
     ((0, 0), False, 0, ".jpg"), ((1, 1), True, 0, "-1x1.jpg")],
)  # fmt: skip
def test_the_name_of_a_file(size: tuple[int, int], several: bool, small: int, name: str) -> None:
    """Twenty digits of its hash, and its size."""
    assert media_names.name_of("0" * 30, *size, several, "jpg", small) == "0" * 20 + name
