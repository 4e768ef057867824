//! Why packets were delayed, as text and as JSON.

use std::cmp::Ordering;
use std::collections::BTreeMap;

use laxity::explain::Rule;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::why::{
    Cause, ChangedDelays, ChangedPacket, ClassTotals, Delays, HopDelay, PacketDelay, Part,
};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use serde::Serialize;

use crate::table::table;
use crate::{quantity, words};

/// The delays of a selection of packets, as text: each packet listed, the means of all, and what
/// became of them after each change. Where changes are proposed, `tried` is their number before the
/// best were chosen.
pub fn text(
    plan: &Plan,
    delays: &Delays,
    changes: &[(String, ChangedDelays)],
    tried: Option<usize>,
) -> String {
    if delays.packets == 0 {
        return "No packet of the run is among those asked for.\n".into();
    }
    let packets = delays.slowest.iter().enumerate().map(|(place, packet)| {
        let changed =
            changes.iter().map(|(name, changed)| (name.as_str(), &changed.slowest[place]));
        let changed = changed_text(plan, packet, &changed.collect::<Vec<_>>());
        packet_text(plan, packet) + &changed
    });
    let classes = (0..).map(ClassId).zip(&delays.classes).filter(|(_, delay)| delay.packets > 1);
    let classes = classes.map(|(class, delay)| class_text(plan, class, delay));
    let changes = match tried.filter(|_| changes.is_empty()) {
        Some(tried) => Some(no_change_helps(tried)),
        None => (!changes.is_empty()).then(|| changes_text(delays, changes)),
    };
    packets.chain(classes).chain(changes).collect::<Vec<_>>().join("\n\n") + "\n"
}

/// That none of the changes that were tried helps.
fn no_change_helps(tried: usize) -> String {
    match tried {
        0 => "No change of this plan was found to try.".into(),
        1 => "The one change that was tried does not help.".into(),
        tried => format!("None of the {tried} changes that were tried helps."),
    }
}

/// What became of a packet after changes.
fn changed_text(plan: &Plan, delay: &PacketDelay, changes: &[(&str, &ChangedPacket)]) -> String {
    let lines = changes.iter().map(|(name, packet)| match packet {
        ChangedPacket::Sent(changed) => {
            let largest =
                changed.hops.iter().flat_map(|hop| &hop.parts).max_by_key(|part| part.time);
            let cause = largest.map_or_else(String::new, |part| {
                let cause = words::cause(plan, delay.packet.class, part.cause);
                format!("; most of it, {}: {cause}", time(part.time))
            });
            format!("\n{name}: {}{cause}", difference(delay.delay(), changed.delay()))
        }
        ChangedPacket::Dropped(reason) => format!("\n{name}: it is dropped ({})", reason.name()),
        ChangedPacket::Absent => format!("\n{name}: it does not arrive, or is never sent"),
    });
    lines.collect()
}

/// A delay beside what it was.
fn difference(before: Nanos, now: Nanos) -> String {
    match now.cmp(&before) {
        Ordering::Less => format!("{}, {} less", time(now), time(before - now)),
        Ordering::Equal => format!("{}, as before", time(now)),
        Ordering::Greater => format!("{}, {} more", time(now), time(now - before)),
    }
}

/// What became of all packets that were selected after each change.
fn changes_text(delays: &Delays, changes: &[(String, ChangedDelays)]) -> String {
    let mean = |total: u128, packets: u64| (packets > 0).then(|| total as f64 / packets as f64);
    let means = |(_, changed): &(String, ChangedDelays)| {
        changed.totals.map(|total| mean(total, changed.packets))
    };
    let unit = quantity::TimeUnit::new(changes.iter().flat_map(means));
    let row = |change: &(String, ChangedDelays)| {
        let (name, changed) = change;
        let [before, now] = means(change).map(|mean| unit.cell(mean));
        let counts = [changed.packets, changed.dropped, changed.absent].map(quantity::count);
        [name.clone(), before, now].into_iter().chain(counts).collect()
    };
    let rows: Vec<Vec<String>> = changes.iter().map(row).collect();
    let header = [
        "change".to_string(),
        unit.head("mean before"),
        unit.head("mean"),
        "packets".to_string(),
        "dropped".to_string(),
        "absent".to_string(),
    ];
    let packets = quantity::count(delays.packets);
    format!("The {packets} packets after each change\n{}", table(&header, &rows))
}

fn time(time: Nanos) -> String {
    quantity::time(time.0 as f64)
}

