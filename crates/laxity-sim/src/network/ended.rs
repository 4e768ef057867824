//! What is left of a network, or of a part of it, at the end of a run.

use laxity::port::Books;
use laxity::units::Nanos;

use super::carried::HopBooks;
use super::flow::{ClassBooks, Flow};
use super::frames::FrameCounts;
use super::output::Output;
use super::run::NetworkRun;
use super::simulation::{Simulation, hop_of};
use super::summary::Measured;
use crate::record::{Fate, Observer, Record};
use crate::source::{Arrivals, Remarks};
use crate::summary::Outcome;
use crate::windows::Windows;

/// What was counted in one part of a network. Books, and the rest by books, are those of twice the
/// number of a link, and one for the way back.
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

/// Where a packet that still waits comes in the order in which they are told of: by when it came to
/// its output, the output, its flow, when it set out, and its place.
pub(super) type Place = (Nanos, u32, u32, Nanos, u64, u32);

impl<O: Observer> Simulation<'_, O> {
    /// Counts what packets have missed that have not come to their receivers by the end, and lists
    /// those that still wait for a link, in order: those that are on none.
    pub(super) fn close(&mut self) -> Vec<(Place, Record)> {
        let end = self.end;
        let outputs = &self.topology.outputs;
        let mut waits = vec![true; self.transits.most()];
        for packet in outputs.iter().flat_map(Output::under_way) {
            waits[packet as usize] = false;
        }
        let mut waiting = Vec::new();
        for (key, transit) in self.transits.iter() {
            let (class, flow) = (transit.class.index(), &self.flows[transit.flow as usize]);
            if transit.is_measured(self.run.on.plan) {
                let promised = self.run.on.plan.classes[class].end_to_end;
                self.classes[class].miss(transit, end - transit.sent, promised, flow.bound);
            }
            if waits[key as usize] {
                let output = self.topology.routes[transit.at as usize].output();
                let books = outputs[output].books;
                let packet = transit.packet(transit.arrived, key.into());
                self.books[books as usize].waits(&packet, end);
                let (hop, fate) = (Some(hop_of(books)), Fate::Queued);
                let number = self.transits.place(transit);
                let place = (
                    packet.arrival,
                    output as u32,
                    transit.flow,
                    transit.sent,
                    number,
                    packet.length,
                );
                waiting.push((place, Record { packet, hop, deadline: None, fate }));
            }
        }
        waiting.sort_by_key(|(place, _)| *place);
        waiting
    }

    pub(super) fn into_ended(self) -> Ended {
        let mut outputs = vec![0; self.books.len()];
        let mut lost = vec![0; self.books.len()];
        let mut duplicated = lost.clone();
        let mut frames = vec![None; self.books.len()];
        for (number, output) in self.topology.outputs.iter().enumerate() {
            let books = output.books as usize;
            outputs[books] += 1;
            if let Some(wire) = &output.peculiar {
                lost[books] += wire.lost();
                duplicated[books] += wire.duplicated;
            }
            let input = self.topology.inputs.get(number).and_then(Option::as_ref);
            frames[books] = output.frame_counts(input);
        }
        let (mut books, mut busy, mut windows) = (Vec::new(), Vec::new(), Vec::new());
        for (of_hop, was_busy, watched) in self.books.into_iter().map(HopBooks::close) {
            books.push(of_hop);
            busy.push(was_busy);
            windows.push(watched);
        }
        let ties = self.topology.outputs.iter().filter_map(Output::ties);
        Ended {
            end: self.end,
            outputs,
            lost,
            duplicated,
            frames,
            ties: ties.map(|ties| ties.count).sum(),
            under_way: self.topology.outputs.iter().map(|output| output.under_way().count()).sum(),
            remarks: self.sources.iter().map(|source| source.feed.remarks()).sum(),
            books,
            busy,
            windows,
            flows: self.flows,
            classes: self.classes,
            nonconforming: self.policer.into_nonconforming(),
            hops: self.hops,
        }
    }
}

impl Ended {
    /// With what was counted in another part. Outputs of which nothing is counted in a part have
    /// empty books there.
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
