"""Answers about a plan besides its proof: curves of recordings, limits and worst cases."""

from __future__ import annotations

import html
from typing import TYPE_CHECKING

from .answers import Answer

if TYPE_CHECKING:
    from .plans import Plan
    from .results import ClassLimit, FittedClass, LinkLimit, LoadLimit, WorstCase


class Fitted(Answer):
    """The arrival curves of a recording."""

    def __init__(self, answer: str, text: str, notes: list[str], plan: Plan) -> None:
        super().__init__(answer, text)
        self.notes = notes
        """Remarks on the recording, in sentences."""
        self.plan = plan
        """The plan with these curves."""

    @property
    def classes(self) -> list[FittedClass]:
        """The traffic of each class, and its curve."""
        return self.data


class Limits(Answer):
    """The limit of each part of a network, with everything else as it is."""

    @property
    def load(self) -> LoadLimit | None:
        """How much all traffic may grow, and what breaks beyond."""
        return self.data["load"]

    @property
    def links(self) -> list[LinkLimit]:
        """The smallest rate of each link."""
        return self.data["links"]

    @property
    def classes(self) -> list[ClassLimit]:
        """The largest burst and the shortest deadlines of each class."""
        return self.data["classes"]


class WorstCases(Answer):
    """The longest delays that were found, beside the proved bounds."""

    def __init__(self, answer: str, text: str, page: str, arrivals: list[str]) -> None:
        super().__init__(answer, text)
        self.page = page
        """A page of HTML with a picture of who sends when."""
        self.arrivals = arrivals
        """The packets of each case as the text of a CSV of arrivals, which ``laxity run --arrivals`` accepts."""

    @property
    def cases(self) -> list[WorstCase]:
        """For each class and path the proved bound, ``bound_ns``, and the longest delay found, ``found_ns``."""
        return self.data

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'
