"""Plans from scripts for tc."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from typing import NamedTuple

from . import _laxity, given
from .plans import Plan


class Note(NamedTuple):
    """A difference between a script and its plan."""

    kind: str
    line: int | None
    text: str


class Imported(NamedTuple):
    """The plan of a script."""

    plan: Plan
    notes: list[Note]


def import_tc(
    script: str | PathLike[str],
    *,
    device: str | None = None,
    link_rate: str | None = None,
    arguments: Iterable[str] | None = None,
    variables: Mapping[str, str] | None = None,
    sources: Iterable[str | PathLike[str]] = (),
) -> Imported:
    """The plan of a script that calls tc, of a file for ``tc -batch``, or of what ``tc … show`` printed, as ``laxity import
    tc`` writes it. Nothing is run.

    ``device`` is the interface whose set-up is imported, ``link_rate`` the rate if the script does not give it. The script
    is called with ``arguments`` and ``variables``, and reads only the files in ``sources``.

    Raises ``PlanError``, with a place, if the script cannot be read.
    """
    called = None if arguments is None else given.several("arguments", arguments, '["eth0"]')
    known = given.table("variables", {} if variables is None else variables, '{"IFACE": "eth0"}')
    plan, notes = _laxity.import_tc(
        given.path("script", script),
        None if device is None else given.word("device", device, "eth0"),
        None if link_rate is None else given.word("link_rate", link_rate, "10mbit"),
        None if called is None else [given.word("arguments", one, "eth0") for one in called],
        {given.word("variables", name, "IFACE"): given.word(name, value, "eth0") for name, value in known.items()},
        [given.path("sources", source) for source in given.several("sources", sources, '["functions.sh"]')],
    )
    return Imported(Plan._of(plan), [Note(*note) for note in notes])
