"""What bounds are made of."""

from __future__ import annotations

from pathlib import Path

import laxity as lx
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"


@pytest.mark.parametrize("name", ["home-uplink.toml", "two-hops.toml"])
def test_bounds_are_sums_of_terms(name: str) -> None:
    plan = lx.Plan.read(EXAMPLES / name)
    bounds = [bound for bound in plan.explain(duration="3s").bounds if bound["bound_ns"] is not None]
    assert bounds
    for bound in bounds:
        assert sum(term["time_ns"] for term in bound["terms"]) == bound["bound_ns"]
        if slowest := bound.get("slowest"):
            used = sum(term.get("used_ns", 0) for term in bound["terms"])
            assert used + sum(part["time_ns"] for part in slowest["beside"]) == slowest["delay_ns"]
            assert slowest["delay_ns"] <= bound["bound_ns"]


def test_a_class_is_asked_for_by_name() -> None:
    plan = lx.Plan.read(EXAMPLES / "home-uplink.toml")
    (bound,) = plan.explain("audio", duration="3s").bounds
    assert bound["class"] == "audio"
    with pytest.raises(lx.LaxityError, match="no class `sound`"):
        plan.explain("sound")
