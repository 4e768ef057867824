//! `laxity fit`: arrival curves read off recorded traffic.

use laxity_plan::Plan;
use laxity_plan::model::Source;
use laxity_report::{quantity, table};
use laxity_sim::fit::{FittedArrival, fit};
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
    let fitted = fit(recording.as_mut(), plan.classes.len(), arguments.headroom)?;
    let classes: Vec<_> = plan
        .classes
        .iter()
        .zip(&fitted)
        .map(|(class, fitted)| FittedClass::new(&class.name, fitted.as_ref()))
        .collect();
    if arguments.json {
        print_json(&classes)?;
    } else {
        print(&text(&plan, &fitted, arguments.headroom))?;
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
    peak_bps: Option<u64>,
    bucket_bytes: Option<u64>,
    rate_bps: Option<u64>,
}

impl<'a> FittedClass<'a> {
    fn new(name: &'a str, fitted: Option<&FittedArrival>) -> Self {
        FittedClass {
            name,
            packets: fitted.map_or(0, |fitted| fitted.packets),
            bytes: fitted.map_or(0, |fitted| fitted.bytes),
            mean_bps: fitted.map_or(0.0, |fitted| fitted.mean_bps),
            packet_bytes: fitted.map(|fitted| fitted.packet.0),
            peak_bps: fitted.and_then(|fitted| fitted.peak).map(|peak| peak.0),
            bucket_bytes: fitted.map(|fitted| fitted.bucket.0),
            rate_bps: fitted.map(|fitted| fitted.rate.0),
        }
    }
}

fn text(plan: &Plan, fitted: &[Option<FittedArrival>], headroom: u32) -> String {
    let mut rows = Vec::new();
    let mut lines = String::new();
    for (class, fitted) in plan.classes.iter().zip(fitted) {
        let Some(fitted) = fitted else {
            rows.push(vec![
                class.name.clone(),
                "0".into(),
                quantity::NOTHING.into(),
                quantity::NOTHING.into(),
            ]);
            continue;
        };
        rows.push(vec![
            class.name.clone(),
            quantity::count(fitted.packets),
            quantity::megabits(fitted.mean_bps),
            fitted.packet.0.to_string(),
        ]);
        lines += &format!("[class.{}]\n{fitted}\n\n", class.name);
    }
    let header = ["class", "packets", "mean [Mbit/s]", "largest [B]"];
    format!(
        "{}\n\nAll recorded packets keep to these curves, whose rates lie {headroom} % above the \
         mean:\n\n{lines}",
        table::table(&header, &rows)
    )
}
