"""Pictures: decoded, turned upright, converted to sRGB and encoded in a few widths.

Only our own encoding is stored: no metadata (place, camera, thumbnail), no colour profile and no
bytes of the upload remain.
"""

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, Any

from PIL import Image, ImageCms, ImageOps, UnidentifiedImageError

from publisher.base.errors import InvalidData, TooLarge
from publisher.blog.media_names import widths_of
from publisher.blog.post_files.file_kinds import FileInfo

MAX_SIDE = 2560
MAX_PIXELS = 64_000_000  # of a JPEG, which is decoded at a fraction of its size
MAX_WHOLE_PIXELS = 40_000_000  # of other formats, which are decoded at full size
MAX_FRAMES, MAX_ANIMATION_PIXELS = 400, 200_000_000
MAX_PNG_BYTES = 2_000_000
MINIATURE, WIDE_MINIATURE = (240, 144), (340, 340)
EMBLEM, ICON_SIDE = (512, 128), 180  # twice what pages show; what phones put on their home screen

_EXTENSIONS = {"JPEG": "jpg", "PNG": "png", "WEBP": "webp", "GIF": "gif"}
_OPTIONS: dict[str, dict[str, Any]] = {
    "JPEG": {"quality": 84, "optimize": True, "progressive": True},
    "PNG": {"optimize": True},
    "WEBP": {"quality": 84, "method": 4},
    "GIF": {},
}

Image.MAX_IMAGE_PIXELS = None  # our own limit is checked from the header, before any decoding


class NotAPicture(InvalidData):
    """The bytes are in no picture format that is known here."""


def encode(data: bytes) -> FileInfo:
    """Decode an upload and encode it anew.

    Raises InvalidData when it is not a picture or is damaged, TooLarge for too many pixels.
    """
    with _decoded(data) as image:
        if getattr(image, "is_animated", False):
            return _animation(image)
        return _still(_upright(image), image.format or "")


def emblem(data: bytes) -> tuple[FileInfo, FileInfo]:
    """The site's picture for the head of its pages, and the square icon made from it.

    Raises as `encode` does. For the icon, a picture that is far from square is centred, not cut.
    """
    with _decoded(data) as image:
        whole = _upright(image).convert("RGBA")
    head = whole.copy()
    head.thumbnail(EMBLEM, Image.Resampling.LANCZOS)
    squarish = max(whole.size) <= 1.34 * min(whole.size)
    side = (ICON_SIDE, ICON_SIDE)
    icon = ImageOps.fit(whole, side) if squarish else ImageOps.pad(whole, side, color=(0, 0, 0, 0))
    return (
        _encoded("WEBP", head.width, head.height, {0: _bytes(head, "WEBP")}),
        _encoded("PNG", ICON_SIDE, ICON_SIDE, {0: _bytes(icon, "PNG")}),
    )


def miniature(file: IO[bytes], wide: bool = False) -> bytes:
    """A stored picture as the studio shows it in passing: small, in WebP."""
    with Image.open(file) as image:
        small = _plain_mode(image)
    small.thumbnail(WIDE_MINIATURE if wide else MINIATURE, Image.Resampling.LANCZOS)
    small.info.clear()
    out = io.BytesIO()
    small.save(out, "WEBP", quality=45)
    return out.getvalue()


@contextmanager
def _decoded(data: bytes) -> Iterator[Image.Image]:
    """The decoded picture in `data`, open inside the `with` block."""
    try:
        with Image.open(io.BytesIO(data), formats=["JPEG", "PNG", "WEBP", "GIF", "AVIF"]) as image:
            _check_size(image)
            yield image
    except (TooLarge, InvalidData):
        raise
    except UnidentifiedImageError as error:
        raise NotAPicture("this file is not a picture (JPEG, PNG, WebP, GIF or AVIF)") from error
    except Exception as error:  # decoders of damaged files raise nearly anything
        raise InvalidData(f"this picture is damaged and cannot be read ({error})") from error


