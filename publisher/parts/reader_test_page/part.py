"""What the engine knows of the page that tests feed readers."""

from publisher.part import Part

PART = Part(
    name="reader_test_page",
    reserved=("reader-test",),
    blueprints=("pages:pages", "pages:blueprint"),
    programs=("reader_test",),
    settings="settings:ReaderTestSettings",
    controls="controls:GROUPS",
)
