"""The tables of a plan, as its schema has them; written by tests/plan_tables.py."""

from collections.abc import Mapping, Sequence
from typing import Literal, TypeAlias

from typing_extensions import Required, TypedDict

AckFilter: TypeAlias = Literal["off", "on", "aggressive"]
"""`ack-filter = …`: which acknowledgements are dropped that later ones make superfluous."""
Arrival: TypeAlias = Bucket | Sequence[Bucket]
Assignment: TypeAlias = Literal["quick", "exact"]
"""`assignment = …`."""
Autorate = TypedDict(
    "Autorate",
    {
        # What a simulation puts behind the shaper. Default a link that sends as `rate-trace` says, else at `to`, without limit to its queue.
        "behind": Behind,
        # How the rate is found. Default delay.
        "by": Rule,
        # The delay that may stand behind the shaper; with `cake-autorate` the one from which a probe counts as delayed. Default 10ms, with `cake-autorate` 30ms.
        "delay": Time,
        # `delay`: the time in which a queue that is too long is drained. Default 100ms.
        "drain": Time,
        # The most by which it falls at once, with `delay` below the measured capacity. Default 0.75, with `cake-autorate` 0.25.
        "fall": float,
        # What the link always carries; the plan is proved for it.
        "from": Required[Rate],
        # The time between two probes. Default 50ms.
        "interval": Time,
        # Live: the hosts that answer probes, by address. Default none: time stamps of TCP alone.
        "reflectors": Sequence[str],
        # The most by which the rate rises at once. Default 0.25, with `cake-autorate` 0.04.
        "rise": float,
        # The rate at the beginning. Default the geometric mean of `from` and `to`.
        "start": Rate,
        # The most that it is given.
        "to": Required[Rate],
    },
    total=False,
)
"""A rate that nobody knows, between two that are known."""

Behind = TypedDict(
    "Behind",
    {
        # How much waits there at most; more is lost. Default no limit.
        "buffer": Size,
        # How much longer it takes by chance. Default not at all.
        "jitter": TimeDistribution,
        # How long a probe takes to a reflector and back if nothing waits. Default 30ms.
        "round-trip": Time,
    },
    total=False,
)
"""The link behind a shaper, in a simulation."""

BestEffort: TypeAlias = Literal["background", "total-bandwidth", "shifted-line", "two-line", "two-line-fast", "exact"]
"""`best-effort = …` (Chakraborty, Gries, Thiele 2002)."""
BestEffortOrder: TypeAlias = Literal["fifo", "wfq", "cake"]
"""`best-effort-order = …`."""
Between = TypedDict(
    "Between",
    {
        # The shortest packet. Default the link's `min-packet`.
        "at-least": Size,
        # The largest packet. Default the link's `max-packet`.
        "at-most": Size,
    },
    total=False,
)
"""The shortest and the largest packet of a class."""

class Bucket(TypedDict, total=False):
    """A token bucket: in any interval of length t at most `bucket + rate t`."""
    bucket: Required[Size]
    """The burst."""
    packet: PacketLengths
    """The largest packet of the class, or the shortest and the largest. Default the link's `min-packet` and `max-packet`."""
    peak: Rate
    """The peak rate; needs `packet`."""
    rate: Required[Rate]
    """The sustained rate."""

