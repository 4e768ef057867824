//! From arguments to what is asked of a plan.

use std::num::NonZeroU32;
use std::path::Path;

use laxity_api::{Opener, Plan};
use laxity_plan::discipline::Kind;
use laxity_plan::model::{Hops, Recording, Source};

use crate::args::Traffic;
use crate::failure::Failure;
use crate::input;

/// The plan of a file, which is to be put under the schedulers of these names, with its recordings
/// sorted if that is asked for.
pub(crate) fn plan<'a>(
    path: &Path,
    arrivals: Option<&Path>,
    sort: bool,
    schedulers: impl IntoIterator<Item = &'a String>,
) -> Result<Plan, Failure> {
    sorted(input::plan_for(path, arrivals, &Kind::known(schedulers))?, arrivals, sort)
}

/// The plan with its recordings sorted if that is asked for.
pub(crate) fn sorted(mut plan: Plan, arrivals: Option<&Path>, sort: bool) -> Result<Plan, Failure> {
    if !sort {
        return Ok(plan);
    }
    let mut recorded = arrivals.is_some();
    for source in &mut plan.sources {
        if let Source::Recording(recording) = source {
            recording.sort = true;
            recorded = true;
        }
    }
    if recorded {
        Ok(plan)
    } else {
        Err(Failure::input(
            "--sort puts a recording in order, and none is read: leave it out, or give --arrivals FILE",
        ))
    }
}

/// The plan under the scheduler that was asked for, or its own.
pub(crate) fn under(plan: Plan, name: Option<&str>) -> Result<Plan, Failure> {
    Ok(match name {
        Some(name) => plan.under(name)?,
        None => plan,
    })
}

/// Opens the recording that was asked for in place of the plan's sources.
pub(crate) fn opener(arrivals: Option<&Path>, sort: bool) -> Option<Box<Opener<'static>>> {
    let file = arrivals?.to_path_buf();
    let recording = Recording { file, path: Hops::default(), filter: None, sort };
    Some(Box::new(move |plan: &Plan, source| input::recording(&recording, plan, source)))
}

/// Asks with the traffic that the arguments say.
pub(crate) fn with<T>(
    arguments: &Traffic,
    ask: impl FnOnce(&laxity_api::Traffic<'_>) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let opener = opener(arguments.arrivals.as_deref(), arguments.sort);
    ask(&laxity_api::Traffic {
        duration: arguments.duration,
        seed: arguments.seed,
        arrivals: opener.as_deref(),
        threads: arguments.threads.and_then(NonZeroU32::new),
        profile: false,
        without: &[],
    })
}
