//! Time-driven priority: `kind = "tdp"`, and what a plan must say for it.

use std::collections::HashMap;
use std::ops::RangeInclusive;

use laxity::packet::ClassId;
use laxity::sched::tdp::CommonTime;
use laxity::scheduler::Withdraw;
use laxity::units::Nanos;

use super::room::{Aftermath, Discipline, Proof, Room};
use super::{fifo, wfq};
use crate::error::{Fault, Span, shown};
use crate::model::{
    Assignment, BestEffortOrder, CakeSpec, Late, NetworkLink, Plan, SchedulerSpec, Source, TdpSpec,
};
use crate::raw::{self, At, Count, positive, within};
use crate::tdp::FramedNetwork;

/// The shortest and the longest time frame.
const FRAME_LENGTHS: [Nanos; 2] = [Nanos(100), Nanos(1_000_000_000)];
/// The most time frames of a super cycle.
const MOST_FRAMES: u64 = 1 << 16;
/// The most frames that a node delays packets by.
const LONGEST_DELAY: u64 = 1000;
/// The most frames of a super cycle, times the links of a network, both ways.
const MOST_LINK_FRAMES: usize = 50_000_000;
/// The most packets of a super cycle, times the links that they pass.
const MOST_USES: u64 = 10_000_000;

pub(crate) const ROOM: Room = Room {
    keys: &[
        "best-effort-order",
        "late",
        "frame",
        "frames",
        "cycles",
        "forwarding-delay",
        "spare",
        "guard",
        "clock-error",
        "assignment",
    ],
    class_keys: &[&["gap", "dscp", "frame-at"], Room::SHARES],
    read,
    check,
    is_held_to_promises: true,
    is_of_networks: true,
    // Frames are reserved beside what this proves of a link: nothing.
    ..Room::plain(
        &["tdp"],
        None,
        Proof { sets_demoted_behind: true, aftermath: |_| Aftermath::Unknown, ..Proof::NONE },
    )
};

impl Discipline for TdpSpec {
    /// What orders best effort, the packets without a time frame.
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send> {
        match self.order {
            BestEffortOrder::Fifo => fifo::Fifo.build(plan, seed),
            BestEffortOrder::Wfq => wfq::Wfq.build(plan, seed),
            BestEffortOrder::Cake => CakeSpec::USUAL.build(plan, seed),
        }
    }
}

fn read(raw: &raw::Scheduler, span: &Span) -> Result<SchedulerSpec, Fault> {
    let time = time(raw, span)?;
    let guard = raw.guard.as_ref().map_or(Nanos::ZERO, |guard| guard.value.0);
    let clock_error = raw.clock_error.as_ref().map(|error| error.value.0);
    let margins = [(&raw.guard, guard), (&raw.clock_error, clock_error.unwrap_or_default())];
    for (written, margin) in margins {
        if let Some(At { span, .. }) = written
            && margin >= time.frame
        {
            return Err(Fault::at(span, format!("{margin} of a frame of {}", time.frame))
                .help("it is less than a frame"));
        }
    }
    Ok(SchedulerSpec::Tdp(TdpSpec {
        time,
        forwarding_delay: raw.forwarding_delay.as_ref().map(forwarding_delay).transpose()?,
        spare: raw.spare.as_ref().map_or(Ok(0), |spare| frames("spare", spare, 0..=64))?,
        guard,
        clock_error,
        order: raw.best_effort_order.as_ref().map_or(BestEffortOrder::Wfq, |order| order.value.0),
        late: raw.late.as_ref().map_or(Late::Send, |late| late.value.0.into()),
        assignment: raw.assignment.as_ref().map_or(Ok(Assignment::Quick), assignment)?,
    }))
}

fn assignment(raw: &At<raw::Word<Assignment>>) -> Result<Assignment, Fault> {
    match raw.value.0 {
        Assignment::Exact if cfg!(target_arch = "wasm32") => {
            Err(Fault::at(&raw.span, "a page has no solver for an exact assignment")
                .help("write `quick`, or use `laxity check --exact`"))
        }
        assignment => Ok(assignment),
    }
}

fn time(raw: &raw::Scheduler, span: &Span) -> Result<CommonTime, Fault> {
    let (Some(frame), Some(frames)) = (&raw.frame, &raw.frames) else {
        let missing = if raw.frame.is_none() { "frame" } else { "frames" };
        return Err(Fault::at(span, format!("`{missing}` is missing")).help(
            "write how long a time frame is and how many make a cycle, such as `frame = \"250us\"` \
             and `frames = 60`",
        ));
    };
    let length = positive("frame")(frame)?;
    let [shortest, longest] = FRAME_LENGTHS;
    if !(shortest..=longest).contains(&length) {
        return Err(Fault::at(&frame.span, format!("a frame of {length}"))
            .help(format!("a frame lasts {shortest} to {longest}")));
    }
    let of_cycle = self::frames("frames", frames, 3..=MOST_FRAMES)?;
    let most = MOST_FRAMES / u64::from(of_cycle);
    let cycles = raw.cycles.as_ref().map_or(Ok(1), |at| self::frames("cycles", at, 1..=most))?;
    Ok(CommonTime { frame: length, frames: of_cycle, cycles })
}

