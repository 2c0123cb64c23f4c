"""What an upload is, by its bytes: the work of a confined process, which needs no database."""

import re

from publisher.base.errors import InvalidData
from publisher.blog.post_files import file_kinds, pictures
from publisher.blog.post_files.file_kinds import FileInfo


def looked_at(data: bytes) -> FileInfo:
    """The sound, video, PDF or transcript in `data`, or the picture in our own encoding."""
    info = file_kinds.recognise_document(data) or file_kinds.recognise_sound(data)
    if info := info or file_kinds.recognise(data):
        return info
    if re.match(rb"\s*(<\?xml|<!--|<!DOCTYPE svg|<svg)", data[:200], re.IGNORECASE):
        raise InvalidData("SVG can contain scripts and is not accepted; export the drawing as PNG")
    file_kinds.refuse_others(data)
    try:
        return pictures.encode(data)
    except pictures.NotAPicture as error:
        also_accepted = "sound (MP3, M4A or Ogg), video (MP4 or WebM) or PDF"
        raise InvalidData(f"{error}, {also_accepted}") from error
