"""Orders packets by a plan, through ctypes: link.py [LIBRARY]. `pip install laxity` has more."""

import ctypes
import sys

OK, NONE = 0, 1
PLAN = b"""
version = 1
link = { rate = "10mbit", max-packet = "1500b" }
scheduler = { kind = "priority" }
class.voice.level = 0
class.web.level = 1
"""


class Packet(ctypes.Structure):
    """An lx_packet."""

    _fields_ = [
        ("size", ctypes.c_uint32),
        ("class_id", ctypes.c_uint32),
        ("flow", ctypes.c_uint32),
        ("length", ctypes.c_uint32),
        ("arrival", ctypes.c_uint64),
        ("handle", ctypes.c_uint64),
        ("ack", ctypes.c_uint16),
        ("ecn", ctypes.c_uint8),
        ("demoted", ctypes.c_uint8),
        ("reserved", ctypes.c_uint32),
    ]

    def __init__(self, **fields):
        super().__init__(size=ctypes.sizeof(Packet), **fields)


laxity = ctypes.CDLL(sys.argv[1] if len(sys.argv) > 1 else "liblaxity.so.0")
handle, time = ctypes.c_void_p, ctypes.c_uint64
error = ctypes.POINTER(handle)
laxity.lx_plan_parse.argtypes = [ctypes.c_char_p] * 3 + [ctypes.POINTER(handle), error]
laxity.lx_plan_free.argtypes = [handle]
laxity.lx_scheduler_new.argtypes = [handle, time, ctypes.POINTER(handle), error]
laxity.lx_scheduler_free.argtypes = [handle]
laxity.lx_push.argtypes = [handle, time, ctypes.POINTER(Packet), ctypes.POINTER(time), error]
laxity.lx_pop.argtypes = [handle, time, ctypes.POINTER(Packet), handle, error]
laxity.lx_error_message.argtypes = [handle]
laxity.lx_error_message.restype = ctypes.c_char_p
laxity.lx_error_free.argtypes = [handle]


def call(function, *arguments):
    """Calls a function, whose last argument is its error, and raises that."""
    failure = handle()
    status = function(*arguments, ctypes.byref(failure))
    if status < 0:
        message = laxity.lx_error_message(failure).decode()
        laxity.lx_error_free(failure)
        raise ValueError(message)
    return status


def main():
    plan, scheduler = handle(), handle()
    try:
        call(laxity.lx_plan_parse, b"version = 1\nlink.rate = 5\n", b"bad.toml", None, plan)
    except ValueError as refused:
        assert str(refused).startswith("bad.toml:2:"), refused
    call(laxity.lx_plan_parse, PLAN, b"plan.toml", None, plan)
    call(laxity.lx_scheduler_new, plan, 1, scheduler)
    for number in range(4):
        packet = Packet(class_id=(number + 1) % 2, length=200, handle=number)
        call(laxity.lx_push, scheduler, 0, packet, None)
    packet = Packet()
    while call(laxity.lx_pop, scheduler, 1, packet, None) == OK:
        print(packet.handle)
    laxity.lx_scheduler_free(scheduler)
    laxity.lx_plan_free(plan)


main()
