"""Whatever Laxity gives can be copied and sent to other processes, and is the same there."""

import copy
import inspect
import multiprocessing
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from pathlib import Path

import cloudpickle
import polars
import pytest

import laxity as lx
from laxity.gym import LinkEnv
from thousand import PLAN

UPLINK = Path(__file__).parents[2] / "examples" / "home-uplink.toml"


class Shortest(lx.Scheduler):
    """Of one's own, with what it was made with, and what it knows of a run."""

    def __init__(self, least=0):
        self.least = least
        self.held = []

    def reset(self, plan):
        self.held = []

    def enqueue(self, now, packet):
        self.held.append(packet)

    def dequeue(self, now):
        packet = min(self.held, key=lambda packet: max(packet.length, self.least), default=None)
        if packet:
            self.held.remove(packet)
        return packet


def length(packet):
    return packet.length


class Keeps(Shortest):
    """Remembers packets."""

    def enqueue(self, now, packet):
        super().enqueue(now, packet)
        self.last = packet


def packet():
    scheduler = Keeps()
    PLAN.under(scheduler).run(duration="100ms")
    return scheduler.last


def network():
    return lx.Plan.read(UPLINK.parent / "two-hops.toml")


def study(store):
    return lx.sweep(PLAN, {"link.rate": ["2mbit", "3mbit"]}, seeds=[1, 2], duration="1s", store=store)


# Of each class that is to be had one that was, and what it says of itself.
MAKERS = {
    lx.Plan: [
        lambda _: lx.Plan.read(UPLINK),
        lambda _: lx.Plan.read(UPLINK).under("hfsc"),
        lambda _: PLAN.under(Shortest(300)),
        lambda _: PLAN.under(lx.by_rank(lx.Deadline({"voice": "9ms"}))),
    ],
    lx.Proof: [
        lambda _: lx.Plan.read(UPLINK).check(),
        lambda _: PLAN.under("hfsc").check_for_linux(),
        lambda _: network().check(),
    ],
    lx.Run: [lambda _: PLAN.run(duration="1s"), lambda _: lx.Plan.read(UPLINK).run(packets=True)],
    lx.Comparison: [lambda _: lx.compare(PLAN, ["fifo", Shortest()], duration="1s")],
    lx.Study: [study],
    lx.Tuned: [
        lambda store: lx.tune(PLAN, minimise={"link.rate": ("2mbit", "3mbit")}, duration="1s", trials=3, store=store)
    ],
    lx.Optimum: [
        lambda store: lx.optimise(PLAN, over={"link.rate": ("2mbit", "3mbit")}, duration="1s", trials=2, store=store)
    ],
    lx.Fitted: [lambda _: lx.Plan.read(UPLINK).fit()],
    lx.Limits: [lambda _: network().limits()],
    lx.BoundTerms: [lambda _: PLAN.explain(duration="1s")],
    lx.PacketDelays: [lambda _: PLAN.why(duration="1s")],
    lx.WorstCases: [lambda _: PLAN.worst_case(packets=1000)],
    lx.Imported: [lambda _: lx.import_tc(UPLINK.parent / "gateway.tc")],
    lx.Figure: [lambda _: lx.Plan.read(UPLINK).check().figure],
    lx.Granted: [lambda _: reserved().admit("call", CALL)],
    lx.Reservation: [lambda _: next(iter(reserved("first").reservations()))],
    lx.Scheduler: [lambda _: Shortest(200)],
    lx.ByRank: [lambda _: lx.by_rank(length)],
    lx.Deadline: [lambda _: lx.Deadline({"voice": "9ms"})],
    lx.Packet: [lambda _: packet()],
    LinkEnv: [lambda _: LinkEnv(PLAN, duration="1s")],
}
CALL = {"deadline": "10ms", "arrival": {"bucket": "600b", "rate": "200kbit", "packet": "300b"}}


def reserved(*names):
    book = lx.Book(lx.Plan(link={"rate": "20mbit"}, scheduler={"kind": "edf"}, classes={"rest": {}}))
    for name in names:
        book.admit(name, CALL)
    return book


WAYS = {
    **{f"pickle {protocol}": partial(pickle.dumps, protocol=protocol) for protocol in range(2, 6)},
    "cloudpickle": cloudpickle.dumps,
}


