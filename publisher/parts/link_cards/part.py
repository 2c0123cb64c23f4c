"""What the engine knows of link cards."""

from publisher.part import Part

PART = Part(
    name="link_cards",
    tables="tables",
    blueprints=("pages:blueprint",),
    jobs=("fetching:fetch_link_cards",),
    places={"post-tools": "pages:post_tools"},
    hooks={
        "text_written": "cards:request_of",
        "show_links": "cards:with_cards",
        "keeps_file": "cards:keeps_file",
    },
)
