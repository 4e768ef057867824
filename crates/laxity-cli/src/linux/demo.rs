//! `laxity live --demo`: what FIFO and EDF do to the same traffic.

use std::time::Duration;

use laxity::units::Nanos;
use laxity_linux::namespace;
use laxity_live::demo::listener::StreamReception;
use laxity_live::demo::{Outcome, Scenario, Trial};
use laxity_live::{LiveError, Options};
use laxity_report::columns::{Column, Results};
use laxity_report::quantity::{self, TimeUnit};
use serde::Serialize;

use super::forwarding::options;
use crate::args::Live;
use crate::failure::Failure;
use crate::{Promises, interrupt, progress, show, terminal};

/// What came of it.
#[derive(Serialize)]
struct DemoResult {
    duration_ns: u64,
    fifo: Outcome,
    edf: Outcome,
}

/// How long both disciplines take.
const DURATION: Nanos = Nanos(120_000_000_000);

/// Carries the command out.
pub(super) fn run(arguments: &Live) -> Result<Promises, Failure> {
    // Before there are other threads.
    namespace::become_able().map_err(|error| failure(LiveError::System(error)))?;
    // What there is of a laboratory ends with the process.
    interrupt::watch(|| interrupt::REMOVED);
    let each = Duration::from_nanos(arguments.duration.unwrap_or(DURATION).0 / 2);
    let options = options(&arguments.running);
    let fifo = trial("fifo", each, options).map_err(failure)?;
    let edf = trial("edf", each, options).map_err(failure)?;
    let shown = DemoResult { duration_ns: each.as_nanos() as u64, fifo, edf };
    show(arguments.demo.json, &shown, || text(&shown))?;
    Ok(Promises::kept_if(shown.edf.way.verdict(None, None).is_kept()))
}

fn trial(scheduler: &str, time: Duration, options: Options) -> Result<Outcome, LiveError> {
    let trial = Trial { scenario: Scenario::full().under(scheduler), options, time };
    let seconds = time.as_secs().max(1);
    terminal::remark(&format!("laxity: {scheduler} for {}\n", quantity::time(nanos(time))));
    let bar = progress::seconds(scheduler, seconds);
    let outcome = trial.run(&mut |passed| bar.set_position(passed.as_secs().min(seconds)));
    bar.finish_and_clear();
    outcome
}

fn failure(error: LiveError) -> Failure {
    let hint = match error {
        LiveError::System(_) => {
            ". Run it as root (sudo), or within `unshare -Urn` where that is allowed"
        }
        _ => "",
    };
    Failure::system(format!("{error}{hint}"))
}

fn nanos(time: Duration) -> f64 {
    time.as_nanos() as f64
}

fn text(shown: &DemoResult) -> String {
    let DemoResult { duration_ns, fifo, edf } = shown;
    let title = fifo.way.title.as_deref().unwrap_or_default();
    let rate = quantity::rate(fifo.way.rate_bps as f64);
    let each = quantity::time(*duration_ns as f64);
    let mut lines = vec![
        format!("{title}: {rate}, {each} under each discipline\n\n{}\n", by_stream(shown)),
        sentence(fifo, edf),
    ];
    lines.extend([fifo, edf].into_iter().flat_map(remarks));
    lines.extend(edf.not_real_time.clone().map(|cost| format!("{cost}.")));
    lines.join("\n")
}

/// A row for each stream and discipline.
fn by_stream(DemoResult { fifo, edf, .. }: &DemoResult) -> String {
    let pairs = fifo.heard.streams.iter().zip(&edf.heard.streams);
    let pairs = pairs.flat_map(|(first, second)| [(fifo, first), (edf, second)]);
    let unit = TimeUnit::from_whole(pairs.clone().flat_map(|(outcome, stream)| {
        let longest = stream.delay_ns.as_ref().map(|delay| delay.max);
        [longest, bound(outcome, stream.name)]
    }));
    let columns = [
        StreamColumn::text("under", |(outcome, _)| Some(outcome.way.scheduler.clone())),
        StreamColumn::time("p50", |(_, stream)| Some(stream.delay_ns.as_ref()?.p50 as f64)),
        StreamColumn::time("p99", |(_, stream)| Some(stream.delay_ns.as_ref()?.p99 as f64)),
        StreamColumn::time("p99.9", |(_, stream)| Some(stream.delay_ns.as_ref()?.p99_9 as f64)),
        StreamColumn::time("max", |(_, stream)| Some(stream.delay_ns.as_ref()?.max as f64)),
        StreamColumn::count("lost", |(_, stream)| Some(stream.lost)),
        StreamColumn::time("bound", |(outcome, stream)| Some(bound(outcome, stream.name)? as f64)),
    ];
    let table = Results::new(columns, pairs, |(_, stream)| stream.name);
    table.in_unit(unit).with_whole_names(|_| 0).text("stream")
}

type StreamColumn<'a> = Column<(&'a Outcome, &'a StreamReception)>;

/// What the class of a stream is promised.
fn bound(outcome: &Outcome, stream: &str) -> Option<u64> {
    outcome.way.classes.iter().find(|class| class.name == stream)?.bound_ns
}

/// What it comes to.
fn sentence(fifo: &Outcome, edf: &Outcome) -> String {
    let [before, after] = [fifo, edf].map(|outcome| {
        let audio = outcome.heard.streams.first()?;
        Some((audio.name, quantity::time(audio.delay_ns.as_ref()?.p99_9 as f64)))
    });
    let (Some((audio, before)), Some((_, after))) = (before, after) else {
        return "No audio came.".into();
    };
    let bound = bound(edf, audio).map(|bound| quantity::time(bound as f64));
    let bound = bound.map(|bound| format!(" (bound {bound})")).unwrap_or_default();
    format!("{audio}'s p99.9: {before} under FIFO, {after} under EDF{bound}.")
}

/// What there is to know of the figures of a discipline.
fn remarks(outcome: &Outcome) -> Vec<String> {
    let Outcome { heard, way, events_lost, .. } = outcome;
    let scheduler = &way.scheduler;
    let carried = heard.carried.map(|carried| {
        let [rate, ahead] =
            [quantity::rate(carried.rate_bps), quantity::time(carried.ahead_ns as f64)];
        format!("{scheduler}: the link carried {rate}, at most {ahead} ahead of its rate.")
    });
    let late =
        way.late.as_ref().filter(|_| way.classes.iter().any(|class| class.bound_ns.is_some()));
    let late = late.map(|late| {
        let late = quantity::time(late.max as f64);
        let kept = match way.broken {
            0 => "Every packet kept its bound and that".into(),
            broken => format!("{broken} packets took longer than their bound and that"),
        };
        format!("{scheduler}: waking up was at most {late} late. {kept}.")
    });
    let missed = (heard.missed > 0).then(|| {
        let missed = heard.missed;
        format!("{scheduler}: frames that came unseen, and may count as lost: {missed}.")
    });
    let unread = (*events_lost > 0)
        .then(|| format!("{scheduler}: {events_lost} events came too fast to be counted."));
    [carried, late, missed, unread].into_iter().flatten().collect()
}
