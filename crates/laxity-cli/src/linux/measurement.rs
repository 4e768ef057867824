//! What was measured of a link, or of routers, as text.

mod danger;
pub(crate) mod network;
mod talkers;

use std::time::{SystemTime, UNIX_EPOCH};

use laxity_live::status::{
    ClassStatus, InterfaceStatus, NetworkStatus, Status, WayStatus, WayWatch, WireStatus,
};
use laxity_report::columns::{Column, Results};
use laxity_report::quantity::TimeUnit;
use laxity_report::{fate, quantity};

pub(crate) use danger::danger_text;

/// The interfaces, from where frames go in to where they go out; of routers their names.
pub(crate) fn places(status: &Status) -> String {
    match &status.network {
        Some(network) => network.nodes.join(", "),
        None => {
            let names: Vec<_> = status.interfaces.iter().map(|it| it.name.as_str()).collect();
            names.join(" → ")
        }
    }
}

/// What it is of: the interfaces or nodes, and since when.
pub(crate) fn heading(status: &Status) -> String {
    format!("{}, for {}", places(status), hours(status.uptime_ns))
}

/// A time in hours, minutes and seconds: `0:01:30`.
pub(crate) fn hours(ns: u64) -> String {
    let seconds = ns / 1_000_000_000;
    let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
    format!("{hours}:{minutes:02}:{seconds:02}")
}

/// Shorter waits in an interface's own queue, in ns, are those of a machine that does something
/// else.
const WORTH_A_WORD: u64 = 1_000_000;

/// Number of plans as text: `1 plan`, `2 plans`.
pub(crate) fn plans(count: u64) -> String {
    if count == 1 { "1 plan".into() } else { format!("{count} plans") }
}

/// All directions, or all ways through routers as one.
pub(crate) fn ways_text(network: Option<&NetworkStatus>, ways: &[WayStatus]) -> String {
    match (network, ways) {
        (Some(network), [way]) => network::network_text(network, way),
        (_, ways) => ways.iter().map(way_text).collect(),
    }
}

/// When classes of a direction were last in danger, if they were.
pub(crate) fn danger(way: &WayStatus) -> Vec<String> {
    /// More are in the status as JSON.
    const MOST: usize = 5;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    way.moments.iter().take(MOST).map(|moment| format!("{}.", danger_text(moment, now))).collect()
}

/// One direction under a plan.
pub(crate) fn way_text(way: &WayStatus) -> String {
    let sentences = lateness(way)
        .into_iter()
        .chain(found(way))
        .chain(fates(way))
        .chain(danger(way))
        .chain(way.advice.clone());
    let sentences: String = sentences.map(|line| format!("{line}\n")).collect();
    let end = if sentences.is_empty() { "" } else { "\n" };
    let talkers = talkers::talkers_text(way);
    format!("{}\n\n{}\n\n{sentences}{end}{talkers}", title(way), table(way))
}

/// What a direction is called.
pub(crate) fn title(way: &WayStatus) -> String {
    format!("{}: {} at {}", way.way, way.scheduler, quantity::rate(way.rate_bps as f64))
}

/// What is said of packets that are not sent.
pub(crate) fn unsent(way: &WayStatus) -> &'static str {
    if way.watched.is_some() { "lost" } else { "dropped" }
}

/// Whether packets kept their bounds. Measured from outside, every delay counts as the packet's.
pub(crate) fn lateness(way: &WayStatus) -> Option<String> {
    let broken = match way.broken {
        1 => "1 packet took longer than its bound".to_string(),
        broken => format!("{broken} packets took longer than their bound"),
    };
    let has_bounds = way.classes.iter().any(|class| class.bound_ns.is_some());
    match (&way.watched, &way.late, way.broken) {
        (Some(_), ..) if !has_bounds => None,
        (Some(_), _, 0) => Some("No packet took longer than its bound.".into()),
        (Some(_), ..) => Some(format!("{broken}.")),
        (None, None, _) => None,
        (None, Some(late), packets) => {
            let late = quantity::time(late.max as f64);
            let kept = match packets {
                0 if way.held_up => {
                    " Every packet was handed over within its bound and that, but took longer."
                        .into()
                }
                0 if !has_bounds => String::new(),
                0 => " Every packet kept its bound and that.".into(),
                _ => format!(" {broken} and that."),
            };
            Some(format!("Waking up was at most {late} late.{kept}"))
        }
    }
}

