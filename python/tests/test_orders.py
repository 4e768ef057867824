"""A client that is generated from the description of orders, and a link that it orders from."""

from __future__ import annotations

import importlib
import subprocess
import sys
import time
from pathlib import Path

import pytest

from shell import ISOLATED, missing

TOKEN = "0123456789abcdef0123456789abcdef"

PLAN = """
version = 1
link = { rate = "20mbit" }
scheduler = { kind = "edf" }
[class.voice]
deadline = "10ms"
arrival = { bucket = "600b", rate = "200kbit", packet = "300b" }
match = "udp dport 4000"
[class.rest]
"""

START = f"""
set -e
ip link set dev lo up
for end in a b; do
    ip link add name $end up type veth peer name $end-far
    ip link set dev $end-far up
done
laxity=$1 python=$2 test=$3
"$laxity" live plan.toml --in a --out b --priority 0 --control socket --reservations promised \\
    --reserve-at 9465 --clients clients.toml &
"$python" "$test"
kill %1
"""


@pytest.mark.skipif(missing() is not None, reason=str(missing()))
def test_a_generated_client_is_understood(tmp_path: Path) -> None:
    (tmp_path / "plan.toml").write_text(PLAN)
    clients = tmp_path / "clients.toml"
    clients.touch(0o600)
    clients.write_text(f"[client.media]\ntoken = '{TOKEN}'\n")
    laxity = Path(sys.executable).parent / "laxity"
    arguments = [*ISOLATED, "bash", "-c", START, "start", str(laxity), sys.executable, __file__]
    done = subprocess.run(arguments, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "ordered" in done.stdout


def generate() -> None:
    """Writes the package `client` into this folder."""
    httpx = importlib.import_module("httpx")
    for _ in range(100):
        try:
            described = httpx.get("http://127.0.0.1:9465/openapi.json")
            break
        except httpx.ConnectError:
            time.sleep(0.1)
    Path("openapi.json").write_text(described.text)
    generator = [Path(sys.executable).parent / "openapi-python-client", "generate", "--meta", "none"]
    subprocess.run([*generator, "--path", "openapi.json", "--output-path", "client"], check=True)


def order() -> None:
    """Orders by that package."""
    sys.path.insert(0, str(Path.cwd()))
    models = importlib.import_module("client.models")
    clients = importlib.import_module("client.client")
    post = importlib.import_module("client.api.default.order").sync
    client = clients.AuthenticatedClient("http://127.0.0.1:9465", TOKEN)

    def reserve(name: str, deadline: str) -> object:
        contract = {"bucket": "600b", "rate": "200kbit", "packet": "300b"}
        keys = {"deadline": deadline, "match": "udp dport 5000", "arrival": contract}
        wish = models.Reserve(order="reserve", name=name, class_=models.ClassKeys.from_dict(keys))
        return post(client=client, body=wish)

    granted = reserve("call", "9ms")
    assert isinstance(granted, models.Granted), granted
    assert granted.name == "call"
    assert granted.bound_ns <= 9_000_000
    refused = reserve("tight", "300us")
    assert isinstance(refused, models.Refused), refused
    assert refused.reason.value == "no-room"
    fitting = reserve("tight", f"{refused.offer.deadline_ns}ns")
    assert isinstance(fitting, models.Granted), fitting
    listed = post(client=client, body=models.List(order="list"))
    assert [one.name for one in listed.reservations] == ["call", "tight"]
    done = post(client=client, body=models.Release(order="release", name="call"))
    assert isinstance(done, models.Done), done
    print("ordered")


if __name__ == "__main__":
    generate()
    order()
