//! `[network.NAME]` and `[node.NAME]`.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use laxity::units::Nanos;

use super::link::{check_transmission, found};
use super::outside::Outside;
use super::scheduling::scheduling_of_part;
use super::wire;
use crate::discipline::tdp;
use crate::edit;
use crate::error::{Fault, Span, shown};
use crate::model::{
    Clock, Hop, LinkSpec, Network, NetworkLink, Node, NodeId, Plan, Scheduling, Source,
};
use crate::raw::{self, At, MOST, Number, Table, positive};
use crate::topology::Topology;

/// The longest name of a link or a node, in characters.
const LONGEST_NAME: usize = 64;
/// The most that a clock is wrong when it was just set.
const LARGEST_OFFSET: Nanos = Nanos(60_000_000_000);
/// The most that a clock drifts, in millionths.
const LARGEST_DRIFT: f64 = 10_000.0;
/// How often clocks are set.
const SHORTEST_SYNC: Nanos = Nanos(1_000);
const LONGEST_SYNC: Nanos = Nanos(3_600_000_000_000);

/// What a plan says of its network.
pub(super) struct NetworkTables<'a> {
    /// Links that are not written one by one, and where they are asked for.
    pub topology: Option<(Topology, &'a At<raw::Topology>)>,
    pub links: raw::Links,
    pub nodes: raw::Nodes,
}

impl NetworkTables<'_> {
    /// Where it is written which links are regulated, by their names.
    pub(super) fn regulated(&self) -> Vec<(String, Span)> {
        let at = |(name, Table(link)): &(At<String>, Table<raw::NetworkLink>)| {
            Some((name.value.clone(), link.regulate.as_ref()?.span.clone()))
        };
        self.links.0.iter().filter_map(at).collect()
    }
}

/// Refuses regulators to which packets may come in another order than they were sent in, or twice:
/// what they hold up would be the wrong ones, so that they would add to delays without limit.
pub(super) fn check_order(plan: &Plan, regulated: &[(String, Span)]) -> Result<(), Fault> {
    let Some(on) = plan.network_plan() else { return Ok(()) };
    if regulated.is_empty() {
        return Ok(());
    }
    let is_mixing = |link: &&NetworkLink| !link.keeps_order();
    for source in &plan.sources {
        let back: Vec<Hop> = source.path().iter().rev().map(|hop| hop.reversed()).collect();
        let back = matches!(source, Source::Tcp(_)).then_some(&back[..]);
        let of_any = || plan.leaves().map(|(class, _)| class).collect();
        for class in source.class().map_or_else(of_any, |class| vec![class]) {
            for path in std::iter::once(&source.path()[..]).chain(back) {
                let Some(last) = on.plan.regulated(class, path).last() else { continue };
                let Some(mixing) =
                    path[..last].iter().map(|hop| on.network.link(*hop)).find(is_mixing)
                else {
                    continue;
                };
                let link = &on.network.link(path[last]).name;
                let at = regulated.iter().find(|(name, _)| name == link);
                let message = format!(
                    "`regulate` behind link `{}`, which has `reorder` or `duplicate`",
                    shown(&mixing.name)
                );
                let help =
                    "packets are held up in the order in which they come: take one of them out";
                return Err(Fault::new(at.map(|(_, span)| span.clone()), message).help(help));
            }
        }
    }
    Ok(())
}

pub(super) fn read(
    written: NetworkTables<'_>,
    link: &LinkSpec,
    delay: Nanos,
    outside: &mut Outside<'_>,
) -> Result<Option<Network>, Fault> {
    let NetworkTables { topology, links: raw, nodes: raw_nodes } = written;
    if raw.0.is_empty() && topology.is_none() {
        return match raw_nodes.0.first() {
            None => Ok(None),
            Some((name, _)) => Err(Fault::at(&name.span, "a node without a network")
                .help("add links, such as `[network.uplink]` with `between = [\"a\", \"b\"]`")),
        };
    }
    if raw.0.len() > MOST {
        let message = format!("more than {MOST} links, the most there may be");
        return Err(Fault::at(&raw.0[MOST].0.span, message));
    }
    let mut links = Links {
        outside,
        link,
        delay,
        nodes: Nodes::default(),
        links: Vec::new(),
        joined: HashMap::new(),
    };
    let mut drawn = HashMap::new();
    if let Some((topology, at)) = topology {
        drawn = links.draw(&topology, &at.span)?;
    }
    for (name, Table(raw)) in raw.0 {
        match drawn.get(&name.value) {
            Some(&at) => links.change(at, &name, &raw)?,
            None => links.add(name, &raw)?,
        }
    }
    let Links { mut nodes, links, .. } = links;
    for (name, Table(raw)) in raw_nodes.0 {
        let position = nodes.positions.get(&name.value).ok_or_else(|| {
            Fault::at(&name.span, format!("no link joins a node `{}`", shown(&name.value)))
                .accepted(&name.value, nodes.nodes.iter().map(|node| node.name.as_str()))
        })?;
        nodes.nodes[position.index()] = node(name.value, &raw, link)?;
    }
    Ok(Some(Network { nodes: nodes.nodes, links }))
}

