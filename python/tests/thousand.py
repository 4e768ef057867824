"""A study of a thousand short runs, and a process that drives it on a cluster until it is killed:
``python thousand.py dask|ray ADDRESS STORE``."""

import sys

import laxity as lx

PLAN = lx.Plan(
    link={"rate": "2mbit"},
    scheduler={"kind": "edf"},
    classes={
        "voice": {"deadline": "10ms", "arrival": {"bucket": "400b", "rate": "64kbit", "packet": "200b"}},
        "web": {},
    },
    sources=[
        {"class": "voice", "model": "constant", "packet": "200b", "rate": "53kbit"},
        {"class": "web", "model": "poisson", "packet": "1000b", "rate": "1.8mbit"},
    ],
)
OVER = {"link.rate": ["2mbit", "2.5mbit", "3mbit", "3.5mbit", "4mbit"], "scheduler": ["edf", "fifo"]}
SEEDS = range(1, 101)
RUNS = 5 * 2 * 100


def sweep(store, **how):
    return lx.sweep(PLAN, OVER, seeds=SEEDS, duration="20s", store=store, **how)


def main(kind, address, store):
    if kind == "dask":
        from distributed import Client

        sweep(store, executor=Client(address))
    else:
        import ray

        ray.init(address=address)
        sweep(store, executor="ray")


if __name__ == "__main__":
    main(*sys.argv[1:])
