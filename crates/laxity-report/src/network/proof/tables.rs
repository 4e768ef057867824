//! What is proved, as tables.

use super::{OutputProof, PassingProof, PathProof, Proof};
use crate::network::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, megabits, millis, percent, shortened};
use crate::table::table;

impl Proof {
    /// The answer as tables: paths, then outputs.
    pub fn tables(&self) -> String {
        let paths: Vec<_> = self.paths.iter().map(path_row).collect();
        let outputs: Vec<_> = self.outputs.iter().flat_map(output_rows).collect();
        format!("{}\n\n{}", table(&PATH_HEADER, &paths), table(&OUTPUT_HEADER, &outputs))
    }
}

/// The longest path that is shown whole, in characters.
const PATH_LIMIT: usize = 48;

const PATH_HEADER: [&str; 11] = [
    "class",
    "path",
    "flows",
    "end-to-end [ms]",
    "bound [ms]",
    "by",
    "slack [ms]",
    "hops added [ms]",
    "bursts once [ms]",
    "empty [ms]",
    "binding hop",
];

fn path_row(path: &PathProof) -> Vec<String> {
    vec![
        shortened(&path.class, NAME_LIMIT),
        shortened(&path.nodes.join(" → "), PATH_LIMIT),
        path.flows.to_string(),
        shown(path.deadline_ns),
        shown(path.bound_ns),
        path.method.unwrap_or(NOTHING).to_string(),
        shown(path.slack_ns),
        shown(path.sum_ns),
        shown(path.once_ns),
        millis(path.empty_ns as f64),
        path.binding.as_ref().map_or(NOTHING.to_string(), |hop| shortened(hop, NAME_LIMIT)),
    ]
}

const OUTPUT_HEADER: [&str; 9] = [
    "hop",
    "scheduler",
    "rate Mbit/s",
    "load",
    "fits",
    "class",
    "burst [b]",
    "deadline [ms]",
    "bound [ms]",
];

/// A row a class; the first names the hop.
fn output_rows(output: &OutputProof) -> Vec<Vec<String>> {
    let fits = match output.fits {
        Some(true) => "yes",
        Some(false) => "NO",
        None => NOTHING,
    };
    let head = [
        shortened(&format!("{} → {}", output.from, output.to), NAME_LIMIT),
        output.scheduler.to_string(),
        megabits(output.rate_bps as f64),
        percent(output.long_run_bps as f64 / output.rate_bps as f64),
        fits.to_string(),
    ];
    let heads = std::iter::once(head).chain(std::iter::repeat_with(Default::default));
    let row = |(head, class): ([String; 5], &PassingProof)| {
        let burst = class.burst_bytes.map_or(NOTHING.to_string(), crate::quantity::count);
        let cells = [
            shortened(&class.name, NAME_LIMIT),
            burst,
            shown(class.deadline_ns),
            shown(class.bound_ns),
        ];
        head.into_iter().chain(cells).collect()
    };
    heads.zip(&output.classes).map(row).collect()
}

fn shown(ns: Option<u64>) -> String {
    ns.map_or(NOTHING.to_string(), |ns| millis(ns as f64))
}
