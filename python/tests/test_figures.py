"""Figures, charts and tables of answers: all say the same."""

from __future__ import annotations

import xml.etree.ElementTree as xml
from pathlib import Path
from typing import Any

import pytest

import laxity as lx

pytest.importorskip("altair")

EXAMPLES = Path(__file__).parents[2] / "examples"
UPLINK = lx.Plan.read(EXAMPLES / "home-uplink.toml")
NETWORK = lx.Plan.read(EXAMPLES / "two-hops.toml")
RANDOM = lx.Plan(
    link={"rate": "10mbit"},
    scheduler={"kind": "wfq"},
    classes={
        "video": {"deadline": "30ms", "arrival": {"bucket": "20kB", "rate": "600kB/s", "packet": "1000b"}},
        "web": {},
    },
    run={"duration": "1s"},
    sources=[{"class": name, "model": "poisson", "packet": "1000b", "rate": "4mbit"} for name in ("video", "web")],
)


def rows(chart: Any) -> list[dict[str, Any]]:
    """The data of a chart that Altair holds to be one."""

    def within(part: Any) -> list[dict[str, Any]]:
        if isinstance(part, list):
            return [row for one in part for row in within(one)]
        if not isinstance(part, dict):
            return []
        return [row for key, one in part.items() for row in (one if key == "values" else within(one))]

    drawn = chart.to_dict()
    return [row for data in drawn.pop("datasets", {}).values() for row in data] + within(drawn)


def reached(corners: list[dict[str, Any]], share: float) -> float:
    """The least delay, in ns, that no more than a share of packets exceed."""
    return min(row["delay_ms"] for row in corners if row["share"] <= share) * 1e6


def test_a_figure_is_an_svg_that_is_shown_and_saved(tmp_path: Path) -> None:
    figure = UPLINK.run().figures["delays"]
    assert figure._repr_svg_() == figure.svg == figure
    figure.save(tmp_path / "delays.svg")
    assert xml.parse(tmp_path / "delays.svg").getroot().tag.endswith("svg")


def test_the_figures_of_a_run_are_those_of_its_page() -> None:
    run = UPLINK.run()
    assert list(run.figures) == ["delays", "delays-over-time", "throughput", "demand", "curves"]
    assert all(figure in run.page for figure in run.figures.values())
    figures = NETWORK.run(duration="2s").figures
    assert list(figures) == ["topology", "goodput", "delays", "flows"]


@pytest.mark.parametrize("seed", [1, 2, 3])
@pytest.mark.parametrize("plan", [UPLINK, NETWORK], ids=["link", "network"])
def test_the_chart_of_a_run_has_its_numbers(plan: lx.Plan, seed: int) -> None:
    run = plan.run(seed=seed)
    drawn = rows(run.chart())
    for one in run.classes:
        corners = [row for row in drawn if row["class"] == one["name"] and "share" in row]
        assert [row["share"] for row in corners] == sorted((row["share"] for row in corners), reverse=True)
        assert corners[0]["share"] == 1 and corners[-1]["share"] == 0
        for name, share in {"p50": 0.5, "p99": 0.01, "p99_9": 0.001}.items():
            assert reached(corners, share) == pytest.approx(one["delay_ns"][name])
        assert reached(corners, 0) == pytest.approx(one["delay_ns"]["max"])
        own = [row for row in drawn if row["class"] == one["name"] and "promise" in row]
        promised = {row["promise"]: row["delay_ms"] * 1e6 for row in own}
        assert promised.get("deadline") == (one["deadline_ns"] and pytest.approx(one["deadline_ns"]))
        if one["bound_ns"] not in (None, one["deadline_ns"]):
            assert promised["bound"] == pytest.approx(one["bound_ns"])


def test_the_chart_has_the_colours_of_the_figure() -> None:
    run = UPLINK.run()
    scale = run.chart().to_dict()["layer"][0]["encoding"]["color"]["scale"]
    assert scale["domain"] == UPLINK.classes
    assert all(colour in run.figures["delays"] for colour in scale["range"])


def test_the_curves_of_a_proof() -> None:
    proof = UPLINK.check()
    assert proof.figure is not None and "Capacity left for best effort" in proof.figure
    assert proof.figures["curves"] == proof.figure
    binding = proof.binding
    assert binding is not None and "binding: 5" in proof.figures["demand"]
    assert set(UPLINK.under("hfsc").check().figures) == {"curves"}
    drawn = rows(proof.chart())
    line = [row for row in drawn if row["curve"] == "total-bandwidth"]
    rate = proof.data["best_effort"]["total_bandwidth"]["rate_bps"]
    assert line[-1]["kB"] * 8e6 / line[-1]["ms"] == pytest.approx(rate, rel=1e-6)
    for plan in (UPLINK.under("drr"), NETWORK):
        assert plan.check().figure is None and plan.check().figures == {}
        with pytest.raises(lx.LaxityError, match="no curves"):
            plan.check().chart()


