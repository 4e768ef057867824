//! `laxity status --history`: the last hour, day or week of a link.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use laxity_live::archive::{ArchiveError, ArchiveFile};
use laxity_live::status::{PastClass, PastPoint, PastSpan, PastStatus};
use laxity_report::columns::{Column, Results};
use laxity_report::quantity::{self, TimeUnit};

use super::measurement::danger_text;
use crate::failure::Failure;
use crate::{Promises, show};

/// The last moments that are shown.
const MOMENTS: usize = 20;

/// Reads a history and shows it.
pub(super) fn run(path: &Path, span: PastSpan, json: bool) -> Result<Promises, Failure> {
    let failed = |error| match error {
        ArchiveError::File(..) => Failure::system(error),
        ArchiveError::NoHistory(_) => Failure::input(error),
    };
    let file = ArchiveFile::open(path).map_err(failed)?;
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let past = file.past(span, now, u64::MAX);
    let past = past.map_err(|cause| Failure::refused(path.display(), &cause))?;
    show(json, &past, || text(&past))?;
    let is_broken = past.moments.iter().any(|past| past.moment.is_broken());
    Ok(Promises::kept_if(!is_broken))
}

/// A class over the whole of the time.
struct Row {
    name: String,
    mean_bps: f64,
    busiest_bps: f64,
    packets: u64,
    dropped: u64,
    p99: u64,
    max: u64,
    bound: u64,
}

fn text(past: &PastStatus) -> String {
    let recorded = past.classes.iter().map(|class| class.points.len()).max().unwrap_or(0) as u64;
    let recorded = quantity::time(recorded as f64 * past.width_s as f64 * 1e9);
    let mut text = format!("The last {}, of which {recorded} are recorded\n\n", past.span.name());
    let rows: Vec<Row> = past.classes.iter().map(Row::new).collect();
    let times =
        rows.iter().flat_map(|row| [row.max, row.bound]).map(|ns| Some(ns).filter(|ns| *ns > 0));
    let unit = TimeUnit::from_whole(times);
    let columns = [
        Column::text("Mbit/s", |row: &Row| Some(quantity::megabits(row.mean_bps))),
        Column::text("busiest", |row| Some(quantity::megabits(row.busiest_bps))),
        Column::count("sent", |row| Some(row.packets)),
        Column::count("dropped", |row| Some(row.dropped)),
        Column::time("worst p99", |row| (row.p99 > 0).then_some(row.p99 as f64)),
        Column::time("max", |row| (row.max > 0).then_some(row.max as f64)),
        Column::time("bound", |row| (row.bound > 0).then_some(row.bound as f64)),
    ];
    let table = Results::new(columns, rows, |row| &row.name);
    text += &table.in_unit(unit).with_whole_names(|_| 0).text("class");
    text += "\n";
    if past.moments.is_empty() {
        return text + "\nNo class used more than 80 % of its bound.\n";
    }
    text += "\nWhen classes used more than 80 % of their bounds, the last first:\n";
    for moment in past.moments.iter().take(MOMENTS) {
        text += &format!("{}: {}\n", moment.way, danger_text(&moment.moment, past.until_s));
    }
    let more = past.moments.len().saturating_sub(MOMENTS);
    if more > 0 {
        text += &format!("And {more} more: see --json.\n");
    }
    text
}

impl Row {
    fn new(class: &PastClass) -> Row {
        let points = &class.points;
        let sum = |of: fn(&PastPoint) -> u64| points.iter().map(of).sum();
        let most = |of: fn(&PastPoint) -> u64| points.iter().map(of).max().unwrap_or(0);
        let rates = points.iter().map(|point| point.rate_bps);
        Row {
            name: format!("{} {}", class.way, class.name),
            mean_bps: rates.clone().sum::<f64>() / points.len().max(1) as f64,
            busiest_bps: rates.fold(0.0, f64::max),
            packets: sum(|point| point.packets),
            dropped: sum(|point| point.dropped),
            p99: most(|point| point.p99_ns),
            max: most(|point| point.max_ns),
            bound: most(|point| point.bound_ns),
        }
    }
}