Class = TypedDict(
    "Class",
    {
        # Its side of the contract: the traffic that it may send.
        "arrival": Arrival,
        # How many alike streams it has; a packet's stream is its flow number modulo this. Default 1.
        "count": int,
        # The service that it is guaranteed and shares by: `real-time` (of a class without classes below it) and `link-share` at once. For `wfq`, `wf2q`, `drr`, `qfq`, `hfsc`, `edf`, `tdp`.
        "curve": Curve,
        # The delay that its packets are promised; needs `arrival`.
        "deadline": Time,
        # The delay that its packets are promised over single links, in place of `deadline`; in a network.
        "deadline-over": Mapping[str, Time],
        # The code point of its packets, such as "ef" or 46; it is their tin under `cake`. Default "be". For `cake`, `edf`, `tdp`.
        "dscp": int | str,
        # The delay that its packets are promised over the whole of their path; in a network.
        "end-to-end": Time,
        # The time frame in which each link sends its first packet, counted from 0; under `tdp`. Default those that are found. For `tdp`.
        "frame-at": Mapping[str, int],
        # The time between the deadlines of two packets of a stream; with `loss` under any discipline. For `priority`, `edf`, `dwcs`, `tdp`.
        "gap": Time,
        # What becomes of late packets; needs `gap` or `deadline`. Default drop with `loss`, send without. For `dwcs`.
        "late": Late,
        # Its level, 0 to 255: 0 goes first. Default behind all that have one; where no class has, by their deadlines. For `priority`.
        "level": int,
        # Its share of what its parent gets. For `wfq`, `wf2q`, `drr`, `qfq`, `hfsc`, `edf`, `tdp`.
        "link-share": Curve,
        # How many of a stream's consecutive packets may be late or lost, such as "1/80"; needs `gap` or `deadline`.
        "loss": Loss,
        # Which packets of a capture or a live link belong to it, such as `udp dport 4000`.
        "match": str,
        # The class that it is part of, by name. Default none: it shares the link itself. For `wfq`, `wf2q`, `drr`, `qfq`, `hfsc`, `edf`, `tdp`.
        "parent": str,
        # What happens to packets that break `arrival`. Default count.
        "police": Police,
        # How much of it may be queued. Default no limit.
        "queue": Queue,
        # The service that it is guaranteed whatever the others do; not for a class with classes below it. For `wfq`, `wf2q`, `drr`, `qfq`, `hfsc`, `edf`, `tdp`.
        "real-time": Curve,
        # The scheduler that it holds, for its own packets or for the classes below it; with `kind = "wf2q"` in `[scheduler]`, and for flows of classes without others below with `hfsc` and `drr`. Default fifo for a class without classes below it.
        "scheduler": Scheduler,
        # The service that it gets at most by sharing; needs `link-share` or `curve`. For `hfsc`.
        "upper-limit": Curve,
        # Its share where classes share by weight, more than 0 and at most 4000. Default 1. For `wfq`, `wf2q`, `drr`, `qfq`, `hfsc`, `edf`, `tdp`.
        "weight": float,
    },
    total=False,
)
"""A class of traffic: real-time with a deadline, best effort without. What takes much room and few classes have is boxed, for a plan may have a million of them."""

class Clock(TypedDict, total=False):
    """A clock that is not perfect."""
    ahead: Time
    """By how much it is ahead of the reference just after it was set."""
    behind: Time
    """By how much it is behind, in place of `ahead`."""
    drift: float
    """By how many millionths it is fast or, if negative, slow. Default 0."""
    sync: Time
    """How often it is set. Default 1s."""

Curve: TypeAlias = Rate | Pieces
Diffserv: TypeAlias = Literal["besteffort", "diffserv3", "diffserv4", "diffserv8", "precedence"]
"""`diffserv = …`: how classes are sorted into tins by their `dscp`."""
Drawn = TypedDict(
    "Drawn",
    {
        # `dumbbell`: their propagation delay. Default that of `[link]`.
        "access-delay": Time,
        # `dumbbell`: the rate of the hosts' links. Default that of `[link]`.
        "access-rate": Rate,
        # Their propagation delay. Default that of `[link]`.
        "delay": Time,
        # `dumbbell`: the hosts on each side.
        "hosts": int,
        # `fat-tree`: the ports of a switch, an even number.
        "k": int,
        # What is drawn.
        "kind": Required[Shape],
        # The rate of links, in a dumbbell of that between the routers. Default that of `[link]`.
        "rate": Rate,
    },
    total=False,
)
"""A network that is drawn by a rule."""

class Duplicate(TypedDict, total=False):
    """Random packets that arrive twice."""
    share: Required[float]
    """The share of packets that are copied, more than 0 and at most 1."""

