"""Schedulers of one's own: the contract, ranks, and the same dispatches as Laxity's."""

from heapq import heappop, heappush

import hypothesis
import polars
import pytest
from hypothesis import strategies as st

import laxity as lx

COLUMNS = ["seq", "class", "deadline_ns", "start_ns", "departure_ns", "verdict"]


def plan(scheduler=None, **link):
    """Two classes with deadlines, and two without, on a link that is often busy."""
    voice = {"deadline": "5ms", "arrival": {"bucket": "600b", "rate": "80kB/s", "packet": "300b"}}
    video = {"deadline": "30ms", "arrival": {"bucket": "6kB", "rate": "300kB/s", "packet": "1500b"}}
    poisson = {"model": "poisson", "packet": "1500b"}
    return lx.Plan(
        link={"rate": "10mbit", **link},
        scheduler=scheduler or {"kind": "edf", "best-effort": "background", "best-effort-order": "fifo"},
        classes={"voice": voice, "video": video, "web": {"weight": 3}, "rest": {}},
        sources=[
            {"class": "voice", "model": "constant", "packet": "200b", "rate": "64kB/s"},
            {"class": "video", "rate": "250kB/s", **poisson},
            {"class": "web", "rate": "400kB/s", **poisson},
            {"class": "rest", "rate": "500kB/s", **poisson},
        ],
    )


class Edf(lx.Scheduler):
    def reset(self, plan):
        self.heap = []

    def enqueue(self, now, packet):
        due = packet.deadline
        heappush(self.heap, (float("inf") if due is None else due, packet.seq, packet))

    def dequeue(self, now):
        return heappop(self.heap)[2] if self.heap else None


class Fifo(lx.Scheduler):
    """Right; others below are wrong in one thing."""

    def reset(self, plan):
        self.waiting = []

    def enqueue(self, now, packet):
        self.waiting.append(packet)

    def dequeue(self, now):
        return self.waiting.pop(0) if self.waiting else None


def packets(run):
    return polars.DataFrame(run.packets)


@pytest.mark.parametrize("police", ["count", "demote", "drop"])
@pytest.mark.parametrize("seed", range(1, 6))
def test_edf_in_python_is_edf(seed, police):
    policed = plan().edit({"class.video.police": police})
    own = packets(policed.run(seed=seed, duration="5s", packets=True))
    for scheduler in Edf(), lx.by_rank(lx.Deadline()), lx.by_rank(lambda packet: lx.Deadline()(packet)):
        ours = packets(policed.under(scheduler).run(seed=seed, duration="5s", packets=True))
        assert ours.select(COLUMNS).equals(own.select(COLUMNS)), scheduler.name
    assert own.height > 2000 and (own["start_ns"] - own["arrival_ns"]).max() > 5_000_000


@hypothesis.settings(deadline=None, max_examples=20)
@hypothesis.given(
    st.lists(st.sampled_from(["3ms", "4500us", "8ms", "40ms"]), min_size=2, max_size=2),
    st.integers(0, 2**64 - 1),
    st.sampled_from(["4mbit", "7mbit", "30mbit"]),
)
def test_edf_of_any_deadlines_is_edf(deadlines, seed, rate):
    voice, video = deadlines
    edits = {"class.voice.deadline": voice, "class.video.deadline": video, "link.rate": rate}
    edited = plan().edit(edits)
    own, ours = (
        packets(one.run(seed=seed, duration="500ms", packets=True)) for one in (edited, edited.under(Edf()))
    )
    assert ours.select(COLUMNS).equals(own.select(COLUMNS))


def test_first_come_first_served_is_that():
    fifo, ours, by_seq = (
        packets(plan().under(one).run(duration="2s", packets=True))
        for one in ("fifo", Fifo(), lx.by_rank(lambda packet: packet.seq))
    )
    assert ours["start_ns"].equals(fifo["start_ns"]) and by_seq["start_ns"].equals(fifo["start_ns"])


def test_a_comparison_has_them_side_by_side():
    compared = lx.compare(plan(), ["fifo", "edf/background", Edf(), lx.by_rank(lambda packet: packet.length, name="shortest")])
    assert [one["scheduler"] for one in compared.data] == ["fifo", "edf/background", "Edf", "shortest"]
    assert "shortest" in compared.text and "shortest" in compared.figure
    delays = {one["scheduler"]: one["classes"][0]["delay_ns"]["p99"] for one in compared.data}
    assert delays["Edf"] < delays["fifo"] / 2


