//! Tins by code point, shared by hosts and flows: CAKE.

use laxity::admit::cake::{TinClass, TinGuarantee, Tins};
use laxity::admit::{Breakdown, Unbounded};
use laxity::aqm::Limit;
use laxity::packet::ClassId;
use laxity::sched::Cake;
use laxity::sched::cake::{AckFilter, CakeClass, CakeSettings, Isolation};
use laxity::scheduler::Withdraw;
use laxity::units::{NANOBITS_PER_BYTE, Nanos};

use super::growth::Growth;
use super::room::{
    Aftermath, Bounds, Discipline, Proof, Room, Services, breakdown_of_leaf, for_leaves,
    no_guarantees, where_proved,
};
use crate::aqm;
use crate::error::{Fault, Span};
use crate::model::{
    BestEffortOrder, CakeSpec, Class, EdfSpec, LinkSpec, Plan, SchedulerSpec, TdpSpec,
};
use crate::raw::{self, At, Count, positive, positive_or, within};

/// The most queues of a tin.
const MOST_QUEUES: u64 = 65_536;
/// How many queues a set has.
const WAYS: u64 = 8;
/// What may be queued at least unless the plan says otherwise, in bytes.
const LEAST_MEMORY: u64 = 4 << 20;
/// How many packets of the largest size may be queued at most unless the plan says otherwise.
const MOST_PACKETS: u64 = 10_240;

pub(super) const ROOM: Room = Room {
    keys: &[
        "diffserv",
        "isolation",
        "rtt",
        "limit",
        "flows",
        "rate",
        "ingress",
        "ack-filter",
        "wash",
    ],
    class_keys: &[&["dscp"]],
    read,
    orders_flows: true,
    ..Room::plain(&["cake"], Some(SchedulerSpec::Cake(CakeSpec::USUAL)), PROOF)
};

/// Tins isolate one another; in a tin, classes wait behind all others.
const PROOF: Proof = Proof {
    in_share: Some(Plan::bounds),
    waits_behind: |plan| {
        let tins: Vec<_> = plan.classes.iter().map(|class| plan.tin(class)).collect();
        Box::new(move |class, other| tins[class.index()] == tins[other.index()])
    },
    counts_on_others: false,
    is_one_queue: false,
    counts_bytes: false,
    keeps_order: |scheduler| match scheduler {
        SchedulerSpec::Cake(cake) => cake.keeps_order(),
        _ => false,
    },
    sets_demoted_behind: false,
    bears_late_links: true,
    growths: Some(growths),
    aftermath: |plan| match plan.scheduler {
        SchedulerSpec::Cake(cake) if !cake.keeps_order() => Aftermath::Isolated,
        _ => Aftermath::Unknown,
    },
};

impl Discipline for CakeSpec {
    fn build(&self, plan: &Plan, seed: u64) -> Box<dyn Withdraw + Send> {
        let class = |class: &Class| CakeClass { dscp: class.dscp, hosts: class.hosts.clone() };
        let classes = plan.classes.iter().map(class).collect();
        let cake = Cake::new(classes, self.on(&plan.link), seed);
        Box::new(cake.expect("reading refuses what is not accepted"))
    }

    fn bounds(&self, plan: &Plan) -> Bounds {
        match self.tins(plan) {
            Ok(tins) => for_leaves(plan, tins.bounds()),
            Err(why) => for_leaves(plan, plan.leaves().map(|_| Err(why))),
        }
    }

    fn breakdown(&self, plan: &Plan, class: ClassId) -> Option<Breakdown> {
        let tins = self.tins(plan).ok()?;
        breakdown_of_leaf(plan, class, |leaf| tins.breakdown(leaf))
    }

    /// In one queue, a class that has its tin to itself is served in the order of arrival.
    fn services(&self, plan: &Plan) -> Services {
        let is_alone = |class: &Class| {
            self.keeps_order()
                && plan.leaves().filter(|(_, of)| plan.tin(of) == plan.tin(class)).count() == 1
        };
        let services = self.aggregates(plan).into_iter().zip(&plan.classes);
        services.map(|(service, class)| service.filter(|_| is_alone(class))).collect()
    }

