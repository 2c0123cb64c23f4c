"""What the engine knows of the river."""

from publisher.part import Command, MenuLink, Part

LIST_BYTES = 8 * 1024 * 1024  # an OPML file that is sent with a form

PART = Part(
    name="river",
    behind_login=("/river",),
    scopes={"river": "read what you follow, mark and follow"},
    reserved=("river", "opml", "reader", "accounts", "api"),
    blueprints=(
        "pages:blueprint",
        "pages.reader_api_items:blueprint",
        "pages.reader_api_items:freshrss",
    ),
    programs=("reader_api", "freshrss.reader_api"),
    body_limits=(("/river/import", LIST_BYTES),),
    commands={"river": Command("command:river", "follow other feeds, politely")},
    tables="tables",
    settings="settings:RiverSettings",
    controls="controls:GROUPS",
    workers=("service:keep_working",),
    upkeep=("service:tidy",),
    menu=(MenuLink("river", "Following", "/river", 50),),
    hooks={
        "text_about": "for_the_engine:text_about",
        "blogroll": "blogroll:path",
        "figures": "for_the_engine:figures",
        "index_all": "for_the_engine:index_all",
    },
)
