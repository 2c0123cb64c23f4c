"""Words of other programs in a text (Liquid, Hugo's shortcodes, kramdown's attributes, JSX, blocks
between colons): replaced where the meaning is plain, else listed. Code stays as it is.
"""

import re
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import groupby
from urllib.parse import urljoin

from publisher.parts.importing.sites import permalinks

_MARK = re.compile(
    r"^ {0,3}(?P<fence>`{3,}|~{3,})[^\n]*$|(?P<ticks>`+)|(?P<comment>%%)"
    r"|\{%-?\s*(?P<tag>raw|endraw|highlight|endhighlight|comment|endcomment|codeblock|endcodeblock|code|endcode)\b"
    r"(?P<rest>[^%\n]*)-?%\}"
    r"|\{\{[<%]\s*(?P<hugo>/?highlight)\b(?P<args>[^<>%\n]*)[>%]\}\}",
    re.MULTILINE,
)
_OUTPUT = re.compile(r"\{\{-?[ \t]*([^{}\n<%][^{}\n]{0,500}?)[ \t]*-?\}\}")
_TAG = re.compile(
    r"\{%-?@?[ \t]*([\w.#/-]+)[ \t]*((?:[^%{\n]|%(?!\})|\{(?!%)){0,1000}?)[ \t]*-?%\}"
)
_SHORTCODE = re.compile(
    r"(?<!\{)\{\{([<%])-?\s*(/?)\s*(\w[\w./-]*)((?:\"(?:\\.|[^\"\\]){0,2000}\"|`[^`]{0,2000}`|[^\"`{}<>%]|%(?!\}\})|"
    r"[<>](?!\}\})){0,2000}?)\s*/?-?[>%]\}\}"
)
_HTML_SHORTCODE = re.compile(r"\{\{[<%]\s*/?\s*(?:rawhtml|raw_html|raw|html|unsafe)\s*[>%]\}\}")
_ARGUMENT = re.compile(
    r"""(?:([\w-]+)\s*(?:=|:(?!//))\s*)?(?:"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|`([^`]*)`"""
    r"""|(https?://[^\s"'`]*[^\s"'`,]|[^\s"'`=,]+)),?"""
)
_PICTURE = re.compile(r"\.(?:jpe?g|png|gif|webp|svg|avif|bmp)(?:\?\S*)?$", re.IGNORECASE)
# kramdown: `{: .class}` on a line of its own, after a list that becomes the contents, or in a line.
_CONTENTS = re.compile(
    r"^[ \t]*(?:[*+-]|\d+\.)[ \t]+[^\n]*\n[ \t]*\{:[^{}\n]*\btoc\b[^{}\n]*\}[ \t]*$", re.MULTILINE
)
_LIST_LINE = re.compile(r"^[ \t]*\{:{1,2}[^{}\n]*\}[ \t]*\n?", re.MULTILINE)
_LIST_INSIDE = re.compile(r"(?<=\S)\{:[^{}\n]*\}")
_LINK = re.compile(
    r"(\]\(<?|\b(?:href|src)=[\"']|^\[[^\]\n]+\]:[ \t]*<?)(?!https?:|#|mailto:)([^\s()<>\"']+)",
    re.MULTILINE,
)
_WORD_OF_LINK = re.compile(r"[{|](filename|static|attach|category|tag|author|index)[|}]")
# `[[A text]]`, `[[A text#Part|words]]`, `![[picture.png|300]]`.
_WIKI = re.compile(r"(!?)\[\[([^\[\]|#\n]*)(?:#([^\[\]|\n]*))?(?:\|([^\[\]\n]*))?\]\]")
# `{width=50% fig-alt="words"}` behind a picture or a link.
_SIZED = re.compile(
    r"(?:!\[((?:[^\[\]\n]|\[[^\[\]\n]*\](?:\([^()\n]*\))?)*))?\]\(([^()\n]*)\)"
    r"\{((?:[^{}\n\"]++|\"[^\"\n]{0,1000}\"){0,100})\}"
)
_TITLE = re.compile(r"""\s+(?:"[^"]*"|'[^']*')\s*$""")  # behind an address
_ALT = re.compile(r"""\bfig-alt=(["'])(.*?)\1""")
_JSX = re.compile(
    r"""(?<=\s)([A-Za-z][\w-]*)=\{\s*(?:["'`]([^"'`{}\n]*)["'`]|[^{}\n]*(?:\{[^{}\n]*\}[^{}\n]*)*)\s*\}"""
)
_TAGS = re.compile(r"<[A-Za-z][^<>\n]*=\{[^<>\n]*>")
_QUOTED_TAGS = re.compile(r"<[A-Za-z][^<>\n]*(?:className|htmlFor)=[^<>\n]*>")
_HTML_NAMES = {"className": "class", "htmlFor": "for"}  # of JSX's attributes
_JSX_NAME = re.compile(r"(?<=\s)(?:className|htmlFor)(?==)")
_COMPONENT = re.compile(r"</?([A-Z][\w.]*)\b[^<>]*>")
_IMPORT = re.compile(
    r"^(?:import\s[^\n]*(?:\n(?!\n)[^\n]*){0,20}?['\"];?"
    r"|export\s+(?:const|default|function|async)\b[^\n]*?"
    r"(?:[{(\[][ \t]*\n(?:(?![})\]])[^\n]*\n){0,200}[})\]]+;?)?)[ \t]*$\n?",
    re.MULTILINE,
)
_MDX_COMMENT = re.compile(r"\{/\*((?:(?!\{/\*).)*?)\*/\}", re.DOTALL)
_MORE = re.compile(
    r"<!--\s*(?:more|truncate|excerpt|teaser_end)\s*-->|\{/\*\s*(?:more|truncate)\s*\*/\}",
    re.IGNORECASE,
)
# Zola's calls, alone or around a text: `{{ figure(src="a.png") }}`, `{% note() %}...{% end %}`.
_CALL = re.compile(
    r"(\{\{|\{%)-?\s*(\w+)\(((?:\"[^\"]{0,2000}\"|'[^']{0,2000}'|`[^`]{0,2000}`|[^\"'`(){}]){0,2000})\)"
    r"\s*-?(?:\}\}|%\})|\{%-?\s*end\s*-?%\}"
)
_SPLIT_CALL = re.compile(r"\{[{%]-?\s*(\w+)\([^{}]*\Z")  # by code in one of its arguments
_ENDED = re.compile(r"\{\{[<%]\s*/\s*([\w-]+)")
_NOTES = {"notice", "alert", "admonition", "callout", "hint"}
_FRAMES = {"gallery", "grid", "row", "columns", "column", "center"}  # about pictures or texts
# Formulas, which stay; `[words]{#id .class}`; and at the end of a line
# `## Heading{#id}`, `![](a.png){.class}` and `words {#id}`. Without a blank it would be TeX.
_ATTRIBUTES = re.compile(
    r"\$\$(?:[^$\n]|\n(?!\n))*\$\$"
    r"|(?:\[([^\[\]\n]+)\]|(^#+[ \t][^{}\n]*[^\]{}\s]|\]\([^()\n]*\))|(?<![:\s])[ \t]+|\A)"
    r"\{:?((?:[ \t]*[#.][^\W\d_][\w:-]*)+)[ \t]*\}(?(1)|[ \t#]*$)",
    re.MULTILINE,
)
_INDENTED = re.compile(r"(?:\A|\n[ \t]*\n)(?: {4}|\t)")  # what code may begin with
_ITEM = re.compile(r" {0,3}(?:[-*+:]|\d{1,9}[.)]|\[\^[^\]\s]+\]:)[ \t]")  # or note, definition
# The first line of a quotation.
_CALLOUT = re.compile(r"^([ \t]*(?:>[ \t]*)+)\[!([A-Za-z]+)\][+-]?[ \t]*([^\n]*)$", re.MULTILINE)
# A caption with words that are marked in Markdown, or with a link.
_MARKED = re.compile(r"\]\(|(?<!\w)[*_`]\w[^*_`]*[*_`](?!\w)")
_MARKED_LINK = re.compile(r"\[([^\[\]]*)\]\([^()]*\)")
_FILM = re.compile(r"\.(?:mp4|webm|ogv|mov|m4v)(?:\?\S*)?$", re.IGNORECASE)
_SOUND = re.compile(r"\.(?:mp3|m4a|ogg|wav)(?:\?\S*)?$", re.IGNORECASE)
_BLOCK = re.compile(
    r"[ \t]*(:{3,})[ \t]*(\w[\w-]*)?(?:\[([^\n]*)\]|[ \t]+([^\n{]*))?(?:\{([^{}\n]*)\})?[ \t]*$"
)
_OF_CALLOUT = re.compile(r"(\.callout-|\btitle=)\"?((?<=\")[^\"]*|\w+)")  # Quarto's
_DEEPEST = 8  # each level makes every line longer
_BLOCKS = {"note", "tip", "info", "warning", "caution", "danger", "important", "details", "success"}
# What is shown from elsewhere: names of shortcodes, the form of their first argument, the address.
_EMBEDS = (
    ({"youtube", "youtubeplayer", "youtube_embed"}, r"[\w-]{6,20}",
     "https://www.youtube.com/watch?v={}"),
    ({"vimeo"}, r"\d+", "https://vimeo.com/{}"),
    ({"youtube", "vimeo", "video", "twitter", "tweet", "x", "instagram"}, r"(?s:https://.*)", "{}"),
    ({"gist"}, r"[\w./-]+", "https://gist.github.com/{}"),
    ({"tweet", "twitter", "x"}, r"\d+", "https://twitter.com/{user}/status/{}"),
    ({"instagram"}, r"[\w-]+", "https://www.instagram.com/p/{}/"),
)  # fmt: skip
_STRING = re.compile(r"""(["'])(.*)\1""")


