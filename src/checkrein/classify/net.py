"""Peers: what a URL, `host`, `host:port` or `user@host:path` names, and of which class that peer is. Pure; nothing is resolved.

Spellings that resolvers take for an address (decimal, octal and hexadecimal numbers, fewer than four parts, IPv4 inside IPv6,
full-width digits and dots) are read as that address.
"""

from __future__ import annotations

import ipaddress
import re
from functools import lru_cache
from typing import NamedTuple

from checkrein.vocab.effects import Net

_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://")
_SCP = re.compile(r"(?:[^@/\s:]+@)?(\[[^\]]+\]|[^:/\s@]+):(?!//)(?!\d+(?:/|$))")
_BARE_SIX = re.compile(r"(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F.]*(?:%\w+)?")
_NUMBER = re.compile(r"0[xX][0-9a-fA-F]+|\d+")
_METADATA_HOSTS = frozenset(
    {
        "metadata",
        "metadata.google.internal",
        "metadata.goog",
        "instance-data",
        "instance-data.ec2.internal",
        "metadata.azure.com",
    }
)
_METADATA = frozenset(
    ipaddress.ip_address(one)
    for one in (
        "169.254.169.254",
        "169.254.170.2",
        "169.254.170.23",
        "100.100.100.200",
        "192.0.0.192",
        "168.63.129.16",
        "fd00:ec2::254",
    )
)
_LOOPBACK_NAMES = ("localhost", "localhost.localdomain", "ip6-localhost", "ip6-loopback")
# Names that only a private resolver knows.
_PRIVATE_SUFFIXES = (".internal", ".local", ".lan", ".intranet", ".corp", ".home.arpa", ".home", ".localdomain")
# Public names that resolve to the address they spell.
_SPELLED = re.compile(
    r"(?:^|.*[.-])(?:(\d{1,3})[.-](\d{1,3})[.-](\d{1,3})[.-](\d{1,3})|([0-9a-f]{8}))\.(?:nip\.io|sslip\.io|xip\.io)$"
)
_LOOPBACK_SPELLED = ("localtest.me", "lvh.me", "vcap.me", "lacolhost.com")
_SHARED = ipaddress.ip_network("100.64.0.0/10")


class Peer(NamedTuple):
    """`host` is lower case, without port, user and brackets; an address in its usual spelling. `port` is 0 where none is named."""

    host: str
    net: Net
    port: int = 0


def classify(text: str, *, unresolved: bool = False) -> Peer:
    """The peer that a text names. An unresolved text keeps what it says of its host for people, and no class but `unresolved`,
    unless the host itself is constant.
    """
    peer = _classify(text)
    if unresolved and "\N{HORIZONTAL ELLIPSIS}" in _authority(text):
        return Peer(peer.host, Net.UNRESOLVED, peer.port)
    return peer


@lru_cache(maxsize=2048)
def _classify(text: str) -> Peer:
    authority = _authority(text)
    if "\N{HORIZONTAL ELLIPSIS}" in authority or "\0" in authority:
        return Peer(authority, Net.UNRESOLVED)
    host, port = _split(authority)
    name = _name(host)
    if not name:
        return Peer("", Net.UNRESOLVED, port)
    address = _address(name)
    if address is not None:
        return Peer(str(address), _class(address), port)
    return Peer(name, _named(name), port)


def _authority(text: str) -> str:
    """What stands for user, host and port."""
    text = text.strip()
    scheme = _SCHEME.match(text)
    if scheme is not None:
        rest = text[scheme.end() :]
    elif text.startswith("//"):
        rest = text[2:]
    elif _BARE_SIX.fullmatch(text):
        return text
    else:
        scp = _SCP.match(text)
        if scp is not None:
            return scp[1]
        rest = text
    # A backslash ends the host for most clients; the last `@` ends the user for all of them.
    rest = re.split(r"[/?#\\]", rest, maxsplit=1)[0]
    return rest.rpartition("@")[2]


def _split(authority: str) -> tuple[str, int]:
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        port = rest.removeprefix(":")
    elif authority.count(":") > 1:
        return authority, 0  # a bare IPv6 address
    else:
        host, _, port = authority.partition(":")
    return host, int(port) if port.isascii() and port.isdigit() and len(port) <= 5 else 0


def _name(host: str) -> str:
    """Lower case, without a final dot, in the spelling that a resolver gets (UTS 46)."""
    host = host.rstrip(".").lower()
    if host.isascii():
        return host
    import idna  # loaded for names beyond ASCII only

    try:
        return idna.encode(host, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError:
        return idna.uts46_remap(host, std3_rules=False, transitional=False) if host.isprintable() else host


def _address(name: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    if ":" in name:
        try:
            six = ipaddress.IPv6Address(name.partition("%")[0])
        except ValueError:
            return None
        return _inner(six) or six
    parts = name.split(".")
    if len(parts) <= 4 and all(_NUMBER.fullmatch(part) for part in parts):
        return _numbers(parts)
    spelled = _SPELLED.match(name)
    if spelled is None:
        return None
    if spelled[5]:
        return ipaddress.IPv4Address(int(spelled[5], 16))
    octets = [int(spelled[n]) for n in range(1, 5)]
    return ipaddress.IPv4Address(bytes(octets)) if max(octets) < 256 else None


def _inner(six: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address that an IPv6 one stands for: mapped, compatible, 6to4, NAT64."""
    if six.ipv4_mapped is not None:
        return six.ipv4_mapped
    if six.sixtofour is not None:
        return six.sixtofour
    number = int(six)
    if number >> 32 == 0x0064FF9B << 64 or (number >> 32 == 0 and number > 0xFFFF):
        return ipaddress.IPv4Address(number & 0xFFFFFFFF)
    return None


def _numbers(parts: list[str]) -> ipaddress.IPv4Address | None:
    """As `inet_aton` reads it: parts may be octal or hexadecimal, and the last one fills all bytes that are left."""
    values = []
    for part in parts:
        if part[:2] in {"0x", "0X"}:
            values.append(int(part, 16))
        elif len(part) > 1 and part[0] == "0" and all(digit in "01234567" for digit in part):
            values.append(int(part, 8))
        else:
            values.append(int(part))
    *heads, last = values
    if any(head > 255 for head in heads) or last >= 256 ** (5 - len(values)):
        return None
    number = last
    for rank, head in enumerate(heads):
        number += head << (24 - 8 * rank)
    return ipaddress.IPv4Address(number)


def _class(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> Net:
    if address in _METADATA:
        return Net.METADATA
    if address.is_loopback or address.is_unspecified:
        return Net.LOOPBACK
    if address.is_link_local:
        return Net.LINK_LOCAL
    if isinstance(address, ipaddress.IPv4Address) and address in _SHARED:
        return Net.PRIVATE
    return Net.PRIVATE if address.is_private or address.is_reserved or address.is_multicast else Net.PUBLIC


def _named(name: str) -> Net:
    if name in _METADATA_HOSTS:
        return Net.METADATA
    if name in _LOOPBACK_NAMES or name.endswith(".localhost"):
        return Net.LOOPBACK
    if any(name == one or name.endswith(f".{one}") for one in _LOOPBACK_SPELLED):
        return Net.LOOPBACK
    if name.endswith(_PRIVATE_SUFFIXES) or "." not in name:
        return Net.PRIVATE
    return Net.PUBLIC
