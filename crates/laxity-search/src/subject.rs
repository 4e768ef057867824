//! What is under search: a plan, what is proved of it, and the schedulers that it builds.

use std::path::Path;

use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_plan::model::{Class, SchedulerSpec};
use laxity_plan::network::Networked;
use laxity_plan::tdp::{Framed, Framing};
use laxity_plan::{Plan, PlanError};
use laxity_report::admission::Admission;
use laxity_report::network::{proof::Proof, tdp::TdpProof};

use crate::draft::Draft;

/// A scheduler as a plan builds it.
pub type Built = Box<dyn Scheduler + Send>;

/// A plan, its proof and its schedulers.
#[derive(Clone)]
pub struct Subject {
    /// The plan as it is written.
    pub draft: Draft,
    /// The plan as it is read.
    pub plan: Plan,
    /// What `check` says.
    pub admitted: Option<bool>,
    /// The plan that is simulated where schedulers are not driven one by one.
    pub simulated: Plan,
    /// Where packets wait for a link; none where schedulers are not driven one by one.
    pub outputs: Vec<Output>,
    /// The ways that packets take, by the name of their class or path; `None` for names that nothing has.
    pub feeds: Vec<Option<Feed>>,
    /// What classes keep to, by number.
    pub contracts: Vec<Contract>,
    /// Whether consecutive windows are proved to be kept.
    pub keeps_windows: bool,
    /// How an output's scheduler is built from its plan.
    pub build: fn(&Plan) -> Built,
}

/// A link and what shares it.
#[derive(Clone)]
pub struct Output {
    /// The plan as the output sees it; schedulers are built from it.
    pub plan: Plan,
    /// In bits a second.
    pub rate: u64,
    /// Propagation behind it, in ns.
    pub delay: u64,
    /// The delay bound of each class, in ns from a packet's arrival there to its last bit out.
    pub bounds: Vec<Option<u64>>,
}

/// A way from a sender to a receiver.
#[derive(Clone, Debug, PartialEq)]
pub struct Feed {
    /// The class, by number.
    pub class: usize,
    /// The outputs on the way.
    pub outputs: Vec<usize>,
    /// The delay bound over the whole of it.
    pub bound: Option<u64>,
}

/// What a class's packets keep to.
#[derive(Clone, Debug, PartialEq)]
pub struct Contract {
    /// The shortest packet, in bytes: in a network what comes to its outputs depends on it.
    pub shortest: u32,
    /// The longest packet that may conform, in bytes.
    pub longest: u32,
    /// When it may send.
    pub conduct: Conduct,
    /// Whether others are safe from it should it send more.
    pub isolated: bool,
}

/// When a class may send.
#[derive(Clone, Debug, PartialEq)]
pub enum Conduct {
    /// Never more than any of these buckets holds.
    Keeps(Vec<TokenBucket>),
    /// So many streams in step: a packet before the last one is due, `gap` ns after the one before was.
    InStep {
        /// How many.
        streams: u32,
        /// In ns.
        gap: u64,
    },
    /// Whenever and whatever it likes.
    Free,
}

impl Subject {
    /// The plan of a draft.
    ///
    /// # Errors
    /// If the plan is refused.
    pub fn of(draft: &Draft) -> Result<Subject, PlanError> {
        let plan = Plan::parse(&draft.text(), "searched.toml", Path::new("."))?;
        Ok(match (plan.networked(), plan.networked().and_then(Networked::framed)) {
            (None, _) => Subject::on_a_link(draft, &plan),
            (Some(_), Some(framed)) => Subject::in_frames(draft, framed),
            (Some(on), None) => Subject::on_a_network(draft, on),
        })
    }

