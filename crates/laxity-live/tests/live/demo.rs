//! What the demonstration shows holds, by each link's own record of how late it was.

use std::time::Duration;

use laxity_live::demo::{Outcome, Scenario, Trial};
use laxity_live::status::{ClassStatus, DelayStatus};
use laxity_live::{LiveError, Options};

/// What comes of a scenario under a discipline. None where there is no laboratory, and then it says
/// so.
fn outcome(scenario: &Scenario, scheduler: &str, seconds: u64) -> Option<Outcome> {
    // A real-time priority is not to be had everywhere.
    let options = Options { priority: None, ..Options::default() };
    let (scenario, time) = (scenario.under(scheduler), Duration::from_secs(seconds));
    let outcome = match (Trial { scenario, options, time }).run(&mut |_| {}) {
        Ok(outcome) => outcome,
        Err(LiveError::System(error)) if error.is_permission() => {
            eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
            return None;
        }
        Err(error) => panic!("{error}"),
    };
    for stream in &outcome.heard.streams {
        let Some(of) = &stream.delay_ns else { continue };
        let millis = [of.p50, of.p99, of.p99_9, of.max].map(|nanos| nanos as f64 / 1e6);
        let (name, lost, mean) = (stream.name, stream.lost, of.mean / 1e6);
        eprintln!("{scheduler}: {name}: {lost} lost, mean {mean:.3}, p50 to max {millis:.2?} ms");
    }
    let late = outcome.way.late.as_ref().expect("something was sent").max as f64 / 1e6;
    eprintln!("{scheduler}: {:?}, at most {late:.2} ms late", outcome.heard.carried);
    Some(outcome)
}

fn delay<'a>(outcome: &'a Outcome, stream: &str) -> &'a DelayStatus {
    let heard = outcome.heard.streams.iter().find(|heard| heard.name == stream);
    heard.and_then(|heard| heard.delay_ns.as_ref()).expect("some came")
}

fn class<'a>(outcome: &'a Outcome, name: &str) -> &'a ClassStatus {
    outcome.way.classes.iter().find(|class| class.name == name).expect("a class")
}

/// How late a thread without priority is on a busy machine is much less than how long the queue is.
#[test]
fn audio_and_video_are_on_time_under_edf_and_not_under_fifo() {
    let scenario = Scenario::full();
    let Some(fifo) = outcome(&scenario, "fifo", 8) else { return };
    let edf = outcome(&scenario, "edf", 8).expect("it was allowed before");
    assert_eq!((edf.way.broken, edf.events_lost), (0, 0));
    for name in ["audio", "video"] {
        let [under_fifo, under_edf] = [&fifo, &edf].map(|outcome| delay(outcome, name));
        assert!(under_edf.count >= 800 && under_fifo.count >= 80);
        assert!(under_edf.p50 * 5 < under_fifo.p50, "{name}");
        assert!(under_edf.p50 <= class(&edf, name).bound_ns.expect("a bound"), "{name}");
        let ClassStatus { dropped, queued, .. } = class(&edf, name);
        assert!(dropped.is_empty() && *queued == Some(0), "{name}: {dropped:?}, {queued:?}");
    }
    // A link that was woken more than a millisecond late has lost some of its time.
    let rate = edf.heard.carried.expect("something came").rate_bps / edf.way.rate_bps as f64;
    assert!((0.8..1.001).contains(&rate), "{rate}");
}

/// The real-time traffic has time to spare, which best effort with exact deadlines gets at once.
#[test]
fn pings_and_requests_wait_less_with_exact_deadlines_than_in_the_background() {
    let scenario = Scenario::sparse();
    let Some(background) = outcome(&scenario, "edf/background", 8) else { return };
    let exact = outcome(&scenario, "edf/exact", 8).expect("it was allowed before");
    for outcome in [&background, &exact] {
        assert_eq!((outcome.way.broken, outcome.events_lost), (0, 0));
        assert!(outcome.way.classes.iter().all(|class| class.dropped.is_empty()));
    }
    for name in ["ping", "request"] {
        // By the forwarder's books: nobody is late on the way there.
        let [before, after] = [&background, &exact]
            .map(|outcome| class(outcome, name).delay_ns.as_ref().expect("some were sent").mean);
        eprintln!("{name}: mean {:.3} and {:.3} ms", before / 1e6, after / 1e6);
        assert!(after < before * 0.9, "{name}: {before} and {after}");
    }
}