@dataclass
class Words:
    """What the words of one text mean: its site's addresses, its own fields, other posts.

    `addressed` gives the address of the post that a link or a name means, "" for none; `beside` the
    path of a file that may lie anywhere; `known` the value of a name such as `page.title`. `used`
    are the words that nothing could be made of.
    """

    base_path: str
    origin: str
    known: Mapping[str, str]
    addressed: Callable[[str], str]
    beside: Callable[[str], str] = lambda _: ""
    liquid: bool = False
    tags: bool = True
    shortcodes: bool = True
    kramdown: bool = False
    jsx: bool = False
    calls: bool = False
    used: dict[str, None] = field(default_factory=dict)
    _with_end: set[str] = field(default_factory=set)  # Hugo's shortcodes around a text
    _has_calls: bool = False  # whether `{% end %}` ends one of Zola's, `{% x() %}`
    # Whether there may be indented code; and the line that is read: some of it, begins, stands
    # behind an empty line, in a list.
    _indented = _code = _begins = _after_empty = _listed = False

    def plain(self, text: str, indented_code: bool = True) -> str:
        """The text in plain Markdown; `indented_code`: whether blanks may make a line code."""
        self._with_end = {*_ENDED.findall(text)}
        self._has_calls = re.search(r"\{%-?\s*\w+\(", text) is not None
        self._indented = indented_code and _INDENTED.search(text) is not None
        self._code, self._begins, self._after_empty, self._listed = False, True, True, False
        made = list[str]()
        for kind, part in _pieces(text, self.tags):
            if kind == "text":
                lines = part.splitlines(keepends=True) if self._indented else [part]
                runs = groupby(lines, self._is_code)
                made += (self._words("".join(run), code) for code, run in runs)
            else:
                made.append(part)
                self._is_code(part.partition("\n")[0])
        text = "".join(made)
        if self.shortcodes and "/*" in text:  # how Hugo shows a shortcode as text
            text = re.sub(r"\{\{([<%])/\*(.*?)\*/([>%])\}\}", r"{{\1\2\3}}", text)
        return self._quoted_blocks(text) if ":::" in text else text

    def _is_code(self, line: str) -> bool:
        """Whether a line, or the rest of one, is indented code: after an empty one, in no list."""
        if self._begins and self._indented:
            indented, item = line.startswith(("    ", "\t")), _ITEM.match(line) is not None
            if line.strip():
                self._code = indented and not self._listed and (self._code or self._after_empty)
                if not indented and (item or (self._after_empty and line[0] != " ")):
                    self._listed = item
            self._after_empty = not line.strip()
        self._begins = line.endswith("\n")
        return self._code

    def _words(self, text: str, code: bool) -> str:
        """A piece that is no code, or indented code, of which templates are filled, too."""
        if self.jsx or "{" in text:
            text = self._braces(text, code)
        if code:
            return text
        if self.jsx:
            for name in _COMPONENT.findall(text):
                self.used[f"the component <{name}>"] = None
            text = _COMPONENT.sub("", text)
        text = _MORE.sub("<!--more-->", text)
        if "[!" in text:
            text = _CALLOUT.sub(lambda c: f"{c[1]}**{c[3] or c[2].capitalize()}**\n{c[1]}", text)
        text = _WIKI.sub(self._wiki, text) if "[[" in text else text
        return _LINK.sub(self._link, text)

    def _braces(self, text: str, code: bool) -> str:
        if not code:
            if self.kramdown:
                text = _LIST_INSIDE.sub("", _LIST_LINE.sub("", _CONTENTS.sub("", text)))
            text = _ATTRIBUTES.sub(_anchor, _SIZED.sub(_sized, text))
        if self.jsx:
            text = _MDX_COMMENT.sub(
                lambda c: c[0] if _MORE.match(c[0]) else "", _IMPORT.sub("", text)
            )
        if "={" in text:
            text = _TAGS.sub(lambda tag: _JSX.sub(_attribute, tag[0]), text)
        if self.jsx:
            text = _QUOTED_TAGS.sub(
                lambda tag: _JSX_NAME.sub(lambda name: _HTML_NAMES[name[0]], tag[0]), text
            )
        if self.shortcodes and ("{{<" in text or "{{%" in text):
            text = _SHORTCODE.sub(self._shortcode, _HTML_SHORTCODE.sub("", text))
        if self.calls:
            text = _CALL.sub(self._call, text)
            self.used |= {f"{{{{ {name}() }}}}": None for name in _SPLIT_CALL.findall(text)}
        if "{%" in text:
            text = _TAG.sub(self._tag, text)
        return _OUTPUT.sub(self._output, text) if self.liquid else text

    # -- Liquid

    def _output(self, match: re.Match[str]) -> str:
        value = self.value(match[1])
        if value is None:
            self.used["{{ ... }}"] = None
        return match[0] if value is None else value

    def value(self, expression: str) -> str | None:
        """What `{{ expression }}` stands for; None where that is not plain."""
        first, *filters = (part.strip() for part in _split(expression))
        value = self._value(first)
        for step in filters:
            name, _, argument = step.partition(":")
            if value is None:
                return None
            parameter = self._value(argument.strip()) if argument else ""
            value = self._filtered(value, name.strip(), parameter)
        return value

    def _value(self, name: str) -> str | None:
        string = _STRING.fullmatch(name)
        return string[2] if string else self.known.get(name)

    def _filtered(self, value: str, name: str, parameter: str | None) -> str | None:
        if name in ("relative_url", "url", "absolute_url"):
            if "://" in value:
                return value
            path = permalinks.joined(self.base_path, value)
            return self.origin + path if name == "absolute_url" else path
        if name in ("prepend", "append") and parameter is not None:
            return parameter + value if name == "prepend" else value + parameter
        return value if name in ("strip", "escape", "xml_escape", "safe", "uri_escape") else None

    def _tag(self, match: re.Match[str]) -> str:
        name, arguments = match[1], match[2]
        if name[0] in ".#" and self.known.get("generator") != "Jekyll":
            return ""  # Markdoc's attributes
        if not self.tags:
            return match[0]
        if (made := self._made_of_tag(name, arguments)) is not None:
            return made
        if not name.startswith("end"):
            self.used[f"{{% {name} %}}"] = None
        return match[0]

    def _made_of_tag(self, name: str, arguments: str) -> str | None:
        if name in ("post_url", "link", "post_path"):
            target = _STRING.sub(r"\2", arguments.strip())
            return self.addressed(target) or None
        if name == "post_link":
            slug, _, title = arguments.partition(" ")
            address = self.addressed(slug)
            words = _STRING.sub(r"\2", title.strip()) or slug
            return f"[{words}]({address})" if address else None
        if name in ("asset_img", "img"):
            return _picture_of_words(arguments)
        if name == "asset_path":
            return arguments.strip()
        if name in ("include", "include_cached"):
            file, _, arguments = arguments.partition(" ")
            name = re.sub(r"\.\w+$", "", file).rpartition("/")[2]
        named, loose = _arguments(arguments)
        return self._thing(name, named, loose)

    # -- Hugo

    def _shortcode(self, match: re.Match[str]) -> str:
        name, (named, loose) = match[3], _arguments(match[4])
        if match[4].lstrip().startswith("/*"):
            return match[0]
        if name in ("ref", "relref"):
            target = named.get("path") or (loose[0] if loose else "")
            if address := self.addressed(target):
                return address
        elif name in self._with_end and name in _FRAMES:
            return "\n\n"
        elif name in self._with_end and (note := _note(name, named, loose)):
            return "\n:::\n\n" if match[2] else note
        elif not match[2] and (made := self._thing(name, named, loose)) is not None:
            return made
        self.used[f"{{{{< {name} >}}}}"] = None
        return match[0]

    # -- Zola

    def _call(self, match: re.Match[str]) -> str:
        if match[1] is None:
            return "\n:::\n\n" if self._has_calls else match[0]
        name, (named, loose) = match[2], _arguments(match[3])
        if match[1] == "{%":
            return _note(name, named, loose) or f"\n\n:::{name}\n"
        if (made := self._thing(name, named, loose)) is None:
            self.used[f"{{{{ {name}() }}}}"] = None
        return match[0] if made is None else made

    def _thing(self, name: str, named: dict[str, str], loose: list[str]) -> str | None:
        """A picture, a film or a note elsewhere, whichever program named it; else None."""
        first = next(
            filter(None, (*(named.get(n) for n in ("id", "video_id", "url")), *loose[:1])), ""
        )
        if name in ("figure", "img", "image", "picture", "responsive-image", "imgcap"):
            address = next(
                (named[n] for n in ("src", "url", "image_path", "path", "file") if n in named), ""
            )
            if not address and loose and _PICTURE.search(loose[0]):
                address = loose[0]
            value = self.value(address) if address.startswith(("site.", "page.")) else address
            return _picture(value, named) if value else None
        file = named.get("src") or named.get("url") or named.get("file") or first
        for tag, ending in (("video", _FILM), ("audio", _SOUND)):
            if name == tag and ending.search(file) and not re.search(r"[\s<>\"]", file):
                return f'\n\n<{tag} controls src="{file}"></{tag}>\n\n'
        user = named.get("user", "i")
        for names, form, address in _EMBEDS:
            if name in names and re.fullmatch(form, first):
                if name == "gist" and len(loose) > 1 and "/" not in first:
                    first = f"{first}/{loose[1]}"
                return f"\n\n{address.format(first, user=user)}\n\n"
        return None

    # -- links between files

    def _wiki(self, link: re.Match[str]) -> str:
        shown, name, part, words = link[1], link[2].strip(" ./\\"), link[3] or "", link[4]
        file = self.beside(name) if name else ""
        words = " ".join((words or name.rpartition("/")[2] or part).split())
        obsidian = link[2].endswith("\\") or self.known.get("generator") == "Quartz"
        if shown and _PICTURE.search(name):
            if not file:
                self.used[f"the picture is not in the source: {link[0]}"] = None
                return link[0]
            return f"![{'' if words.isdigit() or words == name else words}](<{file}>)"
        if not file and not obsidian:
            return link[0]
        address = self.addressed(name)
        if name and not address:
            self.used[f"a link leads nowhere here: {link[0]}"] = None
            return words if obsidian else link[0]
        if shown:
            self.used[f"the text of another file is shown as a link: {link[0]}"] = None
        if name and part and not part.startswith("^"):
            address += f"#{dashed(part)}"
            words = words if link[4] else f"{words} > {part}"
        return f"[{words}]({address})" if address else words

    def _link(self, match: re.Match[str]) -> str:
        target = match[2]
        word = _WORD_OF_LINK.match(target)
        path, sharp, part = target.partition("#")
        file = word and word[1] == "filename" and not re.search(r"\.(?:md|rst|html?)$", path)
        if word and (file or word[1] in ("static", "attach")):
            return match[1] + target[word.end() :]
        beside = path.endswith(".html") and not path.startswith("/")
        if word or beside or re.search(r"\.(?:md|mdx|markdown|qmd|rst)$", path):
            address = self.addressed(path[word.end() :] if word else path)
            return f"{match[1]}{address}{sharp}{part}" if address else match[0]
        page = self.known.get("page.url", "")
        if page and path.startswith(("./", "../")) and "." not in path.rpartition("/")[2]:
            return f"{match[1]}{urljoin(self.base_path + page, target)}"  # a post beside it
        return match[0]

    def _quoted_blocks(self, text: str) -> str:
        """`:::note` and its like as quotations that begin with their name; of others the text."""
        made, quoted, depth, fence = list[str](), list[bool](), 0, ""
        for line in text.split("\n"):
            fence = fence_after(line, fence)
            mark = _BLOCK.match(line) if ":::" in line and not fence else None
            deep = "> " * depth
            if mark and (mark[2] or mark[5]):
                own = dict(_OF_CALLOUT.findall(mark[5] or ""))
                name = mark[2] or own.get(".callout-") or mark[5].strip(" .#").partition(" ")[0]
                name = name.lower().removeprefix("callout-")
                framed = name in _BLOCKS or mark[3] is not None
                quoted.append(framed and depth < _DEEPEST)
                depth += quoted[-1]
                if not framed and self.known.get("generator") != "Quarto":  # there it is layout
                    self.used[f"the block {name}"] = None
                title = (mark[3] or mark[4] or own.get("title=") or name.capitalize()).strip()
                if quoted[-1] and mark[3] != "":
                    made += [f"{deep}> **{title}**", f"{deep}> "]
            elif mark and quoted:
                depth -= quoted.pop()
                made.append("> " * depth)
            else:
                made.append(deep + line)
        return "\n".join(made)


