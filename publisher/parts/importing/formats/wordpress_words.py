"""What WordPress keeps as its own words in a text, as plain HTML: players, embeds, listings, the
sign for "more", notes that its editor keeps beside the text."""

import html
import json
import re

from publisher.base.text import as_text

# The sign for "more" is ours as well; all other comments are the editor's.
COMMENT = re.compile(r"<!--(?!\s{0,9}more\b).*?-->", re.DOTALL)
MORE = "<!--more-->"
_MORE = re.compile(r"<!--\s{0,9}more\b[^<>]{0,99}-->")
_CODE = re.compile(
    r"\[(code|sourcecode|php|css|html|js|javascript|python|bash|sql|xml|ruby|java|cc[a-zA-Z]{0,6}(?:_\w{1,20})?)\b"
    r"([^\[\]]{0,200})\]"
    r"((?:(?!\[\1[ \]]).)*?)\[/\1\]",
    re.DOTALL,
)
_EMBED = re.compile(r"\[embed[^\[\]]{0,200}\]\s*(https?://[^\s\[\]<>\"]+)\s*\[/embed\]")
_PLAYED = re.compile(
    r"\[(?:youtube|vimeo|dailymotion|soundcloud|tweet|instagram)[ =]\s*(?:url=)?[\"']?(https?://[^\s\[\]<>\"']+)[\"']?[^\[\]]{0,200}\]"
)
_PLAYER = re.compile(r"\[(audio|video)\b([^\[\]]{0,1000})\](?:\s*\[/\1\])?")
_SOURCE = re.compile(
    r"(?:\b(?:src|mp4|m4v|webm|ogv|mp3|m4a|ogg|wav)=|^\s*)[\"']?(https?://[^\s\"'\[\]<>|]+)"
)
# An address that a program made a link: in a shortcode, or behind the name of a Markdown link.
_LINKED = re.compile(
    r"(\[[a-z]+[ =]\s*|\]\(|^ {0,3}\[[^\[\]\n]{1,80}\]:[ \t]*)<a\b[^<>]*>(https?://[^\s<>]+)</a>",
    re.MULTILINE,
)
# What plugins took for Markdown: a link with its address behind it, or with a name for that.
_LINK = re.compile(r"\[[^\[\]\n]+\]\(https?://[^\s()]+")
_LINK_BY_NAME = re.compile(r"\[[^\[\]\n]*\](?=\[([^\[\]\n]{1,80})\])")
_NAMED = re.compile(r"^ {0,3}\[([^\[\]\n]{1,80})\]:[ \t]*<?https?://\S", re.MULTILINE)
_PARAGRAPH = re.compile(r"<!--\s+wp:|<p[\s>]", re.IGNORECASE)
_LANGUAGE = re.compile(r"\blang(?:uage)?=[\"']?([\w+#-]+)")
_NOTES = re.compile(r"<!--\s+wp:footnotes\b[^<>]*/-->")


_SHORTCODE = re.compile(r"\[(?!/|caption\b)([a-z][\w-]*)(?=[ \]/])([^\[\]]{0,500})\]")
_END = re.compile(r"\[/([a-z][\w-]*)\]")
_SHOWN = re.compile(r"<(pre|code)\b(?:(?!<\1\b).)*?</\1>", re.DOTALL | re.IGNORECASE)


def shortcodes(text: str) -> dict[str, None]:
    """The names of shortcodes that stand in a text, with a value, a number or an end, or alone; not
    what is between brackets in prose or code, nor links of Markdown."""
    if "[" not in text:
        return {}
    text = _SHOWN.sub("", text)
    defined, ended = {*_NAMED.findall(text)}, {*_END.findall(text)}
    text = _LINK.sub("", _NAMED.sub("", text))
    text = _LINK_BY_NAME.sub(lambda link: "" if link[1] in defined else link[0], text)
    names = dict[str, None]()
    for name, words in _SHORTCODE.findall(text):
        alone = name.islower() and (not words.strip(" /") or re.fullmatch(r"\s+\S*\d\S*", words))
        if (alone or "=" in words or name in ended) and name + words not in defined:
            names[name] = None
    return names


def is_markdown(content: str) -> bool:
    """Whether a text has links as Markdown writes them, and no paragraphs of HTML or of the block
    editor: a plugin showed it so."""
    if "](http" not in content and "]:" not in content:
        return False
    text = _LINKED.sub(r"\1\2", _SHOWN.sub("", content))
    if _PARAGRAPH.search(text):
        return False
    by_name = _LINK_BY_NAME.findall(text)
    return bool(_LINK.search(text)) or not {*_NAMED.findall(text)}.isdisjoint(by_name)


def address(text: str) -> str:
    """An address without HTML's escapes."""
    return re.sub("&(?:amp|#0*38);", "&", text)


def plain(content: str, footnotes: str = "") -> str:
    """A text with these words as HTML; `footnotes` is the custom field of that name."""
    content = _MORE.sub(f"\n\n{MORE}\n\n", content)
    notes = _notes(footnotes)
    if notes:
        content, placed = _NOTES.subn(lambda _: notes, content, count=1)
        content += "" if placed else f"\n\n{notes}"
    if "[" not in content:
        return content
    content = _LINKED.sub(r"\1\2", _CODE.sub(_listing, content))
    content = _EMBED.sub(r"\n\n\1\n\n", content)
    content = _PLAYED.sub(lambda played: f"\n\n{address(played[1])}\n\n", content)
    return _PLAYER.sub(_player, content)


def _listing(match: re.Match[str]) -> str:
    named = _LANGUAGE.search(match[2])
    tag = match[1].rpartition("_")[2] if match[1].startswith("cc") else match[1]
    language = named[1] if named else "" if re.match("code|sourcecode|cc", tag) else tag
    kind = f' class="language-{language}"' if language else ""
    text = html.escape(html.unescape(match[3]).strip("\r\n"), quote=False)
    return f"<pre><code{kind}>{text}</code></pre>"


def _player(match: re.Match[str]) -> str:
    source = _SOURCE.search(match[2])
    if source is None:
        return match[0]
    return f'\n\n<p><{match[1]} controls src="{html.escape(source[1])}"></{match[1]}></p>\n\n'


def _notes(text: str) -> str:
    """The notes of a text as a list, each with the id to which the text links."""
    try:
        rows = json.loads(text) if text else []
    except (ValueError, RecursionError):
        return ""
    notes = [
        f'<li id="{html.escape(as_text(row.get("id")))}">{as_text(row.get("content"))} '
        f'<a href="#{html.escape(as_text(row.get("id")))}-link">\u21a9\ufe0e</a></li>'
        for row in (rows if isinstance(rows, list) else [])
        if isinstance(row, dict) and as_text(row.get("content"))
    ]
    return f"<ol>{''.join(notes)}</ol>" if notes else ""
