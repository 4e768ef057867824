"""The shell into which the typed blocks of a page go: root's, with a network, processes and mounts of its own.

It is the one that guides tell their readers to start. It goes on from block to block, and everything that was made in it
goes with it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path

ISOLATED = ["unshare", "--net", "--mount", "--pid", "--fork", "--mount-proc", "--kill-child"]
NEEDED = ["ip", "iperf3", "irtt", "nft", "tc", "unshare"]

PATIENCE_S = 60
"""In which the lines of a block come to their end."""

MEASURED = re.compile(
    r"(-?[\d.]+|—)(%|ns|[µm]?s|[KMG]?bps)?[,;.]?"  # 4.83ms, 98 %
    r"|[µm]s[;.]?"  # the unit behind a space
    r"|[\d.]+-[\d.]+"  # 0.00-5.05
    r"|\d+:\d\d:\d\d"
)
"""A word that is another each time: a figure, its unit, or both."""

THOUSANDS = re.compile(r"(?<=\d)[\u00a0\u202f](?=\d{3})")

TIME = re.compile(r"(?<![\w.])([\d.]+) ?(µs|ms|s)(?!\w)")
IN_MS = {"µs": 1e-3, "ms": 1.0, "s": 1e3}


def missing() -> str | None:
    """Why there can be no such shell here."""
    for program in NEEDED:
        if shutil.which(program) is None:
            return f"{program} is not installed"
    if not Path("/dev/net/tun").exists():
        return "there is no /dev/net/tun"
    if Path("/proc/self/uid_map").read_text().split() != ["0", "0", "4294967295"]:
        return "programs at interfaces are root's, outside of user namespaces"
    tried = subprocess.run([*ISOLATED, "true"], capture_output=True, text=True, check=False)
    return tried.stderr or None


class Shell:
    """Bash, whose lines come from here. A command that fails ends it."""

    def __init__(self, folder: Path) -> None:
        lines, self._lines = os.pipe()
        # The command of this package, of whatever environment.
        path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
        self._process = subprocess.Popen(
            [*ISOLATED, "sh", "-c", f"mount -t tmpfs run /run; exec bash -e /dev/fd/{lines}"],
            cwd=folder,
            env={**os.environ, "PATH": path},
            pass_fds=[lines],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        os.close(lines)

    def types(self, text: str) -> list[str]:
        """What is printed while the text is carried out. It fails if a command does, or takes too long."""
        assert self._process.poll() is None, "the shell has ended at an earlier block"
        end = "-- this block is over --"
        os.write(self._lines, f"{text}\necho '{end}'\n".encode())
        printed: list[str] = []
        too_late = threading.Timer(PATIENCE_S, self._process.kill)
        too_late.start()
        try:
            for line in self._process.stdout:
                if line.rstrip("\n") == end:
                    return printed
                printed.append(line.rstrip("\n"))
        finally:
            too_late.cancel()
        raise AssertionError(f"`{text}` fails, or does not end in {PATIENCE_S} s. It printed:\n" + "\n".join(printed))

    def close(self) -> None:
        """Ends it, and all that runs in it."""
        os.close(self._lines)
        self._process.kill()
        self._process.wait()


def without_figures(lines: list[str]) -> list[str]:
    """The lines with a sign for each measured figure, and for rules and spaces of any length."""
    return [" ".join(_sign(word) for word in THOUSANDS.sub("", line).split()) for line in lines]


def _sign(word: str) -> str:
    return "0" if MEASURED.fullmatch(word) else re.sub("─+", "─", word)


def first_time_ms(lines: Iterable[str]) -> float:
    """The first time in these lines."""
    found = TIME.search("\n".join(lines))
    assert found is not None, "no time is printed"
    return float(found[1]) * IN_MS[found[2]]
