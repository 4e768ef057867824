//! Plans in Linux: what holds there, and what the kernel is given.

use laxity_plan::edit::{Draft, Path};
use laxity_plan::{Plan, PlanError};
use laxity_report::quantity;
use laxity_tc::export::{self, Format, Promises};
use laxity_tc::linux::{Linux, LinuxPlan, Refusal, linux_plan};
use serde::Serialize;

use crate::{CheckResult, check};

/// What is proved of a plan as Linux carries it out, in the form of
/// `laxity check --for linux --json`.
#[derive(Clone, Debug, Serialize)]
pub struct LinuxCheck {
    /// The proof.
    #[serde(flatten)]
    pub checked: CheckResult,
    /// What the bounds count in.
    pub linux: Corrections,
    /// The plan as Linux carries it out.
    #[serde(skip)]
    pub carried: LinuxPlan,
}

/// What the kernel does otherwise, as far as bounds grow by it.
#[derive(Clone, Debug, Serialize)]
pub struct Corrections {
    /// How late any packet may be because of timers and the kernel's clock; counted in the bounds.
    pub stall_ns: u64,
    /// The rate that is left of the link after rounding.
    pub link_rate_bps: u64,
    /// The longest packet, which may be a frame of several segments.
    pub max_packet_bytes: u64,
    /// What else there is to know.
    pub remarks: Vec<String>,
}

/// Proves what can be proved of a plan under Linux.
///
/// # Errors
/// If the kernel has no counterpart.
pub fn check_for_linux(plan: &Plan, linux: &Linux) -> Result<LinuxCheck, Refusal> {
    let carried = linux_plan(plan, linux)?;
    let checked = check(&carried.plan).map_err(|error| {
        Refusal::new("the plan", error.to_string(), "check it without --for first")
    })?;
    let link = &carried.plan.link;
    let corrections = Corrections {
        stall_ns: link.stall.0,
        link_rate_bps: link.rate.0,
        max_packet_bytes: link.max_packet.0,
        remarks: carried.remarks.clone(),
    };
    Ok(LinuxCheck { checked, linux: corrections, carried })
}

impl LinuxCheck {
    /// What each class is promised, in words.
    fn promises(&self) -> Promises {
        let plan = &self.carried.plan;
        let CheckResult::Link(proof) = &self.checked else { return Promises::default() };
        let mut classes = vec![None; plan.classes.len()];
        for class in &proof.classes {
            let due = class.deadline_ns.map_or(String::new(), |deadline| {
                format!(" It was to be {}.", quantity::time(deadline as f64))
            });
            classes[class.id.index()] = match (class.bound_ns, &class.unbounded) {
                (Some(bound), _) => Some(format!(
                    "no packet waits longer than {} while the class keeps to its arrival curve.{due}",
                    quantity::time(bound as f64)
                )),
                (None, Some(why)) => Some(format!("no bound: {why}.{due}")),
                (None, None) => None,
            };
        }
        let kept = match proof.admitted() {
            Some(true) => "Admitted under Linux",
            Some(false) => "NOT ADMITTED under Linux",
            None => "Under Linux",
        };
        Promises { verdict: format!("{kept}. {}", self.checked.statement()), classes }
    }
}

/// What Linux is given for a plan, and whether what the plan promises holds there.
#[derive(Clone, Debug)]
pub struct LinuxExport {
    /// The script, file or list.
    pub text: String,
    /// The proof that stands in its comments.
    pub checked: LinuxCheck,
}

/// Writes what Linux is given for a plan on an interface.
///
/// # Errors
/// If the kernel has no counterpart, or the format cannot say it.
pub fn export(
    plan: &Plan,
    device: &str,
    format: Format,
    linux: &Linux,
) -> Result<LinuxExport, Refusal> {
    let checked = check_for_linux(plan, linux)?;
    let text = export::export(plan, &checked.carried, device, format, &checked.promises())?;
    Ok(LinuxExport { text, checked })
}

/// Writes a script for both directions of an interface: one plan for what leaves, another for what
/// arrives. Also whether all of their promises hold.
///
/// # Errors
/// If the kernel has no counterpart.
pub fn export_both(
    egress: &Plan,
    ingress: &Plan,
    device: &str,
    linux: &Linux,
) -> Result<(String, bool), Refusal> {
    let checks = [check_for_linux(egress, linux)?, check_for_linux(ingress, linux)?];
    let promises = [checks[0].promises(), checks[1].promises()];
    let part = |plan, at: usize| export::Part {
        plan,
        carried: &checks[at].carried,
        promises: &promises[at],
    };
    let text = export::export_both(part(egress, 0), part(ingress, 1), device)?;
    let holds = checks.iter().all(|check| check.checked.admitted() != Some(false));
    Ok((text, holds))
}

/// The text of the plan that comes nearest to one that Linux has no counterpart for: the same under
/// H-FSC, whose real-time curves are derived from the deadlines, with its comments.
///
/// # Errors
/// If the text is no plan, or no class of it has a deadline to derive a curve from.
pub fn nearest(text: &str, name: &str, folder: &std::path::Path) -> Result<String, PlanError> {
    let mut draft = Draft::parse(text, name)?;
    let set = draft.set(&Path::new(["scheduler"]), "{ kind = \"hfsc\" }");
    if let Err(error) = set {
        let fault = laxity_plan::error::Fault::new(None, error.to_string());
        return Err(PlanError::new(name, text, fault));
    }
    let text = draft.text();
    Plan::parse(&text, name, folder)?;
    Ok(text)
}
