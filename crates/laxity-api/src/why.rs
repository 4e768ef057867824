//! Why packets of a run were delayed.

use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_answers::why::{Delays, Gatherer, Selection};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_sim::Progress;
use serde::{Serialize, Serializer};

use crate::run::{Own, AnalysedPlan, simulate_link, simulate_network};
use crate::{Error, Traffic};

/// Which packets are asked for: those that meet all of these.
#[derive(Clone, Debug, Default)]
pub struct Packets {
    /// Of the class of this name.
    pub class: Option<String>,
    /// With this number in the order of arrival, from 0; on one link.
    pub number: Option<u64>,
    /// Delayed for longer than this.
    pub slower_than: Option<Nanos>,
    /// Late for their deadline.
    pub missed: bool,
    /// How many of them are listed, the slowest ones.
    pub most: usize,
}

/// Why packets were delayed; it serialises to the JSON of `laxity why --json`.
#[derive(Debug)]
pub struct WhyResult<'a> {
    plan: &'a Plan,
    /// What delayed the packets that were asked for.
    pub delays: Delays,
}

impl WhyResult<'_> {
    /// As text: each packet listed, and the means of all.
    #[cfg(feature = "pages")]
    pub fn text(&self) -> String {
        laxity_report::why::text(self.plan, &self.delays)
    }
}

#[cfg(feature = "pages")]
impl Serialize for WhyResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        laxity_report::why::DelaysJson::new(self.plan, &self.delays).serialize(serializer)
    }
}

/// Simulates a plan, and says of packets why they were delayed.
///
/// # Errors
/// As [`run`](crate::run()), if there is no such class or packet, or no packet was as slow.
pub fn why<'a>(
    plan: &'a Plan,
    traffic: &Traffic<'_>,
    packets: &Packets,
    progress: Progress<'_>,
) -> Result<WhyResult<'a>, Error> {
    let selection = selection(plan, packets)?;
    let mut delays = Delays::new(selection, plan.classes.len());
    let mut gatherer = Gatherer::new(plan, |delay| delays.add(delay));
    let (waits, seed) = (gatherer.waits(), traffic.seed(plan));
    match &AnalysedPlan::new(plan).network {
        Some(on) => {
            let witness = |hop: Hop, scheduler: Box<dyn Scheduler + Send>| {
                waits.witness(plan, Some(hop), scheduler)
            };
            let own = Own { schedulers: None, witness: Some(&witness) };
            simulate_network(on, traffic, seed, own, &mut gatherer, progress)?;
        }
        None => {
            let scheduler = waits.witness(plan, None, plan.build_scheduler(seed));
            simulate_link(plan, Some(scheduler), traffic, seed, &mut gatherer, progress)?;
        }
    }
    drop(gatherer);
    Ok(WhyResult { plan, delays })
}

fn selection(plan: &Plan, packets: &Packets) -> Result<Selection, Error> {
    let Packets { class, number, slower_than, missed, most } = packets;
    let class = match class {
        None => None,
        Some(name) => {
            let found = plan.leaves().find(|(_, class)| *class.name == **name);
            let names = || plan.leaves().map(|(_, class)| format!("`{}`", class.name));
            let accepted = || names().collect::<Vec<_>>().join(", ");
            Some(found.map(|(id, _)| id).ok_or_else(|| {
                Error::question(format!(
                    "the plan has no class `{name}` that has packets: accepted are {}",
                    accepted()
                ))
            })?)
        }
    };
    if number.is_some() && plan.network.is_some() {
        return Err(Error::question(
            "packets have numbers on one link, and the plan is a network: ask for a class, or for \
             the slowest",
        ));
    }
    Ok(Selection {
        class,
        number: *number,
        slower_than: *slower_than,
        missed: *missed,
        most: *most,
    })
}
