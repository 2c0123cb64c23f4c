"""What the engine knows of the demonstration."""

from publisher.part import Command, Part

PART = Part(
    name="demo",
    needs=("importing", "readers", "river"),
    commands={"demo": Command("command:demo", "fill an empty instance with an example blog")},
)