fn packet_text(plan: &Plan, delay: &PacketDelay) -> String {
    let PacketDelay { packet, hops, .. } = delay;
    let head = packet_head(plan, delay) + "\n";
    let row = |hop: &HopDelay, part: &Part| {
        let cause = words::cause(plan, packet.class, part.cause);
        Row { place: hop.hop.map(|hop| place(plan, hop)), cause, time: part.time.0.into() }
    };
    let rows = hops.iter().flat_map(|hop| {
        let mut parts: Vec<_> = hop.parts.iter().collect();
        parts.sort_by_key(|part| std::cmp::Reverse(part.time));
        parts.into_iter().map(move |part| row(hop, part))
    });
    head + &rows_text(&rows.collect::<Vec<_>>(), 1)
}

/// A packet in a sentence: its number, class and length, when it arrived, and its delay beside its
/// deadline.
pub(crate) fn packet_head(plan: &Plan, delay: &PacketDelay) -> String {
    let PacketDelay { packet, due, .. } = delay;
    let name = &plan.classes[packet.class.index()].name;
    let number = match plan.network {
        None => format!("Packet {} of {name}", packet.handle),
        Some(_) => format!("A packet of {name}"),
    };
    let judged = match due {
        None if packet.demoted => ", demoted to best effort".to_string(),
        None => String::new(),
        Some(due) if *due >= delay.end => {
            format!(", {} before its deadline", time(*due - delay.end))
        }
        Some(due) => format!(", {} after its deadline", time(delay.end - *due)),
    };
    format!(
        "{number}, {} bytes, at {}: {}{judged}",
        packet.length,
        at(packet.arrival),
        time(delay.delay()),
    )
}

fn class_text(plan: &Plan, class: ClassId, totals: &ClassTotals) -> String {
    let name = &plan.classes[class.index()].name;
    let packets = quantity::count(totals.packets);
    let head = format!("Mean of {packets} packets of {name}\n");
    let mut parts: Vec<_> = totals.causes().into_iter().collect();
    parts.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
    let rows = parts.into_iter().map(|(cause, time)| Row {
        place: None,
        cause: words::cause(plan, class, cause),
        time,
    });
    head + &rows_text(&rows.collect::<Vec<_>>(), totals.packets)
}

/// A row of causes.
struct Row {
    place: Option<String>,
    cause: String,
    /// In nanoseconds, of all packets.
    time: u128,
}

/// The causes of a number of packets, with their mean times.
fn rows_text(rows: &[Row], packets: u64) -> String {
    let total: u128 = rows.iter().map(|row| row.time).sum();
    let mean = |time: u128| time as f64 / packets as f64;
    let unit = quantity::TimeUnit::new([Some(mean(total))]);
    let has_places = rows.iter().any(|row| row.place.is_some());
    let cells = |place: &str, cause: &str, time: u128| {
        let share = if total == 0 { 0.0 } else { time as f64 / total as f64 };
        let place = has_places.then(|| place.to_string());
        let cells = [cause.to_string(), unit.cell(mean(time)), format!("{:.1}", share * 100.0)];
        place.into_iter().chain(cells).collect::<Vec<_>>()
    };
    let row = |row: &Row| cells(row.place.as_deref().unwrap_or_default(), &row.cause, row.time);
    let mut rows: Vec<_> = rows.iter().map(row).collect();
    rows.push(cells("", "in all", total));
    let place = has_places.then(|| "link".to_string());
    let header = ["cause".to_string(), unit.head("time"), "share %".to_string()];
    table(&place.into_iter().chain(header).collect::<Vec<_>>(), &rows)
}

/// A moment of a run, to the nanosecond.
fn at(time: Nanos) -> String {
    let (seconds, rest) = (time.0 / 1_000_000_000, time.0 % 1_000_000_000);
    format!("{seconds}.{rest:09} s")
}

/// The output of a hop, or nothing on one link.
pub(crate) fn place(plan: &Plan, hop: Hop) -> String {
    plan.network.as_ref().map_or_else(String::new, |network| network.output(hop))
}

/// The delays of a selection of packets; it serialises to the JSON of `laxity why --json`.
#[derive(Serialize)]
pub struct DelaysJson {
    /// The number of packets that were selected.
    matched: u64,
    /// The slowest of them, the slowest one first.
    packets: Vec<PacketJson>,
    /// The sums over all of them, by class.
    classes: Vec<ClassJson>,
    /// What became of them after each change.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    changes: Vec<ChangeJson>,
    /// Where changes are proposed, how many were tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    tried: Option<usize>,
}