    fn on_a_link(draft: &Draft, plan: &Plan) -> Subject {
        let admitted = Admission::of(plan).and_then(|admission| admission.admitted);
        let bounds = plan.bounds().into_iter().map(|bound| bound.ok().map(|Nanos(ns)| ns));
        let rate = plan.link.rate.0;
        let output = Output { plan: plan.clone(), rate, delay: 0, bounds: bounds.collect() };
        let mut feeds = Vec::new();
        for class in &draft.classes {
            let number = plan.class(&format!("c{}", class.name)).map(ClassId::index);
            let leaf = number.filter(|number| plan.classes[*number].is_leaf());
            let feed = leaf.map(|class| Feed { class, outputs: vec![0], bound: None });
            set(&mut feeds, class.name, feed);
        }
        Subject {
            draft: draft.clone(),
            admitted,
            keeps_windows: plan.keeps_windows(),
            contracts: contracts(plan),
            outputs: vec![output],
            feeds,
            simulated: plan.clone(),
            plan: plan.clone(),
            build: as_built,
        }
    }

    fn on_a_network(draft: &Draft, on: Networked<'_>) -> Subject {
        let assigned = on.assigned();
        let (plan, paths) = (on.plan, assigned.paths());
        let ns = |time: Nanos| time.0;
        let mut outputs = Vec::new();
        for (number, output) in paths.outputs.iter().enumerate() {
            let here = match output.knows_arrivals() {
                true => paths.plan_at(on, number),
                false => on.at(output.hop),
            };
            let delay = on.link(output.hop).delay.0;
            let bound = |class| Some(ns(output.class(ClassId(class))?.bound.ok()?));
            let bounds = (0..plan.classes.len() as u32).map(bound).collect();
            outputs.push(Output { rate: here.link.rate.0, plan: here, delay, bounds });
        }
        let mut feeds = Vec::new();
        for (path, source) in draft.paths.iter().zip(&plan.sources) {
            let class = source.class().expect("a path's source");
            let route = paths.route(class, source.path(), false).map(|route| &paths.routes[route]);
            let feed = route.map(|route| Feed {
                class: class.index(),
                outputs: route.outputs.clone(),
                bound: route.bound().ok().map(ns),
            });
            set(&mut feeds, path.name, feed);
        }
        Subject {
            draft: draft.clone(),
            admitted: Proof::of(&assigned).admitted,
            keeps_windows: false,
            contracts: contracts(plan),
            outputs,
            feeds,
            simulated: plan.clone(),
            plan: plan.clone(),
            build: as_built,
        }
    }

    fn in_frames(draft: &Draft, framed: Framed<'_>) -> Subject {
        let Networked { plan, .. } = framed.on;
        let framing = Framing::of(framed);
        let bounds = framing.bounds();
        let mut feeds = Vec::new();
        for (path, source) in draft.paths.iter().zip(&plan.sources) {
            let class = source.class().expect("a path's source");
            let bound = bounds.get(&class).and_then(|bound| Some(bound.as_ref().ok()?.delay().0));
            let feed = Feed { class: class.index(), outputs: Vec::new(), bound };
            set(&mut feeds, path.name, Some(feed));
        }
        let mut contracts = contracts(plan);
        // Frames are reserved for packets of the largest length.
        for (contract, class) in contracts.iter_mut().zip(&plan.classes) {
            if class.wants_frames() {
                contract.shortest = contract.longest;
            }
        }
        Subject {
            draft: draft.clone(),
            admitted: Some(TdpProof::of(&framing).admitted),
            keeps_windows: false,
            contracts,
            outputs: Vec::new(),
            feeds,
            simulated: plan.clone(),
            plan: plan.clone(),
            build: as_built,
        }
    }

    /// Whether its schedulers are driven one by one, or its frames need Laxity's own simulator.
    pub fn is_framed(&self) -> bool {
        matches!(self.plan.scheduler, SchedulerSpec::Tdp(_))
    }

    /// The bound of a class over its path, where that is the only one it has.
    pub fn path_bound(&self, class: usize) -> Option<u64> {
        self.feeds.iter().flatten().find(|feed| feed.class == class)?.bound
    }

    /// Whether a class has a bound over its path.
    pub fn is_promised(&self, class: usize) -> bool {
        self.path_bound(class).is_some()
    }

