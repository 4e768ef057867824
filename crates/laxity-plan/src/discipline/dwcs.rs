//! Dynamic window-constrained scheduling.

use laxity::admit::dwcs::{Admission, WindowClass, dwcs};
use laxity::sched::Dwcs;
use laxity::sched::dwcs::{DwcsSettings, Precedence, Stream, Streams, Violation};
use laxity::scheduler::Withdraw;
use laxity::units::Bytes;
use laxity::window::Loss;

use super::room::{Aftermath, Discipline, Proof, Room};
use crate::error::{Fault, Span};
use crate::model::{Class, Plan, SchedulerSpec};
use crate::raw;

pub(super) const ROOM: Room = Room {
    keys: &["precedence", "violation", "check-every"],
    class_keys: &[&["gap", "late"]],
    variant: "ORDER",
    with_variant,
    read,
    keeps_windows,
    is_held_to_promises: true,
    ..Room::plain(
        &["dwcs/loss-first", "dwcs/deadline-first"],
        Some(SchedulerSpec::DWCS),
        Proof { aftermath: |_| Aftermath::PromisedFirst, ..Proof::NONE },
    )
};

impl Discipline for DwcsSettings {
    fn variant(&self) -> usize {
        self.precedence as usize
    }

    fn build(&self, plan: &Plan, _seed: u64) -> Box<dyn Withdraw + Send> {
        let dwcs = Dwcs::new(*self, &plan.dwcs_streams());
        Box::new(dwcs.expect("reading refuses what is zero and too many streams"))
    }
}

impl SchedulerSpec {
    /// DWCS with its default settings.
    pub const DWCS: SchedulerSpec = SchedulerSpec::Dwcs(DwcsSettings {
        precedence: Precedence::LossFirst,
        violation: Violation::Reset,
        check_every: 1,
    });
}

impl Plan {
    /// The classes as DWCS takes them. A class without `gap` has its `deadline` for one. A class
    /// without `loss` may lose nothing if its packets are due at all, otherwise everything.
    pub fn dwcs_streams(&self) -> Vec<Streams> {
        let [no_guarantees, everything] =
            [0, 1].map(|lost| Loss::new(lost, 1).expect("at most the one packet of the window"));
        let streams = |class: &Class| {
            let gap = class.gap.or(class.deadline);
            let loss = class.loss.unwrap_or(if gap.is_some() { no_guarantees } else { everything });
            Streams { stream: Stream { gap, loss, late: class.late }, count: class.count }
        };
        self.classes.iter().map(streams).collect()
    }

    /// The answer of DWCS's admission test.
    pub fn dwcs_admission(&self, settings: DwcsSettings) -> Admission {
        let class = |(streams, class): (Streams, &Class)| WindowClass {
            streams,
            packet: if class.is_leaf() { self.max_packet(class) } else { Bytes(0) },
        };
        let classes: Vec<_> =
            self.dwcs_streams().into_iter().zip(&self.classes).map(class).collect();
        dwcs(self.link.rate, &settings, &classes)
    }
}

/// That can be said of streams with both `gap` and `loss` only, and not where packets may be
/// dropped that are not late.
fn keeps_windows(plan: &Plan) -> bool {
    let SchedulerSpec::Dwcs(settings) = plan.scheduler else { return false };
    let is_watched =
        |class: &Class| class.gap.and(class.loss).is_some() && !plan.drops_in_time(class);
    let is_watched = |class: &Class| class.relative_deadline().is_none() || is_watched(class);
    plan.classes.iter().all(is_watched) && plan.dwcs_admission(settings).proof.is_ok()
}

fn with_variant(spec: SchedulerSpec, variant: usize) -> SchedulerSpec {
    let SchedulerSpec::Dwcs(settings) = spec else { return spec };
    let precedence = [Precedence::LossFirst, Precedence::DeadlineFirst][variant];
    SchedulerSpec::Dwcs(DwcsSettings { precedence, ..settings })
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    let check_every = match &raw.check_every {
        None => 1,
        Some(raw::At { value: raw::Count(0), span }) => {
            return Err(Fault::zero("check-every", span));
        }
        Some(raw::At { value: raw::Count(services), span }) => {
            u32::try_from(*services).map_err(|_| {
                let message =
                    format!("`check-every` is {services}, above the largest, {}", u32::MAX);
                Fault::at(span, message)
            })?
        }
    };
    Ok(SchedulerSpec::Dwcs(DwcsSettings {
        precedence: raw.precedence.as_ref().map_or(Precedence::LossFirst, |at| at.value.0.into()),
        violation: raw.violation.as_ref().map_or(Violation::Reset, |at| at.value.0.into()),
        check_every,
    }))
}