Framing: TypeAlias = Literal["whole", "atm", "ptm"]
"""What frames are cut into."""
Isolation: TypeAlias = Literal["flowblind", "srchost", "dsthost", "hosts", "flows", "dual-srchost", "dual-dsthost", "triple-isolate"]
"""`isolation = …`: what shares a tin."""
Late: TypeAlias = Literal["drop", "send"]
"""`late = …`."""
Limit: TypeAlias = int | Size
Link = TypedDict(
    "Link",
    {
        # The propagation delay: of a network's links, else of the wire that `live` and `emulate` put behind the link. Default 0s.
        "delay": Time,
        # Packets that arrive twice. Default none.
        "duplicate": Duplicate,
        # How much longer than `delay` a packet is on this wire. It stays behind those that were sent before it. Default not at all.
        "jitter": TimeDistribution,
        # Packets that are lost on this wire. Default none.
        "loss": WireLoss,
        # The largest packet that any class may send, with its overhead. Default 1514b with its overhead.
        "max-packet": Size,
        # The shortest packet; shorter lengths that a model draws are raised to it. Default 40b.
        "min-packet": Size,
        # What it adds to the frames of captures and interfaces: bytes, the name of a kind of link, or both in a table. Default 0b.
        "overhead": Overhead,
        # Its rate; a table if nobody knows it.
        "rate": Required[LinkRate],
        # A file that says how the rate changes over time; `rate` is then what schedulers count on. If that is a table, the link behind the shaper changes so. Default not at all.
        "rate-trace": str,
        # Packets that are held up on this wire and passed by those behind them. Default none.
        "reorder": Reorder,
        # How many threads serve it in `live`, up to 64, each with a scheduler of its own and the flows that fall to it. The plan is proved for what one of them can count on, its part of the rate. Default 1.
        "threads": int,
    },
    total=False,
)
"""The link that is shared."""

LinkRate: TypeAlias = Rate | Autorate
"""The rate of a link, or a table for one that nobody knows."""
Loss: TypeAlias = str
"""A loss tolerance such as "1/80": of any 80 consecutive packets at most one may be late or lost."""
ModelKind: TypeAlias = Literal["greedy", "constant", "poisson", "correlated", "on-off", "pareto-on-off", "backlogged", "tcp", "capture", "csv"]
"""`model = …`."""
NetworkLink = TypedDict(
    "NetworkLink",
    {
        # The two nodes that it joins, such as ["r1", "r2"]; none for a link of `topology`.
        "between": Sequence[str],
        # Its propagation delay. Default that of `[link]`.
        "delay": Time,
        # Packets that arrive twice. Default none.
        "duplicate": Duplicate,
        # How much longer than `delay` a packet is under way. It stays behind those that were sent before it. Default not at all.
        "jitter": TimeDistribution,
        # How late it may be with what is due at its rate, as a device is that takes its time. Default not at all.
        "latency": Time,
        # Packets that are lost under way. Default none.
        "loss": WireLoss,
        # The highest rate at which it sends, where `rate` is only what it is sure of. Default `rate`.
        "peak": Rate,
        # Whether every flow has such a link of its own, as hosts have access links. Default false.
        "private": bool,
        # Its rate in each direction; a table if nobody knows it in the direction of `between`. Default that of `[link]`.
        "rate": LinkRate,
        # A file that says how the rate changes over time in either direction; `rate` is then what schedulers count on. Default that of `[link]` for links without a `rate` of their own.
        "rate-trace": str,
        # Whether packets that come to it from other nodes are held until they keep to the `arrival` of their class again. Default false.
        "regulate": bool,
        # Packets that are held up under way and passed by those behind them. Default none.
        "reorder": Reorder,
        # The discipline at both of its ends. Default that of the node, and fifo for a private link.
        "scheduler": Scheduler,
    },
    total=False,
)
"""A link of a network, for both directions."""

Node = TypedDict(
    "Node",
    {
        # `tdp`: how its clock differs from the common time reference. Default not at all.
        "clock": Clock,
        # `tdp`: how many frames after the previous node it sends a packet. Default that of `[scheduler]`.
        "forwarding-delay": int,
        # The discipline of its outputs. Default that of `[scheduler]`.
        "scheduler": Scheduler,
    },
    total=False,
)
"""A node of a network."""

