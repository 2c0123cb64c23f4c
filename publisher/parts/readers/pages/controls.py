"""How the studio shows the settings of the readers' part."""

from publisher.web.studio.preferences.setting_controls import Control, Group

GROUPS = (
    Group(
        "visits",
        "Visits",
        (
            Control(
                "fairness",
                "Apps that look too often",
                kind="radios",
                options=(("off", "answer anyway"), ("on", "ask them to slow down")),
            ),
        ),
    ),
)
