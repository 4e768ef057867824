//! CAKE: delay bounds, and what tins, hosts and flows are sure of.

use std::collections::BTreeSet;

use laxity::admit::Unbounded;
use laxity::admit::cake::TinGuarantee;
use laxity::packet::{HostId, Hosts};
use laxity::sched::cake::{CakeSettings, Isolation};
use laxity_plan::Plan;
use laxity_plan::model::{Class, SchedulerSpec};
use serde::Serialize;

use super::{Tester, fair};

pub(super) const TESTER: Tester = Tester {
    classes: |plan, classes| {
        let tins = TinProof::all(plan);
        for class in classes {
            let number = plan.tin(&plan.classes[class.id.index()]);
            let tin = tins.iter().find(|tin| Some(tin.number) == number);
            class.tin = tin.map(|tin| tin.name);
            class.rate_bps = tin.and_then(|tin| tin.rate_bps);
        }
    },
    ..fair::BOUNDS
};

/// What a tin that has classes is sure of, whatever other tins send.
#[derive(Clone, Debug, Serialize)]
pub struct TinProof {
    /// Its number; of tins within their thresholds, the highest goes first.
    #[serde(skip)]
    pub number: usize,
    /// What it is called.
    pub name: &'static str,
    /// Its rate in bits per second; absent if it is sure of none.
    pub rate_bps: Option<u64>,
    /// How long it may wait until it is served at that rate.
    pub latency_ns: Option<u64>,
    /// Why it is sure of nothing.
    #[serde(serialize_with = "name")]
    pub unbounded: Option<Unbounded>,
    /// A class of it without an arrival curve, for which no class of the tin has a bound.
    pub unknown: Option<String>,
    /// The hosts that share it, as far as sources name them.
    pub hosts: usize,
    /// What each of these gets at least while all of them send, in bits per second, of what new
    /// flows leave.
    pub host_bps: Option<u64>,
    /// How long the first packet of a flow takes at most, if no other flow begins.
    pub new_flow_ns: Option<u64>,
    /// What every flow that began just before adds to that.
    pub another_flow_ns: Option<u64>,
}

impl TinProof {
    /// The tins of a plan that have classes, the first to send first; none if CAKE does not serve
    /// it.
    pub fn all(plan: &Plan) -> Vec<TinProof> {
        let SchedulerSpec::Cake(cake) = plan.scheduler else { return Vec::new() };
        let tins = cake.guarantees(plan).into_iter().enumerate().rev();
        tins.filter_map(|(tin, guarantee)| TinProof::new(plan, &cake.settings, tin, guarantee))
            .collect()
    }

    fn new(
        plan: &Plan,
        settings: &CakeSettings,
        number: usize,
        guarantee: Result<TinGuarantee, Unbounded>,
    ) -> Option<TinProof> {
        let classes: Vec<_> =
            plan.leaves().filter(|(_, class)| plan.tin(class) == Some(number)).collect();
        let longest = classes.iter().map(|(_, class)| plan.max_packet(class)).max()?;
        let hosts = hosts(settings.isolation, classes.iter().map(|(_, class)| *class));
        let unknown =
            classes.iter().find(|(_, class)| class.arrival_under(&plan.scheduler).is_none());
        let sure = guarantee.as_ref().ok();
        let rate_bps = sure.and_then(TinGuarantee::rate).map(|rate| rate.0);
        let is_split = settings.isolation != Isolation::Flowblind;
        let wait = |others| sure.filter(|_| is_split)?.new_flow_delay(longest, others);
        let (alone, beside) = (wait(0), wait(1));
        Some(TinProof {
            number,
            name: settings.diffserv.name(number),
            rate_bps,
            latency_ns: sure.and_then(TinGuarantee::latency).map(|latency| latency.0),
            unbounded: guarantee.as_ref().err().copied(),
            unknown: unknown.map(|(_, class)| class.name.clone()),
            hosts,
            host_bps: rate_bps.filter(|_| hosts > 1).map(|rate| rate / hosts as u64),
            new_flow_ns: alone.map(|wait| wait.0),
            another_flow_ns: alone.zip(beside).map(|(alone, beside)| (beside - alone).0),
        })
    }
}

/// The hosts between which a tin is shared evenly, as far as sources name them: of the side on
/// which flows are told apart by hosts.
fn hosts<'a>(isolation: Isolation, classes: impl Iterator<Item = &'a Class>) -> usize {
    let side: fn(&Hosts) -> HostId = match isolation {
        Isolation::Srchost | Isolation::DualSrchost | Isolation::TripleIsolate => {
            |hosts| hosts.source
        }
        Isolation::Dsthost | Isolation::DualDsthost => |hosts| hosts.destination,
        Isolation::Flowblind | Isolation::Hosts | Isolation::Flows => |_| HostId::UNKNOWN,
    };
    let hosts = classes.flat_map(|class| class.hosts.iter().map(|(_, hosts)| side(hosts)));
    let known: BTreeSet<_> =
        hosts.filter(|host| *host != HostId::UNKNOWN).map(|host| host.0).collect();
    known.len()
}

fn name<S: serde::Serializer>(why: &Option<Unbounded>, serializer: S) -> Result<S::Ok, S::Error> {
    why.map(Unbounded::name).serialize(serializer)
}
