//! What is proved of a network, before anything is sent.

mod holds;
mod tables;

pub use holds::Standing;

use std::collections::{BTreeMap, BTreeSet};

use laxity::admit::Unbounded;
use laxity::admit::network::Method;
use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::Nanos;
use laxity_plan::Plan;
use laxity_plan::model::{Class, Hop};
use laxity_plan::network::Networked;
use laxity_plan::paths::{ClassAtOutput, Output, Paths, Route, Unproved};
use laxity_plan::tdp::Assigned;
use serde::Serialize;

use crate::admission::{self, AdmissionView, listed};
use crate::buffers::{self, QueueTooSmall};
use crate::quantity::time;
use crate::visible::line;

/// What is proved of every path and output of a network.
#[derive(Clone, Debug, Serialize)]
pub struct Proof {
    /// The discipline of links that have none of their own.
    pub scheduler: &'static str,
    /// Whether everything that is promised holds; absent when nothing is promised and nothing known.
    pub admitted: Option<bool>,
    /// Why, in a few sentences.
    pub statement: String,
    /// The classes from end to end, a path each.
    pub paths: Vec<PathProof>,
    /// The outputs on these paths.
    pub outputs: Vec<OutputProof>,
    /// The outputs that feed one another in circles, `from → to`.
    pub circles: Vec<String>,
    /// If there are any, the most that all classes may send for bounds to exist, in percent of their arrival
    /// curves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded_up_to_percent: Option<u64>,
}

/// A class along a path.
#[derive(Clone, Debug, Serialize)]
pub struct PathProof {
    /// The class.
    pub class: String,
    /// The nodes from the sender to the receiver.
    pub nodes: Vec<String>,
    /// How many flows take it.
    pub flows: u32,
    /// The delay that is promised from end to end.
    pub deadline_ns: Option<u64>,
    /// The least that any method finds.
    pub bound_ns: Option<u64>,
    /// The method that finds it.
    pub method: Option<&'static str>,
    /// What every method finds that applies, by its name.
    pub methods_ns: BTreeMap<&'static str, u64>,
    /// How much earlier than promised that is.
    pub slack_ns: Option<u64>,
    /// The bounds of all outputs, and propagation.
    pub sum_ns: Option<u64>,
    /// The same where outputs in a row that serve the same packets are one.
    pub once_ns: Option<u64>,
    /// What the longest packet takes through the empty network.
    pub empty_ns: u64,
    /// The output that adds most to the sum, or that has no bound: `from → to`.
    pub binding: Option<String>,
    /// Why there is no bound.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
    /// The outputs on the way.
    pub hops: Vec<HopProof>,
}

/// An output as a class sees it on its path.
#[derive(Clone, Debug, Serialize)]
pub struct HopProof {
    /// The link.
    pub link: String,
    /// From a packet's arrival at the node to its last bit out.
    pub bound_ns: Option<u64>,
    /// From there to the next node.
    pub propagation_ns: u64,
    /// Whether packets are held to the arrival curve of their class before they come there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub regulated: bool,
}

/// An output and the classes that pass it.
#[derive(Clone, Debug, Serialize)]
pub struct OutputProof {
    /// The link.
    pub link: String,
    /// The node that sends.
    pub from: String,
    /// The node that receives.
    pub to: String,
    /// Whether every flow has such a link to itself.
    pub private: bool,
    /// The discipline.
    pub scheduler: &'static str,
    /// Bits a second.
    pub rate_bps: u64,
    /// What comes in the long run of the classes of which that is known.
    pub long_run_bps: u64,
    /// Whether its scheduler can keep what it promises; absent where nothing is known of what
    /// comes, and of one that promises nothing.
    pub fits: Option<bool>,
    /// Why not, in the scheduler's own terms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub why_not: Option<String>,
    /// The classes.
    pub classes: Vec<PassingProof>,
    /// Classes that are promised a delay but not room for all that may wait.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub queues_too_small: Vec<QueueTooSmall>,
}

/// A class at an output.
#[derive(Clone, Debug, Serialize)]
pub struct PassingProof {
    /// Its name.
    pub name: String,
    /// The burst and the rate of its arrival curve there in the long run; absent where that is not known.
    pub burst_bytes: Option<u64>,
    /// Bits a second.
    pub rate_bps: Option<u64>,
    /// The delay that it is promised at every output.
    pub deadline_ns: Option<u64>,
    /// The delay that is proved.
    pub bound_ns: Option<u64>,
    /// Why there is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unbounded: Option<String>,
}