def test_the_chart_of_a_comparison_has_its_numbers() -> None:
    compared = lx.compare(UPLINK, ["fifo", "edf", "fifo"])
    assert isinstance(compared.figure, lx.Figure)
    drawn = rows(compared.chart())
    for name, run in zip(("fifo", "edf/exact", "fifo (2)"), compared.data, strict=True):
        for one in run["classes"]:
            corners = [row for row in drawn if (row.get("scheduler"), row["class"]) == (name, one["name"])]
            assert reached(corners, 0.01) == pytest.approx(one["delay_ns"]["p99"])
    deadlines = {row["class"]: row["delay_ms"] * 1e6 for row in drawn if "promise" in row}
    assert deadlines == pytest.approx(UPLINK.deadlines)


def test_a_comparison_over_a_network_is_drawn_from_end_to_end():
    compared = lx.compare(NETWORK, ["fifo", "wfq"], duration="2s")
    assert isinstance(compared.figure, lx.Figure)
    drawn = rows(compared.chart())
    for name, run in zip(("fifo", "wfq"), compared.data, strict=True):
        for one in run["classes"]:
            corners = [row for row in drawn if (row.get("scheduler"), row["class"]) == (name, one["name"])]
            assert reached(corners, 0.01) == pytest.approx(one["delay_ns"]["p99"])


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


def means(study: lx.Study, figure: str) -> list[float]:
    return sorted(line["mean"] / 1e6 for line in study.lines if line["figure"] == figure)


@pytest.mark.parametrize(("x", "color"), [(None, None), ("scheduler", "class.video.deadline"), ("scheduler", None)])
def test_the_chart_of_a_study_has_its_numbers(store: Path, x: str | None, color: str | None) -> None:
    over = {"class.video.deadline": ["25ms", "30ms"], "scheduler": ["wfq", "drr"]}
    study = lx.sweep(RANDOM, over, seeds=range(1, 4), store=store)
    figure = study.figure()
    assert isinstance(figure, lx.Figure) and "class.video.deadline" in figure
    chart = study.chart(x=x, color=color)
    drawn = rows(chart)
    assert sorted(row["mean"] for row in drawn) == pytest.approx(means(study, "delay_ns.p99"))
    for row in drawn:
        assert row["class.video.deadline #"] == float(row["class.video.deadline"].removesuffix("ms"))
    halves = sorted(line["half_width"] / 1e6 for line in study.lines if line["figure"] == "delay_ns.p99")
    assert min(halves) > 0
    assert sorted((row["high"] - row["low"]) / 2 for row in drawn) == pytest.approx(halves)
    assert "class.video.deadline, ms" in chart.to_json() or x


def test_two_numbers_make_a_map(store: Path) -> None:
    over = {"class.video.deadline": ["25ms", "30ms"], "link.rate": ["10mbit", "12mbit"]}
    study = lx.sweep(UPLINK, over, seeds=[1, 2], store=store)
    chart = study.chart("delay_ns.mean")
    marks = {panel["mark"]["type"] for panel in chart.to_dict()["concat"]}
    assert marks == {"rect"}
    assert sorted(row["mean"] for row in rows(chart)) == pytest.approx(means(study, "delay_ns.mean"))
    lines = study.chart("delay_ns.mean", color="link.rate").to_dict()["concat"]
    assert all("layer" in panel for panel in lines)


def test_what_a_study_does_not_have_is_said(store: Path) -> None:
    study = lx.sweep(UPLINK, {"scheduler": ["edf", "hfsc"]}, store=store)
    assert study.figure() is None, "no number varies"
    with pytest.raises(lx.LaxityError, match="no run of the study has the figure `delay`"):
        study.chart("delay")
    with pytest.raises(lx.LaxityError, match="`link.rate` does not vary; accepted: scheduler"):
        study.chart(x="link.rate")


def test_tables_have_units_and_escape(store: Path) -> None:
    run = UPLINK.run()
    table = run._repr_html_()
    assert "<pre>" not in table and ">p99 ms</th>" in table and "text-align: right" in table
    assert ">2.130</td>" in table and run.figures["delays"] in table and "Every promise was kept." in table
    proof = UPLINK.check()._repr_html_()
    assert ">shortest deadline ms</th>" in proof and ">2.316</td>" in proof and "Admitted." in proof
    assert "office → edge → cloud" in NETWORK.check()._repr_html_()
    compared = lx.compare(UPLINK, ["fifo", "edf"])._repr_html_()
    assert compared.count(">video</td>") == 2 and "<svg" in compared and "LATE" in compared
    study = lx.sweep(UPLINK, {"link.rate": ["10mbit", "12mbit"]}, seeds=[1, 2], store=store)._repr_html_()
    assert ">p99 ms</th>" in study and " ± " in study
    evil = lx.Plan(
        link={"rate": "1mbit"},
        scheduler={"kind": "edf"},
        classes={"<script>": {}},
        sources=[{"class": "<script>", "model": "poisson", "packet": "500b", "rate": "100kbit"}],
    )
    for answer in (evil.check(), evil.run(duration="1s"), lx.compare(evil, ["fifo"], duration="1s")):
        assert "<script" not in answer._repr_html_()


def test_without_altair_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing(name: str) -> Any:
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr("laxity.extras.import_module", missing)
    with pytest.raises(ImportError, match=r"a chart needs altair: pip install 'laxity\[altair\]'"):
        UPLINK.check().chart()
    with pytest.raises(ImportError, match=r"tqdm: pip install 'laxity\[progress\]'"):
        UPLINK.run(progress=True)