def uncommented(text: str) -> str:
    """A text without Obsidian's comments, but for what is in code."""
    return "".join(part for _, part in _pieces(text, tags=False, comments=True))


def _pieces(text: str, tags: bool, comments: bool = False) -> Iterator[tuple[str, str]]:
    """The text in pieces, `text` or `code`; read once from its beginning to its end.

    With `tags`, code is also what stands between Liquid's tags for it; with `comments`, those of
    Obsidian, `%%...%%`, are code of which nothing stays.
    """
    marks = _Marks(text, tags, comments)
    done = 0
    for number, mark in enumerate(marks.all):
        if mark.start() < done:
            continue
        end, code = marks.code(number)
        if end:
            yield "text", text[done : mark.start()]
            yield "code", code
            done = end
    yield "text", text[done:]


def changed_outside_code(text: str, change: Callable[[str], str]) -> str:
    """The text, of which `change` sees all but what stands between fences or backticks."""
    pieces = _pieces(text, tags=False)
    return "".join(change(part) if kind == "text" else part for kind, part in pieces)


def without_code(text: str) -> str:
    """The text without what stands between fences or backticks."""
    return "".join(part for kind, part in _pieces(text, tags=False) if kind == "text")


def dashed(words: str) -> str:
    """Words as a part of an address or an id, as most generators make it."""
    return re.sub(r"[^\w\- ]", "", words).strip().lower().replace(" ", "-")


