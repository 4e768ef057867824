"""Learns which class to send, and says whether that beats EDF. ``pip install laxity[gymnasium]``

The policy scores each class by a few numbers that it sees of it, and sends the best; the cross-entropy method (Rubinstein
1999) searches for the weights of these numbers: it draws some, keeps the best, and draws around them again. It learns from
some seeds and is judged on others, twice: where the admission test says that all deadlines can be kept, and on a link that
is too slow for them. It stands beside the textbook's EDF, which sends best effort when nothing else waits, and Laxity's,
which gives best effort the delay that deadlines leave.
"""

from __future__ import annotations

import argparse

import laxity as lx
import numpy as np
from laxity.gym import FAR, LinkEnv


def plan(rate: str) -> lx.Plan:
    """Voice and video with deadlines beside two best-effort classes."""
    return lx.Plan(
        link={"rate": rate},
        scheduler={"kind": "edf"},
        classes={
            "voice": {"deadline": "5ms", "arrival": {"bucket": "600b", "rate": "80kB/s", "packet": "300b"}},
            "video": {"deadline": "20ms", "arrival": {"bucket": "12kB", "rate": "500kB/s", "packet": "1500b"}},
            "web": {},
            "bulk": {},
        },
        sources=[
            {"class": "voice", "model": "constant", "packet": "200b", "rate": "64kB/s"},
            {"class": "video", "model": "poisson", "packet": "1200b", "rate": "400kB/s"},
            {"class": "web", "model": "poisson", "packet": "700b", "rate": "200kB/s"},
            {"class": "bulk", "model": "poisson", "packet": "1500b", "rate": "400kB/s"},
        ],
    )


def numbers(seen: np.ndarray) -> np.ndarray:
    """What the policy sees of each class, of the size of one; best effort has no slack, but the number of its class."""
    packets, kilobytes, waited, slack = seen.T
    has_deadline = slack < FAR
    columns = [packets / 10, kilobytes / 10, waited / 20, np.where(has_deadline, slack / 20, 0), has_deadline]
    return np.column_stack([*columns, has_deadline * (slack < 0)])


def learned(weights: np.ndarray):
    """The policy of these weights, which end with one for each class."""

    def policy(seen, mask):
        known = weights[: -len(mask)]
        return int(np.argmax(np.where(mask, numbers(seen) @ known + weights[-len(mask) :], -np.inf)))

    return policy


def edf(seen, mask):
    """The least slack; best effort in the order of its arrival."""
    return int(np.argmin(np.where(mask, seen[:, 3] - seen[:, 2] * (seen[:, 3] == FAR) / FAR, np.inf)))


def first_come(seen, mask):
    """Whose first packet has waited longest."""
    return int(np.argmax(np.where(mask, seen[:, 2], -1)))


def judge(env: LinkEnv, policy, seeds) -> np.ndarray:
    """For each seed the reward, the share of packets with a deadline that were late, and best effort's mean delay."""
    rows = []
    has_deadline = np.array([name in env.plan.deadlines for name in env.plan.classes])
    for seed in seeds:
        seen, info = env.reset(seed=seed)
        reward, sums, done = 0.0, np.zeros((4, len(has_deadline))), not info["action_mask"].any()
        while not done:
            seen, gained, done, _, info = env.step(policy(seen, info["action_mask"]))
            reward += gained
            sums += info["outcomes"]
        sent, late, delay, _ = sums
        rows.append([reward, late.sum() / sent[has_deadline].sum(), delay[~has_deadline].sum() / sent[~has_deadline].sum()])
    return np.array(rows)


def laxity(env: LinkEnv, seeds) -> np.ndarray:
    """The same of the plan under its own scheduler."""
    rows = []
    for seed in seeds:
        classes = env.plan.run(seed=seed, duration=env.duration).classes
        delays = [one["sent"] * one["delay_ns"]["mean"] / 1e6 for one in classes]
        late = sum(one["deadline_misses"] for one in classes)
        due = [one["deadline_ns"] is not None for one in classes]
        sent_in_time = sum(one["sent"] for one, is_due in zip(classes, due, strict=True) if is_due)
        rest = [(delay, one["sent"]) for delay, one, is_due in zip(delays, classes, due, strict=True) if not is_due]
        delay, sent = map(sum, zip(*rest, strict=True))
        rows.append([-late - 0.001 * sum(delays), late / sent_in_time, delay / sent])
    return np.array(rows)


def learn(env: LinkEnv, seeds, generations: int, draws: int = 32, kept: int = 6) -> np.ndarray:
    """Weights by the cross-entropy method; all draws of a generation meet the same arrivals."""
    draw = np.random.default_rng(1)
    mean = np.zeros(6 + len(env.plan.classes))
    spread = np.ones_like(mean)
    for generation in range(generations):
        drawn = mean + spread * draw.standard_normal((draws, len(mean)))
        met = [int(seed) for seed in draw.choice(seeds, 2, replace=False)]
        rewards = [judge(env, learned(weights), met)[:, 0].mean() for weights in drawn]
        best = drawn[np.argsort(rewards)[-kept:]]
        mean, spread = best.mean(axis=0), best.std(axis=0) + 0.3 / (1 + generation)
        print(f"\r  generation {generation + 1} of {generations}, reward {np.max(rewards):.1f}", end="", flush=True)
    print()
    return mean


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--generations", type=int, default=15)
    parser.add_argument("--seeds", type=int, default=30, help="seeds that it is judged on")
    asked = parser.parse_args()
    for title, rate in [("where deadlines can be kept", "10mbit"), ("where they cannot", "3600kbit")]:
        env = LinkEnv(plan(rate), duration="500ms")
        admitted = env.plan.check().admitted
        print(f"{title}: {rate}, {'admitted' if admitted else 'not admitted'}")
        weights = learn(env, range(1000, 1100), asked.generations)
        seeds = range(1, asked.seeds + 1)
        policies = {"EDF": edf, "first come": first_come, "learned": learned(weights)}
        judged = {name: judge(env, policy, seeds) for name, policy in policies.items()}
        judged["Laxity's EDF"] = laxity(env, seeds)
        print(f"  {'':12}{'reward':>10}{'late':>10}{'best effort':>14}")
        for name, rows in judged.items():
            reward, late, delay = rows.mean(axis=0)
            print(f"  {name:12}{reward:10.1f}{late:10.2%}{delay:11.1f} ms")
        for other in "EDF", "Laxity's EDF":
            ahead = judged["learned"][:, 0] - judged[other][:, 0]
            half = 1.96 * ahead.std(ddof=1) / np.sqrt(len(ahead))
            beats = "beats" if ahead.mean() > half else "is beaten by" if ahead.mean() < -half else "is as good as"
            print(f"  The learned policy {beats} {other}: its reward is {ahead.mean():+.1f} ± {half:.1f}.")
        print()


if __name__ == "__main__":
    main()
