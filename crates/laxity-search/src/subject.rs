//! What is under search: a plan, what is proved of it, and the schedulers that it builds.

use std::collections::HashMap;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::regulator::Regulator;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_adversary::contract::{Contract, contracts};
use laxity_answers::Proof;
use laxity_answers::network::FramesProof;
use laxity_plan::model::SchedulerSpec;
use laxity_plan::network::NetworkPlan;
use laxity_plan::paths::OutputId;
use laxity_plan::tdp::{FramedNetwork, Framing};
use laxity_plan::{Plan, PlanError};

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
    /// The ways that packets take, by the name of their class or path; `None` for names that
    /// nothing has.
    pub feeds: Vec<Option<Feed>>,
    /// What holds packets in front of outputs, without history.
    pub regulators: Vec<Regulator>,
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
    /// By how much longer packets may be under way behind it, in ns.
    pub jitter: u64,
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
    /// The regulator in front of each, if there is one.
    pub regulators: Vec<Option<usize>>,
    /// The delay bound over the whole of it.
    pub bound: Option<u64>,
}

impl Subject {
    /// The plan of a draft.
    ///
    /// # Errors
    /// If the plan is refused.
    pub fn new(draft: &Draft) -> Result<Subject, PlanError> {
        let plan = Plan::parse(&draft.text(), "searched.toml", Path::new("."))?;
        Ok(match (plan.network_plan(), plan.framed_network()) {
            (None, _) => Subject::on_a_link(draft, &plan),
            (Some(_), Some(framed)) => Subject::in_frames(draft, framed),
            (Some(on), None) => Subject::on_a_network(draft, on),
        })
    }

    fn on_a_link(draft: &Draft, plan: &Plan) -> Subject {
        let admitted = Proof::link(plan).and_then(|proof| proof.admitted());
        let bounds = plan.bounds().into_iter().map(|bound| bound.ok().map(|Nanos(ns)| ns));
        let rate = plan.link.rate.0;
        let output =
            Output { plan: plan.clone(), rate, delay: 0, jitter: 0, bounds: bounds.collect() };
        let mut feeds = Vec::new();
        for class in &draft.classes {
            let number = plan.class(&format!("c{}", class.name)).map(ClassId::index);
            let leaf = number.filter(|number| plan.classes[*number].is_leaf());
            let feed = leaf.map(|class| Feed {
                class,
                outputs: vec![0],
                regulators: vec![None],
                bound: None,
            });
            set(&mut feeds, class.name, feed);
        }
        Subject {
            keeps_windows: plan.keeps_windows(),
            outputs: vec![output],
            feeds,
            ..Subject::bare(draft, plan, admitted)
        }
    }

    fn on_a_network(draft: &Draft, on: NetworkPlan<'_>) -> Subject {
        let analysis = on.analysis();
        let (plan, paths) = (on.plan, analysis.paths());
        let ns = |time: Nanos| time.0;
        let mut outputs = Vec::new();
        for (id, output) in paths.output_ids().zip(&paths.outputs) {
            let here = if output.knows_arrivals() {
                paths.plan_at(on, id)
            } else {
                on.plan.at_hop(output.hop)
            };
            let link = on.network.link(output.hop);
            let (delay, jitter) = (link.delay.0, link.most_jitter().unwrap_or_default().0);
            let bound = |class| Some(ns(output.class(ClassId(class))?.bound.ok()?));
            let bounds = (0..plan.classes.len() as u32).map(bound).collect();
            outputs.push(Output { rate: here.link.rate.0, plan: here, delay, jitter, bounds });
        }
        let (mut feeds, mut regulators, mut ways) = (Vec::new(), Vec::new(), HashMap::new());
        for (path, source) in draft.paths.iter().zip(&plan.sources) {
            let class = source.class().expect("a path's source");
            let route = paths.route(class, source.path(), false);
            let route = route.map(|route| &paths.routes[route.index()]);
            // A regulator for each way on which packets of a class come to it.
            let mut regulator = |outputs: &[OutputId]| {
                *ways.entry((class, outputs.to_vec())).or_insert_with(|| {
                    let meter = plan.meter(&plan.classes[class.index()]);
                    regulators.push(Regulator::new(meter.expect("what is held has a contract")));
                    regulators.len() - 1
                })
            };
            let feed = route.map(|route| Feed {
                class: class.index(),
                outputs: route.outputs.iter().map(|output| output.index()).collect(),
                regulators: (0..route.outputs.len())
                    .map(|place| {
                        let is_held = route.regulated.contains(&place);
                        is_held.then(|| regulator(&route.outputs[..=place]))
                    })
                    .collect(),
                bound: route.bound().ok().map(ns),
            });
            set(&mut feeds, path.name, feed);
        }
        let admitted = Proof::network(&analysis).admitted();
        Subject { outputs, feeds, regulators, ..Subject::bare(draft, plan, admitted) }
    }

    fn in_frames(draft: &Draft, framed: FramedNetwork<'_>) -> Subject {
        let plan = framed.plan;
        let framing = Framing::new(framed);
        let bounds = framing.bounds();
        let mut feeds = Vec::new();
        for (path, source) in draft.paths.iter().zip(&plan.sources) {
            let class = source.class().expect("a path's source");
            let bound = bounds.get(&class).and_then(|bound| Some(bound.as_ref().ok()?.delay().0));
            let class = class.index();
            let feed = Feed { class, outputs: Vec::new(), regulators: Vec::new(), bound };
            set(&mut feeds, path.name, Some(feed));
        }
        let admitted = FramesProof::new(&framing).admitted();
        Subject { feeds, ..Subject::bare(draft, plan, admitted) }
    }

    /// A subject without outputs and feeds.
    fn bare(draft: &Draft, plan: &Plan, admitted: Option<bool>) -> Subject {
        Subject {
            draft: draft.clone(),
            plan: plan.clone(),
            admitted,
            simulated: plan.clone(),
            outputs: Vec::new(),
            feeds: Vec::new(),
            regulators: Vec::new(),
            contracts: contracts(plan),
            keeps_windows: false,
            build: |plan| plan.build_scheduler(1),
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

fn set(feeds: &mut Vec<Option<Feed>>, name: u16, feed: Option<Feed>) {
    let at = usize::from(name);
    feeds.resize(feeds.len().max(at + 1), None);
    feeds[at] = feed;
}
