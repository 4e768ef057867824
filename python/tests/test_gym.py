"""The environment of one link."""

import resource

import numpy as np
import pytest

import laxity as lx

gymnasium = pytest.importorskip("gymnasium")

from gymnasium.utils.env_checker import check_env  # noqa: E402
from laxity.gym import FAR, LinkEnv  # noqa: E402
from test_schedulers import plan  # noqa: E402


def episode(env, policy, seed):
    """The sum of what becomes of packets that the policy, or nobody, chose after the first."""
    seen, info = env.reset(seed=seed)
    reward, sent, late, done = 0.0, 0, 0, not info["action_mask"].any()
    while not done:
        seen, gained, done, truncated, info = env.step(policy(seen, info["action_mask"]))
        assert not truncated
        reward += gained
        sent += info["outcomes"].sent
        late += info["outcomes"].late
    return reward, sent, late


def least_slack(seen, mask):
    return int(np.argmin(np.where(mask, seen[:, 3], np.inf)))


def test_gymnasium_accepts_it():
    check_env(LinkEnv(plan(), duration="200ms"), skip_render_check=True)


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_who_chooses_the_least_slack_is_edf(seed):
    env = LinkEnv(plan().edit({"link.rate": "9mbit"}), duration="1s")
    _, sent, late = episode(env, least_slack, seed)
    run = env.plan.run(duration="1s", seed=seed)
    assert list(sent) == [one["sent"] for one in run.classes]
    assert list(late) == [one["deadline_misses"] for one in run.classes] and late.sum() == 0


def test_seeds_repeat_and_others_differ():
    env = LinkEnv(plan(), duration="300ms")

    def any_class(seen, mask):
        return int(np.flatnonzero(mask)[-1])

    one, again, other = (episode(env, any_class, seed)[0] for seed in (5, 5, 6))
    assert one == again != other
    env.reset(seed=1)
    first, second = env.reset()[1], env.reset()[1]
    assert first["now"] != second["now"]


def test_what_it_sees_is_what_waits():
    env = LinkEnv(plan(), duration="1s")
    seen, info = env.reset(seed=3)
    assert (seen[:, 0] > 0).tolist() == info["action_mask"].astype(bool).tolist() and info["action_mask"].sum() > 1
    assert seen[3, 3] == FAR and seen.shape == (4, 4)
    with pytest.raises(lx.LaxityError, match="reset"):
        LinkEnv(plan()).step(0)
    with pytest.raises(lx.LaxityError, match="duration of zero"):
        LinkEnv(plan(), duration="0s").reset()


def test_a_reward_of_ones_own():
    env = LinkEnv(plan(), duration="100ms", reward=lambda outcomes: float(outcomes.sent[0]))
    reward, sent, _ = episode(env, least_slack, 1)
    assert reward == sent[0] > 0


def test_thousands_of_resets_leak_nothing():
    env = LinkEnv(plan(), duration="20ms")

    def resets(count):
        for seed in range(count):
            env.reset(seed=seed)
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss

    before = resets(500)
    # An episode holds tens of kilobytes: five thousand of them would be hundreds of megabytes.
    assert resets(5000) - before < 8 * 1024