/// How the rate was found, and for how long bounds held.
pub(crate) fn found(way: &WayStatus) -> Option<String> {
    let found = way.found.as_ref()?;
    let [from, to, now] =
        [found.from_bps, found.to_bps, found.rate_bps].map(|rate| quantity::rate(rate as f64));
    let answers = quantity::count(found.answers);
    let mut text = format!(
        "The rate was found by {} between {from} and {to} from {answers} answers: {now}.",
        found.rule
    );
    let judged = found.seconds_kept + found.seconds_missed;
    if judged > 0 {
        text += &format!(
            " Bounds for the least rate, and twice the delay that is allowed behind, held in {} of {} seconds.",
            quantity::count(found.seconds_kept),
            quantity::count(judged)
        );
    }
    Some(text)
}

/// What became of packets, and what there is to know of figures.
pub(crate) fn fates(way: &WayStatus) -> Vec<String> {
    remarks(way).into_iter().chain(dropped(way)).collect()
}

/// Why packets were dropped; from outside it is not known.
fn dropped(way: &WayStatus) -> Vec<String> {
    let classes = || way.classes.iter().filter(|_| way.watched.is_none());
    let sentences = classes().filter_map(|class| fate::dropped(&class.name, &class.dropped));
    let is_long = classes().any(|class| class.dropped.contains_key("too-long"));
    let hint = "Packets that are too-long exceed `max-packet`, which has to hold the MTU, 14 bytes, 4 more for each VLAN \
                tag, and `overhead`.";
    fate::sentences(sentences).into_iter().chain(is_long.then(|| hint.to_string())).collect()
}

/// What there is to know of figures that were measured from outside, and of packets that broke
/// their curves.
pub(crate) fn remarks(way: &WayStatus) -> Vec<String> {
    let Some(WayWatch { busiest_bps, unclassed, unpaired, alike }) = way.watched else {
        let nonconforming =
            |class: &ClassStatus| fate::nonconforming(&class.name, class.nonconforming);
        let demoted = |class: &ClassStatus| fate::demoted(&class.name, class.demoted?);
        let nonconforming = fate::sentences(way.classes.iter().filter_map(nonconforming));
        let demoted = fate::sentences(way.classes.iter().filter_map(demoted));
        let behind = held(way).into_iter().chain(way.wire.as_ref().and_then(wire));
        return behind.chain(nonconforming).chain(forfeits(way)).chain(demoted).collect();
    };
    let all = |count: fn(&ClassStatus) -> u64| way.classes.iter().map(count).sum::<u64>();
    let forgotten = all(|class| class.dropped.get("forgotten").copied().unwrap_or_default());
    let pending = all(|class| class.watched.unwrap_or_default().pending);
    let nonconforming = all(|class| class.nonconforming);
    let counted = [
        (pending, "not left yet"),
        (nonconforming, "beyond the arrival curve of their class"),
        (unclassed, "of no class: no `match` takes them"),
        (
            unpaired,
            "left and not seen to arrive: made, copied or changed in between, or there before",
        ),
        (alike, "left while another of the same content waited: they count as leaving in order"),
        (forgotten, "forgotten, as too many waited: a shorter --timeout needs fewer"),
    ];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let busiest = format!("At the busiest, {} left for 100 ms.", quantity::rate(busiest_bps));
    let counted = counted.map(|(count, what)| match count {
        1 => format!("1 packet {what}."),
        _ => format!("{count} packets {what}."),
    });
    std::iter::once(busiest).chain(counted).collect()
}

/// Classes whose senders broke their contracts, as far as that costs them their promise, and others
/// theirs.
fn forfeits(way: &WayStatus) -> Vec<String> {
    let forfeit = way.classes.iter().filter(|class| class.forfeit);
    let forfeit = forfeit.map(|class| fate::forfeit(&class.name, class.misses().unwrap_or(0)));
    let mut sentences = fate::sentences(forfeit);
    if way.broken > 0 && !sentences.is_empty() {
        sentences.push(
            "That may be why others broke their bound: `police = \"demote\"` or `\"drop\"` prevents it.".into(),
        );
    }
    sentences
}

