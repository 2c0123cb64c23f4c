"""Which generator made a site, by the files that each needs."""

from datetime import UTC

import pytest

from publisher.parts.importing.sites.generators.recognised import recognised
from tests.parts.importing.conftest import folder

ZOLA = "base_url = 'https://a.example'"
BLOG = "project: {type: website}"


@pytest.mark.parametrize(
    ("files", "name"),
    [
        ({"a.md": ""}, ""), ({"astro.config.mjs": ""}, "Astro"),
        ({"docusaurus.config.ts": ""}, "Docusaurus"),
        ({"eleventy.config.cjs": ""}, "Eleventy"), ({".eleventy.js": ""}, "Eleventy"),
        ({"package.json": '{"@11ty/eleventy": 1}'}, "Eleventy"), ({"package.json": "{}"}, ""),
        ({"posts/posts.json": ""}, "Eleventy"), ({"a/b/b.json": ""}, "Eleventy"),
        ({"posts/other.json": ""}, ""),
        ({"posts/posts.11tydata.js": ""}, "Eleventy"), ({"a.11tydata.json": ""}, "Eleventy"),
        ({"posts.json": ""}, ""),
        ({"posts/posts.json": "", "_quarto.yml": BLOG}, "Quarto"),
        ({"posts/posts.json": "", "mkdocs.yml": ""}, "MkDocs"),
        ({"posts/posts.json": "", "quartz.config.ts": ""}, "Quartz"),
        ({"pelicanconf.py": ""}, "Pelican"), ({"publishconf.py": ""}, "Pelican"),
        ({"source/_posts/a.md": ""}, "Hexo"),
        ({"source/_posts/a.md": "", "_config.yml": ""}, "Hexo"),
        ({"source/a.md": "", "_config.yml": ""}, "Jekyll"),
        ({"content/a.md": "", "zola.toml": ""}, "Zola"),
        ({"content/a.md": "", "config.toml": ZOLA}, "Zola"),
        ({"content/a.md": "", "config.toml": ""}, "Hugo"),
        ({"content/a.md": "", "hugo.yaml": ""}, "Hugo"),
        ({"content/a.md": "", "config/_default/x.toml": ""}, "Hugo"), ({"content/a.md": ""}, ""),
        ({"a.md": "", "zola.toml": ""}, ""), ({"a.md": "", "hugo.toml": ""}, ""),
        ({"a.md": "", "config/_default/x": ""}, ""),
        ({"_config.yml": ""}, "Jekyll"), ({"_config.toml": ""}, "Jekyll"),
        ({"_posts/a.md": ""}, "Jekyll"),
        ({"a/_posts/b.md": ""}, ""), ({"_quarto.yml": BLOG}, "Quarto"),
        ({"_quarto.yaml": "project: {type: blog}"}, "Quarto"),
        ({"_quarto.yml": "project: {type: book}"}, ""), ({"_quarto.yml": ""}, ""),
        ({"mkdocs.yaml": ""}, "MkDocs"),
        ({"quartz.config.ts": ""}, "Quartz"), ({"_quarto.yml": "", "mkdocs.yml": ""}, "MkDocs"),
    ],
)  # fmt: skip
def test_the_generator_of_a_site(files: dict[str, str], name: str) -> None:
    """Also in a folder of its own, beside which others are nothing to it."""
    assert recognised(folder({"z.txt": ""} | files), "", UTC).name == name
    inside = {f"site/{path}": text for path, text in files.items()}
    assert recognised(folder({"site/z.txt": ""} | inside), "site/", UTC).name == name
