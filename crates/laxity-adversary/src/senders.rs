//! Who may send in the way of a class.

use std::collections::{BTreeMap, BTreeSet};

use laxity::packet::{ClassId, FlowId};
use laxity::units::{Bytes, Nanos};
use laxity_plan::Plan;
use laxity_plan::model::{Hop, ModelSource, SchedulerSpec, Source, TcpSource};
use laxity_plan::tdp::NetworkAnalysis;

use crate::contract::{Conduct, Contract, contracts};
use crate::target::{Place, Target};
use crate::traffic::{Scene, times_of};

/// A way from a sender to a receiver.
pub(crate) struct Sender {
    pub class: ClassId,
    /// The plan's source, from 0; 0 on a link.
    pub source: usize,
    /// Which of its copies.
    pub copy: u32,
    /// What the simulator calls packets of it in its class.
    pub id: FlowId,
    /// The links on the way; none on a link.
    pub path: Vec<Hop>,
}

/// Those who send when a class is to be delayed.
pub(crate) struct Senders {
    /// In the order in which feeds are named.
    pub all: Vec<Sender>,
    pub scene: Scene,
    /// Whether schedulers are built anew for every run: what is proved holds of streams from their
    /// first packets on.
    pub begins_anew: bool,
}

/// Copies of a source over private links that may send on their own.
const MOST_COPIES: u32 = 8;
/// The most feeds that send at once.
const MOST_FEEDS: usize = 100;

impl Senders {
    /// Those of a plan who may be in the way of a target.
    pub(crate) fn new(place: &Place<'_>, target: &Target) -> Senders {
        let plan = place.plan();
        let mut contracts = contracts(plan);
        let all = match place {
            Place::Link(plan) => on_link(plan),
            Place::Network(on) => near(in_network(on), target),
        };
        if let SchedulerSpec::Tdp(_) = plan.scheduler {
            // Frames are reserved for packets of the largest length.
            let framed = contracts.iter_mut().zip(&plan.classes);
            framed
                .filter(|(_, class)| class.wants_frames())
                .for_each(|(of, _)| of.shortest = of.longest);
        }
        let in_step = |of: &Contract| matches!(of.conduct, Conduct::InStep { .. });
        Senders {
            begins_anew: contracts.iter().any(in_step),
            scene: Scene {
                feeds: all.iter().map(|sender| Some(sender.class.index())).collect(),
                times: times(place, &contracts),
                horizon: 2 * target.bound.0.clamp(1, LONGEST),
                longest_train: longest_train(&contracts),
                most_trains: (2 * all.len()).clamp(16, 200),
                contracts,
            },
            all,
        }
    }

    /// Whether a feed's packets are those of the target.
    pub(crate) fn is_target(&self, feed: usize, target: &Target) -> bool {
        let Sender { class, path, .. } = &self.all[feed];
        *class == target.class && target.path.as_ref().is_none_or(|of| of[..] == path[..])
    }
}

/// A tenth of a minute is the longest delay that is looked for.
const LONGEST: u64 = 100_000_000_000;

fn on_link(plan: &Plan) -> Vec<Sender> {
    let sender = |(class, _)| Sender { class, source: 0, copy: 0, id: FlowId(0), path: Vec::new() };
    plan.leaves().map(sender).collect()
}

/// The sources of a network except recordings, which have their own packets.
fn in_network(on: &NetworkAnalysis<'_>) -> Vec<Sender> {
    let mut numbers: BTreeMap<ClassId, u32> = BTreeMap::new();
    let mut all = Vec::new();
    for (source, of) in on.plan.sources.iter().enumerate() {
        let (Source::Model(ModelSource { class, count, path, .. })
        | Source::Tcp(TcpSource { class, count, path, .. })) = of
        else {
            continue;
        };
        let number = numbers.entry(*class).or_default();
        let is_private = path.iter().any(|hop| on.network.link(*hop).private);
        let copies = if is_private { (*count).min(MOST_COPIES) } else { 1 };
        for copy in 0..copies {
            let (id, path) = (FlowId(*number + copy), path.to_vec());
            all.push(Sender { class: *class, source, copy, id, path });
        }
        *number += count;
    }
    all
}

/// Those who share a link with the target, or with one who does.
fn near(all: Vec<Sender>, target: &Target) -> Vec<Sender> {
    let own: BTreeSet<Hop> = target.path.iter().flat_map(|path| path.iter().copied()).collect();
    let shares = |sender: &Sender, links: &BTreeSet<Hop>| {
        sender.path.iter().filter(|hop| links.contains(hop)).count()
    };
    let beside: BTreeSet<Hop> = all
        .iter()
        .filter(|sender| shares(sender, &own) > 0)
        .flat_map(|sender| sender.path.iter().copied())
        .collect();
    let is_own = |sender: &Sender| {
        sender.class == target.class
            && target.path.as_ref().is_some_and(|of| of[..] == sender.path[..])
    };
    let mut ranked: Vec<_> = all
        .into_iter()
        .map(|sender| ((is_own(&sender), shares(&sender, &own), shares(&sender, &beside)), sender))
        .filter(|((_, _, beside), _)| *beside > 0)
        .collect();
    ranked.sort_by(|(a, _), (b, _)| b.cmp(a));
    ranked.truncate(MOST_FEEDS);
    ranked.into_iter().map(|(_, sender)| sender).collect()
}

/// Times that mean something: of packets on links, of propagation, deadlines, bounds, buckets,
/// frames.
fn times(place: &Place<'_>, contracts: &[Contract]) -> Vec<u64> {
    let plan = place.plan();
    let mut times = vec![1];
    let lengths: BTreeSet<u32> = contracts.iter().map(|contract| contract.longest).collect();
    let mut link = |rate: laxity::units::Rate| {
        times.extend(lengths.iter().map(|length| rate.time_for(Bytes((*length).into())).0));
    };
    match place {
        Place::Link(plan) => link(plan.link.rate),
        Place::Network(on) => {
            on.network.links.iter().for_each(|of| link(of.rate));
            times.extend(on.network.links.iter().map(|link| link.delay.0));
            let passing = on.paths().outputs.iter().flat_map(|output| &output.classes);
            times.extend(passing.filter_map(|of| Some(of.bound.ok()?.0)));
        }
    }
    if let SchedulerSpec::Tdp(spec) = plan.scheduler {
        times.push(spec.time.frame.0);
        times.push(spec.time.frame.0 * u64::from(spec.time.frames));
    }
    times.extend(times_of(plan, contracts));
    times.retain(|time| *time > 0);
    times.sort_unstable();
    times.dedup();
    times
}

/// Long enough to empty every bucket several times over.
fn longest_train(contracts: &[Contract]) -> u32 {
    let longest = contracts.iter().map(|contract| 8 * contract.burst()).max();
    longest.unwrap_or(0).clamp(200, 4_000)
}

/// A packet of a sender as the simulator hears of it.
pub(crate) fn simulated(
    sender: &Sender,
    arrival: &crate::arrival::Arrival,
) -> laxity_sim::source::Arrival {
    let flow = if sender.path.is_empty() { u32::from(arrival.flow) } else { sender.copy };
    laxity_sim::source::Arrival {
        time: Nanos(arrival.time),
        class: sender.class,
        flow: FlowId(flow),
        length: arrival.length,
        ..laxity_sim::source::Arrival::default()
    }
}
