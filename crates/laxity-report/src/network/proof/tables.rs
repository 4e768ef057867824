//! What is proved, as tables.

use super::{OutputProof, PassingProof, PathProof, Proof};
use crate::network::cells::NAME_LIMIT;
use crate::quantity::{NOTHING, TimeUnit, megabits, percent, shortened};
use crate::table::table;

impl Proof {
    /// The answer as tables: paths, then outputs.
    pub fn tables(&self) -> String {
        let unit = TimeUnit::of_whole(self.paths.iter().flat_map(path_times));
        let paths: Vec<_> = self.paths.iter().map(|path| path_row(path, unit)).collect();
        let paths = table(&headed(&PATH_HEADER, unit), &paths);
        let passing = self.outputs.iter().flat_map(|output| &output.classes);
        let unit =
            TimeUnit::of_whole(passing.flat_map(|class| [class.deadline_ns, class.bound_ns]));
        let rows = |output| output_rows(output, unit);
        let outputs: Vec<_> = self.outputs.iter().flat_map(rows).collect();
        format!("{paths}\n\n{}", table(&headed(&OUTPUT_HEADER, unit), &outputs))
    }
}

/// The longest path that is shown whole, in characters.
const PATH_LIMIT: usize = 48;

const PATH_HEADER: [&str; 11] = [
    "class",
    "path",
    "flows",
    "end-to-end {}",
    "bound {}",
    "by",
    "slack {}",
    "hops added {}",
    "bursts once {}",
    "empty {}",
    "binding hop",
];

fn path_times(path: &PathProof) -> [Option<u64>; 6] {
    let PathProof { deadline_ns, bound_ns, slack_ns, sum_ns, once_ns, empty_ns, .. } = *path;
    [deadline_ns, bound_ns, slack_ns, sum_ns, once_ns, Some(empty_ns)]
}

fn path_row(path: &PathProof, unit: TimeUnit) -> Vec<String> {
    let [deadline, bound, slack, sum, once, empty] = path_times(path).map(|ns| unit.whole(ns));
    vec![
        shortened(&path.class, NAME_LIMIT),
        shortened(&path.nodes.join(" → "), PATH_LIMIT),
        path.flows.to_string(),
        deadline,
        bound,
        path.method.unwrap_or(NOTHING).to_string(),
        slack,
        sum,
        once,
        empty,
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
    "deadline {}",
    "bound {}",
];

/// A row a class; the first names the hop.
fn output_rows(output: &OutputProof, unit: TimeUnit) -> Vec<Vec<String>> {
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
            unit.whole(class.deadline_ns),
            unit.whole(class.bound_ns),
        ];
        head.into_iter().chain(cells).collect()
    };
    heads.zip(&output.classes).map(row).collect()
}

/// Column heads with the unit of times where it is to be.
fn headed(header: &[&str], unit: TimeUnit) -> Vec<String> {
    header.iter().map(|head| head.replace("{}", &format!("[{}]", unit.name))).collect()
}