Overhead: TypeAlias = Literal["ethernet", "docsis", "pppoe-ptm", "bridged-ptm", "ipoa-vcmux", "ipoa-llcsnap", "pppoa-vcmux", "pppoa-llc", "pppoe-vcmux", "pppoe-llcsnap", "bridged-vcmux", "bridged-llcsnap"] | str | Parts
"""What a link adds to frames: bytes, the name of a kind of link, or a table."""
PacketLengths: TypeAlias = Size | Between
Parts = TypedDict(
    "Parts",
    {
        # The least that a frame takes, such as "64b". Default 0b.
        "at-least": str,
        # What is added to every frame, such as "18b"; "-6b" where it becomes shorter. Default 0b.
        "bytes": str,
        # What frames are cut into. Default whole.
        "framing": Framing,
    },
    total=False,
)
"""`{ bytes = …, at-least = …, framing = … }`."""

class Pieces(TypedDict, total=False):
    """Two straight pieces: either a burst that is served within a delay, then a rate; or slope m1 for a time d, then slope m2."""
    burst: Size
    """The work that is served within `delay`."""
    d: Time
    """How long the first slope holds."""
    delay: Time
    """The time within which `burst` is served."""
    m1: Slope
    """The slope at first: at least `m2`, or "0bit"."""
    m2: Rate
    """The slope from then on: the rate in the long run."""
    rate: Rate
    """The rate in the long run."""

Police: TypeAlias = Literal["count", "demote", "drop"]
"""`police = …`: what happens to a packet that breaks its class's arrival curve."""
Precedence: TypeAlias = Literal["loss-first", "deadline-first"]
"""`precedence = …`."""
Queue = TypedDict(
    "Queue",
    {
        # `pie`: what a second of waiting above `target` adds to the probability. Default 0.125.
        "alpha": float,
        # `pie`: what a second by which waiting has grown adds to it. Default 1.25.
        "beta": float,
        # `pie`: for how long nothing is dropped at first. Default 150ms.
        "burst": Time,
        # `choke`: how many queued packets an arriving one is compared with. Default 1.
        "candidates": int,
        # `red`, `choke`, `codel`, `pie`: packets that are capable of ECN are marked instead of dropped. Default false.
        "ecn": bool,
        # `red`, `choke`: above `max` the probability grows to 1 at twice `max`, instead of being 1. Default true.
        "gentle": bool,
        # `codel`: for how long packets may wait longer than that. Default 100ms.
        "interval": Time,
        # Who gets in.
        "kind": Required[QueueKind],
        # How much fits: packets as in 100, or bytes as in "64kB".
        "limit": Required[Limit],
        # `droptail`: a packet that would exceed this is marked, if it is capable of ECN: what DCTCP lives on (RFC 8257). Below `limit`, and measured alike. Default none is.
        "mark": Limit,
        # `red`, `choke`: the average length at which `max-p` is reached, measured like `min`.
        "max": Limit,
        # `red`, `choke`: the probability of a drop just below `max`. Default 0.1.
        "max-p": float,
        # `red`, `choke`: the average length from which on packets are dropped.
        "min": Limit,
        # `red`, `choke`: how drops are spread. Default uniform.
        "spacing": Spacing,
        # `codel`: the waiting time that is tolerated. Default 5ms. `pie`: the waiting time that is aimed at. Default 15ms.
        "target": Time,
        # `pie`: how often the probability of a drop is moved. Default 15ms.
        "update": Time,
        # `red`, `choke`: what one arrival counts in the average. Default 0.002.
        "weight": float,
    },
    total=False,
)
"""Who gets into a queue, and how much of it there may be. Which keys apply depends on `kind`."""

QueueKind: TypeAlias = Literal["droptail", "red", "choke", "codel", "pie"]
"""`kind = …`."""
Rate: TypeAlias = str
"""a rate such as "10mbit" or "1.25MB/s"."""
class Reorder(TypedDict, total=False):
    """Random packets that are passed by others."""
    by: Required[TimeDistribution]
    """How much longer they are under way."""
    share: Required[float]
    """The share of packets that are held up, more than 0 and at most 1."""

Request = TypedDict(
    "Request",
    {
        # A file of recorded calls in place of `every` and `holding`: CSV with the columns `at_ns` and `holding_ns`, and `class` if it has calls of others. `laxity run --out` writes one.
        "calls": str,
        # The class that each asks for. It is there as often as calls have it, at times not at all.
        "class": Required[str],
        # The time from one call to the next; exponential for a Poisson process, such as { exponential = "2s" }.
        "every": TimeDistribution,
        # How long each lasts from its begin.
        "holding": TimeDistribution,
    },
    total=False,
)
"""Calls that come and go in a simulation: each asks for a reservation, a class like one of the plan, and sends what that class's sources say while it has it."""

