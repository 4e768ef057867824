//! What was measured of routers, as text.

use laxity_live::status::{
    ClassStatus, DelayStatus, FramesStatus, JitterStatus, NetworkStatus, PassageStatus, WayStatus,
};
use laxity_report::quantity::{self, TimeUnit};
use laxity_report::table;

/// Column heads with the units of delays and of jitter.
fn header(delays: TimeUnit, jitters: TimeUnit) -> Vec<String> {
    let counts = ["class", "arrived", "left", "dropped", "lost", "late"].map(str::to_owned);
    let (delay, jitter) =
        (format!("delay {} p50", delays.name), format!("jitter {} p99", jitters.name));
    let delays = [&delay, "p99", "max", "bound"].map(str::to_owned);
    let jitters = [&jitter, "max", "in frames"].map(str::to_owned);
    counts.into_iter().chain(delays).chain(jitters).collect()
}

/// All ways through routers under a plan.
pub(super) fn network_text(network: &NetworkStatus, way: &WayStatus) -> String {
    let units = (
        TimeUnit::from_whole(way.classes.iter().flat_map(delays)),
        TimeUnit::from_whole(network.classes.iter().flat_map(jitters)),
    );
    let rows = way.classes.iter().zip(&network.classes);
    let rows: Vec<_> = rows.map(|(class, passage)| row(class, passage, units)).collect();
    let table = table::table(&header(units.0, units.1), &rows);
    let mut text = format!("{}\n\n{table}\n\n", way.scheduler);
    if let Some(frames) = &network.frames {
        text += &(frames_text(frames, network.kept) + "\n");
        text += &out_of_step(frames).map(|sentence| sentence + "\n").unwrap_or_default();
    }
    let fates = super::fates(way);
    text + &fates.into_iter().map(|line| line + "\n").collect::<String>()
}

fn frames_text(frames: &FramesStatus, kept: bool) -> String {
    let FramesStatus { passed, skipped, .. } = frames;
    let share = quantity::percent(*skipped as f64 / (*passed).max(1) as f64);
    let kept = if kept {
        "Every packet that met none of them kept its bound, and its jitter below two frames."
    } else {
        "Packets that met none of them broke their bound, or had a jitter of two frames or more."
    };
    format!("Of {passed} frames {skipped} were skipped at some port ({share}). {kept}")
}

fn out_of_step(frames: &FramesStatus) -> Option<String> {
    let FramesStatus { out_of_step, unknown, .. } = frames;
    (*out_of_step > 0).then(|| {
        format!("Inputs were out of step {out_of_step} times, and {unknown} packets came of no known frame.")
    })
}

/// The headline of a report and its remarks.
pub(crate) fn report(network: &NetworkStatus, way: &WayStatus) -> (Option<String>, Vec<String>) {
    let frames = network.frames.as_ref();
    let jitters = network.classes.iter().filter_map(|passage| {
        let JitterStatus { p99, max, kept } = passage.jitter_ns.as_ref()?;
        let [p99, max] = [p99, max].map(|jitter| quantity::time(*jitter as f64));
        let kept = kept.map(|kept| format!(", in frames at most {}", quantity::time(kept as f64)));
        let name = &passage.name;
        Some(format!(
            "Jitter of {name}: {p99} for 99 of 100 packets, at most {max}{}.",
            kept.unwrap_or_default()
        ))
    });
    let late = network.classes.iter().filter_map(|passage| match passage.disturbed? {
        0 => None,
        1 => Some(format!("1 packet of {} was late.", passage.name)),
        late => Some(format!("{late} packets of {} were late.", passage.name)),
    });
    let remarks = frames.and_then(out_of_step).into_iter().chain(super::remarks(way));
    let remarks = remarks.chain(late).chain(jitters).collect();
    (frames.map(|frames| frames_text(frames, network.kept)), remarks)
}

/// What the columns of delays say.
fn delays(class: &ClassStatus) -> [Option<u64>; 4] {
    let delay = |of: fn(&DelayStatus) -> u64| class.delay_ns.as_ref().map(of);
    [delay(|delay| delay.p50), delay(|delay| delay.p99), delay(|delay| delay.max), class.bound_ns]
}

/// What the columns of jitter say.
fn jitters(passage: &PassageStatus) -> [Option<u64>; 3] {
    let jitter = |of: fn(&JitterStatus) -> Option<u64>| passage.jitter_ns.as_ref().and_then(of);
    [jitter(|of| Some(of.p99)), jitter(|of| Some(of.max)), jitter(|of| of.kept)]
}

fn row(
    class: &ClassStatus,
    passage: &PassageStatus,
    (of_delays, of_jitters): (TimeUnit, TimeUnit),
) -> Vec<String> {
    let lost = class.dropped.get(PassageStatus::LOST).copied().unwrap_or_default();
    let dropped = class.dropped.values().sum::<u64>() - lost;
    let late = passage.disturbed.map_or(quantity::NOTHING.to_string(), |late| late.to_string());
    let counts = [
        class.name.clone(),
        class.arrived.to_string(),
        class.sent.to_string(),
        dropped.to_string(),
        lost.to_string(),
        late,
    ];
    let delays = delays(class).map(|delay| of_delays.whole(delay));
    let jitters = jitters(passage).map(|jitter| of_jitters.whole(jitter));
    counts.into_iter().chain(delays).chain(jitters).collect()
}
