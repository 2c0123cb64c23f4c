"""What the engine knows of the import."""

from publisher.part import Command, Part

IMPORT_BYTES = 128 * 1024 * 1024  # a whole blog; larger ones need the command line

PART = Part(
    name="importing",
    blueprints=("pages:blueprint",),
    body_limits=(("/studio/moving/import", IMPORT_BYTES),),
    places={"moving": "pages:form", "job-done": "pages:done"},
    hooks={
        "first_steps": "pages:first_steps",
        "long_job": "pages:command",
        "published_times": "confined_reading:instants",
    },
    commands={
        "import": Command("command:import_", "import a feed, an export or a folder of posts")
    },
)
