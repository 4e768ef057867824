//! What the kernel has no counterpart for, and what comes nearest.

use std::fmt;

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;

/// Why a plan, or a form of it, cannot be had.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// What of the plan it is about.
    pub what: String,
    /// Why not.
    pub why: String,
    /// What to do instead.
    pub instead: String,
    /// Whether the same plan under H-FSC, with curves from its deadlines, comes nearest.
    pub nearest_is_hfsc: bool,
}

impl Refusal {
    /// A refusal that has no plan nearby.
    pub fn new(what: impl Into<String>, why: impl Into<String>, advice: impl Into<String>) -> Self {
        let (what, why, instead) = (what.into(), why.into(), advice.into());
        Refusal { what, why, instead, nearest_is_hfsc: false }
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Linux has no counterpart: {}: {}", self.what, self.why)
    }
}

impl std::error::Error for Refusal {}

/// Refuses what no set-up of one interface can say.
pub(super) fn check(plan: &Plan) -> Result<(), Refusal> {
    if plan.network.is_some() {
        return Err(match plan.scheduler {
            SchedulerSpec::Tdp(_) => Refusal::new(
                "`kind = \"tdp\"`",
                "taprio holds each packet by itself against the end of a window: several that wait are handed to the \
                 interface at once and run over into the frames behind, so that nothing that is reserved there is \
                 in time",
                "run the nodes by `laxity live --port`",
            ),
            _ => Refusal::new(
                "the plan is a network",
                "traffic control is about one interface",
                "write a plan of one link, with what comes to it",
            ),
        });
    }
    if let Some(class) = plan.host_class() {
        return Err(Refusal::new(
            format!("`match` of class {}", class.name),
            "filters here tell packets by their headers, not by `mark`, `ct mark`, `priority` or `cgroup`",
            "test headers, or run the plan by `laxity live --dev`",
        ));
    }
    if plan.link.trace.is_some() {
        return Err(Refusal::new(
            "`rate-trace`",
            "the kernel shapes to one rate",
            "write the rate that is left at all times as `rate`",
        ));
    }
    if plan.link.wire.is_some() {
        return Err(Refusal::new(
            "a wire with `delay`, `loss`, `jitter`, `reorder` or `duplicate`",
            "a real link stands behind the kernel's disciplines",
            "leave these keys of `[link]` out, or run the plan by `laxity emulate`",
        ));
    }
    if plan.link.autorate.is_some() {
        return Err(Refusal::new(
            "a `rate` that is found",
            "the kernel shapes to one rate",
            "write what the link always carries, its `from`, as `rate`, or forward by `laxity live`",
        ));
    }
    if plan.link.threads.is_some() {
        return Err(Refusal::new(
            "`threads`",
            "the kernel has one queueing discipline for an interface",
            "leave it out, or forward by `laxity live`",
        ));
    }
    let by_deadline = |what: &str, why: &str| Refusal {
        nearest_is_hfsc: true,
        ..Refusal::new(
            what,
            why,
            "the nearest is `kind = \"hfsc\"` with curves derived from the deadlines: --nearest FILE writes it",
        )
    };
    match plan.scheduler {
        SchedulerSpec::Edf(_) => {
            return Err(by_deadline(
                "`kind = \"edf\"`",
                "etf sends at times that programs give and refuses what comes in another order, which is no EDF",
            ));
        }
        SchedulerSpec::Dwcs(_) => {
            return Err(by_deadline("`kind = \"dwcs\"`", "nothing there counts losses in windows"));
        }
        SchedulerSpec::DualPi2(_) => {
            return Err(Refusal::new(
                "`kind = \"dualpi2\"`",
                "kernels before 6.17 have no such discipline",
                "choose `fq-codel`, or `fifo` with a queue of `kind = \"pie\"` under `laxity live`",
            ));
        }
        // Frames are those of a network.
        SchedulerSpec::Tdp(_)
        | SchedulerSpec::Fifo
        | SchedulerSpec::Wfq
        | SchedulerSpec::Wf2q
        | SchedulerSpec::Drr
        | SchedulerSpec::Qfq
        | SchedulerSpec::Hfsc
        | SchedulerSpec::Priority
        | SchedulerSpec::FqCodel(_)
        | SchedulerSpec::Cake(_) => {}
    }
    let is_held = |class: &laxity_plan::model::Class| {
        class.inside.as_ref().is_none_or(|inside| {
            let queues_flows = matches!(inside.scheduler, SchedulerSpec::FqCodel(_));
            queues_flows && class.is_leaf() && class.arrival.is_none()
        })
    };
    if let Some(class) = plan.classes.iter().find(|class| !is_held(class)) {
        return Err(Refusal::new(
            format!("class {} holds a scheduler of its own", class.name),
            "no proof here reaches through two disciplines of the kernel",
            "give the classes below it curves, under `kind = \"hfsc\"`",
        ));
    }
    if !plan.scheduler.room().has_levels
        && let Some(class) = plan.classes.iter().find(|class| class.parent.is_some())
    {
        return Err(Refusal::new(
            format!(
                "class {} is part of another under `kind = \"{}\"`",
                class.name, plan.scheduler
            ),
            "only hfsc and htb have levels",
            "write `kind = \"hfsc\"`",
        ));
    }
    let shares_a_queue = plan.scheduler.room().proof.is_one_queue;
    if plan.queue.is_some() && !shares_a_queue {
        return Err(Refusal::new(
            "`queue` in `[scheduler]`, which all classes share",
            "in the kernel every class has a queue of its own",
            "give each class a `queue`",
        ));
    }
    Ok(())
}
