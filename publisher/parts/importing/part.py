"""What the engine knows of the import."""

from publisher.part import Command, Part

PART = Part(
    name="importing",
    commands={
        "import": Command("command:import_", "import a feed, an export or a folder of posts")
    },
)
