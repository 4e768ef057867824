"""One link as an environment of Gymnasium: an agent chooses which class sends (``pip install laxity[gymnasium]``)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import gymnasium
import numpy as np

from . import _laxity, given
from .plans import Plan, a_plan

FAR = 1000.0
"""Milliseconds to the deadline if there is none, and the largest time in an observation."""


class Outcomes(NamedTuple):
    """The fate of packets between two choices, by class in the plan's order."""

    sent: np.ndarray
    """Packets sent."""
    late: np.ndarray
    """Packets sent later than their class's deadline."""
    delay: np.ndarray
    """The sum of the delays of sent packets, in milliseconds."""
    dropped: np.ndarray
    """Packets dropped."""


def on_time(outcomes: Outcomes) -> float:
    """The default reward: -1 for a late or dropped packet, and -0.001 for each millisecond of delay."""
    return -float(outcomes.late.sum() + outcomes.dropped.sum() + 0.001 * outcomes.delay.sum())


class LinkEnv(gymnasium.Env):
    """The link of a plan. An episode is a run with a new seed; a step is a packet that the agent chose.

    The agent chooses whenever packets of more than one class wait for the link. Its action is a class, whose first
    packet goes; if no packet of this class waits, the packet that came first goes. ``info["action_mask"]`` has a 1 for
    each class that has packets.

    The observation has for each class: the packets and kilobytes that wait, how many milliseconds the first of them
    has waited, and how many are left to its deadline.
    """

    metadata: dict[str, Any] = {"render_modes": []}

    def __init__(
        self, plan: Plan, *, duration: str | None = None, reward: Callable[[Outcomes], float] = on_time
    ) -> None:
        self.plan = a_plan(plan)
        self.duration = given.time("duration", duration)
        self.reward = given.function("reward", reward, "what became of packets")
        classes = len(plan.classes)
        self.action_space = gymnasium.spaces.Discrete(classes)
        self.observation_space = gymnasium.spaces.Box(-np.inf, np.inf, (classes, 4), np.float32)
        self._choices: _laxity.Choices | None = None

    def __getstate__(self) -> dict[str, Any]:
        # An episode is of this process: a copy begins its own.
        return {**self.__dict__, "_choices": None}

    def reset(self, *, seed: int | None = None, options: dict[str, Any] | None = None) -> tuple[np.ndarray, dict]:
        """Begins a run, with this seed if one is given, and goes to its first choice."""
        super().reset(seed=seed)
        drawn = int(self.np_random.integers(2**63)) if seed is None else seed
        self._choices = _laxity.Choices(self.plan._plan, self.duration, drawn)
        self._choices.advance()
        return _seen(self._choices)

    def step(self, action: int) -> tuple[np.ndarray, float, bool, bool, dict]:
        """Sends the first packet of a class, and goes on to the next choice."""
        if self._choices is None:
            raise _laxity.LaxityError("an episode begins with `reset`")
        self._choices.send(int(action))
        goes_on = self._choices.advance()
        outcomes = Outcomes(*map(np.array, zip(*self._choices.outcomes(), strict=True)))
        seen, info = _seen(self._choices)
        info["outcomes"] = outcomes
        return seen, self.reward(outcomes), not goes_on, False, info


def _seen(choices: _laxity.Choices) -> tuple[np.ndarray, dict]:
    waiting = choices.waiting()
    rows = [
        (packets, size / 1000, min(waited, FAR), FAR if left is None else max(-FAR, min(left, FAR)))
        for packets, size, waited, left in waiting
    ]
    mask = np.array([row[0] > 0 for row in waiting], np.int8)
    return np.array(rows, np.float32), {"action_mask": mask, "now": choices.now}
