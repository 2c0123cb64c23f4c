"""The longer texts: titles, code, tables, footnotes, pictures, an episode, what is not out yet."""

from publisher.demo.text import Text

ARTICLES = (
    Text(
        88,
        "09:12",
        title="Hello, reader",
        tags=("meta",),
        source="""\
This is a blog about **feeds**: how they travel, who waits for them, and how much of that waiting
is wasted.

Most programs that read this page are not people. They knock, ask whether anything is new, and go
away again, all day and all night. We would like to be good hosts to them. So this blog tells its
visitors *when to come back*, and the number changes with our day.

Tomas writes about machines here, Mara about everything else.
""",
    ),
    Text(
        81,
        "10:40",
        title="What a ttl is",
        tags=("ttl", "rss"),
        summary="Three letters in a feed that say how long a copy stays good.",
        source="""\
RSS has had an element called `ttl` since 2.0. It is a number of minutes:

```xml
<channel>
  <title>Told You When</title>
  <ttl>60</ttl>
</channel>
```

It says: *a copy of this feed is good for an hour*. Not "poll me every hour", although that is what
comes out of it; it is a promise by the writer about the future.[^1]

Almost every blog engine writes a constant there, or nothing. A constant is a strange thing to say
about the future. Nobody publishes at the same rate at three in the morning and at nine.

[^1]: Promises about the future are best made by people who know the past. Ours is in a table of 24
    numbers.
""",
    ),
    Text(
        74,
        "08:55",
        title="The shape of a day",
        tags=("ttl", "habits"),
        source="""\
We counted when we publish. Here is the result, one bar an hour, midnight on the left:

![Twenty-four bars: none at night, tall from seven to one, low in the afternoon, a small hill in
the evening]({day} "An ordinary day, as a picture")

It is a silhouette of two people with coffee. Mornings belong to links and first thoughts,
afternoons to work that pays, evenings to one or two more remarks that should have waited.

| hours | what happens | what the feed says |
|:--|:--|--:|
| 07 to 13 | notes come one after the other | 15 min |
| 14 to 17 | meetings | 60 min |
| 19 to 20 | second wind | 15 min |
| 22 to 06 | nothing | 480 min |

A reader that listens to this asks us about forty-five times a day instead of ninety-six, and misses
nothing that matters.
""",
    ),
    Text(
        67,
        "11:20",
        by="tomas",
        title="A polite poller in thirty lines",
        tags=("polling", "code"),
        source="""\
People ask what a well-behaved reader looks like. Not much is needed: remember what you were given,
give it back, and wait as long as you were told.

```python
import time
from urllib.error import HTTPError
from urllib.request import Request, urlopen


def poll(url, validators):
    request = Request(url, headers={"User-Agent": "thirty-lines/1.0", **validators})
    try:
        with urlopen(request) as answer:
            kept = {
                "If-None-Match": answer.headers.get("ETag"),
                "If-Modified-Since": answer.headers.get("Last-Modified"),
            }
            return answer.read(), {k: v for k, v in kept.items() if v}, answer.headers
    except HTTPError as error:
        if error.code == 304:
            return None, validators, error.headers
        raise


def max_age(headers, otherwise=3600):
    for part in headers.get("Cache-Control", "").split(","):
        name, _, value = part.strip().partition("=")
        if name == "max-age":
            return int(value)
    return otherwise


validators = {}
while True:
    body, validators, headers = poll("https://blog.example/rss.xml", validators)
    print("news" if body else "nothing new")
    time.sleep(max_age(headers))
```

Notice that `max-age` is read **from the 304 as well**. Most programs forget that, and then believe
at midnight what they were told at noon.
""",
    ),
    Text(
        60,
        "09:30",
        title="The lighthouse keeper's log",
        tags=("habits", "stories"),
        source="""\
![A lighthouse on a rock, its beam over the sea]({lighthouse} "The light is on for whoever passes")

My grandfather kept a light. The light did not know which ships were out there; it turned, and
whoever needed it looked. He wrote one line an hour into a log: wind, visibility, *nothing passed*.

"Nothing passed" is a perfectly good line. I think of him each time a server answers
`304 Not Modified`. Somebody looked, the light was on, nothing was lost, and it cost a few hundred
bytes.
""",
    ),
    Text(
        53,
        "10:05",
        by="tomas",
        title="Forty thousand questions",
        tags=("polling", "numbers"),
        source="""\
I looked at one week of requests for a feed that I help to run. It has three posts a week.

| kind of reader | requests | answered 304 | bytes |
|:--|--:|--:|--:|
| remembers validators | 9,200 | 9,180 | 2 MB |
| remembers nothing | 6,100 | 0 | 340 MB |
| asks every minute | 24,700 | 0 | 1,380 MB |

Twenty-four thousand questions came from **two** programs. Neither is malicious. Each is a loop with
a `sleep(60)` that somebody wrote on a Friday and forgot.[^loop]

What the table does not show: nobody was told anything else. The feed had no ttl and the answer no
`max-age`. A server that does not say when to come back should not be surprised by when people come.

[^loop]: I have written that loop as well. It was a Friday.
""",
    ),
    Text(
        46,
        "12:10",
        title="On notes without titles",
        tags=("writing", "rss"),
        source="""\
A title is a promise that what follows is *about* something. Many good remarks are not about
anything yet.

RSS never asked for titles: an item needs a title **or** a description. It was the programs that
asked, and so the first eight words of every note ended up printed twice, once large.

> "Untitled" is a title too, and not a good one.
>
> from a reader's letter

We leave the title away when there is none. If your reader shows "Untitled", please tell it that
this is not our name.
""",
    ),
    Text(
        39,
        "09:48",
        by="tomas",
        title="Episode 1: the sound of 304",
        tags=("podcast",),
        episode=True,
        summary="Thirty seconds of a server that has nothing new to say.",
        source="""\
Our first episode is thirty seconds of silence: the exact sound a server makes when it answers
*304 Not Modified*.

Play it loudly. It is the most popular answer on the web, and nobody ever hears it.
""",
    ),
    Text(
        32,
        "08:30",
        title="Polls and posts, drawn to scale",
        tags=("polling", "numbers"),
        source="""\
Two readers, one day. The dots above are polls, the bars below are posts.

![Two rows of dots over a row of bars: the upper row is even, the lower one is dense where the bars
are and sparse in the night]({polls} "Above: every half hour. Below: when told to")

The first reader asks forty-eight times, most of them at night, and still learns of the nine o'clock
post at half past. The second asks when it is told to. It asks *fewer* times and knows *sooner*.
That is not a trade-off. It is what happens when somebody who knows tells somebody who wants to.
""",
    ),
    Text(
        25,
        "10:22",
        by="tomas",
        title="Why the night costs nothing",
        tags=("ttl", "numbers"),
        source="""\
A surprise post at two in the morning is learned of late by a reader who was told 480 minutes. How
late, on average? With one such post a month and eight hours of ttl: four hours, once a month.

What it buys: thirty-one polls a night for every reader that listens, which is about *nine hundred a
month*. If anybody was awake to miss us at two in the morning, we would like to hear from them.

```text
expected delay   1 post/month * 4 h         =  8 min per day
polls saved      31 per night * 30 nights   =  930 per month and reader
```

And if a post is **scheduled** for two in the morning the feed knows that, and no copy outlives it.
""",
    ),
    Text(
        18,
        "09:15",
        title="Three readers we like",
        tags=("readers",),
        source="""\
1. **The one in the terminal.** It shows no pictures, asks with both validators, and waits.
2. **The one on the train.** It fetches at seven, is read until half past, and sleeps until the way
   home. It has never seen a ttl, yet behaves as if it had.
3. **The one that belongs to a search engine.** It comes on Tuesdays.

~~The one that asks every second~~ is a different story, and has its own page in our statistics.
""",
    ),
    Text(
        11,
        "11:02",
        by="tomas",
        title="An ETag is a memory, not a checksum",
        tags=("http", "code"),
        source="""\
A checksum answers *is this intact*. An ETag answers *do you still know what I told you*. So it has
to cover everything we said, **including the ttl**:

```python
def etag(document: bytes) -> str:
    return f'W/"{hashlib.sha256(document).hexdigest()[:32]}"'
```

If the tag covered the posts alone, a reader that was told "15 minutes" at noon would get 304 all
night and go on asking every quarter of an hour. We tried it in a simulation: eighty-eight requests
a day instead of four. The reader did nothing wrong. We had asked it to remember half a sentence.
""",
    ),
    Text(
        4,
        "08:42",
        title="Patience is a protocol",
        tags=("writing", "habits"),
        source="""\
There are two ways of not missing the postman. You can open the door every five minutes. Or you can
know that he comes at ten.

The first is called *polling* and the second is called *a village*.

The web has a third way, which is to give the postman your key.[^push] It is a fine way when you
know the postman. This blog does both, and for everybody else it says quietly when it is worth
looking.

[^push]: WebSub, rssCloud and their relatives: the feed is announced, and whoever subscribed to the
    announcement fetches it at once.
""",
    ),
    Text(
        1,
        "09:05",
        by="tomas",
        title="What changed while you slept",
        tags=("meta", "ttl"),
        source="""\
The table of twenty-four numbers forgets slowly: what we did thirty days ago counts half of what we
do today. Since Mara started to walk before breakfast, seven o'clock has been shrinking, and ten has
grown. On Monday the feed noticed and began to say *60* at seven.

Nobody changed a setting.
""",
    ),
    Text(
        -2,
        "09:00",
        title="A letter from the future",
        tags=("meta", "ttl"),
        status="scheduled",
        source="""\
This was written days ago and waits for its hour. The feed has known about it all the time: no copy
that was handed out since then lives longer than this post has to wait.
""",
    ),
    Text(
        0,
        "00:00",
        title="Notes for a talk on skipHours",
        tags=("rss",),
        status="draft",
        source="""\
- hours in GMT, always, which is half of all bug reports
- "may not read", so be careful with it
- nobody implements skipDays; *nearly* nobody

Ask Tomas for the numbers.
""",
    ),
    Text(
        0,
        "00:00",
        by="tomas",
        status="draft",
        source="""\
Does anybody still send `A-IM: feed`? Check the log before writing another word about it.
""",
    ),
    Text(
        88,
        "09:00",
        title="About",
        kind="page",
        source="""\
**Told You When** is a notebook about feeds, polling and patience, kept by Mara and Tomas.

We publish mostly in the mornings. You do not have to remember that: the feed says when to come
back, and the strip of twenty-four bars shows why.

*This is a demonstration: the people are invented, the opinions are not.*
""",
    ),
)
