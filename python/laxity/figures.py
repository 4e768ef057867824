"""Figures of the report."""

from __future__ import annotations

from os import PathLike
from pathlib import Path


class Figure(str):
    """A figure as the report draws it: the text of an SVG document, which a notebook shows."""

    @property
    def svg(self) -> str:
        """The document."""
        return str(self)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes it into a file, ``.svg``."""
        Path(path).write_text(self, encoding="utf-8")

    def _repr_svg_(self) -> str:
        return str(self)
