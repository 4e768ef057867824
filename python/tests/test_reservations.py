"""Reservations: each answer is that of the whole plan's proof, and calls are lost as Erlang says."""

import heapq
import random
from copy import copy, deepcopy

import pytest

import laxity as lx

CALL = {
    "deadline": "10ms",
    "match": "udp dport 5004",
    "arrival": {"bucket": "600b", "rate": "200kbit", "packet": "300b"},
}


def link(rate="20mbit", scheduler="edf"):
    """A link on which reservations begin at once."""
    table = {"kind": scheduler, "best-effort": "background"} if scheduler == "edf" else {"kind": scheduler}
    return lx.Plan(link={"rate": rate}, scheduler=table, classes={"rest": {}})


def test_an_answer_is_that_of_the_whole_plan():
    draw = random.Random(7)
    book, promised = lx.Book(link()), {}
    answers = []
    for number in range(60):
        bucket = draw.randrange(300, 9000)
        contract = {
            "deadline": f"{draw.randrange(3, 40)}ms",
            "arrival": {"bucket": f"{bucket}b", "rate": f"{draw.randrange(50, 1500)}kbit", "packet": "300b"},
        }
        name = f"flow-{number}"
        whole = lx.Plan(
            link={"rate": "20mbit"}, scheduler={"kind": "edf"}, classes={**promised, name: contract, "rest": {}}
        )
        expected = whole.check().admitted
        try:
            assert book.admit(name, contract).bound is not None
            promised[name] = contract
            answers.append(True)
        except lx.NoRoomError:
            answers.append(False)
        assert answers[-1] == expected
    assert 10 < sum(answers) < 55
    assert set(book.plan().classes) == {*promised, "rest"}
    assert book.plan().check().admitted


def test_what_is_offered_fits():
    book = lx.Book(link())
    film = {"deadline": "5ms", "arrival": {"bucket": "30kB", "rate": "4mbit", "packet": "1500b"}}
    with pytest.raises(lx.NoRoomError, match="Not every deadline holds") as refused:
        book.admit("film", film)
    no_room = refused.value
    assert no_room.at == 0
    for deadline, fits in ((no_room.deadline, True), (no_room.deadline - 1, False)):
        other = copy(book) if fits else deepcopy(book)
        if fits:
            other.admit("film", {**film, "deadline": f"{deadline}ns"})
        else:
            with pytest.raises(lx.NoRoomError):
                other.admit("film", {**film, "deadline": f"{deadline}ns"})
    assert book.reservations() == []


def test_reservations_are_held_changed_renewed_and_leave():
    book = lx.Book(link())
    book.admit("call", CALL, commit_by=1_000)
    assert [one.state for one in book.reservations()] == ["held"]
    book.commit("call", now=900)
    book.admit("later", CALL, now=900, start=10**9, end=2 * 10**9)
    assert {one.name: one.state for one in book.reservations(900)} == {"call": "active", "later": "ahead"}
    book.renew("later", None, now=1_000)
    changed = book.change("call", {**CALL, "deadline": "20ms"}, now=2_000)
    assert changed.bound is not None and changed.bound <= 20_000_000
    assert [one.state for one in book.reservations(2_000) if one.name == "call"] == ["leaving", "active"]
    free = book.next_change(2_000)
    assert book.expire(free) == ["call"]
    book.release("call", now=free)
    with pytest.raises(lx.LaxityError, match="no reservation `call`"):
        book.release("call", now=free)
    with pytest.raises(lx.PlanError, match="dealine"):
        book.admit("odd", {"dealine": "5ms"}, now=free)
    with pytest.raises(lx.LaxityError, match="fq-codel"):
        lx.Book(link(scheduler="fq-codel"))
    with pytest.raises(lx.LaxityError, match="write 'drr' into its table"):
        lx.Book(link().under("drr"))


def test_what_is_not_committed_in_time_ends():
    book = lx.Book(link("2mbit"))
    book.admit("call", CALL, commit_by=1_000)
    with pytest.raises(lx.NoRoomError):
        book.admit("other", CALL, now=999)
    with pytest.raises(lx.LaxityError, match="no reservation `call`"):
        book.change("call", CALL, now=1_000)
    assert [one.state for one in book.reservations(1_000)] == ["leaving"]
    book.admit("other", CALL, now=10**9)
    assert [one.name for one in book.reservations(10**9)] == ["other"]


