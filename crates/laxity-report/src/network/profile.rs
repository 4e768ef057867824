//! Where the time of a run went.

use laxity_sim::network::{Profile, ProfileEntry, Timing, What};

use super::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, count, percent, shortened, time};
use crate::table::table;

const HEADER: [&str; 8] =
    ["what", "at", "over", "scheduler", "events", "ns each", "time", "of the run"];
/// The most rows of places.
const ROWS: usize = 20;

/// What took time, most of it first, and then by kind.
pub fn text(profile: &Profile) -> String {
    let row = |what: &str, place: [String; 3], timing: Timing| {
        let cells = [
            count(timing.count),
            timing.ns.checked_div(timing.count).map_or(NOTHING.into(), count),
            time(timing.ns as f64),
            percent(timing.ns as f64 / profile.wall_ns.max(1) as f64),
        ];
        std::iter::once(what.to_owned()).chain(place).chain(cells).collect::<Vec<_>>()
    };
    let nowhere = || [(); 3].map(|()| NOTHING.to_owned());
    let name = |name: &Option<String>| {
        name.as_ref().map_or(NOTHING.to_owned(), |name| shortened(name, NAME_LIMIT))
    };
    let of = |entry: &ProfileEntry| {
        let place = [name(&entry.node), name(&entry.link), name(&entry.scheduler)];
        row(said(entry.what), place, entry.timing)
    };
    let (shown, others) = profile.spent.split_at(profile.spent.len().min(ROWS));
    let mut rows: Vec<_> = shown.iter().map(of).collect();
    if !others.is_empty() {
        rows.push(row("all others", nowhere(), sum(others)));
    }
    rows.push(row("all events", nowhere(), sum(&profile.spent)));
    rows.push(row("of that: told", nowhere(), profile.told));
    let per = |of: u64| profile.wall_ns as f64 / of.max(1) as f64;
    format!(
        "{}\n\n{} for {} simulated: {} events, {} hops, {:.0} ns a hop. One event of 61 was timed.\n",
        table(&HEADER, &rows),
        time(profile.wall_ns as f64),
        time(profile.simulated_ns as f64),
        count(profile.events),
        count(profile.hops),
        per(profile.hops),
    )
}

fn said(what: What) -> &'static str {
    match what {
        What::Sources => "sources",
        What::Arrivals => "arrivals",
        What::Senders => "senders",
        What::Receivers => "receivers",
        What::Choices => "choices",
        _ => NOTHING,
    }
}

fn sum(all: &[ProfileEntry]) -> Timing {
    all.iter().fold(Timing::default(), |sum, ProfileEntry { timing, .. }| Timing {
        count: sum.count + timing.count,
        timed: sum.timed + timing.timed,
        ns: sum.ns + timing.ns,
    })
}