Rule: TypeAlias = Literal["delay", "cake-autorate"]
"""How the rate of a link is found."""
Run = TypedDict(
    "Run",
    {
        # How long sources send. Default 10s for models, all of a recording.
        "duration": Time,
        # The seed of every random draw. Default 1.
        "seed": int,
        # Packets that arrive before are sent but not measured. Default 0s.
        "warm-up": Time,
    },
    total=False,
)
"""Defaults of a simulation."""

Scheduler = TypedDict(
    "Scheduler",
    {
        # `cake`: which acknowledgements of TCP are dropped that later ones make superfluous. Default off.
        "ack-filter": AckFilter,
        # `dualpi2`: what a second of waiting above `target` adds to it. Default 0.16.
        "alpha": float,
        # `tdp`: how frames are assigned to flows. Default quick.
        "assignment": Assignment,
        # How best-effort packets get deadlines; `edf` only. Default exact.
        "best-effort": BestEffort,
        # How best-effort classes are ordered among themselves; `edf`, `tdp`. Default wfq.
        "best-effort-order": BestEffortOrder,
        # `dualpi2`: what a second by which waiting has grown adds to it. Default 3.2.
        "beta": float,
        # After how many services it looks for passed deadlines; `dwcs` only. Default 1.
        "check-every": int,
        # `dualpi2`: the share of the link that classic packets get at least, 0 to 1. Default 0.1.
        "classic-share": float,
        # `tdp`: the error of nodes' clocks that the network is to bear. Default the largest that the nodes' clocks have.
        "clock-error": Time,
        # `dualpi2`: how many times more likely L4S packets are marked. Default 2.
        "coupling": int,
        # `tdp`: how many cycles make a super cycle, after which reservations repeat. Default 1.
        "cycles": int,
        # `cake`: how classes are sorted into tins by their `dscp`. Default diffserv3.
        "diffserv": Diffserv,
        # `fq-codel`: whether packets are marked that allow it, instead of dropped. Default true.
        "ecn": bool,
        # `fq-codel`, `cake`: how many queues the flows are hashed into; under `cake` in each tin, a multiple of 8. Default 1024.
        "flows": int,
        # `tdp`: how many frames after the previous node a node sends a packet. Default the fewest that its links allow.
        "forwarding-delay": int,
        # `tdp`: how long a time frame is, such as "250us".
        "frame": Time,
        # `tdp`: how many frames make a cycle: 3 to 65536.
        "frames": int,
        # `tdp`: by how much best effort may run into a reserved frame. Default 0s.
        "guard": Time,
        # `cake`: whether what it drops counts as sent, for a link behind the bottleneck. Default false.
        "ingress": bool,
        # `fq-codel`: for how long they may wait longer. Default 100ms.
        "interval": Time,
        # `cake`: what shares a tin. Default triple-isolate.
        "isolation": Isolation,
        # Which discipline.
        "kind": Required[SchedulerKind],
        # What becomes of real-time packets whose deadline or frame is over; `edf`, `tdp`. Default send.
        "late": Late,
        # `fq-codel`, `dualpi2`, `cake`: how much may be queued in all, in packets or bytes. Default 10240, 10000, or what the link carries in four `rtt`, 4 MiB at least.
        "limit": Limit,
        # What goes first; `dwcs` only. Default loss-first.
        "precedence": Precedence,
        # `fq-codel`: how much a flow may send in its turn. Default 1514b.
        "quantum": Size,
        # The queue that all classes share that have none of their own. Default no limit.
        "queue": Queue,
        # `cake`: holds all packets back to this rate; tins have parts of it. Default not at all, and tins have parts of the link's.
        "rate": Rate,
        # `cake`: the usual round-trip time of the traffic. Default 100ms.
        "rtt": Time,
        # `tdp`: by how many more frames a node may delay the packets of a flow, as its reservation says. Default 0, which is immediate forwarding.
        "spare": int,
        # `fq-codel`, `dualpi2`: how long a flow's, or classic packets may wait in the long run. Default 5ms or 15ms.
        "target": Time,
        # `dualpi2`: L4S packets that have waited for longer are marked. Default 1ms.
        "threshold": Time,
        # `dualpi2`: how often the probability of marks and drops is moved. Default 16ms.
        "update": Time,
        # What becomes of a stream that has lost more than it may; `dwcs` only. Default reset.
        "violation": Violation,
        # `cake`: whether the code point of what is sent is cleared; its ECN stays. Default false.
        "wash": bool,
    },
    total=False,
)
"""The discipline that shares the link."""