def erlang(servers, load):
    """The probability that all servers are busy (Erlang 1917, formula B)."""
    blocked = 1.0
    for busy in range(1, servers + 1):
        blocked = load * blocked / (busy + load * blocked)
    return blocked


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_calls_are_lost_as_erlang_says(seed):
    """Poisson arrivals of alike calls: a link that holds n at once loses what n servers lose."""
    plan = link("2mbit")
    full = lx.Book(plan)
    held = 0
    with pytest.raises(lx.NoRoomError):
        while True:
            full.admit(f"call-{held}", CALL)
            held += 1
    draw = random.Random(seed)
    second, holding, load, calls = 10**9, 100, held * 0.9, 4000
    book, now, lost, ends = lx.Book(plan), 0, 0, []
    for number in range(calls):
        now += round(draw.expovariate(load / holding) * second)
        while ends and ends[0][0] <= now:
            end, name = heapq.heappop(ends)
            book.release(name, now=end)
        book.expire(now)
        try:
            book.admit(f"call-{number}", CALL, now=now)
        except lx.NoRoomError:
            lost += 1
        else:
            heapq.heappush(ends, (now + round(draw.expovariate(1 / holding) * second), f"call-{number}"))
    expected = erlang(held, load)
    # Blocked calls come in clusters: the standard deviation is some twice that of independent ones.
    deviation = 2 * (expected * (1 - expected) / calls) ** 0.5
    assert abs(lost / calls - expected) < 3 * deviation, (held, lost / calls, expected)


def ring(scheduler="edf", *, regulate=True):
    """Two ways from a to d, over b and over c."""
    ends = {"ab": ["a", "b"], "bd": ["b", "d"], "ac": ["a", "c"], "cd": ["c", "d"]}
    return lx.Plan(
        link={"rate": "10mbit", "delay": "1ms", "max-packet": "1000b"},
        scheduler={"kind": scheduler},
        network={name: {"between": between, "regulate": regulate} for name, between in ends.items()},
        classes={"rest": {}},
    )


def film(within, rate):
    return {"end-to-end": within, "arrival": {"bucket": "4kB", "rate": rate, "packet": "1000b"}}


def test_a_delay_is_split_over_a_path():
    book = lx.Book(ring())
    first = book.admit("first", film("20ms", "8mbit"), path=["a", "b", "d"])
    assert (first.bound, first.path, set(first.over)) == (20_000_000, ("a", "b", "d"), {"ab", "bd"})
    assert sum(first.over.values()) == 18_000_000
    second = book.admit("second", film("20ms", "3mbit"), path=["a", "d"])
    assert second.path == ("a", "c", "d")
    with pytest.raises(lx.NoRoomError) as refused:
        book.admit("third", film("20ms", "3mbit"), path=["a", "b", "d"])
    assert refused.value.path == ["a", "c", "d"]
    assert [one.path for one in book.reservations()] == [("a", "b", "d"), ("a", "c", "d")]
    plan = book.plan(max(first.start, second.start))
    assert plan.check().admitted
    assert plan.run(duration="2s").kept


def test_time_frames_are_kept():
    ends = {"ab": ["a", "b"], "bd": ["b", "d"], "ac": ["a", "c"], "cd": ["c", "d"]}
    plan = lx.Plan(
        link={"rate": "10mbit", "max-packet": "100b"},
        scheduler={"kind": "tdp", "frame": "200us", "frames": 10},
        network={name: {"between": between} for name, between in ends.items()},
        classes={"rest": {}},
    )
    book = lx.Book(plan)

    def call(gap, **more):
        rate = f"{800_000 // gap}kbit"
        return {"gap": f"{gap}us", "arrival": {"bucket": "100b", "rate": rate, "packet": "100b"}, **more}

    path = ["a", "b", "d"]
    first = book.admit("first", call(2000), path=["a", "d"])
    assert (first.path, set(first.frames)) == (tuple(path), {"ab", "bd"})
    taken = dict(first.frames)
    book.admit("second", call(2000, **{"frame-at": taken}), path=path)
    with pytest.raises(lx.NoRoomError) as refused:
        book.admit("third", call(2000, **{"frame-at": taken}), path=path)
    offered = refused.value.frames
    assert offered and offered != taken
    assert book.admit("third", call(2000, **{"frame-at": offered}), path=path).frames == offered
    assert f"frame-at = {{ ab = {taken['ab']}, bd = {taken['bd']} }}" in book.plan().text
    with pytest.raises(lx.NoRoomError) as refused:
        for number in range(5):
            book.admit(f"large{number}", call(400), path=path)
    assert (refused.value.path, refused.value.frames) == (["a", "c", "d"], {})
    assert book.plan().run(duration="1s").kept


@pytest.mark.parametrize("path", [[], ["a"], ["a", "x"], ["a", "b", "c"]])
def test_what_is_no_path_is_refused(path):
    with pytest.raises(lx.LaxityError, match=r"path|node|link"):
        lx.Book(ring("fifo")).admit("film", film("20ms", "1mbit"), path=path)


def test_two_ends_get_the_shortest_path_under_every_discipline():
    granted = lx.Book(ring("fifo")).admit("film", film("20ms", "1mbit"), path=["b", "c"])
    assert granted.path == ("b", "a", "c")
