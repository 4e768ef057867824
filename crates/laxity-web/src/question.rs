//! What a page asks.

use laxity::units::Nanos;
use serde::Deserialize;

use crate::fault::Fault;
use crate::files::FileHead;

/// A question, and the files that lie beside its plan.
#[derive(Debug, Deserialize)]
pub(crate) struct Question {
    #[serde(flatten)]
    pub(crate) verb: Verb,
    #[serde(default)]
    pub(crate) files: Vec<FileHead>,
}

/// What is asked.
#[derive(Debug, Deserialize)]
#[serde(tag = "verb", rename_all = "kebab-case")]
pub(crate) enum Verb {
    /// What there is: the version, the schedulers, the schema of plans.
    About,
    /// What a plan promises.
    Check { plan: String },
    /// A simulation, with a page or with its packets.
    Run(Simulated),
    /// The same arrivals under several schedulers.
    Compare {
        #[serde(flatten)]
        simulated: Simulated,
        schedulers: Vec<String>,
    },
}

/// A plan, and the traffic of a simulation where it is not what the plan says.
#[derive(Debug, Deserialize)]
pub(crate) struct Simulated {
    pub(crate) plan: String,
    /// A number, in digits: JavaScript has no whole numbers of that size.
    #[serde(default)]
    seed: String,
    /// As plans write it, such as `10s`.
    #[serde(default)]
    duration: String,
    /// The file in place of the plan's sources.
    #[serde(default)]
    pub(crate) arrivals: Option<String>,
    /// The packets, in place of the page.
    #[serde(default)]
    pub(crate) packets: Option<PacketFile>,
}

/// How packets are written.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PacketFile {
    Csv,
    Parquet,
}

impl Simulated {
    pub(crate) fn seed(&self) -> Result<Option<u64>, Fault> {
        given(&self.seed, |text| {
            text.parse()
                .map_err(|_| format!("the seed `{text}` is no whole number from 0 to {}", u64::MAX))
        })
    }

    pub(crate) fn duration(&self) -> Result<Option<Nanos>, Fault> {
        given(&self.duration, |text| match text.parse() {
            Ok(Nanos::ZERO) => Err("the duration is zero: give more, such as 10s".into()),
            Ok(duration) => Ok(duration),
            Err(error) => Err(format!("the duration: {error}")),
        })
    }
}

/// What a field holds, unless it is empty.
fn given<T>(text: &str, parse: impl Fn(&str) -> Result<T, String>) -> Result<Option<T>, Fault> {
    let text = text.trim();
    if text.is_empty() { Ok(None) } else { parse(text).map(Some).map_err(Fault::new) }
}
