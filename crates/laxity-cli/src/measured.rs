//! What was measured of a live link, or of routers, as text.

mod network;

use laxity_live::status::{ClassStatus, InterfaceStatus, Status, WayStatus};
use laxity_report::{quantity, table};

/// What it is of: the interfaces or nodes, and since when.
pub fn heading(status: &Status) -> String {
    let interfaces = || status.interfaces.iter().map(|it| it.name.as_str()).collect::<Vec<_>>();
    let names = match &status.network {
        Some(network) => network.nodes.join(", "),
        None => interfaces().join(" → "),
    };
    let seconds = status.uptime_ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{names}, for {hours}:{minutes:02}:{seconds:02}")
}

/// Whether what is promised was kept.
pub fn is_kept(status: &Status) -> bool {
    let is_kept = status.network.as_ref().is_none_or(|network| network.kept);
    is_kept && status.ways.iter().all(|way| way.broken == 0)
}

/// So many plans.
pub fn plans(count: u64) -> String {
    if count == 1 { "1 plan".into() } else { format!("{count} plans") }
}

/// All of it but what was lost at interfaces.
pub fn of_ways(status: &Status) -> String {
    match (&status.network, &status.ways[..]) {
        (Some(network), [way]) => network::of_network(network, way),
        (_, ways) => ways.iter().map(of_way).collect(),
    }
}

/// One direction under a plan.
pub fn of_way(way: &WayStatus) -> String {
    let table = by_class(way, "dropped", [], |_| []);
    let rate = quantity::rate(way.rate_bps as f64);
    let mut text = format!("{}: {} at {rate}\n\n{table}\n\n", way.way, way.scheduler);
    if let Some(late) = &way.late {
        text += &format!("Waking up was at most {} late.", quantity::time(late.max as f64));
        text += &match way.broken {
            0 => " Every packet kept its bound and that.\n\n".to_string(),
            broken => format!(" {broken} packets took longer than their bound and that.\n\n"),
        };
    }
    text
}

/// What was lost beside what schedulers drop, if anything was.
pub fn of_losses(status: &Status) -> String {
    let of = |interface: &InterfaceStatus| {
        let lost = interface.lost.iter().map(|(reason, count)| format!("{count} {reason}"));
        let lost: Vec<String> = lost.collect();
        (!lost.is_empty()).then(|| format!("Lost at {}: {}.\n", interface.name, lost.join(", ")))
    };
    let mut text: String = status.interfaces.iter().filter_map(of).collect();
    if status.events_lost > 0 {
        text += &format!("{} events came too fast to be counted.\n", status.events_lost);
    }
    text
}

/// A table of the classes of a direction, in which packets that are not sent are `gone`, with more columns.
pub fn by_class<const N: usize>(
    way: &WayStatus,
    gone: &str,
    more: [&str; N],
    of_class: impl Fn(usize) -> [String; N],
) -> String {
    let header =
        ["class", "arrived", "sent", gone, "mean ms", "p50", "p99", "p99.9", "max", "bound"];
    let rows = way.classes.iter().enumerate();
    let rows = rows.map(|(number, class)| [row(class), of_class(number).to_vec()].concat());
    table::table(&[&header[..], &more].concat(), &rows.collect::<Vec<_>>())
}

fn row(class: &ClassStatus) -> Vec<String> {
    let millis = |nanos: u64| quantity::millis(nanos as f64);
    let nothing = || quantity::NOTHING.to_string();
    let delay = class.delay_ns.as_ref();
    let of_sent = |shown: Option<String>| shown.unwrap_or_else(nothing);
    vec![
        class.name.clone(),
        class.arrived.to_string(),
        class.sent.to_string(),
        class.dropped.values().sum::<u64>().to_string(),
        of_sent(delay.map(|delay| quantity::millis(delay.mean))),
        of_sent(delay.map(|delay| millis(delay.p50))),
        of_sent(delay.map(|delay| millis(delay.p99))),
        of_sent(delay.map(|delay| millis(delay.p99_9))),
        of_sent(delay.map(|delay| millis(delay.max))),
        of_sent(class.bound_ns.map(millis)),
    ]
}
