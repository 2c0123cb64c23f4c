"""The short notes, without titles."""

from publisher.demo.text import Text


def _mara(day: int, time: str, source: str, *tags: str) -> Text:
    return Text(day, time, source, tags=tags)


def _tomas(day: int, time: str, source: str, *tags: str) -> Text:
    return Text(day, time, source, tags=tags, by="tomas")


NOTES = (
    _mara(86, "08:14", "A feed reader is a letterbox that walks to the post office.", "polling"),
    _tomas(
        84,
        "19:31",
        "Today's log has a reader called `curl/7.1`. That version is older than our cat.",
        "readers",
    ),
    _mara(83, "07:50", "The first coffee is the real cron job."),
    _mara(
        79,
        "10:11",
        "Somebody asked whether a ttl of 0 means *always* or *never*. It means the author has not "
        "decided.",
        "ttl",
    ),
    _tomas(77, "12:44", "`If-None-Match: *` is the most confident header there is.", "http"),
    _mara(72, "09:02", "Rain. Sixty-one subscribers, sixty of them machines, and hello to you."),
    _mara(70, "20:05", "A good *304* has no body, a good guest no luggage.", "http"),
    _tomas(
        65,
        "11:37",
        "Found a feed whose `lastBuildDate` is always *now*. It is either very busy or very "
        "anxious.",
        "rss",
    ),
    _mara(63, "08:20", "RFC 822 allows two-digit years. So did my first passport."),
    _mara(
        58,
        "09:55",
        "I moved a post to another address, and its guid stayed. Readers noticed nothing, which is "
        "the greatest praise a guid can get.",
        "rss",
    ),
    _mara(56, "13:08", "Lunch is visible in our histogram.", "habits"),
    _tomas(
        51,
        "10:48",
        "Ask a hundred programs how often they poll and ninety will answer with a constant. The "
        "constant is sixty minutes, and nobody remembers who chose it.",
        "polling",
    ),
    _mara(48, "07:35", "Snow on the antenna. The feed does not mind."),
    _mara(
        44,
        "19:44",
        "Idea: a reader that shows how many people are *also* waiting. Idea two: do not build it.",
        "readers",
    ),
    _mara(
        42,
        "09:27",
        "A *syndic* once spoke for a whole town. A syndicated feed speaks for a whole desk, and "
        "spares us forty visits before breakfast.",
        "writing",
    ),
    _tomas(37, "10:59", "`Vary: Accept-Encoding` is how a cache says *it depends*.", "http"),
    _mara(35, "08:03", "Every inbox wants you to come now. A feed lets you come later."),
    _mara(
        30,
        "11:15",
        "Half-life of a habit, measured on ourselves: thirty days. Science has spoken, sample of "
        "two.",
        "habits",
        "numbers",
    ),
    _mara(28, "20:21", "The evening hill in our day is regret about the morning.", "habits"),
    _tomas(
        23,
        "09:40",
        "A webhook that fails is sent five times more. A reader that fails asks again in an hour. "
        "I know which of the two I want on my team.",
        "polling",
    ),
    _tomas(21, "12:26", "skipHours are in GMT. This note is for me.", "rss"),
    _mara(16, "08:48", "Subscribed to a lighthouse. It publishes every nine seconds.", "stories"),
    _mara(
        14,
        "10:33",
        "*Come back later* is either a dismissal or an invitation. The number makes the "
        "difference.",
        "ttl",
    ),
    _mara(9, "09:18", "Nothing to say this hour. The feed says it for us.", "ttl"),
    _tomas(7, "11:50", "gzip turned 56 kB into 11. The rest were angle brackets.", "numbers"),
    _mara(3, "10:07", "An empty poll is not a failure. It is an answer."),
    _mara(2, "08:25", "Seven readers went from 30 to 15 minutes today, all by themselves."),
    _mara(1, "12:12", "Good morning to whoever was told 480 and slept well."),
)