SchedulerKind: TypeAlias = Literal["fifo", "wfq", "wf2q", "drr", "qfq", "hfsc", "priority", "fq-codel", "dualpi2", "cake", "edf", "dwcs", "tdp"]
"""`kind = …`."""
Shape: TypeAlias = Literal["dumbbell", "fat-tree"]
"""`kind = …` of a topology."""
Size: TypeAlias = str
"""a size such as "1536b" or "30kB"."""
class SizeDistribution1(TypedDict, total=False):
    exponential: Size
    lognormal: Sequence[Size | float]
    """[median, sigma]"""
    normal: Sequence[Size]
    """[mean, deviation]"""
    pareto: Sequence[Size | float]
    """[minimum, shape]"""
    uniform: Sequence[Size]
    """[from, to]"""
    weibull: Sequence[Size | float]
    """[scale, shape]"""

SizeDistribution: TypeAlias = Size | SizeDistribution1
"""a size such as "1536b" or "30kB", or a distribution."""
Slope: TypeAlias = str
"""a rate such as "256kbit" or "0bit"."""
Source = TypedDict(
    "Source",
    {
        # `tcp`: length of an acknowledgement. Default the link's `min-packet`.
        "ack": Size,
        # `greedy`: length of a burst.
        "burst": TimeDistribution,
        # The class that it feeds; models only, a recording is sorted by the classes' `match`.
        "class": str,
        # `tcp`: how windows grow and shrink. Default what `variant` says, and that is `cubic` by default.
        "congestion": TcpCongestion,
        # How many independent copies there are. Default as many as the class has streams.
        "count": int,
        # `tcp`: whether only every second segment is acknowledged. Default true.
        "delayed-acks": bool,
        # `tcp`: whether queues may mark segments instead of dropping them. Default false, under `congestion = "dctcp"` true.
        "ecn": bool,
        # `tcp`: the time from one transfer that a connection is asked for to the next, done or not; exponential for a Poisson process; needs `transfer`, in place of `pause`.
        "every": TimeDistribution,
        # `capture`, `csv`: the recording; a relative path counts from the plan's folder.
        "file": str,
        # Where the shortest path begins.
        "from": str,
        # Between which hosts its packets go, by any names: who sends them and who receives them, such as ["laptop", "internet"]. `cake` shares by hosts. Default hosts that nobody knows.
        "hosts": Sequence[str],
        # `tcp`: the initial window in segments. Default 10.
        "initial-window": int,
        # `constant`: by how much each packet is later than the rate has it, though never before another one. Default not at all. `tcp`: the time from when a sender may send until it does. Default uniform, from none to what a segment takes on the slowest link of the path.
        "jitter": TimeDistribution,
        # `tcp`: whether segments say ECT(1), by which L4S is known (RFC 9331), instead of ECT(0); `congestion = "dctcp"` only. Default false.
        "l4s": bool,
        # How often its packets pass the path, which then ends where it begins. Default 1.
        "laps": int,
        # `tcp`: whether the first two duplicate acknowledgements let a new segment go. Default true.
        "limited-transmit": bool,
        # `tcp`: how losses are found. Default what `variant` says, and that is `sack` by default; under `congestion = "bbr"` `rack-tlp`.
        "loss-detection": TcpRecovery,
        # `capture`: which frames take part, such as `udp`. Default all.
        "match": str,
        # `tcp`: how much longer than the smoothed round trip the retransmission timeout is at least. Default 200ms.
        "min-timeout": Time,
        # When it sends.
        "model": Required[ModelKind],
        # `on-off`: length of an off period. `pareto-on-off`: its mean.
        "off": TimeDistribution,
        # `on-off`: length of an on period. `pareto-on-off`: its mean.
        "on": TimeDistribution,
        # `tcp`: whether segments leave one by one at a rate. Default false, under `congestion = "bbr"` true.
        "pacing": bool,
        # Lengths of its packets.
        "packet": SizeDistribution,
        # In a network: the nodes that its packets pass, from the first to the last, or "shortest".
        "path": Literal["shortest"] | Sequence[str],
        # `tcp`: the time between two transfers of a connection; needs `transfer`. Default 0s.
        "pause": TimeDistribution,
        # `constant`, `poisson`, `correlated`: the mean rate. `on-off`, `pareto-on-off`: the rate while on.
        "rate": Rate,
        # `pareto-on-off`: shape of both periods, more than 1. Default 1.5.
        "shape": float,
        # `tcp`: how the first slow start ends. Default standard.
        "slow-start": TcpSlowStart,
        # `capture`, `csv`: whether it is read whole and sorted by time before anything arrives, for recordings whose clock stepped back. Default false.
        "sort": bool,
        # `greedy`: pause between bursts.
        "spacing": TimeDistribution,
        # The time over which the beginnings of its copies, or of its connections, are spread at random. Default 0s.
        "stagger": Time,
        # When it begins. Default 0s.
        "start": Time,
        # When it ends. Default never.
        "stop": Time,
        # `tcp`: one tick of a coarse retransmission timer, in place of `min-timeout`.
        "tick": Time,
        # Where the shortest path ends.
        "to": str,
        # `tcp`: how much one transfer holds. Default without end.
        "transfer": SizeDistribution,
        # `tcp`: how losses are found and windows grow. Default cubic.
        "variant": TcpVariant,
        # `backlogged`: how many packets it keeps queued, in a network at its first output. Default 2. `tcp`: the receiver's window in segments. Default 4000.
        "window": int,
    },
    total=False,
)
"""Traffic: a model that feeds one class, or a recording. Which keys apply depends on `model`."""

