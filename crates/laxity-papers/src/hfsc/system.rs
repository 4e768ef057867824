//! What the experiments run: a plan under one of the disciplines that the paper compares.

use laxity::packet::{ClassId, Packet};
use laxity::sched::hfsc::Curves;
use laxity::service::ServiceCurve;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Dist, Model, SchedulerSpec, Source};
use laxity_sim::error::SimError;
use laxity_sim::link::Run;
use laxity_sim::record::{Fate, Observer, Record};
use laxity_sim::source::random::{Sampler, generator};

use super::sced::Sced;

/// A discipline, as tables and claims name it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Discipline {
    /// H-FSC.
    Hfsc,
    /// H-FSC without its real-time criterion: link-sharing by the same curves and nothing else.
    LinkSharing,
    /// Hierarchical WF2Q+, which knows the curves' long-run rates alone.
    Wf2q,
    /// SCED.
    Sced,
}

impl Discipline {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Discipline::Hfsc => "H-FSC",
            Discipline::LinkSharing => "link-sharing alone",
            Discipline::Wf2q => "H-WF2Q+",
            Discipline::Sced => "SCED",
        }
    }
}

/// Simulates a plan of the paper under a discipline.
pub(super) fn simulate(
    plan: &Plan,
    discipline: Discipline,
    duration: Option<Nanos>,
    observer: &mut dyn Observer,
) -> Result<(), SimError> {
    let (scheduler, plan) = match discipline {
        Discipline::Hfsc | Discipline::Sced => (SchedulerSpec::Hfsc, plan.clone()),
        Discipline::Wf2q => (SchedulerSpec::Wf2q, plan.clone()),
        Discipline::LinkSharing => {
            let without_guarantees =
                with_curves(plan, |curves| Curves { real_time: None, ..curves });
            (SchedulerSpec::Hfsc, without_guarantees)
        }
    };
    let plan = &Plan { scheduler, ..plan };
    let (duration, seed) = (duration.or(plan.run.duration), plan.run.seed);
    let run = Run { plan, duration, seed, feeds: vec![] }.with_sources()?;
    match discipline {
        Discipline::Sced => {
            let curves: Vec<_> = plan.classes.iter().map(|class| class.curves.real_time).collect();
            run.simulate_on(Box::new(Sced::new(&curves)), observer, &mut laxity_sim::to_the_end)?;
        }
        _ => {
            run.simulate(observer, &mut laxity_sim::to_the_end)?;
        }
    }
    Ok(())
}

/// The plan with every curve replaced by the line of its long-run rate.
pub(super) fn linear(plan: &Plan) -> Plan {
    let line = |curve: ServiceCurve| ServiceCurve::linear(curve.m2());
    with_curves(plan, |Curves { real_time, link_share, upper_limit }| Curves {
        real_time: real_time.map(line),
        link_share: link_share.map(line),
        upper_limit: upper_limit.map(line),
    })
}

fn with_curves(plan: &Plan, change: impl Fn(Curves) -> Curves) -> Plan {
    let mut plan = plan.clone();
    for class in &mut plan.classes {
        class.curves = change(class.curves);
    }
    plan
}

/// The plan with every periodic source begun at a time within its period that the seed draws, and
/// with the seed for all other draws.
pub(super) fn in_phase(plan: &Plan, seed: u64) -> Plan {
    let mut plan = plan.clone();
    plan.run.seed = seed;
    for (index, source) in (0..).zip(&mut plan.sources) {
        let Source::Model(source) = source else { continue };
        let period = match (&source.model, source.packet) {
            (Model::Constant { rate, .. }, Dist::Constant(packet)) => rate.time_for(packet),
            (&Model::OnOff { on: Dist::Constant(on), off: Dist::Constant(off), .. }, _) => on + off,
            _ => continue,
        };
        let phase = Dist::Uniform(Nanos::ZERO, period.saturating_sub(Nanos(1)));
        let phase = Sampler::new(phase).expect("a period is longer than 0");
        // A generator that none of the source's own copies has.
        let mut generator = generator(seed, index, source.count.into());
        source.start += phase.draw(&mut generator);
    }
    plan
}