/// The links met so far.
struct Links<'a, 'b> {
    outside: &'a mut Outside<'b>,
    link: &'a LinkSpec,
    delay: Nanos,
    nodes: Nodes,
    links: Vec<NetworkLink>,
    /// By the nodes that they join.
    joined: HashMap<BTreeSet<NodeId>, usize>,
}

impl Links<'_, '_> {
    /// Adds those of a topology; tells where they are, by name.
    fn draw(&mut self, topology: &Topology, at: &Span) -> Result<HashMap<String, usize>, Fault> {
        let numbers: Vec<NodeId> =
            topology.nodes.iter().map(|name| self.nodes.named(name)).collect();
        let mut drawn = HashMap::new();
        for link in &topology.links {
            let name = topology.name(link);
            let between = link.between.map(|node| numbers[node as usize]);
            let rate = link.rate.unwrap_or(self.link.rate);
            check_transmission(rate, self.link.max_packet, at)?;
            self.joined.insert(BTreeSet::from(between), self.links.len());
            if drawn.insert(name.clone(), self.links.len()).is_some() {
                return Err(Fault::at(at, format!("two links are called `{}`", shown(&name))));
            }
            let plain = NetworkLink::new(name, between, self.link, self.delay);
            self.links.push(NetworkLink {
                rate,
                trace: plain.trace.filter(|_| link.rate.is_none()),
                autorate: plain.autorate.filter(|_| link.rate.is_none()),
                delay: link.delay.unwrap_or(plain.delay),
                ..plain
            });
        }
        Ok(drawn)
    }

    /// What a link of a topology has of its own.
    fn change(
        &mut self,
        at: usize,
        name: &At<String>,
        raw: &raw::NetworkLink,
    ) -> Result<(), Fault> {
        if let Some(between) = &raw.between {
            let message = format!("`between` of `{}`, which `topology` has", shown(&name.value));
            return Err(
                Fault::at(&between.span, message).help("leave it out, or choose another name")
            );
        }
        let before = self.links[at].clone();
        self.links[at] = self.with(before, raw)?;
        Ok(())
    }

    /// Adds one that the plan writes.
    fn add(&mut self, name: At<String>, raw: &raw::NetworkLink) -> Result<(), Fault> {
        check_name(&name, "link")?;
        let raw_between = raw.between.as_ref().ok_or_else(|| {
            Fault::at(&name.span, "`between` is missing").help(
                "write the two nodes that the link joins, such as `between = [\"r1\", \"r2\"]`; only links of \
                 `topology` go without",
            )
        })?;
        let between = self.nodes.pair(raw_between)?;
        let ends = BTreeSet::from(between);
        if let Some(other) = self.joined.insert(ends, self.links.len()) {
            let message = format!("link `{}` joins the same nodes", self.links[other].name);
            let help = "two nodes have one link at most: put a node in between for a second";
            return Err(Fault::at(&raw_between.span, message).help(help));
        }
        let plain = NetworkLink::new(name.value, between, self.link, self.delay);
        let link = self.with(plain, raw)?;
        self.links.push(link);
        Ok(())
    }

    /// A link with what is written of it.
    fn with(&mut self, plain: NetworkLink, raw: &raw::NetworkLink) -> Result<NetworkLink, Fault> {
        if let Some(rate) = &raw.rate {
            check_transmission(rate.value.least(), self.link.max_packet, &rate.span)?;
        }
        let trace = match &raw.rate_trace {
            Some(file) => {
                let key = edit::Path::new(["network", &plain.name, "rate-trace"]);
                Some(self.outside.trace(key, file)?)
            }
            None => plain.trace.filter(|_| raw.rate.is_none()),
        };
        let own = |at| own_scheduling(at, self.link);
        let rate = raw.rate.as_ref().map_or(plain.rate, |rate| rate.value.least());
        let (trace, autorate) = match &raw.rate {
            Some(rate) => found(&rate.value, trace)?,
            None => match plain.autorate {
                Some(autorate) => (None, Some(Arc::new(autorate.before(trace)))),
                None => (trace, None),
            },
        };
        if let Some(At { value: raw::Unit(peak), span }) = &raw.peak
            && *peak < rate
        {
            let message = format!("`peak` is {peak}, below the link's `rate`, {rate}");
            return Err(Fault::at(span, message).help(
                "it is the highest rate at which the link sends, and `rate` what it is sure of",
            ));
        }
        let private = raw.private.as_ref().map_or(plain.private, |private| private.value);
        if let (true, Some(_), Some(at)) = (private, &autorate, &raw.private) {
            return Err(Fault::at(&at.span, "`private` of a link whose `rate` is found")
                .help("every flow has such a link to itself: write one rate for them"));
        }
        Ok(NetworkLink {
            rate,
            trace,
            autorate,
            latency: raw.latency.as_ref().map_or(plain.latency, |latency| latency.value.0),
            fastest: raw.peak.as_ref().map(|peak| peak.value.0).or(plain.fastest),
            delay: raw.delay.as_ref().map_or(plain.delay, |delay| delay.value.0),
            private,
            scheduling: raw.scheduler.as_ref().map(own).transpose()?,
            loss: raw.loss.as_ref().map(wire::loss).transpose()?,
            jitter: raw.jitter.as_ref().map(wire::jitter).transpose()?,
            reorder: raw.reorder.as_ref().map(wire::reorder).transpose()?,
            duplicate: raw.duplicate.as_ref().map(wire::duplicate).transpose()?,
            regulate: raw.regulate.as_ref().map_or(plain.regulate, |regulate| regulate.value),
            ..plain
        })
    }
}

