//! What is exposed to Prometheus, each metric described once: [`METRICS`]. From it follow what is
//! written ([`Format`]) and the table in `docs/metrics.md`; the dashboard in `packaging/grafana`
//! shows none but these.

mod all;
mod samples;
mod text;

pub use all::METRICS;
pub use samples::{Samples, Tell, Value};
pub use text::Format;

/// A metric.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Metric {
    /// Its name, with its unit, without what its kind adds to it.
    pub name: &'static str,
    /// What it says.
    pub help: &'static str,
    /// What kind it is of, as Prometheus calls it.
    pub kind: &'static str,
    /// Its samples.
    pub samples: Samples,
}

/// What names of metrics with a unit end in.
const UNITS: [&str; 5] = ["bytes_per_second", "seconds", "frames", "packets", "bytes"];

impl Metric {
    /// Something that is only ever added to.
    const fn counter(name: &'static str, help: &'static str, samples: Samples) -> Metric {
        Metric { name, help, kind: "counter", samples }
    }

    /// Something that goes up and down.
    const fn gauge(name: &'static str, help: &'static str, samples: Samples) -> Metric {
        Metric { name, help, kind: "gauge", samples }
    }

    /// How often a time was at most so long.
    const fn histogram(name: &'static str, help: &'static str, samples: Samples) -> Metric {
        Metric { name, help, kind: "histogram", samples }
    }

    /// The name under which Prometheus knows it. A histogram has three, which begin with it.
    pub fn full_name(&self) -> String {
        let end = if self.kind == "counter" { "_total" } else { "" };
        format!("{}{end}", self.name)
    }

    /// What its name ends in, if it has a unit.
    pub fn unit(&self) -> Option<&'static str> {
        UNITS.into_iter().find(|unit| self.name.ends_with(unit))
    }
}