/// Reads the forwarding delay d, of a node or of all.
pub(crate) fn forwarding_delay(raw: &At<Count>) -> Result<u32, Fault> {
    frames("forwarding-delay", raw, 2..=LONGEST_DELAY)
}

fn frames(key: &str, at: &At<Count>, limits: RangeInclusive<u64>) -> Result<u32, Fault> {
    let help = || format!("{} to {} are accepted", limits.start(), limits.end());
    within(key, at, limits.clone(), help)
}

/// Refuses what could be said of a plan under another discipline but not under time-driven
/// priority.
fn check(plan: &Plan, scheduler: &Span) -> Result<(), Fault> {
    let SchedulerSpec::Tdp(spec) = plan.scheduler else { return Ok(()) };
    let refuse = |message: String, help: &str| Err(Fault::at(scheduler, message).help(help));
    let Some(network) = &plan.network else {
        return refuse(
            "`kind = \"tdp\"` without a network".into(),
            "time frames are for networks: add links, such as `[network.uplink]` with \
             `between = [\"a\", \"b\"]`",
        );
    };
    if let Some(link) = network.links.iter().find(|link| link.trace.is_some()) {
        return refuse(
            format!("`rate-trace` at link `{}`", link.name),
            "frames are reserved at rates that stay as they are: take it out",
        );
    }
    if let Some(link) = network.links.iter().find(|link| link.autorate.is_some()) {
        return refuse(
            format!("a `rate` that is found at link `{}`", link.name),
            "frames are reserved at rates that stay as they are: write one",
        );
    }
    let is_late = |link: &&NetworkLink| link.latency > Nanos::ZERO || link.fastest.is_some();
    if let Some(link) = network.links.iter().find(is_late) {
        return refuse(
            format!("`latency` or `peak` at link `{}`", link.name),
            "frames are reserved at rates that are kept: take it out",
        );
    }
    if let Some(link) = network.links.iter().find(|link| link.disturbs()) {
        return refuse(
            format!("`jitter`, `reorder` or `duplicate` at link `{}`", link.name),
            "nodes keep in step by what comes in the order and at the times at which it was sent: take them out",
        );
    }
    if let Some(link) = network.links.iter().find(|link| link.regulate) {
        return refuse(
            format!("`regulate` at link `{}`", link.name),
            "frames tell when packets go on: take it out",
        );
    }
    let cells = (spec.period() as usize).saturating_mul(2 * network.links.len());
    if cells > MOST_LINK_FRAMES {
        return refuse(
            format!("{} links with {} frames each, both ways", network.links.len(), spec.period()),
            "use fewer `frames` or `cycles`: 50 million frames of links at most",
        );
    }
    let framed = FramedNetwork { plan, network, spec: &spec };
    let mut fed: HashMap<ClassId, Vec<&Source>> = HashMap::new();
    for source in &plan.sources {
        if let Some(class) = source.class() {
            fed.entry(class).or_default().push(source);
        }
    }
    let mut uses = 0u64;
    for (id, class) in plan.leaves().filter(|(_, class)| class.wants_frames()) {
        let name = shown(&class.name);
        let Some(packets) = framed.packets(class) else {
            return refuse(
                format!("class `{name}` has a deadline, and does not say what it sends"),
                "add `gap = \"20ms\"`, the time between its packets, or `arrival`, or leave \
                 `deadline` out for best effort",
            );
        };
        let recorded = plan.sources.iter().filter(|source| source.class().is_none());
        let sources = || fed.get(&id).into_iter().flatten().copied().chain(recorded.clone());
        let mut paths = sources().map(Source::path);
        let path = paths.next();
        if paths.any(|other| Some(other) != path) {
            return refuse(
                format!("class `{name}` takes several paths"),
                "frames are reserved for a class on one path: give every path a class of its own, and send \
                 recordings, which may hold packets of any class, over the path of all",
            );
        }
        if sources().any(|source| matches!(source, Source::Tcp(_))) {
            return refuse(
                format!("class `{name}` has a deadline and TCP connections"),
                "TCP cannot keep to reserved frames: leave `deadline` and `gap` out",
            );
        }
        let hops = path.map_or(0, |path| path.len() as u64);
        uses = uses.saturating_add(hops.saturating_mul(packets));
    }
    if uses > MOST_USES {
        return refuse(
            format!("{uses} frames of links to be reserved"),
            "10 million packets of a super cycle, each at every link of its path, at most",
        );
    }
    Ok(())
}