/// The number of a class that a plan of the paper has.
pub(super) fn class(plan: &Plan, name: &str) -> ClassId {
    plan.class(name).expect("the paper's plans have the classes that are asked for")
}

/// When the plan's ON-OFF source is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switching {
    start: Nanos,
    on: Nanos,
    off: Nanos,
}

impl Switching {
    /// The switching of the plan's ON-OFF source.
    pub(super) fn new(plan: &Plan) -> Switching {
        let mut on_off = plan.sources.iter().filter_map(|source| {
            let Source::Model(source) = source else { return None };
            match source.model {
                Model::OnOff { on: Dist::Constant(on), off: Dist::Constant(off), .. } => {
                    Some(Switching { start: source.start, on, off })
                }
                _ => None,
            }
        });
        on_off.next().expect("the plan has a source of constant on and off times")
    }

    /// Whether it is on at a time, and since when; since the beginning of the run before it starts.
    pub(super) fn at(self, now: Nanos) -> (bool, Nanos) {
        if now < self.start {
            return (false, Nanos::ZERO);
        }
        let period = self.on + self.off;
        let began = self.start + Nanos((now - self.start).0 / period.0 * period.0);
        if now < began + self.on { (true, began) } else { (false, began + self.on) }
    }

    /// All times between two at which it switches, and whether it is on from then.
    pub(super) fn switches(self, from: Nanos, to: Nanos) -> Vec<(Nanos, bool)> {
        let period = self.on + self.off;
        let ons = (0..).map(|n| self.start + Nanos(n * period.0));
        let both = ons.flat_map(|on| [(on, true), (on + self.on, false)]);
        both.skip_while(|(at, _)| *at < from).take_while(|(at, _)| *at < to).collect()
    }
}

/// A packet that was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Departure {
    /// Its class.
    pub class: ClassId,
    /// In bytes.
    pub length: u32,
    /// When its last bit came.
    pub arrival: Nanos,
    /// When its last bit left.
    pub departure: Nanos,
}

impl Departure {
    /// The packet of a record, if it was sent.
    pub(super) fn from_record(record: &Record) -> Option<Departure> {
        let Fate::Sent { departure, .. } = record.fate else { return None };
        let Packet { class, length, arrival, .. } = record.packet;
        Some(Departure { class, length, arrival, departure })
    }

    /// From its arrival to its departure, in ms.
    pub(super) fn delay_ms(&self) -> f64 {
        (self.departure - self.arrival).as_millis_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::plan as read;
    use crate::hfsc::plans::LINK_SHARING;

    #[test]
    fn a_seed_moves_the_beginnings_within_their_periods() {
        let plan = read(LINK_SHARING);
        let starts = |seed| -> Vec<Nanos> {
            let plan = in_phase(&plan, seed);
            let models = plan.sources.iter().filter_map(|source| match source {
                Source::Model(source) => Some(source.start),
                Source::Tcp(_) | Source::Recording(_) => None,
            });
            models.collect()
        };
        assert_eq!(starts(1), starts(1));
        assert_ne!(starts(1), starts(2));
        for seed in 1..20 {
            let starts = starts(seed);
            let (on_off, backlogged) = starts.split_last().unwrap();
            assert!(*on_off < Nanos(2_000_000_000));
            assert!(backlogged.iter().all(|start| *start == Nanos::ZERO));
        }
    }

    #[test]
    fn the_on_off_source_is_known_to_be_on() {
        let switching = Switching { start: Nanos(10), on: Nanos(3), off: Nanos(2) };
        let at = |now| switching.at(Nanos(now));
        assert_eq!(at(9), (false, Nanos(0)));
        assert_eq!(at(10), (true, Nanos(10)));
        assert_eq!(at(12), (true, Nanos(10)));
        assert_eq!(at(13), (false, Nanos(13)));
        assert_eq!(at(15), (true, Nanos(15)));
        let switches = switching.switches(Nanos(12), Nanos(18));
        assert_eq!(switches, [(Nanos(13), false), (Nanos(15), true)]);
    }
}
