//! The results of a network, or of a part of it, at the end of a run.

use laxity::port::Books;
use laxity::units::Nanos;

use super::flow::{ClassBooks, Flow};
use super::ids::{FlowKey, PortId};
use super::output::Output;
use super::output::frames::FrameCounts;
use super::plane::DataPlane;
use super::run::NetworkRun;
use super::simulation::Simulation;
use super::summary::Measured;
use crate::record::{Observer, Record};
use crate::source::{Arrivals, Remarks};
use crate::summary::Outcome;
use crate::windows::Windows;

/// The counts of one part of a network. Books, and vectors beside them, are by
/// [`BookId`](super::ids::BookId).
pub(super) struct Ended {
    pub end: Nanos,
    pub books: Vec<Books>,
    pub busy: Vec<Nanos>,
    /// The windows of streams, where they are watched.
    pub windows: Vec<Option<Windows>>,
    /// How many outputs share each of the books.
    pub outputs: Vec<u64>,
    /// Packets lost under way.
    pub lost: Vec<u64>,
    /// Packets that arrive twice.
    pub duplicated: Vec<u64>,
    pub frames: Vec<Option<FrameCounts>>,
    pub flows: Vec<Flow>,
    pub classes: Vec<ClassBooks>,
    /// By class.
    pub nonconforming: Vec<u64>,
    pub hops: u64,
    pub ties: u64,
    pub under_way: usize,
    pub remarks: Remarks,
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
                waiting.push((place, books.waits(topology.outputs[port.index()].book, packet)));
            }
        }
        waiting.sort_by_key(|(place, _)| *place);
        waiting
    }

    pub(super) fn into_ended(self) -> Ended {
        let DataPlane { topology, books, .. } = self.plane;
        let hops = books.hops();
        let (end, departures) = (books.end, books.departures());
        let mut outputs = vec![0; hops];
        let mut lost = vec![0; hops];
        let mut duplicated = vec![0; hops];
        let mut frames = vec![None; hops];
        for (number, output) in topology.outputs.iter().enumerate() {
            let book = output.book.index();
            outputs[book] += 1;
            if let Some(wire) = &output.disturbance {
                lost[book] += wire.lost();
                duplicated[book] += wire.duplicated;
            }
            let input = topology.inputs.get(number).and_then(Option::as_ref);
            frames[book] = output.frame_counts(input);
        }
        let (closed, classes) = books.close();
        let (mut books, mut busy, mut windows) = (Vec::new(), Vec::new(), Vec::new());
        for hop in closed {
            books.push(hop.books);
            busy.push(hop.busy);
            windows.push(hop.windows);
        }
        let ties = topology.outputs.iter().filter_map(Output::ties);
        Ended {
            end,
            outputs,
            lost,
            duplicated,
            frames,
            ties: ties.map(|ties| ties.count).sum(),
            under_way: topology.outputs.iter().map(|output| output.under_way().count()).sum(),
            remarks: self.hosts.sources.iter().map(|source| source.feed.remarks()).sum(),
            books,
            busy,
            windows,
            flows: topology.flows,
            classes,
            nonconforming: self.policer.into_nonconforming(),
            hops: departures,
        }
    }
}

impl Ended {
    /// Adds the counts of another part. Books of hops that begin in the other part are empty here.
    pub(super) fn join(mut self, other: Ended) -> Ended {
        let all = self.books.iter_mut().zip(other.books);
        all.filter(|(own, _)| own.accounts().is_empty()).for_each(|(own, books)| *own = books);
        for (own, windows) in self.windows.iter_mut().zip(other.windows) {
            *own = own.take().or(windows);
        }
        add(&mut self.busy, other.busy);
        add(&mut self.lost, other.lost);
        add(&mut self.duplicated, other.duplicated);
        add(&mut self.nonconforming, other.nonconforming);
        for (own, frames) in self.frames.iter_mut().zip(other.frames) {
            *own = [*own, frames].into_iter().flatten().reduce(FrameCounts::plus);
        }
        for (own, flow) in self.flows.iter_mut().zip(other.flows) {
            own.join(flow);
        }
        self.classes.iter_mut().zip(&other.classes).for_each(|(own, books)| own.add(books));
        self.hops += other.hops;
        self.ties += other.ties;
        self.under_way += other.under_way;
        self.remarks = [self.remarks, other.remarks].into_iter().sum();
        self
    }

    /// What the run measured, from all parts together.
    pub(super) fn outcome(self, run: &NetworkRun<'_>) -> Outcome {
        Outcome { summary: Measured { run, of: &self }.summary(), remarks: self.remarks }
    }
}

fn add<T: std::ops::AddAssign>(own: &mut [T], others: Vec<T>) {
    own.iter_mut().zip(others).for_each(|(own, other)| *own += other);
}