impl Proof {
    /// Of a network.
    pub fn of(on: &Assigned<'_>) -> Proof {
        let (plan, paths) = (on.plan, on.paths());
        let view = View { on: on.on, paths };
        let routes = || paths.routes.iter().filter(|route| !route.acks);
        let mut proof = Proof {
            scheduler: plan.scheduler.name(),
            admitted: None,
            statement: String::new(),
            paths: routes().map(|route| view.path(route)).collect(),
            outputs: (0..paths.outputs.len()).map(|output| view.output(output)).collect(),
            circles: paths
                .cyclic
                .iter()
                .map(|output| view.ends(paths.outputs[*output].hop))
                .collect(),
            bounded_up_to_percent: None,
        };
        let broken = proof.broken(plan);
        let promised = plan.leaves().any(|(_, class)| is_promised(class));
        proof.statement = match (promised, broken.is_empty()) {
            (true, true) => {
                String::from("Every promise holds, at every output and from end to end.")
            }
            (false, true) => String::from(
                "No class that tells what it sends has a deadline. One that keeps to its arrival curve is \
                 delayed no longer than its bound.",
            ),
            (_, false) => format!("Not every promise holds: {}.", listed(&broken)),
        };
        let is_known = proof.paths.iter().any(|path| path.bound_ns.is_some());
        proof.admitted = (promised || is_known || !broken.is_empty()).then_some(broken.is_empty());
        proof
    }

    /// With the load at which bounds are lost, where outputs feed one another: an analysis that is done fourteen times
    /// more.
    pub fn with_stability(mut self, on: &Assigned<'_>) -> Proof {
        if !self.circles.is_empty() && !on.plan.scheduler.room().is_of_networks {
            self.bounded_up_to_percent = on.bounded_up_to();
        }
        self
    }

    /// What is promised and not proved.
    fn broken(&self, plan: &Plan) -> Vec<String> {
        let whole = self.paths.iter().filter_map(|path| {
            let deadline = path.deadline_ns?;
            let what = format!("{} from end to end, {}", path.class, path.nodes.join(" → "));
            unkept(&what, deadline, path.bound_ns, path.unbounded.as_deref())
        });
        let promised = |class: &PassingProof| {
            plan.class(&class.name).is_some_and(|id| tells_arrivals(&plan.classes[id.index()]))
        };
        let single = self.outputs.iter().flat_map(|output| {
            let unfit = output.why_not.as_ref().filter(|_| output.fits == Some(false));
            let unfit = unfit.map(|why| {
                format!("at {} → {}: {}", output.from, output.to, why.trim_end_matches('.'))
            });
            let small = output
                .queues_too_small
                .iter()
                .map(|small| format!("at {} → {}: {small}", output.from, output.to));
            let late = output.classes.iter().filter(|class| promised(class)).filter_map(|class| {
                let what = format!("{} at {} → {}", class.name, output.from, output.to);
                unkept(&what, class.deadline_ns?, class.bound_ns, class.unbounded.as_deref())
            });
            unfit.into_iter().chain(late).chain(small)
        });
        whole.chain(single).collect()
    }

    /// The answer without the tables.
    pub fn view(&self) -> AdmissionView {
        AdmissionView {
            admitted: self.admitted,
            statement: self.statement.clone(),
            details: Vec::new(),
            remarks: self.remarks(),
        }
    }

    /// What is said beside the tables: why bounds are missing, where packets are held, and circles.
    pub fn remarks(&self) -> Vec<String> {
        let mut remarks: Vec<String> = Vec::new();
        for path in &self.paths {
            let Some(why) = &path.unbounded else { continue };
            let at = path.binding.as_ref().map_or(String::new(), |at| format!(" at {at}"));
            let remark = format!("{} has no bound{at}: {why}", path.class);
            if !remarks.contains(&remark) {
                remarks.push(remark);
            }
        }
        let held = self.paths.iter().flat_map(|path| {
            let ends = path.nodes.windows(2).zip(&path.hops);
            ends.filter(|(_, hop)| hop.regulated).map(|(ends, _)| ends.join(" → "))
        });
        let held: BTreeSet<String> = held.collect();
        if !held.is_empty() {
            let held = Vec::from_iter(held).join(", ");
            remarks.push(format!(
                "packets are held to the arrival curves of their classes before these outputs: {held}"
            ));
        }
        if !self.circles.is_empty() {
            let circles = self.circles.join(", ");
            let load = self.bounded_up_to_percent.map_or(String::new(), |percent| {
                format!(", and there are bounds with up to {percent} % of what classes may send")
            });
            remarks.push(format!("what leaves these outputs comes back to them{load}: {circles}"));
        }
        remarks
    }
}

/// Whether a class's deadlines are promises: a network takes them without `arrival`, for order only.
pub(super) fn tells_arrivals(class: &Class) -> bool {
    class.arrival.is_some()
}

fn is_promised(class: &Class) -> bool {
    class.end_to_end.is_some() || class.deadline.is_some() && tells_arrivals(class)
}

/// What is wrong with a bound, if anything.
fn unkept(what: &str, deadline: u64, bound: Option<u64>, why: Option<&str>) -> Option<String> {
    match bound {
        Some(bound) if bound <= deadline => None,
        Some(bound) => Some(format!(
            "{what}, is to take no more than {}, but may take {}",
            time(deadline as f64),
            time(bound as f64)
        )),
        None => Some(format!("{what}, may take any time: {}", why.unwrap_or("nothing is known"))),
    }
}

/// What is looked at.
struct View<'a> {
    on: Networked<'a>,
    paths: &'a Paths,
}