fn node(name: String, raw: &raw::Node, link: &LinkSpec) -> Result<Node, Fault> {
    let clock = raw.clock.as_ref().map(|Table(clock)| clock_of(clock)).transpose()?;
    Ok(Node {
        name,
        scheduling: raw.scheduler.as_ref().map(|at| own_scheduling(at, link)).transpose()?,
        forwarding_delay: raw.forwarding_delay.as_ref().map(tdp::forwarding_delay).transpose()?,
        clock: clock.unwrap_or_default(),
    })
}

/// The discipline of a link or a node, which time-driven priority is not: its frames are all
/// nodes'.
fn own_scheduling(at: &At<Table<raw::Scheduler>>, link: &LinkSpec) -> Result<Scheduling, Fault> {
    let help = "write it in `[scheduler]`, and give what is not in step another discipline";
    scheduling_of_part(at, link, "for a part of the network", help)
}

fn clock_of(raw: &raw::Clock) -> Result<Clock, Fault> {
    let offset = match (&raw.ahead, &raw.behind) {
        (Some(_), Some(behind)) => {
            return Err(Fault::at(&behind.span, "`behind` and `ahead` of one clock")
                .help("leave one of them out"));
        }
        (ahead, behind) => {
            let nanos = |time: &Option<raw::Quantity<Nanos>>| match time {
                Some(At { value: raw::Unit(time), span }) if *time > LARGEST_OFFSET => {
                    Err(Fault::at(span, format!("a clock that is wrong by {time}"))
                        .help(format!("at most {LARGEST_OFFSET} is accepted")))
                }
                time => Ok(time.as_ref().map_or(0, |time| time.value.0.0 as i64)),
            };
            nanos(ahead)? - nanos(behind)?
        }
    };
    let drift = match raw.drift {
        None => 0,
        Some(At { value: Number(drift), span: _ }) if drift.abs() <= LARGEST_DRIFT => {
            (drift * 1e3).round() as i64
        }
        Some(At { value: Number(drift), ref span }) => {
            return Err(Fault::at(span, format!("`drift` is {drift} millionths"))
                .help(format!("{LARGEST_DRIFT} at most, either way, is accepted")));
        }
    };
    let sync = raw.sync.as_ref().map(positive("sync")).transpose()?;
    if let (Some(sync), Some(At { span, .. })) = (sync, &raw.sync)
        && !(SHORTEST_SYNC..=LONGEST_SYNC).contains(&sync)
    {
        return Err(Fault::at(span, format!("`sync` is {sync}"))
            .help(format!("a clock is set every {SHORTEST_SYNC} to {LONGEST_SYNC}")));
    }
    Ok(Clock { offset, drift, sync: sync.unwrap_or(Clock::default().sync) })
}

/// The nodes met so far.
#[derive(Default)]
struct Nodes {
    nodes: Vec<Node>,
    positions: HashMap<String, NodeId>,
}

impl Nodes {
    fn pair(&mut self, raw: &At<Vec<At<String>>>) -> Result<[NodeId; 2], Fault> {
        let help = "write the two nodes that the link joins, such as [\"r1\", \"r2\"]";
        let [from, to] = &raw.value[..] else {
            let message = format!("`between` names {} nodes, not two", raw.value.len());
            return Err(Fault::at(&raw.span, message).help(help));
        };
        if from.value == to.value {
            return Err(Fault::at(&to.span, "a link from a node to itself").help(help));
        }
        Ok([self.node(from)?, self.node(to)?])
    }

    fn node(&mut self, name: &At<String>) -> Result<NodeId, Fault> {
        check_name(name, "node")?;
        Ok(self.named(&name.value))
    }

    fn named(&mut self, name: &str) -> NodeId {
        let next = NodeId::from_index(self.nodes.len());
        let position = *self.positions.entry(name.to_owned()).or_insert(next);
        if position == next {
            self.nodes.push(Node::new(name));
        }
        position
    }
}

fn check_name(At { value: name, span }: &At<String>, of: &str) -> Result<(), Fault> {
    let fits = (1..=LONGEST_NAME).contains(&name.chars().count());
    if fits && !name.trim().is_empty() && !name.chars().any(char::is_control) {
        Ok(())
    } else {
        Err(Fault::at(span, format!("`{}` cannot be the name of a {of}", shown(name)))
            .help(format!("a name has 1 to {LONGEST_NAME} printable characters, such as r1")))
    }
}
