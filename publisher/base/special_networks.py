"""Which addresses belong to the public internet: our own lists, the same under every Python.

From the registries of special-purpose addresses (RFC 6890 and its successors). Of IPv6, only
2000::/3 is assigned and so public. IPv4-mapped, 6to4 and NAT64 (64:ff9b::/96) addresses are public
if the IPv4 address inside is; Teredo, ISATAP and local translation prefixes are refused.
"""

import ipaddress

V4_SPECIAL = tuple(
    ipaddress.IPv4Network(network)
    for network in (
        "0.0.0.0/8",  # this network
        "10.0.0.0/8",  # private
        "100.64.0.0/10",  # shared by a provider's customers
        "127.0.0.0/8",  # loopback
        "169.254.0.0/16",  # link-local, and the clouds' metadata
        "172.16.0.0/12",  # private
        "192.0.0.0/24",  # protocols
        "192.0.2.0/24",  # documentation
        "192.31.196.0/24",  # AS112
        "192.52.193.0/24",  # AMT
        "192.88.99.0/24",  # relays of 6to4
        "192.168.0.0/16",  # private
        "192.175.48.0/24",  # AS112
        "198.18.0.0/15",  # benchmarks
        "198.51.100.0/24",  # documentation
        "203.0.113.0/24",  # documentation
        "224.0.0.0/4",  # multicast
        "240.0.0.0/4",  # reserved, and broadcast
    )
)
V6_GIVEN_OUT = ipaddress.IPv6Network("2000::/3")
V6_SPECIAL = tuple(
    ipaddress.IPv6Network(network)
    for network in (
        "2001::/23",  # protocols: Teredo, benchmarks, ORCHID, AMT, AS112
        "2001:db8::/32",  # documentation
        "2620:4f:8000::/48",  # AS112
        "3fff::/20",  # documentation
    )
)
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
_ISATAP = (0x00005EFE, 0x02005EFE)  # the third quarter of an address, before an IPv4 address


def is_public(address: str) -> bool:
    """Whether a literal IPv4 or IPv6 address belongs to the public internet."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    if isinstance(ip, ipaddress.IPv4Address):
        return not any(ip in network for network in V4_SPECIAL)
    inner = ip.ipv4_mapped or ip.sixtofour
    if ip in NAT64:
        inner = ipaddress.IPv4Address(int(ip) & 0xFFFFFFFF)
    if inner is not None:
        return is_public(str(inner))
    if (int(ip) >> 32) & 0xFFFFFFFF in _ISATAP or ip not in V6_GIVEN_OUT:
        return False
    return not any(ip in network for network in V6_SPECIAL)
