"""Heads without a fence, as Pelican, MultiMarkdown, Hexo and Nikola have them; the fields of
reStructuredText."""

import re
from typing import Any

from publisher.base.errors import InvalidData
from publisher.exchange.front_matter import MAX_BYTES, fields_in, yaml_in

_LINE = re.compile(r" {0,3}([A-Za-z][\w-]*):(?:[ \t]+(.*))?$")
_MORE = re.compile(r" {4,}(.*)$")
_HEXO = re.compile(r"(?=[\w-]+:)((?:[^\n]*\n){1,60}?)---[ \t]*(?:\n|\Z)")
_UNDERLINED = re.compile(
    r"\s*(?:([=\-`:.'\"~^_*+#])\1+\n)?[ \t]*(\S[^\n]*)\n([=\-`:.'\"~^_*+#])\3+[ \t]*\n"
)
_COMMENTS = re.compile(
    r"\s*(?:<!--((?:(?!-->).)*)-->[ \t]*\n?|((?:\.\. [a-z_]+:(?!:)[^\n]*\n)+))", re.DOTALL
)
_COMMENT = re.compile(r"^\.\. ([a-z_]+):(?!:)([^\n]*)", re.MULTILINE)
_DRAFT = ("draft", "private")  # tags that are Nikola's older signs for it
_FIELD = re.compile(r":([A-Za-z][\w ]*):[ \t]*([^\n]*(?:\n[ \t]+\S[^\n]*)*)(?:\n|\Z)")


def split(text: str, least: int = 2) -> tuple[dict[str, Any], str]:
    """The fields of lines `Name: value` at the beginning, up to a blank line or to `---`, and the
    text below; no fields where the text does not begin with at `least` so many such lines, of which
    one is a title or a date."""
    if (hexo := _HEXO.match(text)) and re.search("^(title|date):", hexo[1], re.MULTILINE):
        try:
            return fields_in(yaml_in, hexo[1]), text[hexo.end() :].removeprefix("\n")
        except InvalidData:
            pass
    fields: dict[str, Any] = {}
    last, end = "", 0
    for line in text[:MAX_BYTES].splitlines(keepends=True):
        if field := _LINE.match(line.rstrip()):
            last = field[1].lower()
            fields[last] = (field[2] or "").strip()
        elif last and (more := _MORE.match(line.rstrip())):
            fields[last] = f"{fields[last]}\n{more[1].strip()}".strip()
        else:
            if line.strip():
                return {}, text  # words follow at once: this was a paragraph
            break
        end += len(line)
    if len(fields) < least or not {"title", "date"} & fields.keys():
        return {}, text
    return fields, text[end:].lstrip("\n")


def split_comments(text: str) -> tuple[dict[str, Any], str]:
    """The fields of Nikola's lines `.. name: value` at the beginning, which may stand in a comment
    of HTML with others, and the text below; no fields where there is neither a title nor a date."""
    head = _COMMENTS.match(text[:MAX_BYTES])
    lines = _COMMENT.findall(head[1] or head[2] or "") if head else ()
    fields: dict[str, Any] = {name: value.strip() for name, value in lines}
    if not head or not {"title", "date"} & fields.keys():
        return {}, text
    tags = [tag.strip() for tag in fields.get("tags", "").split(",")]
    fields["tags"] = [tag for tag in tags if tag.lower() not in _DRAFT]
    if tags != fields["tags"]:
        fields["draft"] = "true"
    return fields, text[head.end() :].lstrip("\n")


def split_rst(text: str) -> tuple[dict[str, Any], str]:
    """The title and the field list at the beginning of reStructuredText, and the text below."""
    fields, body = split_comments(text)
    if fields:
        return fields, body
    if heading := _UNDERLINED.match(text):
        fields["title"] = heading[2].strip()
        text = text[heading.end() :]
    body = text.lstrip("\n")
    while line := _FIELD.match(body):
        fields[line[1].strip().lower()] = " ".join(line[2].split())
        body = body[line.end() :]
    return fields, body.lstrip("\n") if fields else text
