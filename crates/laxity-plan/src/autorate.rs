//! What is proved of a link whose rate is found, at the rates that it may have.

use laxity::autorate::BoundsByRate;
use laxity::units::Rate;

use crate::model::{LinkSpec, Plan};

/// At how many rates bounds are computed.
const STEPS: u32 = 24;
/// A plan of more classes is proved for its least rate only.
const MOST_CLASSES: usize = 256;

impl Plan {
    /// The delay bounds of all classes by the rate of the link, from the least to the highest. They
    /// are those of `check` for a link of that rate. `None` if the rate is not found.
    pub fn bounds_by_rate(&self) -> Option<BoundsByRate> {
        let settings = &self.link.autorate.as_ref()?.settings;
        let (from, to) = (settings.from.0 as f64, settings.to.0 as f64);
        let steps = if self.classes.len() <= MOST_CLASSES && from < to { STEPS } else { 0 };
        let rate = |step: u32| match step {
            0 => settings.from,
            step if step == steps => settings.to,
            step => Rate((from * (to / from).powf(f64::from(step) / f64::from(steps))) as u64),
        };
        let mut rates: Vec<Rate> = (0..=steps).map(rate).collect();
        rates.dedup();
        let bounds = |rate: Rate| {
            let link = LinkSpec { rate, autorate: None, ..self.link.clone() };
            let bounds = Plan { link, ..self.clone() }.bounds();
            (rate, bounds.into_iter().map(Result::ok).collect())
        };
        Some(BoundsByRate::new(rates.into_iter().map(bounds).collect()))
    }
}