Spacing: TypeAlias = Literal["uniform", "wait"]
"""`spacing = …`."""
TcpCongestion: TypeAlias = Literal["reno", "cubic", "dctcp", "bbr"]
"""`congestion = …`."""
TcpRecovery: TypeAlias = Literal["newreno", "sack", "rack-tlp"]
"""`loss-detection = …`."""
TcpSlowStart: TypeAlias = Literal["standard", "hystart++"]
"""`slow-start = …`."""
TcpVariant: TypeAlias = Literal["newreno", "sack", "cubic"]
"""`variant = …`: a way to find losses and a window at once."""
Time: TypeAlias = str
"""a time such as "5ms" or "250us"."""
class TimeDistribution1(TypedDict, total=False):
    exponential: Time
    lognormal: Sequence[Time | float]
    """[median, sigma]"""
    normal: Sequence[Time]
    """[mean, deviation]"""
    pareto: Sequence[Time | float]
    """[minimum, shape]"""
    uniform: Sequence[Time]
    """[from, to]"""
    weibull: Sequence[Time | float]
    """[scale, shape]"""

TimeDistribution: TypeAlias = Time | TimeDistribution1
"""a time such as "5ms" or "250us", or a distribution."""
Topology: TypeAlias = str | Drawn
Violation: TypeAlias = Literal["favour", "reset"]
"""`violation = …`."""
class WireLoss(TypedDict, total=False):
    """Random losses under way, in runs of consecutive packets."""
    run: float
    """How many consecutive packets are lost at once, in the mean. Default as if every packet was lost by chance, whatever became of the one before."""
    share: Required[float]
    """The share of packets that are lost, more than 0 and less than 1."""

class Tables(TypedDict, total=False):
    """The tables of a plan beside these."""
    link: Required[Link]
    """The link that is shared."""
    network: Mapping[str, NetworkLink]
    """The links of a network, by name; without any, all traffic shares one link. Simulation only."""
    node: Mapping[str, Node]
    """What nodes of the network have of their own, by name."""
    request: Sequence[Request]
    """The calls of a simulation."""
    run: Run
    """Defaults of a simulation."""
    scheduler: Required[Scheduler]
    """The discipline that shares it."""
    title: str
    """What the plan is about, for headings."""
    topology: Topology
    """The links of a network that are not written one by one: a file, GraphML or CSV, or what is drawn by a rule."""
    version: Literal[1]
    """The version of the plan format: 1."""