def test_a_rank_that_is_a_deadline_is_proved():
    own = plan().check()
    proof = plan().under(lx.by_rank(lx.Deadline())).check()
    assert proof.admitted and proof.classes == own.classes
    sooner = plan().under(lx.by_rank(lx.Deadline({"video": "12ms"})))
    assert sooner.check().admitted and sooner.run().kept
    assert sooner.check().classes[1]["bound_ns"] <= 12_000_000 < own.classes[1]["deadline_ns"]
    assert not plan().under(lx.by_rank(lx.Deadline({"video": "2ms"}))).check().admitted
    for unproved in Edf(), lx.by_rank(lambda packet: packet.arrival), lx.by_rank(lx.Deadline(), eligible=lambda p: 0):
        with pytest.raises(lx.LaxityError, match="nothing is proved"):
            plan().under(unproved).check()


def test_packets_wait_until_they_are_eligible():
    held = lx.by_rank(lambda packet: packet.length, eligible=lambda packet: packet.arrival + 2_000_000)
    table = packets(plan().under(held).run(duration="2s", packets=True))
    waits = table["start_ns"] - table["arrival_ns"]
    assert waits.min() == 2_000_000 and table.height > 500


def test_ranks_are_whole_or_broken_numbers():
    def scaled(by):
        rank = lx.by_rank(lambda packet: packet.length * by)
        return packets(plan().under(rank).run(duration="1s", packets=True))["start_ns"]

    assert scaled(1).equals(scaled(0.001)) and scaled(1).equals(scaled(1e30)) and not scaled(1).equals(scaled(-1))
    assert scaled(-1).equals(scaled(-0.001)) and scaled(-1).equals(scaled(-1e30)) and scaled(-1).equals(scaled(-(2**70)))
    infinite = lx.by_rank(lambda packet: float("inf") if packet.class_name == "rest" else packet.seq)
    ends = packets(plan().under(infinite).run(duration="1s", packets=True))
    assert set(ends["verdict"]) == {"sent"}


def test_drops_are_counted():
    class Short(Fifo):
        def enqueue(self, now, packet):
            super().enqueue(now, packet)
            if len(self.waiting) > 3:
                self.drop(self.waiting.pop(0))

    run = plan(rate="6mbit").under(Short()).run(packets=True, duration="2s")
    assert sum(one["dropped"].get("scheduler", 0) for one in run.classes) > 50
    assert packets(run)["verdict"].value_counts().height == 2


def test_queues_of_the_plan_stand_before_it():
    limited = plan().edit({"class.rest.queue": {"kind": "droptail", "limit": 2}, "link.rate": "8mbit"})
    run, own = (limited.under(one).run(duration="2s") for one in (Fifo(), "fifo"))
    assert run.classes == own.classes and run.classes[3]["dropped"]["queue-full"] > 0
    choke = {"kind": "choke", "min": 2, "max": 6, "limit": 12}
    with pytest.raises(lx.ContractError, match="queue management"):
        plan().edit({"class.rest.queue": choke, "link.rate": "6mbit"}).under(Fifo()).run()


class Twice(Fifo):
    def dequeue(self, now):
        return self.waiting[0] if self.waiting else None


class Loses(Fifo):
    def enqueue(self, now, packet):
        if packet.seq != 5:
            super().enqueue(now, packet)


class Invents(Fifo):
    def dequeue(self, now):
        return "a packet"


class Early(Fifo):
    def enqueue(self, now, packet):
        packet.eligible = now + 1
        super().enqueue(now, packet)


class Holds(Fifo):
    def dequeue(self, now):
        return None

    def next_ready(self, now):
        return now


class Answers(Fifo):
    def enqueue(self, now, packet):
        return packet


class DropsWhatItSent(Fifo):
    def dequeue(self, now):
        packet = super().dequeue(now)
        if packet and packet.seq == 3:
            self.drop(packet)
        return packet


@pytest.mark.parametrize(
    ("scheduler", "message"),
    [
        (Twice(), "Twice: `dequeue` returned packet 0, which it does not hold any more"),
        (Loses(), "Loses: `dequeue` returned None at .* while 1 packets wait"),
        (Invents(), "Invents: `dequeue` returned 'a packet'"),
        (Early(), "Early: .* is not eligible before"),
        (Holds(), "Holds: .* `next_ready` says"),
        (Answers(), "Answers: `enqueue` returned <laxity.Packet 0 of"),
        (DropsWhatItSent(), "DropsWhatItSent: `dequeue` returned packet 3, which it does not hold"),
    ],
)
def test_the_contract_is_held_to(scheduler, message):
    with pytest.raises(lx.ContractError, match=message):
        plan().under(scheduler).run(duration="1s")


def test_packets_of_another_run_are_refused():
    kept = []

    class Keeps(Fifo):
        def dequeue(self, now):
            kept.extend(self.waiting[:1])
            return kept[0] if len(kept) > 1 and self.runs == 2 else super().dequeue(now)

        def reset(self, plan):
            super().reset(plan)
            self.runs = getattr(self, "runs", 0) + 1

    ours = plan().under(Keeps())
    ours.run(duration="100ms")
    with pytest.raises(lx.ContractError, match="of another run"):
        ours.run(duration="100ms")


