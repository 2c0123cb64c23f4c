"""What the engine knows of Micropub and IndieAuth."""

from publisher.part import Part

# The largest upload (`blog.post_files.media`) and the form around it.
UPLOAD_BYTES = (32 + 8) * 1024 * 1024

PART = Part(
    name="micropub",
    reserved=("indieauth", "micropub"),
    behind_login=("/indieauth",),
    blueprints=("indieauth:consent_blueprint", "indieauth:blueprint", "views:blueprint"),
    programs=("indieauth", "micropub"),
    body_limits=(("/micropub", UPLOAD_BYTES),),
    long_forms=("/micropub",),
    tables="tables",
    places={
        "head": "places:in_head",
        "program-addresses": "places:addresses",
        "program-first-words": "places:words",
    },
    hooks={"end_tokens": "codes:remove_all"},
)
