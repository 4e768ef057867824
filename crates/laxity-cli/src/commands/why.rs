//! `laxity why`: what delayed packets, cause by cause, and what would have changed that.

use std::path::Path;

use laxity_api::why::{Change, Packets, PlanSource, why, why_on_page};
use laxity_api::{Error, Plan, Traffic};
use laxity_plan::discipline::Kind;

use crate::args::Why;
use crate::failure::Failure;
use crate::output::write_new;
use crate::progress::Simulating;
use crate::{Promises, input, show, traffic};

/// How many changes are proposed.
const PROPOSED: usize = 3;

/// Carries the command out.
pub(crate) fn run(arguments: &Why) -> Result<Promises, Failure> {
    let arrivals = arguments.arrivals.as_deref();
    let kinds =
        if arguments.propose { Kind::ALL.to_vec() } else { traffic::kinds(&arguments.scheduler) };
    let (plan, text) = input::plan_with_text(&arguments.plan, arrivals, &kinds)?;
    let plan = traffic::sorted(plan, arrivals, arguments.sort)?;
    let changes = changes(arguments, &plan, &text, &kinds)?;
    if plan.network.is_some() || !changes.is_empty() {
        // Every run reads it, and in a network every source.
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
    let (mut result, page) = Simulating::one(&plan, duration, |progress| -> Result<_, Error> {
        if arguments.html.is_some() {
            let (result, page) = why_on_page(&plan, &traffic, &packets, &changes, progress)?;
            return Ok((result, Some(page)));
        }
        Ok((why(&plan, &traffic, &packets, &changes, progress)?, None))
    })?;
    if let (Some(file), Some(page)) = (&arguments.html, &page) {
        write_new(file, page, "--html ")?;
    }
    if arguments.propose {
        result.keep_best(PROPOSED);
    }
    show(arguments.json, &result, || result.text())?;
    Ok(Promises::Kept)
}

/// The changes that are asked for.
fn changes(
    arguments: &Why,
    plan: &Plan,
    text: &str,
    others: &[Kind],
) -> Result<Vec<Change>, Failure> {
    let name = input::shown(&arguments.plan);
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let source = PlanSource { text, name: &name, folder, others, under: None };
    if arguments.propose {
        return Ok(Change::proposals(plan, source, arguments.class.as_deref()));
    }
    let without = arguments.without.iter().map(|class| Ok(Change::without(plan, class)?));
    let with = arguments.with.iter().map(|change| {
        let (key, value) = change.split_once('=').ok_or_else(|| {
            Failure::input(format!("--with {change}: write KEY=VALUE, such as link.rate=12mbit"))
        })?;
        Ok(Change::with_value(plan, source, key.trim(), value.trim())?)
    });
    let under = arguments.scheduler.iter().map(|name| Ok(Change::under(plan, name)?));
    without.chain(with).chain(under).collect()
}
