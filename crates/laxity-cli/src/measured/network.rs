//! What was measured of routers, as text.

use laxity_live::status::{
    ClassStatus, DelayStatus, FramesStatus, JitterStatus, NetworkStatus, PassageStatus, WayStatus,
};
use laxity_report::{quantity, table};

const HEADER: [&str; 13] = [
    "class",
    "arrived",
    "left",
    "dropped",
    "lost",
    "late",
    "delay ms p50",
    "p99",
    "max",
    "bound",
    "jitter ms p99",
    "max",
    "in frames",
];

/// All ways through routers under a plan.
pub fn of_network(network: &NetworkStatus, way: &WayStatus) -> String {
    let rows = way.classes.iter().zip(&network.classes).map(|(class, passage)| row(class, passage));
    let rows: Vec<_> = rows.collect();
    let mut text = format!("{}\n\n{}\n\n", way.scheduler, table::table(&HEADER, &rows));
    if let Some(frames) = &network.frames {
        text += &of_frames(frames, network.kept);
    }
    let fates = super::fates(way);
    text + &fates.into_iter().map(|line| line + "\n").collect::<String>()
}

fn of_frames(frames: &FramesStatus, kept: bool) -> String {
    let FramesStatus { passed, skipped, out_of_step, unknown, .. } = frames;
    let share = quantity::percent(*skipped as f64 / (*passed).max(1) as f64);
    let kept = match kept {
        true => {
            "Every packet that met none of them kept its bound, and its jitter below two frames."
        }
        false => {
            "Packets that met none of them broke their bound, or had a jitter of two frames or more."
        }
    };
    let mut text =
        format!("Of {passed} frames {skipped} were skipped at some port ({share}). {kept}\n");
    if *out_of_step > 0 {
        text += &format!(
            "Inputs were out of step {out_of_step} times, and {unknown} packets came of no known frame.\n"
        );
    }
    text
}

fn row(class: &ClassStatus, passage: &PassageStatus) -> Vec<String> {
    let millis = |nanos: u64| quantity::millis(nanos as f64);
    let shown = |nanos: Option<u64>| nanos.map_or(quantity::NOTHING.to_string(), millis);
    let delay = |of: fn(&DelayStatus) -> u64| shown(class.delay_ns.as_ref().map(of));
    let jitter =
        |of: fn(&JitterStatus) -> Option<u64>| shown(passage.jitter_ns.as_ref().and_then(of));
    let lost = class.dropped.get(PassageStatus::LOST).copied().unwrap_or_default();
    let dropped = class.dropped.values().sum::<u64>() - lost;
    let late = passage.disturbed.map_or(quantity::NOTHING.to_string(), |late| late.to_string());
    vec![
        class.name.clone(),
        class.arrived.to_string(),
        class.sent.to_string(),
        dropped.to_string(),
        lost.to_string(),
        late,
        delay(|delay| delay.p50),
        delay(|delay| delay.p99),
        delay(|delay| delay.max),
        shown(class.bound_ns),
        jitter(|jitter| Some(jitter.p99)),
        jitter(|jitter| Some(jitter.max)),
        jitter(|jitter| jitter.kept),
    ]
}
