//! What is exposed to Prometheus, each metric described once: [`METRICS`]. From it follow what is
//! written ([`Format`]) and the table in `docs/metrics.md`; the dashboard in `packaging/grafana`
//! shows none but these.

mod all;
mod text;

use crate::status::{DelayStatus, Status};

pub use all::METRICS;
pub use text::Format;

/// A metric.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// Its name, with its unit, without what its kind adds to it.
    pub name: &'static str,
    /// What it says.
    pub help: &'static str,
    /// What its name ends in, if it has a unit.
    pub unit: &'static str,
    /// Its labels.
    pub labels: &'static [&'static str],
    /// Its kind, and how it is got.
    pub source: Source,
}

/// How samples of a kind are got: every one is told with the values of the labels.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Source {
    /// What is only ever added to.
    Counter(fn(&Status, &mut Tell<'_, u64>)),
    /// What goes up and down.
    Gauge(fn(&Status, &mut Tell<'_, Number>)),
    /// How often a time was at most so long; `None` if nothing was timed yet.
    Histogram(for<'s> fn(&'s Status, &mut Tell<'_, Option<&'s DelayStatus>>)),
}

/// Hears of samples.
pub type Tell<'t, T> = dyn FnMut(&[&str], T) + 't;

/// A number in a base unit.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Number {
    /// As it is.
    Whole(u64),
    /// A time in ns, shown in seconds.
    Nanos(u64),
    /// A rate in bits a second, shown in bytes.
    Bits(u64),
}

impl Metric {
    /// The name under which Prometheus knows it. A histogram has three, which begin with it.
    pub fn full_name(&self) -> String {
        match self.source {
            Source::Counter(_) => format!("{}_total", self.name),
            Source::Gauge(_) | Source::Histogram(_) => self.name.to_string(),
        }
    }

    /// The word for its kind.
    pub fn kind(&self) -> &'static str {
        match self.source {
            Source::Counter(_) => "counter",
            Source::Gauge(_) => "gauge",
            Source::Histogram(_) => "histogram",
        }
    }
}
