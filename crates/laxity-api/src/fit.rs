//! Arrival curves read off recorded traffic.

use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Arrival, Source};
use laxity_plan::rewrite::{self, Change, NewArrival};
use laxity_report::{quantity, table, visible};
pub use laxity_sim::fit::DEFAULT_HEADROOM_PERCENT;
use laxity_sim::fit::{self, FittedArrival};
use laxity_sim::source::{Remarks, open_recording};
use serde::Serialize;
use toml_writer::{ToTomlKey, TomlKeyBuilder};

use crate::{Error, Opener};

/// The curves that a recording keeps to.
pub struct Fitted {
    fit: fit::Fit,
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
) -> Result<Fitted, Error> {
    let mut recording = match (recording, plan.sources.as_slice()) {
        (Some(open), _) => open(plan, None)?,
        (None, [Source::Recording(recording)]) => open_recording(recording, plan)?,
        (None, _) => return Err(Error::NothingToFit),
    };
    let fit = fit::Fit { headroom_percent, link: plan.link.rate, from: plan.run.warm_up };
    let arrivals = fit.fit(recording.as_mut(), plan.classes.len())?;
    if arrivals.iter().all(Option::is_none) {
        return Err(Error::question("the recording has no packet of any class to fit a curve to"));
    }
    Ok(Fitted { fit, arrivals, remarks: recording.remarks() })
}

impl Fitted {
    /// The leaves, in the form of `laxity fit --json`.
    pub fn classes<'a>(&'a self, plan: &'a Plan) -> Vec<FittedClass<'a>> {
        let of = |(id, class): (laxity::packet::ClassId, &'a laxity_plan::model::Class)| {
            FittedClass::new(&class.name, self.arrivals[id.index()].as_ref())
        };
        plan.leaves().map(of).collect()
    }

    /// The same for people.
    pub fn text(&self, plan: &Plan) -> String {
        text(plan, &self.fit, &self.arrivals)
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

/// A class's name as TOML wants it, quoted unless it is plain, and as a terminal shows it
/// unchanged.
fn toml_key(name: &str) -> String {
    let key = TomlKeyBuilder::new(name);
    let key = key.as_unquoted().unwrap_or_else(|| key.as_basic());
    visible::json(&key.to_toml_key()).into_owned()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg32;

    use super::*;

    /// What a printed table's header names is the class again, and nothing of it obeys anybody.
    #[test]
    fn any_name_is_read_back_as_it_was() {
        let odd = "ab-_9 .,#='\"\\\n\r\t\0\u{8}\u{1b}\u{7f}\u{85}\u{9b}é语\u{200f}\u{2028}\u{202e}\u{2066}😀";
        let odd: Vec<char> = odd.chars().collect();
        let mut names = ["", "plain", "a.b", "\"\"\"", "\u{202e}'"].map(str::to_string).to_vec();
        for seed in 0..2_000 {
            let mut rng = Pcg32::seed_from_u64(seed);
            let length = rng.random_range(1..12);
            names.push((0..length).map(|_| odd[rng.random_range(0..odd.len())]).collect());
        }
        for name in names {
            let header = format!("[class.{}]", toml_key(&name));
            assert_eq!(visible::line(&header), header, "{name:?}");
            let read: toml::Table =
                header.parse().unwrap_or_else(|error| panic!("{name:?}: {error}"));
            let classes = read["class"].as_table().unwrap();
            assert_eq!(classes.keys().collect::<Vec<_>>(), [&name], "{header}");
        }
    }
}
