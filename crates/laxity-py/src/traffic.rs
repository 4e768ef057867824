//! Traffic in place of a plan's, as Python gives it.

use std::path::PathBuf;

use laxity::units::Nanos;
use laxity_api::{Opener, Traffic};
use laxity_plan::model::{Hops, Recording};
use laxity_sim::source::open_recording;

use crate::errors::Result;

/// Traffic as the half in Python asks for it.
pub(crate) fn traffic(duration: Option<&str>, seed: Option<u64>) -> Result<Traffic<'static>> {
    Ok(Traffic { duration: lasting(duration)?, seed, ..Traffic::default() })
}

/// A time as plans write it.
pub(crate) fn lasting(duration: Option<&str>) -> Result<Option<Nanos>> {
    match duration.map(str::parse::<Nanos>).transpose()? {
        Some(Nanos::ZERO) => Err("a duration of zero simulates nothing: give more".into()),
        duration => Ok(duration),
    }
}

/// Opens a recording in place of the plan's sources.
pub(crate) fn opened(file: PathBuf, sort: bool) -> Box<Opener<'static>> {
    let recording = Recording { file, path: Hops::default(), filter: None, sort };
    Box::new(move |plan, source| open_recording(&recording, plan, source))
}
