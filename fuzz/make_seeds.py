#!/usr/bin/env python3
"""Writes the fuzz targets' binary seeds, seeds/capi, seeds/capture, seeds/frames and seeds/segments."""

import struct
from pathlib import Path

SEEDS = Path(__file__).parent / "seeds"
MACS = bytes.fromhex("020000000002 020000000001")
ADDRESSES4 = bytes([10, 7, 0, 1, 10, 7, 0, 2])
ADDRESSES6 = bytes.fromhex("fd000000000000000000000000000001 fd000000000000000000000000000002")
TCP, UDP, ICMP, FRAGMENT, HOP_BY_HOP = 6, 17, 1, 44, 0


def udp(source, destination, payload=b"voice"):
    return struct.pack(">HHHH", source, destination, 8 + len(payload), 0) + payload


def tcp(source, destination, payload=b"GET /"):
    return struct.pack(">HHIIHHHH", source, destination, 1, 1, 0x5018, 1024, 0, 0) + payload


def ipv4(protocol, above, dscp=0, offset=0):
    length = 20 + len(above)
    head = struct.pack(">BBHHHBBH", 0x45, dscp << 2, length, 1, offset, 64, protocol, 0)
    return head + ADDRESSES4 + above


def ipv6(protocol, above, dscp=0):
    return struct.pack(">IHBB", 6 << 28 | dscp << 22, len(above), protocol, 64) + ADDRESSES6 + above


def extension(following, value=b"\x01\x04\0\0\0\0"):
    return bytes([following, 0]) + value


def ethernet(packet, tags=()):
    tags = b"".join(struct.pack(">HH", kind, vlan) for kind, vlan in tags)
    return MACS + tags + (b"\x08\0" if packet[0] >> 4 == 4 else b"\x86\xdd") + packet


PACKETS = {
    "ipv4-udp": ipv4(UDP, udp(5004, 4000), dscp=46),
    "ipv4-tcp": ipv4(TCP, tcp(40000, 443)),
    "ipv4-later-fragment": ipv4(UDP, b"the rest", offset=100),
    "ipv6-udp": ipv6(UDP, udp(5004, 4010), dscp=34),
    "ipv6-extensions": ipv6(
        HOP_BY_HOP, extension(FRAGMENT) + extension(TCP, bytes(6)) + tcp(40000, 80)
    ),
}
FRAMES = {name: ethernet(packet) for name, packet in PACKETS.items()} | {
    "vlan": ethernet(PACKETS["ipv4-udp"], [(0x8100, 7)]),
    "two-vlans": ethernet(PACKETS["ipv6-udp"], [(0x88A8, 5), (0x8100, 7)]),
    "arp": MACS + bytes.fromhex("0806 0001 0800 06 04 0001") + bytes(20),
}


def carried(carrier, packet):
    return MACS + bytes.fromhex(carrier) + packet


CARRIED = {
    "mpls": carried("8847 00064040 00002140", PACKETS["ipv4-udp"]),
    "pppoe": carried("8864 11000001003f 0057", PACKETS["ipv6-udp"]),
    "snap": carried("0042 aaaa03000000 0800", PACKETS["ipv4-tcp"]),
    "backbone": carried("88a80005 88e700000001", ethernet(PACKETS["ipv4-udp"])),
}
FIVE = [FRAMES[name] for name in ("ipv4-udp", "ipv4-tcp", "vlan", "ipv6-extensions", "arp")]


def pcap(packets, order="<", magic=0xA1B23C4D, link_type=1, snap=128):
    file = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, snap, link_type)
    for number, packet in enumerate(packets):
        kept = packet[:snap]
        file += struct.pack(order + "IIII", 7, 1000 * number, len(kept), len(packet)) + kept
    return file


def pcapng(packets, order="<"):
    def block(kind, body):
        body += bytes(-len(body) % 4)
        length = len(body) + 12
        return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)

    nanoseconds = struct.pack(order + "HHB3x", 9, 1, 9) + struct.pack(order + "HHq", 14, 8, 3600)
    file = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1))
    file += block(1, struct.pack(order + "HHI", 1, 0, 0) + nanoseconds + bytes(4))
    file += block(1, struct.pack(order + "HHI", 101, 0, 0))
    file += block(4, b"names, read over")
    for number, packet in enumerate(packets):
        fields = struct.pack(order + "IIII", 0, 1000 * number, len(packet), len(packet))
        file += block(6, struct.pack(order + "I", 0) + fields + packet)
    raw = PACKETS["ipv4-udp"]
    # Right behind the others, whose interface is an hour ahead.
    time = 3_600_000_009
    fields = struct.pack(order + "HHIIII", 1, 0, time >> 32, time & 0xFFFF_FFFF, len(raw), len(raw))
    return file + block(2, fields + raw)


