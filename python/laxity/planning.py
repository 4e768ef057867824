"""Answers to what is asked of a plan beside its proof: curves of recordings, limits and worst cases."""

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
        """What else the recording held, in sentences."""
        self.plan = plan
        """The plan with these curves."""

    @property
    def classes(self) -> list[FittedClass]:
        """What each class sent, and its curve."""
        return self.data


class Limits(Answer):
    """What each part of a network could be, everything else as it is."""

    @property
    def load(self) -> LoadLimit | None:
        """By how much all traffic may grow, and what breaks then."""
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
    """The longest delays that were found, beside those that are proved."""

    def __init__(self, answer: str, text: str, page: str, arrivals: list[str]) -> None:
        super().__init__(answer, text)
        self.page = page
        """A page of HTML with a picture of who sends when."""
        self.arrivals = arrivals
        """The packets of each case as the text of an arrivals CSV, which ``laxity run --arrivals`` takes."""

    @property
    def cases(self) -> list[WorstCase]:
        """For each class and path what is proved, ``bound_ns``, and what happens, ``found_ns``."""
        return self.data

    def _repr_html_(self) -> str:
        page = html.escape(self.page, quote=True)
        return f'<iframe srcdoc="{page}" style="width: 100%; height: 40em; border: 0"></iframe>'
