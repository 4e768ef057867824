//! Plans of a link that are read again, and its reservations.

use std::path::PathBuf;
use std::time::Duration;

use laxity_forward::{PreparedPlan, Settings};
use laxity_linux::cgroup;
use laxity_linux::frames::Side;
use laxity_plan::reader::PlanReader;

use super::{find_cgroups, is_emulated};
use crate::bridge::task::{BridgeTask, Next};
use crate::error::LiveError;
use crate::file::folder_of;
use crate::process::prover::{Prove, Prover};
use crate::process::{PlanText, Reloads};
use crate::reservations::{Answer, Desk, Order};

/// Starts the thread that reads plans again and makes them ready.
pub(super) fn start(
    read: fn(&mut PlanReader) -> Result<PlanText, String>,
    plans: &[Option<PlanText>; 2],
    settings: [Option<Settings>; 2],
    threads: usize,
    desk: Option<Desk>,
) -> Result<Prover<Reloads<BridgeTask>>, LiveError> {
    let folder = |plan: &PlanText| folder_of(&plan.path);
    let mut readable: Vec<PathBuf> = plans.iter().flatten().map(folder).collect();
    let readers = plans.each_ref().map(|plan| plan.as_ref().map(PlanText::reader));
    if settings.iter().flatten().any(|settings| settings.is_host) {
        readable.extend(cgroup::root());
    }
    let has_room = is_emulated(plans);
    let making = Making { settings, threads, has_room };
    let proving = Proving { read, readers, making, desk };
    Ok(Prover::start(readable, proving)?)
}

/// What proves the plans of a link.
struct Proving {
    read: fn(&mut PlanReader) -> Result<PlanText, String>,
    /// By the side at which frames arrive.
    readers: [Option<PlanReader>; 2],
    making: Making,
    /// What takes reservations of the first plan.
    desk: Option<Desk>,
}

/// What makes plans ready to be followed.
struct Making {
    settings: [Option<Settings>; 2],
    /// How many threads forward.
    threads: usize,
    /// Whether there is memory for a wire that is emulated.
    has_room: bool,
}

impl Proving {
    /// The plan of a side, read again, with its reservations.
    fn read_at(&mut self, at: Side) -> Option<Result<Next, String>> {
        let Proving { read, readers, making, desk } = self;
        let plan = read(readers[at.index()].as_mut()?);
        Some(plan.and_then(|plan| match desk {
            Some(desk) if at == Side::A => desk.follow(&plan, |plan| making.ready(at, plan)),
            _ => making.ready(at, plan),
        }))
    }
}

impl Making {
    fn ready(&self, at: Side, plan: PlanText) -> Result<Next, String> {
        let PlanText { mut plan, text, .. } = plan;
        let settings = self.settings[at.index()].as_ref().ok_or("there is no plan")?;
        if settings.is_host {
            find_cgroups(&mut plan).map_err(|error| error.to_string())?;
        }
        if plan.link.wire.is_some() && !self.has_room {
            return Err(
                "the plan has a wire to be emulated, for which no memory was taken: end the \
                        link, and start it with this plan"
                    .to_string(),
            );
        }
        let prepared = (0..self.threads).map(|_| PreparedPlan::new(plan.clone(), settings));
        let prepared: Result<_, _> = prepared.collect();
        Ok(Next { at, text, prepared: prepared.map_err(|refusal| refusal.to_string())? })
    }
}

impl Prove for Proving {
    type Next = Reloads<BridgeTask>;

    fn read(&mut self) -> Self::Next {
        Side::BOTH.into_iter().filter_map(|at| self.read_at(at)).collect()
    }

    fn order(&mut self, order: Order) -> (Option<Self::Next>, Answer) {
        let Proving { desk, making, .. } = self;
        let Some(desk) = desk else { return (None, Answer::none_taken()) };
        let (next, answer) = desk.carry_out(order, |plan| making.ready(Side::A, plan));
        (next.map(|next| vec![Ok(next)]), answer)
    }

    fn patience(&self) -> Option<Duration> {
        self.desk.as_ref()?.patience()
    }

    fn present(&mut self) -> Self::Next {
        let Proving { desk, making, .. } = self;
        let Some(desk) = desk else { return Vec::new() };
        vec![desk.plan().and_then(|plan| making.ready(Side::A, plan))]
    }
}