impl View<'_> {
    fn name(&self, class: ClassId) -> String {
        self.on.plan.classes[class.index()].name.clone()
    }

    fn ends(&self, hop: Hop) -> String {
        self.on.network.ends(hop).join(" → ")
    }

    fn path(&self, route: &Route) -> PathProof {
        let ends = || route.path.iter().map(|hop| self.on.network.ends(*hop));
        let nodes = ends().take(1).map(|[from, _]| from).chain(ends().map(|[_, to]| to));
        let class = &self.on.plan.classes[route.class.index()];
        let (deadline, bound) = (class.end_to_end, route.bound());
        let early = |bound: Nanos| deadline?.0.checked_sub(bound.0);
        let bounds = || route.outputs.iter().map(|output| self.bound(*output, route.class));
        let unproved = bounds().position(|bound| bound.is_err());
        let slowest =
            || (0..route.path.len()).max_by_key(|at| bounds().nth(*at).and_then(Result::ok));
        let hop = |(place, (hop, bound)): (usize, (&Hop, Result<Nanos, Unproved>))| {
            let link = self.on.link(*hop);
            HopProof {
                link: link.name.clone(),
                bound_ns: bound.ok().map(|bound| bound.0),
                propagation_ns: link.delay.0,
                regulated: route.regulated.contains(&place),
            }
        };
        let methods = route.bounds.iter().flatten();
        PathProof {
            class: class.name.clone(),
            nodes: nodes.map(str::to_string).collect(),
            flows: route.flows,
            deadline_ns: deadline.map(|deadline| deadline.0),
            bound_ns: bound.ok().map(|bound| bound.0),
            slack_ns: bound.ok().and_then(early),
            method: route.least().ok().map(|least| least.method.name()),
            methods_ns: methods.map(|of| (of.method.name(), of.delay.0)).collect(),
            sum_ns: route.by(Method::Hops).map(|sum| sum.0),
            once_ns: route.by(Method::Once).map(|once| once.0),
            empty_ns: route.unloaded.0,
            binding: unproved.or_else(slowest).map(|at| self.ends(route.path[at])),
            unbounded: bound.err().map(|why| why.to_string()),
            hops: route.path.iter().zip(bounds()).enumerate().map(hop).collect(),
        }
    }

    fn bound(&self, output: usize, class: ClassId) -> Result<Nanos, Unproved> {
        self.paths.outputs[output]
            .class(class)
            .map_or(Err(Unproved::UnboundedUpstream), |of| of.bound)
    }

    fn output(&self, number: usize) -> OutputProof {
        let output = &self.paths.outputs[number];
        let link = self.on.link(output.hop);
        let [from, to] = self.on.network.ends(output.hop).map(str::to_string);
        let here = output.knows_arrivals().then(|| self.paths.plan_at(self.on, number));
        let why_not = here.as_ref().and_then(admission::refusal);
        OutputProof {
            link: link.name.clone(),
            from,
            to,
            private: output.private.is_some(),
            scheduler: self.on.scheduling(output.hop).scheduler.name(),
            rate_bps: link.rate.0,
            long_run_bps: output.long_run().0,
            fits: why_not.as_ref().map(Option::is_none),
            why_not: why_not.flatten(),
            classes: self.passing(output),
            queues_too_small: here.map_or(Vec::new(), |here| too_small(&here, output)),
        }
    }

    fn passing(&self, output: &Output) -> Vec<PassingProof> {
        let of = |passing: &ClassAtOutput| {
            let lines = passing.arrival.as_ref();
            let long_run = lines.and_then(|lines| TokenBucket::slowest(lines));
            PassingProof {
                name: self.name(passing.class),
                burst_bytes: long_run.map(|line| line.bucket.0),
                rate_bps: long_run.map(|line| line.rate.0),
                deadline_ns: self.on.plan.classes[passing.class.index()].deadline.map(|of| of.0),
                bound_ns: passing.bound.ok().map(|bound| bound.0),
                unbounded: passing.bound.err().map(|why| why.to_string()),
            }
        };
        output.classes.iter().map(of).collect()
    }
}

/// The classes that an output's queues have no room for.
fn too_small(here: &Plan, output: &Output) -> Vec<QueueTooSmall> {
    let mut bounds = vec![Err(Unbounded::NoGuarantee); here.classes.len()];
    for passing in &output.classes {
        if let Ok(bound) = passing.bound {
            bounds[passing.class.index()] = Ok(bound);
        }
    }
    buffers::too_small(here, &bounds)
}

const EXPLAINED: &str = "A class's `deadline` is compared with its bound at every output, `end-to-end` with \
    the bound of the whole path: the least that any method finds, which `by` names. All of them hold \
    for classes that keep to their arrival curves.\n";

impl Proof {
    /// The whole answer for people.
    pub fn text(&self, plan: &Plan) -> String {
        let mut text = format!(
            "{}\n{} where links name no other\n\n{}\n\n{}\n",
            line(plan.title.as_deref().unwrap_or("Network")),
            self.scheduler,
            self.tables(),
            admission::line(self.admitted, &self.statement),
        );
        text += EXPLAINED;
        for remark in self.remarks() {
            text += &format!("Note: {remark}.\n");
        }
        text
    }
}
