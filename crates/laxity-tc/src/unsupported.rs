//! Qdiscs that no plan has, and the words of a plan that come nearest to each.

/// Kinds of qdisc and what comes nearest.
const CLOSEST: [(&str, &str); 20] = [
    (
        "cake",
        "cake shapes and takes turns among flows: `[link] rate` is its bandwidth, `[scheduler] kind = \"drr\"` with `queue = { kind = \"codel\", limit = 10240 }` and a class for each of its tins, or `kind = \"hfsc\"` if the tins have rates",
    ),
    (
        "tbf",
        "tbf only shapes: `[link] rate` is its rate, `[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = \"64kB\" }`",
    ),
    (
        "prio",
        "prio sends its bands strictly in order: `[scheduler] kind = \"edf\"`, with a short `deadline` and an `arrival` for the classes of the first band and none for the others",
    ),
    (
        "pfifo_fast",
        "pfifo_fast sends three bands strictly in order: `[scheduler] kind = \"edf\"`, with a short `deadline` and an `arrival` for the first",
    ),
    (
        "fq_pie",
        "fq_pie takes turns among flows: `[scheduler] kind = \"drr\"` with `queue = { kind = \"codel\", limit = 10240 }`",
    ),
    ("fq", "fq takes turns among flows: `[scheduler] kind = \"drr\"` with a class for each"),
    ("sfq", "sfq takes turns among flows: `[scheduler] kind = \"drr\"` with a class for each"),
    (
        "hhf",
        "hhf sends heavy flows after the others: `[scheduler] kind = \"wfq\"` with a smaller `weight` for them",
    ),
    (
        "cbq",
        "cbq shares by rates: `[scheduler] kind = \"hfsc\"`, with `curve` or `link-share` for `rate`, and `upper-limit` for `bounded`",
    ),
    ("drr", "drr is in plans: `[scheduler] kind = \"drr\"` with a `weight` for each quantum"),
    ("ets", "ets takes turns by quanta: `[scheduler] kind = \"drr\"` with a `weight` for each"),
    (
        "netem",
        "netem delays and loses: in a network a link has a `delay`, and losses come from queues, such as `queue = { kind = \"droptail\", limit = 100 }`",
    ),
    (
        "red",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"red\", min = \"30kB\", max = \"90kB\", limit = \"400kB\" }`",
    ),
    (
        "choke",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"choke\", min = 50, max = 150, limit = 300 }`",
    ),
    ("codel", "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"codel\", limit = 1000 }`"),
    (
        "pie",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"codel\", limit = 1000, target = \"15ms\" }`",
    ),
    ("pfifo", "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = 100 }`"),
    (
        "bfifo",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = \"64kB\" }`",
    ),
    (
        "mq",
        "mq has a qdisc for each queue of the interface: import what hangs below it, one at a time",
    ),
    ("taprio", "taprio sends by a timetable: `[scheduler] kind = \"tdp\"` in a network"),
];

/// What a qdisc does and which words of a plan come nearest to it.
pub fn closest(kind: &str) -> Option<&'static str> {
    CLOSEST.iter().find(|(known, _)| *known == kind).map(|(_, closest)| *closest)
}