    /// Whether it was admitted and promises anything that could be broken.
    pub fn is_promising(&self) -> bool {
        let at_outputs = self.outputs.iter().flat_map(|output| &output.bounds);
        let over_paths = self.feeds.iter().flatten().map(|feed| &feed.bound);
        let is_bounded = at_outputs.chain(over_paths).any(Option::is_some);
        self.admitted != Some(false) && (self.keeps_windows || is_bounded)
    }

    /// The schedulers of all outputs, without history.
    pub fn schedulers(&self) -> Vec<Built> {
        self.outputs.iter().map(|output| (self.build)(&output.plan)).collect()
    }

    /// The feed of a name.
    pub fn feed(&self, name: u16) -> Option<&Feed> {
        self.feeds.get(usize::from(name))?.as_ref()
    }

    /// The names of all feeds.
    pub fn names(&self) -> Vec<u16> {
        let names = (0..).zip(&self.feeds);
        names.filter_map(|(name, feed)| feed.as_ref().map(|_| name)).collect()
    }
}

fn as_built(plan: &Plan) -> Built {
    plan.build_scheduler(1)
}

fn set(feeds: &mut Vec<Option<Feed>>, name: u16, feed: Option<Feed>) {
    let at = usize::from(name);
    feeds.resize(feeds.len().max(at + 1), None);
    feeds[at] = feed;
}

/// What the classes of a plan have to keep to so that what is proved of them holds.
fn contracts(plan: &Plan) -> Vec<Contract> {
    let contract = |(id, class): (ClassId, &Class)| {
        let alone = queued_alone(plan, id);
        let conduct = match (class.gap.filter(|_| is_dwcs(plan)), &class.arrival) {
            (Some(gap), _) => Conduct::InStep { streams: class.count, gap: gap.0 },
            (None, Some(arrival)) if !is_best_effort(plan, id) => {
                Conduct::Keeps(arrival.buckets.clone())
            }
            (None, _) => Conduct::Free,
        };
        let longest = match &conduct {
            Conduct::Keeps(buckets) => {
                let least = buckets.iter().map(|line| line.bucket).min();
                plan.max_packet(class).min(least.unwrap_or(plan.link.max_packet))
            }
            _ => plan.max_packet(class),
        };
        let isolated = alone && plan.network.is_none();
        let shortest = plan.network.as_ref().map_or(1, |_| plan.link.min_packet.0) as u32;
        Contract { shortest, longest: longest.0 as u32, conduct, isolated }
    };
    (0..).map(ClassId).zip(&plan.classes).map(contract).collect()
}

fn is_dwcs(plan: &Plan) -> bool {
    matches!(plan.scheduler, SchedulerSpec::Dwcs(_))
}

/// The class that holds the scheduler in which a class waits, if it is not the link's.
pub fn share_of(plan: &Plan, id: ClassId) -> Option<ClassId> {
    let up = |id: &ClassId| plan.classes[id.index()].parent;
    std::iter::successors(Some(id), up).find(|id| plan.classes[id.index()].inside.is_some())
}

/// The scheduler in which a class's packets wait for one another.
pub fn scheduler_of(plan: &Plan, id: ClassId) -> SchedulerSpec {
    match share_of(plan, id) {
        Some(share) => plan.classes[share.index()].scheduling().scheduler,
        None => plan.scheduler,
    }
}

/// Whether a class is served as best effort beside others with deadlines: whatever it sends, it can
/// do no harm.
fn is_best_effort(plan: &Plan, id: ClassId) -> bool {
    let edf = |spec| matches!(spec, SchedulerSpec::Edf(_));
    let best_effort = plan.classes[id.index()].relative_deadline().is_none();
    plan.network.is_none() && best_effort && edf(scheduler_of(plan, id))
}

/// Whether no class's bound depends on what another one sends.
fn queued_alone(plan: &Plan, id: ClassId) -> bool {
    match share_of(plan, id) {
        Some(share) => plan.classes[share.index()].is_leaf(),
        None => matches!(
            plan.scheduler,
            SchedulerSpec::Wfq
                | SchedulerSpec::Wf2q
                | SchedulerSpec::Drr
                | SchedulerSpec::Qfq
                | SchedulerSpec::Hfsc
        ),
    }
}
