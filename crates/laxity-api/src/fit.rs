//! Arrival curves read off recorded traffic.

use laxity_plan::Plan;
use laxity_plan::model::{Arrival, Source};
use laxity_plan::rewrite::{self, Change, NewArrival};
pub use laxity_sim::fit::DEFAULT_HEADROOM_PERCENT;
use laxity_sim::fit::{self, FittedArrival};
use laxity_sim::source::{Remarks, open_recording};
use serde::Serialize;

use crate::{Error, Opener};

/// The curves that a recording keeps to.
pub struct FitResult {
    /// How they were read off it.
    pub fit: fit::Fit,
    /// Of each class, by its number; `None` without packets.
    pub arrivals: Vec<Option<FittedArrival>>,
    /// What the recording held besides packets.
    pub remarks: Remarks,
}

/// Reads the arrival curve of each class off a recording: the one that is opened, or else the
/// plan's only source. The first rate lies `headroom_percent` above the mean.
///
/// # Errors
/// If there is no such recording, it cannot be read, or has no packet of any class.
pub fn fit(
    plan: &Plan,
    recording: Option<&Opener<'_>>,
    headroom_percent: u32,
) -> Result<FitResult, Error> {
    let mut recording = match (recording, plan.sources.as_slice()) {
        (Some(open), _) => open(plan, None)?,
        (None, [Source::Recording(recording)]) => open_recording(recording, plan, None)?,
        (None, _) => return Err(Error::NothingToFit),
    };
    let fit = fit::Fit { headroom_percent, link: plan.link.rate, from: plan.run.warm_up };
    let arrivals = fit.fit(recording.as_mut(), plan.classes.len())?;
    if arrivals.iter().all(Option::is_none) {
        return Err(Error::question("the recording has no packet of any class to fit a curve to"));
    }
    Ok(FitResult { fit, arrivals, remarks: recording.remarks() })
}

impl FitResult {
    /// The leaves, in the form of `laxity fit --json`.
    pub fn classes<'a>(&'a self, plan: &'a Plan) -> Vec<FittedClass<'a>> {
        let of = |(id, class): (laxity::packet::ClassId, &'a laxity_plan::model::Class)| {
            FittedClass::new(&class.name, self.arrivals[id.index()].as_ref())
        };
        plan.leaves().map(of).collect()
    }

    /// The text of a plan with these curves, and what that changes; `name` and `folder` as for
    /// [`Plan::parse`]. Classes that say the same already stay as they are written, and so does
    /// every byte that is none of the curves'.
    ///
    /// # Errors
    /// If a curve can only be written where other keys would change.
    pub fn into_plan(
        &self,
        plan: &Plan,
        text: &str,
        name: &str,
        folder: &std::path::Path,
    ) -> Result<(String, Vec<Change>), Error> {
        let new: Vec<_> = plan
            .leaves()
            .filter_map(|(id, class)| Some((class, self.arrivals[id.index()].as_ref()?)))
            .filter(|(class, fitted)| class.arrival.as_ref() != Some(&arrival(fitted)))
            .map(|(class, fitted)| NewArrival { class: class.name.clone(), value: fitted.value() })
            .collect();
        if new.is_empty() {
            return Ok((text.to_string(), Vec::new()));
        }
        let (edited, changes) = rewrite::arrivals(text, name, &new)?;
        let before = Plan::parse(text, name, folder)?;
        let after = Plan::parse(&edited, name, folder)?;
        if rewrite::differs_in_arrivals_only(&before, &after) {
            Ok((edited, changes))
        } else {
            Err(Error::Question(format!("{name}: writing `arrival` would change other keys")))
        }
    }
}

/// What a plan says that has the fitted curve.
fn arrival(fitted: &FittedArrival) -> Arrival {
    Arrival { buckets: fitted.buckets.clone(), packet: Some(fitted.packet), shortest: None }
}

/// What was read off of a class.
#[derive(Clone, Debug, Serialize)]
pub struct FittedClass<'a> {
    /// Its name.
    pub name: &'a str,
    /// How many packets it had.
    pub packets: u64,
    /// How many bytes these were.
    pub bytes: u64,
    /// Their mean rate.
    pub mean_bps: f64,
    /// The largest.
    pub packet_bytes: Option<u64>,
    /// The curve; none without packets.
    pub buckets: Vec<Line>,
}

/// A token bucket.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Line {
    /// The burst.
    pub bucket_bytes: u64,
    /// The sustained rate.
    pub rate_bps: u64,
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
