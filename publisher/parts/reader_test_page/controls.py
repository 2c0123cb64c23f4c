"""How the studio shows the setting of the page that tests feed readers."""

from publisher.web.studio.preferences.setting_controls import Control, Group

GROUPS = (
    Group(
        "technical",
        "The feed",
        (
            Control(
                "reader_test",
                "A test for feed readers",
                "At /reader-test anybody can try a reader on a feed that lives through a week.",
                "radios",
                (("off", "is not offered"), ("on", "is offered")),
            ),
        ),
    ),
)
