"""What feedgen does not write, or writes wrongly: one extension for the channel, one for items.

They speak lxml only; `rss.py` plugs them in.
"""

from typing import Any

from lxml.etree import SubElement

from publisher.dynamic_ttl.advice import update_rate
from publisher.feeds.channel import Channel, Item

ATOM = "http://www.w3.org/2005/Atom"
SYNDICATION = "http://purl.org/rss/1.0/modules/syndication/"
DUBLIN_CORE = "http://purl.org/dc/elements/1.1/"
ITUNES = "http://www.itunes.com/dtds/podcast-1.0.dtd"


class ChannelExtension:
    """Hubs, cloud, skipHours in order, the syndication module, and the podcast's frame."""

    channel: Channel

    def extend_ns(self) -> dict[str, str]:
        """The prefixes that the document needs."""
        names = {"sy": SYNDICATION}
        if any(item.author for item in self.channel.items):
            names["dc"] = DUBLIN_CORE
        if self.channel.is_podcast:
            names["itunes"] = ITUNES
        return names

    def extend_rss(self, root: Any) -> None:
        """Add the elements, after feedgen's own and before the items."""
        target, channel = root[0], self.channel
        for hub in channel.hubs:
            SubElement(target, f"{{{ATOM}}}link", rel="hub", href=hub)
        if channel.cloud:
            SubElement(
                target, "cloud", domain=channel.cloud.domain, port=str(channel.cloud.port),
                path=channel.cloud.path, registerProcedure=channel.cloud.register_procedure,
                protocol=channel.cloud.protocol,
            )  # fmt: skip
        if channel.skip_hours:
            hours = SubElement(target, "skipHours")
            for hour in sorted(channel.skip_hours):
                SubElement(hours, "hour").text = str(hour)
        if rate := update_rate(channel.ttl_minutes):
            SubElement(target, f"{{{SYNDICATION}}}updatePeriod").text = rate[0]
            SubElement(target, f"{{{SYNDICATION}}}updateFrequency").text = str(rate[1])
        if channel.is_podcast:
            SubElement(target, f"{{{ITUNES}}}author").text = channel.title
            SubElement(target, f"{{{ITUNES}}}explicit").text = "false"


class ItemExtension:
    """The author by name (RSS's own element wants an e-mail address), and an episode's length."""

    item: Item

    def extend_rss(self, entry: Any) -> None:
        """Add the elements at the end of the item."""
        if self.item.author:
            SubElement(entry, f"{{{DUBLIN_CORE}}}creator").text = self.item.author
        file = self.item.attachment
        if file is not None and file.is_audio and file.seconds:
            SubElement(entry, f"{{{ITUNES}}}duration").text = str(file.seconds)