def _check_size(image: Image.Image) -> None:
    width, height = image.size
    most = MAX_PIXELS if image.format == "JPEG" else MAX_WHOLE_PIXELS
    if width * height > most:
        raise TooLarge(
            f"this picture has {width:,} × {height:,} pixels; at most "
            f"{most // 1_000_000} million are accepted in a {image.format}"
        )


def _upright(image: Image.Image) -> Image.Image:
    """The picture as it is meant to be seen, in sRGB, no larger than MAX_SIDE."""
    image.draft(None, (MAX_SIDE, MAX_SIDE))  # JPEG: decode no more pixels than needed
    profile = image.info.get("icc_profile")
    if image.mode in ("RGB", "RGBA", "CMYK", "L"):  # shrink in place: later steps make copies
        image.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    upright = _plain_mode(_in_srgb(ImageOps.exif_transpose(image), profile))
    upright.thumbnail((MAX_SIDE, MAX_SIDE), Image.Resampling.LANCZOS)
    return upright


def _in_srgb(image: Image.Image, profile: bytes | None) -> Image.Image:
    """Colours converted from the picture's own profile; unchanged if it cannot be used."""
    if not profile or image.mode not in ("RGB", "RGBA", "CMYK", "L"):
        return image
    try:
        source = ImageCms.ImageCmsProfile(io.BytesIO(profile))
        mode = "RGBA" if image.mode == "RGBA" else "RGB"
        target = ImageCms.createProfile("sRGB")
        converted = ImageCms.profileToProfile(image, source, target, outputMode=mode)
    except (ImageCms.PyCMSError, OSError, ValueError):
        return image
    return converted or image


def _plain_mode(image: Image.Image) -> Image.Image:
    """RGB, RGBA or L: what every encoder here takes."""
    if image.mode.startswith("I"):
        return image.convert("I").point(lambda value: value * (1 / 256)).convert("L")
    if image.mode in ("RGB", "RGBA", "L"):
        return image.copy()
    return image.convert("RGBA" if image.has_transparency_data else "RGB")


def _still(image: Image.Image, source_format: str) -> FileInfo:
    kind = {"JPEG": "JPEG", "PNG": "PNG", "GIF": "PNG"}.get(source_format, "WEBP")
    whole = _bytes(image, kind)
    if kind == "PNG" and len(whole) > MAX_PNG_BYTES and image.mode != "RGBA":
        kind = "JPEG"  # a pasted photograph, far larger as PNG
        whole = _bytes(image, kind)
    versions = {0: whole}
    for width in widths_of(image.width):
        height = max(1, round(image.height * width / image.width))
        smaller = image.resize((width, height), Image.Resampling.LANCZOS)
        versions[width] = _bytes(smaller, kind)
    return _encoded(kind, image.width, image.height, versions)


def _animation(image: Image.Image) -> FileInfo:
    """An animation keeps its format, its frames and its size; it has no smaller versions."""
    width, height = image.size
    frames = _count_frames(image)
    if frames > MAX_FRAMES or width * height * frames > MAX_ANIMATION_PIXELS:
        raise TooLarge("this animation is too long or too large; a video or a still is better")
    kind = image.format if image.format in ("GIF", "PNG", "WEBP") else "WEBP"
    out = io.BytesIO()
    no_metadata = {"comment": b""} if kind == "GIF" else {"exif": b"", "icc_profile": None}
    image.save(out, kind, save_all=True, **no_metadata)
    return _encoded(kind, width, height, {0: out.getvalue()})


def _count_frames(image: Image.Image) -> int:
    """How many frames there are; counting stops soon after the allowed number."""
    for number in range(MAX_FRAMES + 1):
        try:
            image.seek(number)
        except EOFError:
            image.seek(0)
            return number
    return MAX_FRAMES + 1


def _bytes(image: Image.Image, kind: str) -> bytes:
    out = io.BytesIO()
    # Pillow would write the metadata in `info` into the file.
    image.info.clear()
    image.save(out, kind, **_OPTIONS[kind])
    return out.getvalue()


def _encoded(kind: str, width: int, height: int, versions: dict[int, bytes]) -> FileInfo:
    extension = _EXTENSIONS[kind]
    return FileInfo(f"image/{kind.lower()}", extension, versions, width, height)
