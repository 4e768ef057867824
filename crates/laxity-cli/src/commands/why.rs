//! `laxity why`: what delayed packets, cause by cause.

use laxity_api::Traffic;
use laxity_api::why::{Packets, why};

use crate::args::Why;
use crate::failure::Failure;
use crate::progress::Simulating;
use crate::{Promises, input, show, traffic};

/// Carries the command out.
pub(crate) fn run(arguments: &Why) -> Result<Promises, Failure> {
    let arrivals = arguments.arrivals.as_deref();
    let plan = traffic::plan(&arguments.plan, arrivals, arguments.sort, &arguments.scheduler)?;
    let plan = traffic::under(plan, arguments.scheduler.as_deref())?;
    if plan.network.is_some() {
        // Every source reads it.
        input::keep(arrivals)?;
    }
    let opener = traffic::opener(arrivals, arguments.sort);
    let traffic = Traffic {
        duration: arguments.duration,
        seed: arguments.seed,
        arrivals: opener.as_deref(),
        ..Traffic::default()
    };
    let packets = Packets {
        class: arguments.class.clone(),
        number: arguments.packet,
        slower_than: arguments.slower_than,
        missed: arguments.missed,
        most: arguments.slowest as usize,
    };
    let duration = traffic.duration(&plan)?;
    let result =
        Simulating::one(&plan, duration, |progress| why(&plan, &traffic, &packets, progress))?;
    show(arguments.json, &result, || result.text())?;
    Ok(Promises::Kept)
}