def fence_after(line: str, fence: str) -> str:
    """The fence that is open below a line, if `fence` is above it; "" for none."""
    if fence:
        inner = line.strip()
        return fence if not inner.startswith(fence) or inner.strip(fence[0]) else ""
    begun = re.match(r"[ \t]*(`{3,}(?=[^`]*$)|~{3,})", line)
    return begun[1] if begun else ""


class _Marks:
    """The marks in a text that code may begin or end with, and where those of each kind are."""

    def __init__(self, text: str, tags: bool, comments: bool) -> None:
        self.text, self.tags, self.comments = text, tags, comments
        self.all = list(_MARK.finditer(text))
        self.places: dict[str, list[int]] = {}
        for number, mark in enumerate(self.all):
            kind = mark["ticks"] or mark["tag"] or mark["hugo"] or mark["comment"] or ""
            self.places.setdefault(kind, []).append(number)

    def code(self, number: int) -> tuple[int, str]:
        """Where the code that begins with this mark ends, and that code in Markdown; 0 for none."""
        mark = self.all[number]
        if mark["fence"]:
            return self._fenced(number)
        if ticks := mark["ticks"]:
            end = self._next(ticks, number)
            if end is None or self.text.find("\n\n", mark.end(), end.start()) >= 0:
                return 0, ""
            return end.end(), self.text[mark.start() : end.end()]
        if mark["comment"]:
            end = self._next("%%", number) if self.comments else None
            return (end.end(), "") if end else (0, "")
        name = mark["tag"] or mark["hugo"]
        if name.startswith(("end", "/")) or (mark["tag"] and not self.tags):
            return 0, ""
        end = self._next(f"end{name}" if mark["tag"] else f"/{name}", number)
        if end is None or name == "comment":
            return (end.end(), "") if end else (0, "")
        inside = self.text[mark.end() : end.start()]
        if name == "raw":
            return end.end(), inside
        language = re.match(r"[\s\"']*(?:lang:)?([\w+#-]*)", mark["rest"] or mark["args"] or "")
        fence = "`" * max(3, 1 + max(map(len, re.findall("`+", inside)), default=0))
        head = f"{fence}{language[1] if language else ''}"
        return end.end(), "\n".join(["", head, inside.strip("\n"), fence, ""])

    def _next(self, kind: str, number: int) -> re.Match[str] | None:
        places = self.places.get(kind, [])
        next_at = bisect_right(places, number)
        return self.all[places[next_at]] if next_at < len(places) else None

    def _fenced(self, number: int) -> tuple[int, str]:
        fence, end = self.all[number]["fence"], len(self.text)
        for later in range(number + 1, len(self.all)):
            if self.all[later]["fence"] and not fence_after(self.all[later][0], fence):
                end = self.all[later].end()
                break
        whole = self.text[self.all[number].start() : end]
        return end, re.sub(r"\{%-?\s*(?:end)?raw\s*-?%\}\n?", "", whole) if self.tags else whole


