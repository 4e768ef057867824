//! Hosts and flows that fill a link, as text.

use laxity_live::status::{TalkersStatus, WayStatus};
use laxity_report::columns::{Column, Results};
use laxity_report::quantity;
use laxity_report::visible::visible;

/// A host or a flow.
struct Talker {
    label: String,
    class: String,
    rate_bps: f64,
    /// Of the link's rate.
    share: f64,
    packets: u64,
    flows: Option<u64>,
}

/// The hosts and flows of a direction, if it tells them.
pub(crate) fn talkers_text(way: &WayStatus) -> String {
    let Some(talkers) = &way.talkers else { return String::new() };
    let all = talkers.rate_bps(talkers.bytes);
    let mut text =
        format!("What fills the link now: {} in the last second\n\n", quantity::rate(all));
    if talkers.flows.is_empty() {
        return text + "Nothing was sent.\n\n";
    }
    let tables = [table(hosts(way, talkers), "host"), table(flows(way, talkers), "flow")];
    tables.iter().for_each(|table| text += &format!("{table}\n\n"));
    for (bytes, what) in [
        (talkers.unknown_bytes, "was sent of flows that are not known any more"),
        (talkers.missing_bytes, "may be missing at each of them, as there are so many"),
    ] {
        if bytes > 0 {
            text += &format!("{} {what}.\n\n", quantity::rate(talkers.rate_bps(bytes)));
        }
    }
    text
}

fn hosts(way: &WayStatus, talkers: &TalkersStatus) -> Vec<Talker> {
    let hosts = talkers.hosts.iter().map(|host| Talker {
        packets: host.packets,
        flows: Some(host.flows),
        ..Talker::new(way, talkers, talkers.host(host.address), &host.class, host.bytes)
    });
    hosts.collect()
}

fn flows(way: &WayStatus, talkers: &TalkersStatus) -> Vec<Talker> {
    let flows = talkers.flows.iter().map(|flow| Talker {
        packets: flow.packets,
        ..Talker::new(way, talkers, talkers.flow(flow), &flow.class, flow.bytes)
    });
    flows.collect()
}

impl Talker {
    fn new(
        way: &WayStatus,
        talkers: &TalkersStatus,
        label: String,
        class: &str,
        bytes: u64,
    ) -> Self {
        let rate_bps = talkers.rate_bps(bytes);
        Talker {
            label: visible(&label).into_owned(),
            class: class.to_string(),
            rate_bps,
            share: rate_bps / (way.rate_bps as f64).max(1.0),
            packets: 0,
            flows: None,
        }
    }
}

fn table(rows: Vec<Talker>, head: &str) -> String {
    let columns = [
        Column::text("class", |it: &Talker| Some(it.class.clone())),
        Column::text("Mbit/s", |it| Some(quantity::megabits(it.rate_bps))),
        Column::text("of the link", |it| Some(quantity::percent((it.share * 1e3).round() / 1e3))),
        Column::count("packets", |it| Some(it.packets)),
        Column::count("flows", |it: &Talker| it.flows).if_any(|it: &Talker| it.flows.is_some()),
    ];
    Results::new(columns, rows, |it| &it.label).with_whole_names(|_| 0).text(head)
}
