"""How many packets a second go through EDF written in Python, beside Laxity's own and ns.py's WFQ.

``pip install laxity[polars] ns.py`` and run it; without ns.py its line is left out. The packets are the same in all but
the last, and the dispatches of the three EDFs are compared. A line is the median of the rounds.
"""

from __future__ import annotations

import statistics
import time
from heapq import heappop, heappush

import laxity as lx
import polars as pl

CLASSES = 8
ROUNDS = 5
PACKETS = 1_000_000
RATE = 1e9 / 8  # bytes a second
LENGTH = 1000


class Edf(lx.Scheduler):
    """Earliest deadline first, of equal ones the first to arrive."""

    def reset(self, plan):
        self.heap = []

    def enqueue(self, now, packet):
        heappush(self.heap, (packet.deadline, packet.seq, packet))

    def dequeue(self, now):
        return heappop(self.heap)[2] if self.heap else None


def plan() -> lx.Plan:
    """A gigabit a second shared by classes with deadlines of 2 to 16 ms, 90 % busy with Poisson arrivals."""
    rate = f"{int(0.9 * RATE / CLASSES)}B/s"
    arrival = {"bucket": "100kB", "rate": rate, "packet": f"{LENGTH}b"}
    return lx.Plan(
        link={"rate": "1gbit"},
        scheduler={"kind": "edf"},
        classes={f"class-{i}": {"deadline": f"{2 * i}ms", "arrival": arrival} for i in range(1, CLASSES + 1)},
        sources=[
            {"class": f"class-{i}", "model": "poisson", "packet": f"{LENGTH}b", "rate": rate}
            for i in range(1, CLASSES + 1)
        ],
    )


def laxity(one: lx.Plan, packets: bool = False):
    """Simulates so long that about so many packets arrive."""
    return one.run(duration=f"{int(1e6 * PACKETS * LENGTH / (0.9 * RATE))}us", packets=packets)


def ns_py() -> int:
    """The same load through ns.py's WFQ: how many packets it sent."""
    import random

    import simpy
    from ns.packet.dist_generator import DistPacketGenerator
    from ns.packet.sink import PacketSink
    from ns.scheduler.wfq import WFQServer

    env, draw = simpy.Environment(), random.Random(1)
    gap = CLASSES * LENGTH / (0.9 * RATE)
    server = WFQServer(env, RATE * 8, {flow: 1 for flow in range(CLASSES)})
    server.out = PacketSink(env, rec_waits=False, rec_arrivals=False)
    for flow in range(CLASSES):
        source = DistPacketGenerator(
            env, f"source-{flow}", lambda: draw.expovariate(1 / gap), lambda: LENGTH, flow_id=flow
        )
        source.out = server
    env.run(until=PACKETS / 10 * LENGTH / (0.9 * RATE))
    return sum(server.out.packets_received.values())


def sent(run: lx.Run) -> int:
    """How many packets a run sent."""
    return sum(one["sent"] for one in run.classes)


def main() -> None:
    own = plan()
    ways = {
        "Laxity's EDF": lambda: sent(laxity(own)),
        "Laxity's WFQ": lambda: sent(laxity(own.under("wfq"))),
        "EDF in Python": lambda: sent(laxity(own.under(Edf()))),
        "by rank, a lambda": lambda: sent(laxity(own.under(lx.by_rank(lambda packet: packet.deadline)))),
        "by rank, a Deadline": lambda: sent(laxity(own.under(lx.by_rank(lx.Deadline())))),
    }
    try:
        import ns  # noqa: F401

        ways["ns.py's WFQ"] = ns_py
    except ImportError:
        print("ns.py is not installed")
    rates: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):
        for name, way in ways.items():
            began = time.process_time()
            rates[name].append(way() / (time.process_time() - began) / 1e6)
    for name, found in rates.items():
        low, middle, high = min(found), statistics.median(found), max(found)
        print(f"{name:20} {middle:6.3f} M packets a second ({low:.3f} to {high:.3f})")

    began = time.perf_counter()
    laxity(own)
    alone = time.perf_counter() - began
    began = time.perf_counter()
    table = pl.DataFrame(laxity(own, packets=True).packets)
    print(f"{table.height} packets in Polars in {time.perf_counter() - began - alone:.2f} s beyond the run itself")
    for scheduler in (Edf(), lx.by_rank(lambda packet: packet.deadline), lx.by_rank(lx.Deadline())):
        other = pl.DataFrame(laxity(own.under(scheduler), packets=True).packets)
        same = other.select("seq", "start_ns").equals(table.select("seq", "start_ns"))
        print(f"{scheduler.name}: {'every dispatch is the same' if same else 'OTHER DISPATCHES'}")


if __name__ == "__main__":
    main()