RADIOTAP = bytes.fromhex("0000 0900 02000000 10")
WIFI = bytes.fromhex("8801 0000") + bytes(22) + bytes.fromhex("aaaa03000000 0800")

CAPTURES = {
    "ethernet.pcap": pcap(FIVE),
    "big-endian-microseconds.pcap": pcap(FIVE, ">", 0xA1B2C3D4),
    "cut.pcap": pcap(FIVE, snap=40),
    "raw-ip.pcap": pcap(PACKETS.values(), link_type=101),
    "cooked.pcap": pcap([bytes(14) + b"\x08\0" + PACKETS["ipv4-udp"]], link_type=113),
    "loopback.pcap": pcap([b"\2\0\0\0" + PACKETS["ipv4-udp"]], link_type=0),
    "ppp.pcap": pcap([b"\xff\x03\0\x21" + PACKETS["ipv4-udp"]], link_type=9),
    "radiotap.pcap": pcap([RADIOTAP + WIFI + PACKETS["ipv4-udp"] + bytes(4)], link_type=127),
    "ethernet.pcapng": pcapng(FIVE),
    "two-sections.pcapng": pcapng(FIVE[:2], ">") + pcapng(FIVE[2:]),
}


def uncut(kind, frame, above):
    """A frame that is to be cut into parts of 100 bytes, behind `struct virtio_net_hdr`."""
    start = len(frame) - len(above)
    return struct.pack("<BBHHHH", 1, kind, start, 100, start, 16 if kind != 5 else 6) + frame


TCP_ABOVE, UDP_ABOVE = tcp(40000, 443, bytes(450)), udp(5004, 4000, bytes(250))
SEGMENTS = {
    "tcp4": uncut(1, ethernet(ipv4(TCP, TCP_ABOVE)), TCP_ABOVE),
    "tcp6": uncut(4, ethernet(ipv6(TCP, TCP_ABOVE), [(0x8100, 7)]), TCP_ABOVE),
    "udp4": uncut(5, ethernet(ipv4(UDP, UDP_ABOVE)), UDP_ABOVE),
}



def number(value, length):
    return bytes([length]) + value.to_bytes(length, "big")


def push(class_id, length):
    return bytes([0, class_id, 1]) + number(length, 2) + number(0, 1)


def datagram(length, deadline, expires):
    return bytes([0]) + number(length, 2) + number(deadline, 1) + number(expires, 1) + bytes([4, 7])


POP, DROP, LATER = bytes([3]), bytes([5]), bytes([6]) + number(1000, 2)
CALLS = {
    "wf2q": bytes([0, 0, 3]) + push(0, 100) + push(1, 1500) + POP + LATER + bytes([3, 8, 1, 5, 3]) + DROP,
    "edf-withdraw": bytes([0, 0, 0])
    + push(0, 200)
    + push(2, 900)
    + bytes([7])
    + number(1, 1)
    + bytes([0, 8, 0, 8])
    + POP
    + DROP,
    "datagrams": bytes([2, 9])
    + datagram(200, 9, 20)
    + datagram(900, 0, 0)
    + datagram(300, 0, 5)
    + bytes([6])
    + datagram(100, 30, 40)[1:]
    + number(8_000_000, 4)
    + bytes([4])
    + number(5, 1)
    + bytes([3])
    + number(2000, 2)
    + number(8_000_000_000, 5)
    + number(0, 0)
    + bytes([5])
    + number(2, 1)
    + bytes([1]),
    "udp": bytes([6])
    + 2
    * (
        bytes([2])
        + number(5, 1)
        + number(1, 1)
        + bytes([0, 100])
        + number(7, 1)
        + bytes([16])
        + number(0, 0)
        + number(0, 0)
        + number(1228, 2)
        + bytes([46])
    ),
    "book": bytes([3, 0, 0, 0, 0])
    + b"deadline = '20ms'\narrival = { bucket = '3kB', rate = '3mbit' }",
}

SEED_FOLDERS = {"capi": CALLS, "capture": CAPTURES, "frames": FRAMES, "segments": SEGMENTS}
for folder, files in SEED_FOLDERS.items():
    (SEEDS / folder).mkdir(parents=True, exist_ok=True)
    for name, content in files.items():
        (SEEDS / folder / name).write_bytes(content)
for name, content in PACKETS.items():
    (SEEDS / "frames" / f"{name}.packet").write_bytes(content)
for name, content in CARRIED.items():
    (SEEDS / "frames" / f"{name}.carried").write_bytes(content)