def _split(expression: str) -> list[str]:
    """The parts of an expression between its bars; those in quotation marks do not count."""
    parts = re.findall(r"""(?:"[^"]*"|'[^']*'|[^|"']|["'])+""", expression)
    return parts or [""]


def _arguments(text: str) -> tuple[dict[str, str], list[str]]:
    """The named and the other arguments of a shortcode or tag."""
    named, loose = dict[str, str](), list[str]()
    for name, *values in _ARGUMENT.findall(text):
        value = next((value for value in values if value), "").replace('\\"', '"')
        if name:
            named[name.lower()] = value
        elif value:
            loose.append(value)
    return named, loose


def _picture(address: str, named: Mapping[str, str]) -> str:
    words = " ".join((named.get("caption") or named.get("title") or "").split())
    alt = _MARKED_LINK.sub(r"\1", named.get("alt") or words).replace("[", "").replace("]", "")
    marked = _MARKED.search(words)
    title = f' "{words.replace(chr(34), chr(39))}"' if words and not marked else ""
    picture = f"![{' '.join(alt.split())}]({destination(address)}{title})"
    if link := named.get("link", ""):
        picture = f"[{picture}]({destination(link)})"
    if not marked:
        return picture
    return f"\n\n<figure>\n\n{picture}\n\n<figcaption>\n\n{words}\n\n</figcaption>\n</figure>\n\n"