#[derive(Serialize)]
struct ChangeJson {
    change: String,
    /// Packets that were sent in both runs, and the sums of their delays.
    packets: u64,
    before_ns: u128,
    delay_ns: u128,
    dropped: u64,
    absent: u64,
    /// The packets listed, in their order: their delays, or `null` where they were not sent.
    slowest: Vec<Option<PacketJson>>,
    classes: Vec<ClassJson>,
}

#[derive(Serialize)]
struct PacketJson {
    class: String,
    flow: u32,
    /// In the order of arrival, from 0; absent in a network.
    #[serde(skip_serializing_if = "Option::is_none")]
    seq: Option<u64>,
    bytes: u32,
    arrival_ns: u64,
    end_ns: u64,
    delay_ns: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    due_ns: Option<u64>,
    hops: Vec<HopJson>,
}

#[derive(Serialize)]
struct HopJson {
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<String>,
    arrival_ns: u64,
    start_ns: u64,
    departure_ns: u64,
    parts: Vec<PartJson<u64>>,
}

#[derive(Serialize)]
struct ClassJson {
    class: String,
    packets: u64,
    parts: Vec<PartJson<u128>>,
}

#[derive(Serialize)]
struct PartJson<T> {
    /// One of [`Cause::CODES`].
    cause: &'static str,
    /// Whose packets were in the way.
    #[serde(skip_serializing_if = "Option::is_none")]
    of: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rule: Option<&'static str>,
    time_ns: T,
    /// The cause as the table says it.
    sentence: String,
}

impl DelaysJson {
    /// The delays of packets of a plan, and what became of them after changes, as in [`text`].
    pub fn new(
        plan: &Plan,
        delays: &Delays,
        changes: &[(String, ChangedDelays)],
        tried: Option<usize>,
    ) -> DelaysJson {
        let packet = |packet: &ChangedPacket| match packet {
            ChangedPacket::Sent(delay) => Some(PacketJson::new(plan, delay)),
            ChangedPacket::Dropped(_) | ChangedPacket::Absent => None,
        };
        let change = |(name, changed): &(String, ChangedDelays)| ChangeJson {
            change: name.clone(),
            packets: changed.packets,
            before_ns: changed.totals[0],
            delay_ns: changed.totals[1],
            dropped: changed.dropped,
            absent: changed.absent,
            slowest: changed.slowest.iter().map(packet).collect(),
            classes: classes(plan, &changed.classes),
        };
        DelaysJson {
            matched: delays.packets,
            packets: delays.slowest.iter().map(|packet| PacketJson::new(plan, packet)).collect(),
            classes: classes(plan, &delays.classes),
            changes: changes.iter().map(change).collect(),
            tried,
        }
    }
}

fn classes(plan: &Plan, totals: &[ClassTotals]) -> Vec<ClassJson> {
    let class = |(class, totals): (ClassId, &ClassTotals)| ClassJson {
        class: plan.classes[class.index()].name.to_string(),
        packets: totals.packets,
        parts: parts(plan, class, &totals.causes()),
    };
    (0..).map(ClassId).zip(totals).filter(|(_, totals)| totals.packets > 0).map(class).collect()
}

impl PacketJson {
    fn new(plan: &Plan, delay: &PacketDelay) -> PacketJson {
        let packet = &delay.packet;
        let hop = |hop: &HopDelay| HopJson {
            output: hop.hop.map(|hop| place(plan, hop)),
            arrival_ns: hop.arrival.0,
            start_ns: hop.start.0,
            departure_ns: hop.departure.0,
            parts: hop
                .parts
                .iter()
                .map(|part| part_json(plan, packet.class, part.cause, part.time.0))
                .collect(),
        };
        PacketJson {
            class: plan.classes[packet.class.index()].name.to_string(),
            flow: packet.flow.0,
            seq: plan.network.is_none().then_some(packet.handle),
            bytes: packet.length,
            arrival_ns: packet.arrival.0,
            end_ns: delay.end.0,
            delay_ns: delay.delay().0,
            due_ns: delay.due.map(|due| due.0),
            hops: delay.hops.iter().map(hop).collect(),
        }
    }
}

fn parts(plan: &Plan, own: ClassId, parts: &BTreeMap<Cause, u128>) -> Vec<PartJson<u128>> {
    parts.iter().map(|(cause, time)| part_json(plan, own, *cause, *time)).collect()
}

fn part_json<T>(plan: &Plan, own: ClassId, cause: Cause, time_ns: T) -> PartJson<T> {
    PartJson {
        cause: cause.code(),
        of: cause.class().map(|class| plan.classes[class.index()].name.to_string()),
        rule: cause.rule().map(Rule::name),
        time_ns,
        sentence: words::cause(plan, own, cause),
    }
}
