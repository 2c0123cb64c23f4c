"""Which generator made a site."""

import re
from collections.abc import Iterable
from datetime import tzinfo

from publisher.parts.importing.sites import config_files
from publisher.parts.importing.sites.generators.astro import Astro, Docusaurus
from publisher.parts.importing.sites.generators.eleventy import Eleventy
from publisher.parts.importing.sites.generators.generator import Generator
from publisher.parts.importing.sites.generators.hexo import Hexo
from publisher.parts.importing.sites.generators.hugo import Hugo
from publisher.parts.importing.sites.generators.jekyll import Jekyll
from publisher.parts.importing.sites.generators.mkdocs import MkDocs
from publisher.parts.importing.sites.generators.pelican import Pelican
from publisher.parts.importing.sites.generators.quarto import Quarto
from publisher.parts.importing.sites.generators.vault import Quartz
from publisher.parts.importing.sites.generators.zola import Zola
from publisher.parts.importing.sources import Folder


def recognised(folder: Folder, prefix: str, zone: tzinfo) -> Generator:
    """The generator of a site, by the files that each needs; `zone` is for sites without one."""
    names = {name.removeprefix(prefix) for name in folder.names if name.startswith(prefix)}
    tops = {name.partition("/")[0] for name in names}

    def has(wanted: Iterable[str]) -> bool:
        return not names.isdisjoint(wanted)

    for made in (Astro, Docusaurus, Eleventy):
        if has(made.CONFIGS):
            return made(folder, prefix, zone)
    data = re.compile(r"(?:.*/)?([^/]+)/\1\.json|.*\.11tydata\.[cm]?js(?:on)?")
    package = config_files.text_in(folder, f"{prefix}package.json")
    others = has((*Quarto.CONFIGS, *MkDocs.CONFIGS, *Quartz.CONFIGS))
    if "@11ty/eleventy" in package or (not others and any(map(data.fullmatch, names))):
        return Eleventy(folder, prefix, zone)
    if has(["pelicanconf.py", "publishconf.py"]):
        return Pelican(folder, prefix, zone)
    if any(name.startswith("source/_posts/") for name in names):
        return Hexo(folder, prefix, zone)
    config = config_files.text_in(folder, f"{prefix}config.toml")
    if "content" in tops and (has(["zola.toml"]) or re.search(r"(?m)^base_url\s*=", config)):
        return Zola(folder, prefix, zone)
    if "content" in tops and (
        has(Hugo.CONFIGS) or any(n.startswith("config/_default/") for n in names)
    ):
        return Hugo(folder, prefix, zone)
    if has(["_config.yml", "_config.yaml", "_config.toml"]) or "_posts" in tops:
        return Jekyll(folder, prefix, zone)
    # Last, as other sites have files of theirs, too: those of MkDocs for their documentation.
    quarto = config_files.settings_in(folder, (prefix + name for name in Quarto.CONFIGS))
    if config_files.string(quarto, "project", "type") in ("website", "blog"):
        return Quarto(folder, prefix, zone)
    for other in (MkDocs, Quartz):
        if has(other.CONFIGS):
            return other(folder, prefix, zone)
    return Generator(folder, prefix, zone)
