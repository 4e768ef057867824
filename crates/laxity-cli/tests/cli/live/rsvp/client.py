"""A host that speaks RSVP (RFC 2205, RFC 2210), written from the RFCs and sharing no code with Laxity.

usage: client.py ADDRESS CAPTURE

Takes one JSON object a line from standard input and sends what it says; prints one for every message that comes,
and first one of kind 0 when it listens.
All packets are written to CAPTURE, in the format of pcap.
"""

import json
import socket
import struct
import sys
import threading
import time

OWN, CAPTURE = sys.argv[1:3]
ALERT = bytes([0x94, 4, 0, 0])


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def item(number, flags, body):
    """A service or a parameter: its length counts words behind its header."""
    return struct.pack("!BBH", number, flags, len(body) // 4) + body


def obj(number, kind, body):
    return struct.pack("!HBB", len(body) + 4, number, kind) + body


def address(text):
    return socket.inet_aton(text)


def session(destination, protocol, port):
    return obj(1, 1, address(destination) + struct.pack("!BBH", protocol, 0, port))


def hop(node, handle):
    return obj(3, 1, address(node) + struct.pack("!I", handle))


def endpoint(number, source, port):
    return obj(number, 1, address(source) + struct.pack("!HH", 0, port))


def tspec(rate, bucket, peak, least, most):
    return item(127, 0, struct.pack("!fffII", rate, bucket, peak, least, most))


def adspec():
    words = [(4, 0), (6, struct.unpack("!I", struct.pack("!f", 1.25e9))[0]), (8, 0), (10, 1500)]
    general = b"".join(item(number, 0, struct.pack("!I", word)) for number, word in words)
    terms = b"".join(item(number, 0, struct.pack("!I", 0)) for number in (133, 134, 135, 136))
    services = item(1, 0, general) + item(2, 0, terms) + item(5, 0, b"")
    return obj(13, 2, item(0, 0, services))


def message(kind, ttl, objects):
    body = b"".join(objects)
    head = struct.pack("!BBHBBH", 0x10, kind, 0, ttl, 0, len(body) + 8)
    total = checksum(head + body)
    return head[:2] + struct.pack("!H", total) + head[4:] + body


def ip(source, destination, ttl, alert, payload):
    options = ALERT if alert else b""
    length = 20 + len(options)
    head = struct.pack("!BBHHHBBH", 0x40 | length // 4, 0xC0, length + len(payload), 1, 0, ttl, 46, 0)
    head += address(source) + address(destination) + options
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + payload


def sender_objects(order):
    least = obj(12, 2, item(0, 0, item(1, 0, tspec(*order["tspec"]))))
    return [endpoint(11, *order["sender"]), least]


def flow_objects(order):
    service = order.get("service", 2)
    body = tspec(*order["tspec"])
    if service == 2:
        body += item(130, 0, struct.pack("!fI", *order["rspec"]))
    flowspec = obj(9, 2, item(0, 0, item(service, 0, body)))
    return [obj(8, 1, struct.pack("!I", order.get("style", 10))), flowspec, endpoint(10, *order["sender"])]


def path(order):
    objects = [session(*order["session"]), hop(OWN, 7), obj(5, 1, struct.pack("!I", order["refresh"]))]
    objects += [bytes.fromhex(extra) for extra in order.get("extra", [])]
    objects += sender_objects(order) + [adspec()]
    return message(1, 64, objects), order["session"][0], True


def path_tear(order):
    objects = [session(*order["session"]), hop(OWN, 7)] + sender_objects(order)
    return message(5, 64, objects), order["session"][0], True


def resv(order):
    objects = [session(*order["session"]), hop(OWN, order["hop"][1]), obj(5, 1, struct.pack("!I", order["refresh"]))]
    if order.get("confirm"):
        objects.append(obj(15, 1, address(OWN)))
    return message(2, 64, objects + flow_objects(order)), order["hop"][0], False


def resv_tear(order):
    objects = [session(*order["session"]), hop(OWN, order["hop"][1])] + flow_objects(order)
    return message(6, 64, objects), order["hop"][0], False


def resv_conf(order):
    error = obj(6, 1, address(OWN) + bytes(4))
    objects = [session(*order["session"]), error, obj(15, 1, address(order["to"]))] + flow_objects(order)
    return message(7, 64, objects), order["to"], True


ORDERS = {"path": path, "path-tear": path_tear, "resv": resv, "resv-tear": resv_tear, "resv-conf": resv_conf}


def items(body):
    found = {}
    while body:
        number, flags, words = struct.unpack("!BBH", body[:4])
        found[number] = (flags, body[4 : 4 + words * 4])
        body = body[4 + words * 4 :]
    return found


def seen_tspec(body):
    return list(struct.unpack("!fffII", body))


def seen(packet):
    length = (packet[0] & 15) * 4
    head, data = packet[:length], packet[length:]
    version, kind, _, ttl, _, size = struct.unpack("!BBHBBH", data[:8])
    assert version == 0x10 and size == len(data) and checksum(data) == 0, data.hex()
    told = {"kind": kind, "ttl": head[8], "send_ttl": ttl, "alert": ALERT in head[20:]}
    told["from"] = socket.inet_ntoa(head[12:16])
    data = data[8:]
    while data:
        size, number, form = struct.unpack("!HBB", data[:4])
        body, data = data[4:size], data[size:]
        node = socket.inet_ntoa(body[:4]) if len(body) >= 4 else ""
        if number == 1:
            told["session"] = [node, body[4], struct.unpack("!H", body[6:])[0]]
        elif number == 3:
            told["hop"] = [node, struct.unpack("!I", body[4:])[0]]
        elif number == 5:
            told["refresh"] = struct.unpack("!I", body)[0]
        elif number == 6:
            told["error"] = [node, body[4], body[5], struct.unpack("!H", body[6:])[0]]
        elif number == 8:
            told["style"] = struct.unpack("!I", body)[0]
        elif number == 9:
            ((service, (_, inner)),) = items(items(body)[0][1]).items()
            inner = items(inner)
            told["service"], told["tspec"] = service, seen_tspec(inner[127][1])
            told["rspec"] = list(struct.unpack("!fI", inner[130][1])) if 130 in inner else None
        elif number in (10, 11):
            told["sender"] = [node, struct.unpack("!H", body[6:])[0]]
        elif number == 12:
            told["tspec"] = seen_tspec(items(items(items(body)[0][1])[1][1])[127][1])
        elif number == 13:
            services = items(items(body)[0][1])
            general, terms = items(services[1][1]), items(services[2][1])
            told["hops"] = struct.unpack("!I", general[4][1])[0]
            told["bandwidth"] = struct.unpack("!f", general[6][1])[0]
            told["mtu"] = struct.unpack("!I", general[10][1])[0]
            told["terms"] = [struct.unpack("!I", terms[number][1])[0] for number in (133, 134, 135, 136)]
            told["broken"] = [services[number][0] >> 7 for number in (1, 2, 5)]
        elif number == 15:
            told["confirm"] = node
        else:
            told.setdefault("others", []).append([number, form, body.hex()])
    return told


def main():
    raw = socket.socket(socket.AF_INET, socket.SOCK_RAW, 46)
    raw.setsockopt(socket.IPPROTO_IP, socket.IP_HDRINCL, 1)
    capture, lock = open(CAPTURE, "wb"), threading.Lock()
    # Packets of IP without a header before them.
    capture.write(struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101))

    def write(packet):
        now = time.time()
        with lock:
            capture.write(struct.pack("<IIII", int(now), int(now % 1 * 1e6), len(packet), len(packet)) + packet)
            capture.flush()

    def listen():
        while True:
            packet = raw.recv(65535)
            write(packet)
            print(json.dumps(seen(packet)), flush=True)

    threading.Thread(target=listen, daemon=True).start()
    print(json.dumps({"kind": 0}), flush=True)
    for line in sys.stdin:
        order = json.loads(line)
        data, destination, alert = ORDERS[order["do"]](order)
        packet = ip(OWN, destination, 64, alert, data)
        write(packet)
        raw.sendto(packet, (destination, 0))


main()