def test_nothing_is_called_after_an_error():
    class Counts(Holds):
        calls = 0

        def dequeue(self, now):
            self.calls += 1

    counts = Counts()
    with pytest.raises(lx.ContractError, match="Counts: .* `next_ready` says"):
        plan().under(counts).run()
    assert counts.calls == 1


def test_what_is_raised_reaches_the_caller():
    class Raises(Fifo):
        def enqueue(self, now, packet):
            super().enqueue(now, packet)
            if packet.seq == 7:
                raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        plan().under(Raises()).run()
    with pytest.raises(KeyError):
        plan().under(lx.by_rank(lambda packet: {}[packet.class_name])).run()
    with pytest.raises(TypeError, match="a rank is a number"):
        plan().under(lx.by_rank(lambda packet: "first")).run()
    with pytest.raises(NotImplementedError, match="enqueue"):
        plan().under(lx.Scheduler()).run()


def test_networks_have_their_own():
    network = lx.Plan.parse(
        """
        version = 1
        link = { rate = "10mbit" }
        scheduler = { kind = "fifo" }
        network.wire = { between = ["a", "b"], delay = "1ms" }
        class.web = {}
        source = [{ class = "web", path = ["a", "b"], model = "poisson", packet = "1500b", rate = "1MB/s" }]
        """
    )
    with pytest.raises(lx.LaxityError, match="none is named"):
        network.under(Fifo()).run()


def two_hops():
    """A network whose second link is often busy."""
    path = {"path": ["a", "b", "c"]}
    return lx.Plan(
        link={"rate": "20mbit", "max-packet": "1500b"},
        scheduler={"kind": "edf"},
        network={"first": {"between": ["a", "b"]}, "second": {"between": ["b", "c"], "rate": "10mbit"}},
        classes={"voice": {"deadline": "5ms", "arrival": {"bucket": "600b", "rate": "80kB/s"}}, "web": {}},
        sources=[
            {"class": "voice", "model": "constant", "packet": "200b", "rate": "64kB/s", **path},
            {"class": "web", "model": "poisson", "packet": "1500b", "rate": "1.1MB/s", **path},
        ],
    )


@pytest.mark.parametrize("seed", range(1, 4))
def test_own_schedulers_at_outputs_of_networks_do_what_the_same_discipline_does(seed):
    own = two_hops().under(Fifo(), at="b → c").run(duration="2s", seed=seed, packets=True)
    theirs = two_hops().edit({"network.second.scheduler": {"kind": "fifo"}}).run(duration="2s", seed=seed, packets=True)
    assert [hop["scheduler"] for hop in own.data["hops"]] == ["edf/exact", "Fifo"]
    assert own.data["scheduler"] == "edf/exact, Fifo at b → c"
    told = ["class", "arrival_ns", "start_ns", "departure_ns"]
    assert packets(own).select(told).sort(told).equals(packets(theirs).select(told).sort(told))
    by_rank = two_hops().under(lx.by_rank(lambda packet: packet.arrival), at="b → c")
    ranked = packets(by_rank.run(duration="2s", seed=seed, packets=True)).select(told)
    assert ranked.sort(told).equals(packets(own).select(told).sort(told))


def test_nothing_is_proved_at_outputs_of_own_schedulers():
    plan = two_hops()
    assert plan.check().admitted
    left = plan.under(Fifo(), at="b → c")
    assert left.check().admitted is not True and "b → c" in left.scheduler
    assert left.edit({"link.rate": "30mbit"}).check().admitted is not True, "an edit keeps the scheduler"
    assert plan.check().admitted, "the plan itself is as it was"


def test_own_schedulers_are_refused_where_they_cannot_be():
    with pytest.raises(lx.LaxityError, match="no output `a → c`"):
        two_hops().under(Fifo(), at="a → c")
    with pytest.raises(lx.LaxityError, match="none is named"):
        two_hops().under(Fifo()).run(duration="1s")
    with pytest.raises(TypeError, match="discipline"):
        two_hops().under("edf", at="b → c")
    left = two_hops().under(Fifo(), at="b → c")
    with pytest.raises(lx.LaxityError, match="one thread"):
        left.run(duration="1s", threads=2)
    with pytest.raises(lx.LaxityError, match="at an output"):
        lx.sweep(left, {}, seeds=1, store="unused")
    with pytest.raises(lx.LaxityError, match="beside the interpreter"):
        left.worst_case(packets=1000)


def test_own_schedulers_at_outputs_are_held_to_the_contract():
    class Loses(Fifo):
        def dequeue(self, now):
            packet = super().dequeue(now)
            return packet if packet is None or packet.seq != 7 else None

    with pytest.raises(lx.ContractError):
        two_hops().under(Loses(), at="b → c").run(duration="1s")
