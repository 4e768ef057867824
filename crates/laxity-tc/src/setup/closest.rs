//! Qdiscs that no plan has, and the words of a plan that come nearest to each.

/// Kinds of qdisc and what comes nearest.
const CLOSEST: [(&str, &str); 26] = [
    (
        "cake",
        "cake shapes and takes turns among flows: `[link] rate` is its bandwidth, and `[scheduler] kind = \"fq-codel\"` has its turns",
    ),
    ("fq_codel", "`[scheduler] kind = \"fq-codel\"`, with its own options"),
    (
        "tbf",
        "tbf only shapes: `[link] rate` is its rate, `[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = \"64kB\" }`",
    ),
    (
        "prio",
        "prio sends its bands strictly in order: `[scheduler] kind = \"priority\"`, with a `level` for each",
    ),
    (
        "pfifo_fast",
        "pfifo_fast is prio with three bands, which is read: `tc qdisc add dev DEV root handle 1: prio`, in a plan `[scheduler] kind = \"priority\"` with `level = 0`, `1` and `2`",
    ),
    (
        "mqprio",
        "mqprio has a queue of the interface for each traffic class: `[scheduler] kind = \"priority\"` with a `level` for each",
    ),
    (
        "fq_pie",
        "fq_pie takes turns among flows: `[scheduler] kind = \"fq-codel\"`, with another control of their delay",
    ),
    (
        "fq",
        "fq takes turns among flows and paces each: `[scheduler] kind = \"fq-codel\"` has the turns, nothing the pacing",
    ),
    ("sfq", "sfq takes turns among flows: `[scheduler] kind = \"fq-codel\"`"),
    (
        "hhf",
        "hhf sends heavy flows after the others: `[scheduler] kind = \"wfq\"` with a smaller `weight` for them",
    ),
    (
        "cbq",
        "cbq shares by rates: `[scheduler] kind = \"hfsc\"`, with `curve` or `link-share` for `rate`, and `upper-limit` for `bounded`",
    ),
    ("drr", "drr is in plans: `[scheduler] kind = \"drr\"` with a `weight` for each quantum"),
    ("qfq", "qfq is in plans: `[scheduler] kind = \"qfq\"` with its weights"),
    ("ets", "ets takes turns by quanta: `[scheduler] kind = \"drr\"` with a `weight` for each"),
    (
        "netem",
        "netem is a wire, which links of a network have: `delay`, `jitter`, `loss`, `reorder` and `duplicate` of `[network.NAME]`",
    ),
    (
        "red",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"red\", min = \"30kB\", max = \"90kB\", limit = \"400kB\" }`",
    ),
    (
        "gred",
        "`queue = { kind = \"red\", min = \"30kB\", max = \"90kB\", limit = \"400kB\" }` for each class",
    ),
    (
        "choke",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"choke\", min = 50, max = 150, limit = 300 }`",
    ),
    ("codel", "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"codel\", limit = 1000 }`"),
    ("pie", "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"pie\", limit = 1000 }`"),
    ("dualpi2", "dualpi2 is in plans: `[scheduler] kind = \"dualpi2\"`, with its own options"),
    ("pfifo", "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = 100 }`"),
    (
        "bfifo",
        "`[scheduler] kind = \"fifo\"` with `queue = { kind = \"droptail\", limit = \"64kB\" }`",
    ),
    ("mq", "mq has a qdisc for each queue of the interface: give what hangs at one of them"),
    (
        "etf",
        "etf sends each packet at the time that its program gave it, which no plan has: `[scheduler] kind = \"edf\"` with a `deadline` for each class has packets leave by then, and orders them by it",
    ),
    (
        "taprio",
        "taprio opens gates by a timetable, which no plan has: `[scheduler] kind = \"priority\"` with a `level` for each traffic class is its order within a gate",
    ),
];

/// What a qdisc does and which words of a plan come nearest to it.
pub(crate) fn closest(kind: &str) -> Option<&'static str> {
    CLOSEST.iter().find(|(known, _)| *known == kind).map(|(_, closest)| *closest)
}

#[cfg(test)]
mod tests;
