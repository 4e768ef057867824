"""Writes rates over time like those of mobile, satellite and cable links, three seeds of each.

    python3 examples/autorate/traces.py examples/autorate

They are drawn, not measured: what they have in common with such links is said at each.
"""

import math
import random
import sys
from pathlib import Path

STEP_MS = 100
SECONDS = 60


def mobile(draw: random.Random):
    """A modem that moves: a slow walk of the mean (shadowing) with fast fading on it, and now and
    then a handover in which little is sent for some tenths of a second."""
    mean, handover = math.log(15e6), 0
    while True:
        mean += draw.gauss(0, 0.06) - 0.01 * (mean - math.log(15e6))
        if handover == 0 and draw.random() < 0.004:
            handover = draw.randint(2, 6)
        fading = draw.gauss(0, 0.12)
        if handover > 0:
            handover -= 1
            yield 2e6
        else:
            yield math.exp(mean + fading)


def satellite(draw: random.Random):
    """A dish that is given another satellite every 15 s: a new level each time, less for a moment
    around the change, and noise in between."""
    level = 20e6
    for step in range(10**9):
        since = step * STEP_MS % 15_000
        if since == 0:
            level = draw.uniform(10e6, 32e6)
        noise = draw.gauss(1, 0.08)
        yield 5e6 if since < 200 else level * max(noise, 0.3)


def cable(draw: random.Random):
    """A segment of cable that neighbours share: the full rate most of the time, and steps down for
    some seconds while they send."""
    level, left = 35e6, 0
    while True:
        if left == 0:
            is_free = draw.random() < 0.5
            level = 35e6 if is_free else draw.uniform(8e6, 30e6)
            left = draw.randint(10, 80)
        left -= 1
        yield level * draw.uniform(0.97, 1.0)


def write(path: Path, rates) -> None:
    lines = ["time,rate"]
    for step in range(SECONDS * 1000 // STEP_MS):
        rate = min(max(next(rates), 2e6), 40e6)
        lines.append(f"{step * STEP_MS}ms,{round(rate / 1000)}kbit")
    path.write_text("\n".join(lines) + "\n")


def main() -> None:
    folder = Path(sys.argv[1])
    for kind in (mobile, satellite, cable):
        for seed in (1, 2, 3):
            draw = random.Random(f"{kind.__name__} {seed}")
            write(folder / f"{kind.__name__}-{seed}.csv", kind(draw))


if __name__ == "__main__":
    main()
