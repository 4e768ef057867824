//! The results of a network, or of a part of it, at the end of a run.

use laxity::units::Nanos;

use super::books::hop_books::ClosedBooks;
use super::flow::{ClassBooks, Flow};
use super::ids::{FlowKey, PortId};
use super::output::Output;
use super::plane::DataPlane;
use super::run::NetworkRun;
use super::simulation::Simulation;
use super::summary::Measurement;
use crate::record::{Observer, Record};
use crate::source::{Arrivals, Remarks};
use crate::summary::{AutorateSummary, FramesSummary, Outcome};

/// The counts of one part of a network.
pub(super) struct PartResults {
    pub end: Nanos,
    /// By [`BookId`](super::ids::BookId).
    pub hops: Vec<HopCounts>,
    pub flows: Vec<Flow>,
    pub classes: Vec<ClassBooks>,
    /// By class.
    pub nonconforming: Vec<u64>,
    pub departures: u64,
    pub ties: u64,
    pub under_way: usize,
    pub remarks: Remarks,
}

/// The counts of a hop.
pub(super) struct HopCounts {
    pub closed: ClosedBooks,
    /// How many outputs share the books.
    pub outputs: u64,
    /// Packets lost under way.
    pub lost: u64,
    /// Packets that arrive twice.
    pub duplicated: u64,
    pub frames: Option<FramesSummary>,
    pub autorate: Option<AutorateSummary>,
}

/// The order in which observers hear of packets that still wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Place {
    /// When the packet came to its output.
    arrival: Nanos,
    port: PortId,
    flow: FlowKey,
    /// When it set out.
    sent: Nanos,
    /// Its place among those of its flow that set out at one instant.
    number: u64,
    length: u32,
}

impl<O: Observer> Simulation<'_, O> {
    /// Counts what packets have missed that have not come to their receivers by the end, and lists
    /// those that still wait for a link, in order: those that are on none.
    pub(super) fn close(&mut self) -> Vec<(Place, Record)> {
        let DataPlane { topology, transits, books, .. } = &mut self.plane;
        let (plan, end) = (self.run.on.plan, books.end);
        let mut waits = vec![true; transits.most()];
        for packet in topology.outputs.iter().flat_map(Output::under_way) {
            waits[packet.index()] = false;
        }
        let mut waiting = Vec::new();
        for (key, transit) in transits.iter() {
            let (class, flow) = (transit.class.index(), &topology.flows[transit.flow.index()]);
            if transit.is_measured(plan) {
                let promised = plan.classes[class].end_to_end;
                books.classes[class].miss(transit, end - transit.sent, promised, flow.bound);
            }
            if waits[key.index()] {
                let port = topology.output_at(transit.at);
                let packet = transit.packet(transit.arrived, key.into());
                let place = Place {
                    arrival: packet.arrival,
                    port,
                    flow: transit.flow,
                    sent: transit.sent,
                    number: transits.place(transit),
                    length: packet.length,
                };
                let book = topology.outputs[port.index()].book;
                waiting.push((place, books.waits(book, packet, transit.sent)));
            }
        }
        waiting.sort_by_key(|(place, _)| *place);
        waiting
    }

    pub(super) fn into_results(self) -> PartResults {
        let DataPlane { mut topology, books, .. } = self.plane;
        let (end, departures) = (books.end, books.departures());
        let (closed, classes) = books.close();
        let hop = |closed| HopCounts {
            closed,
            outputs: 0,
            lost: 0,
            duplicated: 0,
            frames: None,
            autorate: None,
        };
        let mut hops: Vec<_> = closed.map(hop).collect();
        for (number, output) in topology.outputs.iter_mut().enumerate() {
            let hop = &mut hops[output.book.index()];
            hop.outputs += 1;
            if let Some(wire) = &output.disturbance {
                hop.lost += wire.lost();
                hop.duplicated += wire.duplicated();
            }
            let input = topology.inputs.get(number).and_then(Option::as_ref);
            hop.frames = output.frame_counts(input);
            if let Some(shaper) = output.shaper() {
                hop.autorate = Some(shaper.finish(end));
                hop.lost += hop.autorate.as_ref().map_or(0, |autorate| autorate.lost);
            }
        }
        let ties = topology.outputs.iter().filter_map(Output::ties);
        PartResults {
            end,
            hops,
            ties: ties.map(|ties| ties.count).sum(),
            under_way: topology.outputs.iter().map(|output| output.under_way().count()).sum(),
            remarks: self.hosts.sources.iter().map(|source| source.feed.remarks()).sum(),
            flows: topology.flows,
            classes,
            nonconforming: self.policer.into_nonconforming(),
            departures,
        }
    }
}

impl PartResults {
    /// Adds the counts of another part. Books of hops that begin in the other part are empty here.
    pub(super) fn join(mut self, other: PartResults) -> PartResults {
        self.hops.iter_mut().zip(other.hops).for_each(|(own, hop)| own.join(hop));
        self.flows.iter_mut().zip(other.flows).for_each(|(own, flow)| own.join(flow));
        self.classes.iter_mut().zip(&other.classes).for_each(|(own, books)| own.add(books));
        let counts = self.nonconforming.iter_mut().zip(other.nonconforming);
        counts.for_each(|(own, other)| *own += other);
        self.departures += other.departures;
        self.ties += other.ties;
        self.under_way += other.under_way;
        self.remarks = [self.remarks, other.remarks].into_iter().sum();
        self
    }

    /// What the run measured, from all parts together.
    pub(super) fn outcome(self, run: &NetworkRun<'_>) -> Outcome {
        Outcome { summary: Measurement { run, of: &self }.summary(), remarks: self.remarks }
    }
}

impl HopCounts {
    fn join(&mut self, other: HopCounts) {
        let ClosedBooks { books, busy, windows } = other.closed;
        if self.closed.books.accounts().is_empty() {
            self.closed.books = books;
        }
        self.closed.busy += busy;
        self.closed.windows = self.closed.windows.take().or(windows);
        self.lost += other.lost;
        self.duplicated += other.duplicated;
        self.autorate = self.autorate.take().or(other.autorate);
        self.frames = [self.frames, other.frames].into_iter().flatten().reduce(FramesSummary::plus);
    }
}
