"""What the engine knows of Webmention."""

from publisher.part import Part

PART = Part(
    name="webmention",
    reserved=("webmention",),
    blueprints=("pages:blueprint", "pages:webmention_blueprint"),
    programs=("webmention",),
    tables="tables",
    settings="settings:WebmentionSettings",
    controls="controls:GROUPS",
    jobs=("mentions:look_at_mentions",),
    senders={"webmention": "mentions:send"},
    hooks={"public_change": "mentions:request"},
    places={
        "post-head": "places:post_head",
        "below-post": "places:below_post",
        "home-notes": "places:home_note",
        "posts-links": "places:posts_link",
    },
)
