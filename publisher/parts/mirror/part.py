"""What the engine knows of mirrors."""

from publisher.part import Command, Part

PING_BYTES = 256 * 1024
HUB_BYTES = 8 * 1024 * 1024  # a hub sends whole documents

PART = Part(
    name="mirror",
    needs=("river",),
    reserved=("mirror",),
    blueprints=("pages:pages", "pages:blueprint"),
    programs=("mirror",),
    body_limits=(("/mirror/ping", PING_BYTES), ("/mirror/", HUB_BYTES)),
    commands={
        "mirror": Command("command:mirror", "serve the feeds of other sites, with a ttl"),
    },
    tables="tables",
    jobs=("mirror_poll:poll_due_origins",),
    hooks={"other_feed": "mirrors:other_feed"},
)
