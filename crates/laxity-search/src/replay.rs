//! The same packets under Laxity's own simulator, as `laxity run` has it.

use std::fmt::Write;
use std::path::Path;

use laxity::units::Nanos;
use laxity_answers::Proof;
use laxity_answers::verdict::{Broken, HeldTo, Judged, Verdict};
use laxity_plan::Plan;
use laxity_plan::model::{Hops, Recording};
use laxity_plan::network::NetworkPlan;
use laxity_sim::link::Run;
use laxity_sim::network::NetworkRun;
use laxity_sim::source::{Feed, read_recording};

use crate::draft::{Draft, PathDraft};
use laxity_adversary::arrival::Arrival;

/// What `laxity run` measures.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Replay {
    /// What `check` says.
    pub admitted: Option<bool>,
    /// Whether it says that every promise was kept.
    pub kept: bool,
    /// What was proved and did not hold.
    pub broken: Vec<String>,
    /// The longest delay of each class at any output, in ns, by number.
    pub longest: Vec<u64>,
}

/// How long after all others a packet sets out that no run waits for, in ns.
const SILENCE: u64 = 1_000_000_000_000;

/// The plan and the recording that `laxity run` takes. A network is fed by no recording: there
/// every packet is a source of the plan.
pub fn files(draft: &Draft, arrivals: &[Arrival]) -> (String, Option<String>) {
    if draft.links.is_empty() {
        return (draft.text(), Some(csv(arrivals)));
    }
    let once = |text: &mut String, path: &PathDraft, length: u64, time: u64| {
        let after = time + 1;
        let keys = format!("rate = \"1bit\"\nstart = \"{time}ns\"\nstop = \"{after}ns\"");
        draft.source(text, path, length, &keys);
    };
    let text = draft.text_with(|text| {
        for arrival in arrivals {
            let path = draft.paths.iter().find(|path| path.name == arrival.feed);
            once(text, path.expect("a path of the plan"), arrival.length.into(), arrival.time);
        }
        // Paths without packets are proved, too: their packet sets out after all others.
        let over = arrivals.last().map_or(0, |arrival| arrival.time) + SILENCE;
        let is_silent =
            |path: &&PathDraft| arrivals.iter().all(|arrival| arrival.feed != path.name);
        for path in draft.paths.iter().filter(is_silent) {
            once(text, path, draft.longest(path.class), over);
        }
    });
    (text, None)
}

fn csv(arrivals: &[Arrival]) -> String {
    let streams = arrivals.iter().any(|arrival| arrival.flow > 0);
    let mut text = String::from("time_ns,class,length");
    text += if streams { ",flow\n" } else { "\n" };
    for Arrival { time, feed, flow, length } in arrivals {
        let flow = if streams { format!(",{flow}") } else { String::new() };
        let _ = writeln!(text, "{time},c{feed},{length}{flow}");
    }
    text
}

/// Runs it.
///
/// # Errors
/// If Laxity refuses what it is given.
pub fn run(draft: &Draft, arrivals: &[Arrival]) -> Result<Replay, String> {
    let (text, recording) = files(draft, arrivals);
    let said = |error: &dyn std::error::Error| error.to_string();
    let plan = Plan::parse(&text, "searched.toml", Path::new(".")).map_err(|error| said(&error))?;
    let replayed = match plan.network_plan() {
        None => on_a_link(&plan, &recording.unwrap_or_default()),
        Some(on) => on_a_network(on, arrivals),
    };
    replayed.map_err(|error| said(&error))
}

fn on_a_link(plan: &Plan, recording: &str) -> Result<Replay, laxity_sim::error::SimError> {
    let csv =
        Recording { file: "searched.csv".into(), path: Hops::default(), filter: None, sort: false };
    // The recording outlives the run, which owns what it reads.
    let recording = std::io::Cursor::new(recording.to_string().into_bytes());
    let feeds = vec![Feed::new(read_recording(recording, &csv, plan)?)];
    let run = Run { plan, duration: None, seed: 1, feeds };
    let outcome = run.simulate(&mut (), &mut laxity_sim::to_the_end)?;
    let proof = Proof::link(plan);
    let Judged { summary, verdict } =
        Judged::new(plan, HeldTo::Plan, proof.as_ref(), outcome.summary);
    let mut longest = vec![0; plan.classes.len()];
    for ((id, _), class) in plan.leaves().zip(&summary.hops[0].classes) {
        longest[id.index()] = class.delay_ns.map_or(0, |delay| delay.max);
    }
    Ok(Replay::new(&verdict, longest))
}

fn on_a_network(
    on: NetworkPlan<'_>,
    arrivals: &[Arrival],
) -> Result<Replay, laxity_sim::error::SimError> {
    let on = on.analysis();
    let last = arrivals.last().map_or(0, |arrival| arrival.time);
    let duration = Nanos(last + 10_000_000_000);
    let run = NetworkRun::new(&on, Some(duration), 1);
    let summary = run.simulate(&mut (), &mut laxity_sim::to_the_end)?.summary;
    let plan = on.plan;
    let mut longest = vec![0; plan.classes.len()];
    for class in summary.hops.iter().flat_map(|hop| &hop.classes) {
        let (id, delay) = (plan.class(&class.name), class.delay_ns.map_or(0, |delay| delay.max));
        if let Some(id) = id {
            longest[id.index()] = longest[id.index()].max(delay);
        }
    }
    let proof = Proof::network(&on);
    let judged = Judged::new(plan, HeldTo::Plan, Some(&proof), summary);
    Ok(Replay::new(&judged.verdict, longest))
}

impl Replay {
    fn new(verdict: &Verdict, longest: Vec<u64>) -> Replay {
        let broken = verdict.broken.iter().filter(|broken| broken.proved);
        Replay {
            admitted: verdict.admitted,
            kept: verdict.kept,
            broken: broken.map(said).collect(),
            longest,
        }
    }
}

fn said(broken: &Broken) -> String {
    let at = broken.at.as_ref().map_or(String::new(), |at| format!(" at {at}"));
    format!("{}{at}: {:?}", broken.class, broken.promise)
}