def said(one):
    """All that an object says when it is asked without a question."""
    if isinstance(one, lx.Plan):
        native = [one.text, one.scheduler, one.rate, one.weights]
        return [*native, said(one._scheduler) if one._scheduler else None, one.run(duration="2s").json if "[[source]]" in one.text or "source =" in one.text else None]
    if isinstance(one, LinkEnv):
        return [said(one.plan), one.duration, one.reset(seed=1)[1]["now"]]
    if isinstance(one, lx.Scheduler | lx.Deadline):
        return [type(one), {key: str(value) for key, value in vars(one).items()}]
    if isinstance(one, lx.ByRank):
        rank = getattr(one, "rank", None)
        return [type(one), one.name, said(rank) if isinstance(rank, lx.Deadline) else rank]
    names = [name for name, _ in inspect.getmembers(type(one), lambda member: not callable(member)) if name[0] != "_"]
    names += [name for name in getattr(one, "__dict__", {}) if name[0] != "_"]
    told = {name: value for name in names if not isinstance(value := _told(one, name), str) or len(value) < 10**6}
    if isinstance(one, lx.Run) and told["packets"] is not None:
        told["packets"] = polars.DataFrame(one.packets).to_dicts()
    if isinstance(one, lx.Run):
        told["causes"] = polars.DataFrame(one.causes).to_dicts()
    if isinstance(one, lx.Study):
        told["figures"] = [one.figure(name) for name in ("delay_ns.p99", "sent")] + [one._summary.numbers]
    if isinstance(one, lx.Optimum):
        told["study"] = [trial.values for trial in one.study.trials]
    return [repr(one), {name: said(value) if isinstance(value, lx.Plan | lx.Proof) else value for name, value in told.items()}]


def _told(one, name):
    try:
        return getattr(one, name)
    except lx.LaxityError:
        return None


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    return {
        (kind.__name__, at): make(tmp_path_factory.mktemp("store"))
        for kind, makers in MAKERS.items()
        for at, make in enumerate(makers)
    }


NAMES = [(kind.__name__, at) for kind, makers in MAKERS.items() for at in range(len(makers))]


def test_every_class_is_among_them():
    public = {one for one in map(lx.__dict__.get, lx.__all__) if isinstance(one, type)}
    # A book is copied, and stays in its process.
    assert {one for one in public if not issubclass(one, Exception)} - {lx.Book} <= set(MAKERS)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", NAMES, ids=str)
def test_what_is_sent_arrives(made, name, way):
    one = made[name]
    there = pickle.loads(WAYS[way](one))
    assert type(there) is type(one) and said(there) == said(one)
    assert said(pickle.loads(WAYS[way](there))) == said(one), "and may be sent on"


@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy])
@pytest.mark.parametrize("name", NAMES, ids=str)
def test_copies_are_the_same(made, name, way):
    assert said(way(made[name])) == said(made[name])


def test_a_table_arrives_as_it_is():
    run = PLAN.run(duration="1s", packets=True)
    for table in (run.packets, run.causes):
        there = pickle.loads(pickle.dumps(table))
        assert polars.DataFrame(there).equals(polars.DataFrame(table)) and repr(there) == repr(table)


def test_errors_arrive_with_their_place():
    with pytest.raises(lx.PlanError) as error:
        lx.Plan.parse("version = 1\nlink = { rte = '1mbit' }\n", name="mine.toml")
    there = pickle.loads(pickle.dumps(error.value))
    assert (there.file, there.line, there.help, str(there)) == ("mine.toml", 2, error.value.help, str(error.value))


def test_a_plan_finds_its_recordings_from_anywhere(tmp_path, monkeypatch):
    monkeypatch.chdir(UPLINK.parent)
    sent = pickle.dumps(lx.Plan.read(UPLINK.name))
    monkeypatch.chdir(tmp_path)
    assert pickle.loads(sent).run().kept


def delay(plan, rate, seed):
    """A task of one's own: a run of a plan that came from elsewhere."""
    run = plan.edit({"link.rate": rate}).run(seed=seed, duration="1s")
    return plan.scheduler, rate, seed, run.classes[1]["delay_ns"]["p99"]


POINTS = [(plan, rate, seed) for plan in (PLAN, PLAN.under(Shortest(2000))) for rate in ("2mbit", "3mbit") for seed in (1, 2)]
HERE = [("edf/exact", "Shortest")[plan is not PLAN] for plan, _, _ in POINTS]


def test_processes_sweep_schedulers_of_ones_own():
    expected = [delay(*point) for point in POINTS]
    assert [name for name, *_ in expected] == HERE and len({p99 for *_, p99 in expected}) > 4
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        assert list(pool.map(delay, *zip(*POINTS, strict=True))) == expected


def test_joblib_does():
    joblib = pytest.importorskip("joblib")
    found = joblib.Parallel(n_jobs=2)(joblib.delayed(delay)(*point) for point in POINTS)
    assert found == [delay(*point) for point in POINTS]


def test_dask_does():
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None) as cluster,
        distributed.Client(cluster) as client,
    ):
        found = client.gather([client.submit(delay, *point, pure=False) for point in POINTS])
    assert found == [delay(*point) for point in POINTS]