/// How long frames waited behind the link, if that is worth a word.
fn held(way: &WayStatus) -> Option<String> {
    let held = way.held_ns.filter(|held| *held >= WORTH_A_WORD)?;
    let held = quantity::time(held as f64);
    Some(format!(
        "Frames waited up to {held} in the interface's own queue, where no bound holds: it carries less than the \
         plan's link, or others send there, too."
    ))
}

/// What became of packets on a wire that is emulated, if any came there.
fn wire(wire: &WireStatus) -> Option<String> {
    let &WireStatus { delivered, copies, lost, no_room, .. } = wire;
    let late = wire.late_ns.as_ref().map(|late| {
        let [p99, max] = [late.p99, late.max].map(|time| quantity::time(time as f64));
        format!(", 99 of 100 at most {p99} late and all at most {max}")
    });
    let counted = [(copies, "of them copies"), (lost, "lost"), (no_room, "lost for want of room")];
    let counted = counted.into_iter().filter(|(count, _)| *count > 0);
    let counted: String =
        counted.map(|(count, what)| format!("; {} {what}", quantity::count(count))).collect();
    let packets = if delivered == 1 { "packet" } else { "packets" };
    let count = quantity::count(delivered);
    (delivered + lost + no_room > 0).then(|| {
        format!("The wire delivered {count} {packets}{}{counted}.", late.unwrap_or_default())
    })
}

/// What was lost beside what schedulers drop, if anything was.
pub(crate) fn losses_text(status: &Status) -> String {
    let of = |interface: &InterfaceStatus| {
        let lost = interface.lost.iter().map(|(reason, count)| format!("{count} {reason}"));
        let lost: Vec<String> = lost.collect();
        (!lost.is_empty()).then(|| format!("Lost at {}: {}.\n", interface.name, lost.join(", ")))
    };
    let mut text: String = status.interfaces.iter().filter_map(of).collect();
    for InterfaceStatus { name, unseen, .. } in &status.interfaces {
        if let Some(unseen @ 1..) = unseen {
            text += &format!(
                "{unseen} frames at {name} passed unseen: packets that are lost here may have been unseen.\n"
            );
        }
    }
    if let Some(lost @ 1..) = status.events_lost {
        text += &format!("{lost} events came too fast to be counted.\n");
    }
    if let Some(unheard @ 1..) = status.connections_unheard {
        let times = if unheard == 1 { "once".into() } else { format!("{unheard} times") };
        text +=
            &format!("Connections changed faster than was heard, {times}: they were read anew.\n");
    }
    text
}

/// The classes of a direction.
fn table(way: &WayStatus) -> String {
    let times =
        |class: &ClassStatus| [class.delay_ns.as_ref().map(|delay| delay.max), class.bound_ns];
    let unit = TimeUnit::from_whole(way.classes.iter().flat_map(times));
    let mut columns: Vec<ClassColumn<'_>> = vec![
        ClassColumn::count("arrived", |class| Some(class.arrived)),
        ClassColumn::count("sent", |class| Some(class.sent)),
        ClassColumn::count(unsent(way), |class| Some(class.dropped.values().sum())),
        ClassColumn::time("mean", |class| Some(class.delay_ns.as_ref()?.mean)),
        ClassColumn::time("p50", |class| Some(class.delay_ns.as_ref()?.p50 as f64)),
        ClassColumn::time("p99", |class| Some(class.delay_ns.as_ref()?.p99 as f64)),
        ClassColumn::time("p99.9", |class| Some(class.delay_ns.as_ref()?.p99_9 as f64)),
        ClassColumn::time("max", |class| Some(class.delay_ns.as_ref()?.max as f64)),
        ClassColumn::time("bound", |class| Some(class.bound_ns? as f64)),
    ];
    if way.watched.is_some() {
        columns.extend([
            ClassColumn::count("above", |class| class.bound_ns.map(|_| class.bound_misses)),
            ClassColumn::text("Mbit/s", |class| {
                Some(quantity::megabits(class.watched?.throughput_bps))
            }),
        ]);
    }
    let table = Results::new(columns, &way.classes, |class| &class.name);
    table.in_unit(unit).with_whole_names(|_| 0).text("class")
}

type ClassColumn<'a> = Column<&'a ClassStatus>;
