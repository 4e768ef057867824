//! `laxity fit`: arrival curves read off recorded traffic.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::Source;
use laxity_report::{quantity, table};
use laxity_sim::fit::{self, FittedArrival};
use laxity_sim::source::open_recording;
use serde::Serialize;

use crate::args::Fit;
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// Carries the command out.
pub fn run(arguments: &Fit) -> Result<Promises, Failure> {
    let plan = Plan::read(&arguments.plan)?;
    let mut recording = match (&arguments.arrivals, plan.sources.as_slice()) {
        (Some(path), _) => open_recording(path, &plan, None)?,
        (None, [Source::Recording { path, filter }]) => {
            open_recording(path, &plan, filter.as_ref())?
        }
        (None, _) => {
            return Err(Failure::input(
                "the plan's source is not one recording: give the one to fit with --arrivals FILE",
            ));
        }
    };
    let fit = fit::Fit {
        headroom_percent: arguments.headroom,
        link: plan.link.rate,
        from: plan.run.warm_up,
    };
    let fitted = fit.fit(recording.as_mut(), plan.classes.len())?;
    if fitted.iter().all(Option::is_none) {
        return Err(Failure::input("the recording has no packet of any class to fit a curve to"));
    }
    let classes: Vec<_> = plan
        .leaves()
        .map(|(id, class)| FittedClass::new(&class.name, fitted[id.index()].as_ref()))
        .collect();
    if arguments.json {
        print_json(&classes)?;
    } else {
        print(&text(&plan, &fit, &fitted))?;
    }
    Ok(Promises::Kept)
}

/// One class of the JSON.
#[derive(Serialize)]
struct FittedClass<'a> {
    name: &'a str,
    packets: u64,
    bytes: u64,
    mean_bps: f64,
    packet_bytes: Option<u64>,
    buckets: Vec<Line>,
}

/// One token bucket of the JSON.
#[derive(Serialize)]
struct Line {
    bucket_bytes: u64,
    rate_bps: u64,
}

impl<'a> FittedClass<'a> {
    fn new(name: &'a str, fitted: Option<&FittedArrival>) -> Self {
        let lines = fitted.into_iter().flat_map(|fitted| &fitted.buckets);
        FittedClass {
            name,
            packets: fitted.map_or(0, |fitted| fitted.packets),
            bytes: fitted.map_or(0, |fitted| fitted.bytes),
            mean_bps: fitted.map_or(0.0, |fitted| fitted.mean_bps),
            packet_bytes: fitted.map(|fitted| fitted.packet.0),
            buckets: lines
                .map(|line| Line { bucket_bytes: line.bucket.0, rate_bps: line.rate.0 })
                .collect(),
        }
    }
}

fn text(plan: &Plan, fit: &fit::Fit, fitted: &[Option<FittedArrival>]) -> String {
    let mut rows = Vec::new();
    let mut lines = String::new();
    for (id, class) in plan.leaves() {
        let Some(fitted) = &fitted[id.index()] else {
            let nothing = quantity::NOTHING.to_string();
            rows.push(vec![class.name.clone(), "0".to_string(), nothing.clone(), nothing]);
            continue;
        };
        rows.push(vec![
            class.name.clone(),
            quantity::count(fitted.packets),
            quantity::megabits(fitted.mean_bps),
            fitted.packet.0.to_string(),
        ]);
        lines += &format!("[class.{}]\n{fitted}\n\n", toml_key(&class.name));
    }
    let header = ["class", "packets", "mean [Mbit/s]", "largest [B]"];
    let from = match fit.from {
        Nanos::ZERO => String::new(),
        from => format!(" from {} on", quantity::time(from.0 as f64)),
    };
    format!(
        "{}\n\nAll recorded packets{from} keep to these curves. The first rate lies {} % above the \
         mean,\na second one is the link's.\n\n{lines}",
        table::table(&header, &rows),
        fit.headroom_percent
    )
}

/// A class's name as TOML wants it: quoted unless it is plain.
fn toml_key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(plain) { name.to_string() } else { format!("{name:?}") }
}