    fn aggregates(&self, plan: &Plan) -> Services {
        let Ok(tins) = self.tins(plan) else { return where_proved(no_guarantees(plan)) };
        let service =
            |class: &TinClass| tins.guarantee(class.tin).map(|guarantee| guarantee.service());
        where_proved(for_leaves(plan, tins.classes.iter().map(service)))
    }
}

impl Plan {
    /// The number of a class's tin; `None` in a plan that CAKE does not serve.
    pub fn tin(&self, class: &Class) -> Option<usize> {
        match self.scheduler {
            SchedulerSpec::Cake(cake) => Some(cake.settings.diffserv.tin(class.dscp)),
            _ => None,
        }
    }

    /// Whether what it sends is shared by hosts, in some of its classes at least.
    pub fn shares_by_hosts(&self) -> bool {
        self.schedulers().any(|scheduler| match scheduler {
            SchedulerSpec::Cake(_) => true,
            SchedulerSpec::Edf(EdfSpec { order, .. })
            | SchedulerSpec::Tdp(TdpSpec { order, .. }) => *order == BestEffortOrder::Cake,
            _ => false,
        })
    }

    /// Whether some of its schedulers drop acknowledgements that later ones make superfluous.
    pub fn filters_acks(&self) -> bool {
        let filters = |cake: &CakeSpec| cake.settings.ack_filter != AckFilter::Off;
        self.schedulers()
            .any(|scheduler| matches!(scheduler, SchedulerSpec::Cake(cake) if filters(cake)))
    }

    /// Its own scheduler, those of shares, and those of outputs of its network.
    fn schedulers(&self) -> impl Iterator<Item = &SchedulerSpec> {
        let network = self.network.iter();
        let outputs = network.flat_map(|network| {
            let links = network.links.iter().map(|link| &link.scheduling);
            links.chain(network.nodes.iter().map(|node| &node.scheduling)).flatten()
        });
        let inside = self.classes.iter().filter_map(|class| class.inside.as_deref());
        let others = inside.chain(outputs).map(|scheduling| &scheduling.scheduler);
        core::iter::once(&self.scheduler).chain(others)
    }

    /// Of each class whether the code points of its packets are cleared when they are sent: by the
    /// scheduler of the plan, or of a share that it is in.
    pub fn washes(&self) -> Vec<bool> {
        let is_washing =
            |scheduler: &SchedulerSpec| matches!(scheduler, SchedulerSpec::Cake(cake) if cake.wash);
        let holds = |class: &Class| {
            class.inside.as_deref().is_some_and(|inside| is_washing(&inside.scheduler))
        };
        let parent = |class: &&Class| class.parent.map(|parent| &self.classes[parent.index()]);
        let shares = |class| core::iter::successors(Some(class), parent).any(holds);
        let all = is_washing(&self.scheduler);
        self.classes.iter().map(|class| all || shares(class)).collect()
    }
}

impl CakeSpec {
    /// As Linux has it.
    pub const USUAL: CakeSpec =
        CakeSpec { rate: None, limit: None, wash: false, settings: CakeSettings::USUAL };

    /// Whether the packets of a tin leave in the order of their arrival.
    fn keeps_order(&self) -> bool {
        self.settings.isolation == Isolation::Flowblind
    }

    /// Its settings on a link.
    pub fn on(&self, link: &LinkSpec) -> CakeSettings {
        let rate = self.rate.unwrap_or(link.rate);
        let limit = self.limit.map_or_else(
            || {
                let carried = u128::from(rate.0) * u128::from(self.settings.rtt.0) * 4;
                let carried = carried / u128::from(NANOBITS_PER_BYTE);
                let carried = u64::try_from(carried).unwrap_or(u64::MAX).max(LEAST_MEMORY);
                Limit::Bytes(carried.min(MOST_PACKETS * link.max_packet.0))
            },
            Limit::from,
        );
        CakeSettings {
            rate,
            shapes: self.rate.is_some(),
            limit,
            max_packet: u32::try_from(link.max_packet.0).unwrap_or(u32::MAX),
            ..self.settings
        }
    }
}

