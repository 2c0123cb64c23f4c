"""How the studio shows the settings of Webmention."""

from publisher.web.studio.preferences.setting_controls import Control, Group

GROUPS = (
    Group(
        "blog",
        "Conversations",
        (
            Control(
                "webmention_send",
                "Tell a site when I link to it",
                "When a post is published, changed, taken back or deleted, if the site accepts it.",
                "radios",
                (("on", "yes"), ("off", "no")),
            ),
            Control(
                "webmention_receive",
                "Accept mentions from other sites",
                "Each is checked, and then waits for you under Posts, Mentions. Nothing is shown "
                "until you approve it.",
                "radios",
                (("off", "no"), ("on", "yes")),
            ),
        ),
    ),
)