def destination(address: str) -> str:
    """An address as Markdown has it between round brackets."""
    return f"<{address}>" if re.search(r"[\s()]", address) else address


def _note(name: str, named: Mapping[str, str], loose: list[str]) -> str:
    """The first line of a block for what a theme frames as a note; "" for another word."""
    kinds = [word for word in (named.get("type", ""), *loose[:1], name) if word.lower() in _BLOCKS]
    if name.lower() not in _NOTES and name.lower() not in _BLOCKS:
        return ""
    titles = loose[1:2] if kinds[:1] == loose[:1] else loose[:1] if name == "details" else []
    title = named.get("title") or named.get("summary") or "".join(titles)
    title = re.sub(r"[\[\]\n]", " ", title).strip()
    return f"\n\n:::{kinds[0].lower() if kinds else 'note'}{f'[{title}]' if title else ''}\n"


def _sized(match: re.Match[str]) -> str:
    """A picture or a link without the attributes behind it, of which description and id are kept.

    What stands between the brackets of a picture is its caption where it has a description, too.
    """
    caption, address, attributes = match[1], match[2], match[3]
    if "=" not in attributes:
        return match[0]
    alt, name = _ALT.search(attributes), re.search(r"(?:^|\s)#([\w:-]+)", attributes)
    place = f'<a id="{name[1]}"></a>' if name else ""
    if caption is None or not alt:
        return match[0][: -len(attributes) - 2] + place
    if not caption:
        return f"![{caption or re.sub(r'[][]', '', alt[2])}]({address}){place}"
    begins = match.string[max(0, match.start() - 1) : match.start()] in ("", "\n")
    bare = _TITLE.sub("", address).strip("<>")
    picture = _picture(bare, {"alt": alt[2], "caption": caption})
    return f"{place}\n\n{picture}" if place and begins else picture + place


def _anchor(match: re.Match[str]) -> str:
    """What attributes stand behind, and the place for their id."""
    if match[3] is None:
        return match[0]
    name = re.search(r"#([\w:-]+)", match[3])
    return (match[1] or match[2] or "") + (f'<a id="{name[1]}"></a>' if name else "")


def _picture_of_words(arguments: str) -> str | None:
    """Hexo's and Octopress's `img`: classes, the address, sizes, a title, a description."""
    _, loose = _arguments(arguments)
    place = next((n for n, word in enumerate(loose) if _PICTURE.search(word)), None)
    if place is None:
        return None
    words = [word for word in loose[place + 1 :] if not re.fullmatch(r"\d+(?:px|%)?", word)]
    if not re.search("[\"']", arguments):
        words = [" ".join(words)]
    named = {"alt": words[-1]} if words else {}
    return _picture(loose[place], {"title": words[0], **named} if len(words) > 1 else named)


def _attribute(match: re.Match[str]) -> str:
    """An attribute of JSX as one of HTML; one that a program computes is left out."""
    name = _HTML_NAMES.get(match[1], match[1])
    return f'{name}="{match[2]}"' if match[2] else ""
