"""The other end of a TCP connection within this machine, as the kernel knows it: user and inode.

The kernel is asked for this one socket (`NETLINK_SOCK_DIAG`), which is quick however many there
are. Where it does not know it, or cannot be asked, the whole list is read (`/proc/net/tcp`): a row
may be missing from that while other connections come and go.
"""

from __future__ import annotations

import ipaddress
import socket
import struct
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from segue.drivers import processes

End = tuple[str, int]  # address, port
Ip = ipaddress.IPv4Address | ipaddress.IPv6Address

NETLINK_SOCK_DIAG = 4
SOCK_DIAG_BY_FAMILY = 20
NLM_F_REQUEST = 1
ALL_STATES = 0xFFFFFFFF
ANY_COOKIE = bytes(4) + b"\xff" * 8  # of any interface, and no cookie to compare
_HEADER = struct.Struct("=IHHII")
_REQUEST = struct.Struct("=BBBBI")
_USER_INODE = struct.Struct("=II")
_USER_AT = _HEADER.size + 4 + 48 + 12  # behind the state, both ends, and three counters
ANSWER_BYTES_MAX = 8_192
ANSWER_S = 1.0


@dataclass(frozen=True, slots=True)
class Held:
    """Whose socket it is. Inode 0: no process holds it any more."""

    user: int
    inode: int


def plain(address: str) -> Ip:
    """An address as it is, without zone; IPv4 also where it came over IPv6."""
    ip = ipaddress.ip_address(address.partition("%")[0])
    return getattr(ip, "ipv4_mapped", None) or ip


def is_local(address: str) -> bool:
    """Whether an address is one of this machine's own."""
    try:
        ip = plain(address)
    except ValueError:
        return False
    if ip.is_loopback:
        return True
    with socket.socket(_family(ip), socket.SOCK_DGRAM) as probe:
        try:
            probe.bind((str(ip), 0))
        except OSError:
            return False
    return True


def other_end(peer: End, own: End) -> Held | None:
    """The socket at the end `peer` of a connection to our end `own`; None: it is not here."""
    return _asked(peer, own) or _listed(peer, own)


def _family(ip: Ip) -> socket.AddressFamily:
    return socket.AF_INET if ip.version == 4 else socket.AF_INET6


def _asked(peer: End, own: End) -> Held | None:
    there, here = plain(peer[0]), plain(own[0])
    ports = struct.pack("!HH", peer[1], own[1])
    ends = ports + there.packed.ljust(16, b"\0") + here.packed.ljust(16, b"\0")
    asked = _REQUEST.pack(_family(there), socket.IPPROTO_TCP, 0, 0, ALL_STATES) + ends + ANY_COOKIE
    order = _HEADER.pack(_HEADER.size + len(asked), SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, 1, 0)
    try:
        with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_SOCK_DIAG) as link:
            link.settimeout(ANSWER_S)
            link.sendto(order + asked, (0, 0))
            answer = link.recv(ANSWER_BYTES_MAX)
    except OSError:  # a kernel without it, or a service that may not use netlink
        return None
    if _HEADER.unpack_from(answer)[1] != SOCK_DIAG_BY_FAMILY:  # an error: no such socket, …
        return None
    return Held(*_USER_INODE.unpack_from(answer, _USER_AT))


def _listed(peer: End, own: End) -> Held | None:
    for table, ends in _written(peer, own):
        text = processes.read(f"net/{table}")
        at = text.find(ends)
        if at >= 0:
            fields = text[at : text.find(b"\n", at)].split()
            return Held(user=int(fields[6]), inode=int(fields[8]))
    return None


def _written(peer: End, own: End) -> Iterator[tuple[str, bytes]]:
    """How the list names both ends, and in which table: IPv4 also goes over IPv6 sockets."""
    ips = [plain(address) for address, _port in (peer, own)]
    tables = {"tcp": b"", "tcp6": bytes(10) + b"\xff\xff"} if ips[0].version == 4 else {"tcp6": b""}
    for table, prefix in tables.items():
        pairs = zip(ips, (peer[1], own[1]), strict=True)
        words = [f"{_hex(prefix + ip.packed)}:{port:04X}" for ip, port in pairs]
        yield table, f"{' '.join(words)} ".encode()


def _hex(packed: bytes) -> str:
    """32 bits at a time, each as a number of this machine."""
    parts = (packed[at : at + 4] for at in range(0, len(packed), 4))
    return "".join(f"{int.from_bytes(part, sys.byteorder):08X}" for part in parts)
