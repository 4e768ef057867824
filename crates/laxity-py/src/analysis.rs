//! What is asked of plans beside their proof: curves of recordings, limits, and what happens at the
//! worst.

use std::path::PathBuf;

use laxity_api::why::{Change, PlanSource, Question};
use laxity_api::{Effort, Json, Traffic, remarks};
use laxity_plan::discipline::Kind;
use laxity_report::network;
use pyo3::prelude::*;

use crate::errors::Result;
use crate::plan::Plan;
use crate::simulate::Listener;
use crate::study::attended;
use crate::text::json;
use crate::traffic::{lasting, opened, traffic};

/// The arrival curves of a recording, or of the one that is the plan's only source: the JSON of
/// `laxity fit`, the same for people, what else the recording held, and the plan with these curves.
#[pyfunction]
pub(crate) fn fit(
    py: Python<'_>,
    plan: &Plan,
    recording: Option<PathBuf>,
    sort: bool,
    headroom: u32,
) -> Result<(String, String, Vec<String>, Plan)> {
    let opener = recording.map(|file| opened(file, sort));
    let fitted = py.detach(|| laxity_api::fit::fit(&plan.plan, opener.as_deref(), headroom))?;
    let (text, _) = fitted.into_plan(&plan.plan, &plan.text, &plan.name, &plan.folder)?;
    let (name, folder) = (plan.name.clone(), plan.folder.clone());
    let with = Plan::new(text, name, folder, plan.under.as_deref())?;
    Ok((json(&fitted.classes(&plan.plan)), fitted.text(&plan.plan), remarks(&fitted.remarks), with))
}

/// What the bounds of classes are made of: as `laxity check --explain` has it, and the same for
/// people.
#[pyfunction]
pub(crate) fn explain(
    py: Python<'_>,
    plan: &Plan,
    classes: Vec<String>,
    duration: Option<&str>,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String)> {
    let traffic = traffic(duration, None)?;
    let mut listener = Listener::begin(py, heard)?;
    let answer = py.detach(|| {
        let progress = &mut |reached| listener.hear(reached);
        laxity_api::breakdown::breakdown(&plan.plan, &classes, &traffic, progress)
    });
    listener.raised()?;
    let answer = answer?;
    Ok((json(&answer), answer.text()))
}

/// What each part of a network could be: as `laxity check --limits` has it, and the same for
/// people.
#[pyfunction]
pub(crate) fn limits(
    py: Python<'_>,
    plan: &Plan,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String)> {
    let limits = attended(py, heard, |tell| laxity_api::limits(&plan.plan, tell))?;
    Ok((json(&Json(&limits)), network::limits::text(&limits)))
}

/// The longest delays that are found: as `laxity check --worst-case` has them, the same for people
/// and as a page, and of each the packets as an arrivals CSV.
#[pyfunction]
pub(crate) fn worst_case(
    py: Python<'_>,
    plan: &Plan,
    packets: u64,
    seed: u64,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String, String, Vec<String>)> {
    let (plan, effort) = (&plan.plan, Effort { packets, seed });
    let worst = attended(py, heard, |tell| laxity_api::worst_case(plan, effort, tell))?;
    let sent = worst.0.iter().map(|case| case.csv(plan)).collect();
    Ok((json(&worst), worst.text(), worst.page(plan), sent))
}

/// Which packets are asked for.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Packets {
    #[pyo3(item("class_"))]
    class: Option<String>,
    packet: Option<u64>,
    slower_than: Option<String>,
    missed: bool,
    slowest: usize,
}

/// The runs that are compared: without a class, with another value at a key, under another
/// discipline.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct Changes {
    without: Vec<String>,
    with_: Vec<(String, String)>,
    under: Vec<String>,
}

impl Changes {
    fn all(&self, plan: &Plan) -> Result<Vec<Change>> {
        let Plan { plan: own, text, name, folder, under } = plan;
        let under = under.as_deref();
        let others: Vec<_> = under.and_then(|name| Kind::named(name).ok()).into_iter().collect();
        let source = PlanSource { text, name, folder, others: &others, under };
        let without = self.without.iter().map(|class| Change::without(own, class));
        let with = self.with_.iter();
        let with = with.map(|(key, value)| Change::with_value(own, source, key, value));
        let under = self.under.iter().map(|name| Change::under(own, name));
        Ok(without.chain(with).chain(under).collect::<std::result::Result<_, _>>()?)
    }
}

/// Why packets were delayed: the JSON of `laxity why`, and the same for people.
#[pyfunction]
#[expect(clippy::too_many_arguments, reason = "named by the half in Python")]
pub(crate) fn why(
    py: Python<'_>,
    plan: &Plan,
    packets: Packets,
    changes: Changes,
    duration: Option<&str>,
    seed: Option<u64>,
    arrivals: Option<PathBuf>,
    heard: Option<Py<PyAny>>,
) -> Result<(String, String)> {
    let opener = arrivals.map(|file| opened(file, false));
    let traffic = Traffic { arrivals: opener.as_deref(), ..traffic(duration, seed)? };
    let changes = changes.all(plan)?;
    let packets = laxity_api::why::Packets {
        class: packets.class,
        number: packets.packet,
        slower_than: lasting(packets.slower_than.as_deref())?,
        missed: packets.missed,
        most: packets.slowest,
    };
    let mut listener = Listener::begin(py, heard)?;
    let answer = py.detach(|| {
        let progress = &mut |reached| listener.hear(reached);
        let (packets, changes, proposals) = (&packets, &*changes, None);
        let question = Question { packets, changes, proposals, is_drawn: false };
        laxity_api::why::why(&plan.plan, &traffic, question, progress)
    });
    listener.raised()?;
    let answer = answer?;
    Ok((json(&answer), answer.text()))
}