impl CakeSpec {
    /// What each tin is sure of on the link of a plan.
    pub fn guarantees(&self, plan: &Plan) -> Vec<Result<TinGuarantee, Unbounded>> {
        let tins = self.tins(plan);
        let guarantee = |tin| tins.as_ref().map_err(|why| *why)?.guarantee(tin);
        (0..self.settings.diffserv.tins()).map(guarantee).collect()
    }

    /// The classes in their tins.
    fn tins(&self, plan: &Plan) -> Result<Tins, Unbounded> {
        let settings = self.on(&plan.link);
        if settings.shapes && settings.ingress {
            return Err(Unbounded::DropsCount);
        }
        let class = |(_, class): (ClassId, &Class)| TinClass {
            tin: settings.diffserv.tin(class.dscp),
            traffic: plan.traffic(class),
        };
        Ok(Tins {
            link: plan.link.rate.min(settings.rate),
            latency: plan.link.latency.ok_or(Unbounded::NotAdmitted)?,
            diffserv: settings.diffserv,
            rate: settings.rate,
            is_flowblind: settings.isolation == Isolation::Flowblind,
            classes: plan.leaves().map(class).collect(),
        })
    }
}

/// How much later each class is when the link is late: tins above go first while it catches up.
fn growths(plan: &Plan, bounds: &Bounds) -> Vec<Growth> {
    let SchedulerSpec::Cake(cake) = plan.scheduler else { return Vec::new() };
    let tins = cake.tins(plan);
    let growth = |(class, bound): (&Class, &Result<Nanos, Unbounded>)| {
        let Ok(_) = bound else { return Growth::EQUAL };
        let parts = tins.as_ref().ok().and_then(|tins| tins.growth(plan.tin(class)?));
        parts.map_or(Growth::ENDLESS, |(later, lost)| Growth { later, lost, ..Growth::EQUAL })
    };
    plan.classes.iter().zip(bounds).map(growth).collect()
}

fn read(raw: &raw::Scheduler, _: &Span) -> Result<SchedulerSpec, Fault> {
    let usual = CakeSettings::USUAL;
    Ok(SchedulerSpec::Cake(CakeSpec {
        rate: raw.rate.as_ref().map(positive("rate")).transpose()?,
        limit: raw.limit.as_ref().map(|limit| aqm::limit("limit", limit)).transpose()?,
        wash: raw.wash.as_ref().is_some_and(|at| at.value),
        settings: CakeSettings {
            diffserv: raw.diffserv.as_ref().map_or(usual.diffserv, |at| at.value.0.into()),
            isolation: raw.isolation.as_ref().map_or(usual.isolation, |at| at.value.0.into()),
            rtt: positive_or("rtt", &raw.rtt, usual.rtt)?,
            queues: raw.flows.as_ref().map_or(Ok(usual.queues), queues)?,
            ingress: raw.ingress.as_ref().map_or(usual.ingress, |at| at.value),
            ack_filter: raw.ack_filter.as_ref().map_or(usual.ack_filter, |at| at.value.0.into()),
            ..usual
        },
    }))
}

fn queues(flows: &At<Count>) -> Result<usize, Fault> {
    let help =
        || format!("flows are hashed into {WAYS} to {MOST_QUEUES} queues, a multiple of {WAYS}");
    let queues = within("flows", flows, WAYS..=MOST_QUEUES, help)?;
    if u64::from(queues) % WAYS != 0 {
        return Err(Fault::at(&flows.span, format!("`flows` is {queues}")).help(help()));
    }
    Ok(queues as usize)
}
