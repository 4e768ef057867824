//! What the kernel did, repeated.
//!
//! The kernel reads its clock within calls that are seen from outside: a packet arrives between the
//! times before and after it was handed over, and was chosen shortly before its stamp. Where a
//! choice depends on when exactly, or on whether a packet came before or after it, this is a tie:
//! all its outcomes are gone on with.

use std::collections::BTreeSet;
use std::fmt;

use laxity::packet::{ClassId, Ecn, FlowId, Packet};
use laxity::sched::Cake;
use laxity::sched::cake::{CakeClass, CakeSettings};
use laxity::scheduler::{DropReason, Scheduler, Withdraw};
use laxity::units::Nanos;

/// How long before its stamp a packet may have been chosen, in ns, and by how much later than that
/// the times of packets before it may be known too late.
const BEFORE_STAMP: [i64; 6] = [0, 10_000, 40_000, -40_000, 150_000, -150_000];
/// By how much the kernel may seem to be ahead of the shaper: what was begun by a stamp that is too
/// late.
const AHEAD: Nanos = Nanos(150_000);
/// A packet that takes longer to be handed over says nothing of when it arrived.
const STILL: Nanos = Nanos(300_000);
/// The most outcomes of ties that are gone on with.
const MOST_STATES: usize = 48;

/// A packet that was handed over to the kernel, in the order of their numbers.
pub(super) struct Arrival {
    pub before: Nanos,
    pub after: Nanos,
    pub flow: u32,
    pub length: u32,
    pub ecn: Ecn,
}

impl Arrival {
    /// Whether nothing ran while it was handed over.
    pub(super) fn stood_still(&self) -> bool {
        self.after - self.before > STILL
    }
}

/// A packet that the kernel sent.
pub(super) struct Departure {
    pub at: Nanos,
    pub packet: u32,
    pub is_marked: bool,
}

/// What came of runs.
#[derive(Default)]
pub(super) struct Outcome {
    runs: usize,
    pub sent: usize,
    pub dropped: usize,
    marked: usize,
    /// Choices that were not those of the stamps.
    ties: usize,
    /// The latest that the kernel was behind the shaper.
    latest: Nanos,
    /// The seeds of runs that differed and were measured again.
    different: Vec<u64>,
}

impl Outcome {
    pub(super) fn add(&mut self, other: &Outcome) {
        self.runs += other.runs;
        self.sent += other.sent;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.ties += other.ties;
        self.latest = self.latest.max(other.latest);
    }

    /// A run differed; how often this one has.
    pub(super) fn differs(&mut self, seed: u64) -> usize {
        self.different.push(seed);
        self.different.iter().filter(|one| **one == seed).count()
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Outcome { runs, sent, dropped, marked, ties, latest, different } = self;
        write!(
            f,
            "{runs} runs alike: {sent} packets sent, {dropped} dropped, {marked} marked; {ties} choices within \
             ties; the shaper late by {latest} at most; measured again: {different:?}"
        )
    }
}

/// The scheduler between two departures.
#[derive(Clone)]
struct State {
    cake: Cake,
    /// How many packets have come.
    come: usize,
    dropped: BTreeSet<u64>,
    /// Departures that were not those of the stamps.
    ties: usize,
    latest: Nanos,
}

/// Repeats what the kernel did, departure by departure.
///
/// # Errors
/// If there is no way in which CAKE does the same.
pub(super) fn replay(
    settings: CakeSettings,
    classes: Vec<CakeClass>,
    arrivals: &[Arrival],
    departures: &[Departure],
) -> Result<Outcome, String> {
    let cake = Cake::new(classes, settings, 0).expect("settings are accepted");
    let dropped = BTreeSet::new();
    let mut states = vec![State { cake, come: 0, dropped, ties: 0, latest: Nanos::ZERO }];
    for (number, departure) in departures.iter().enumerate() {
        let (mut next, mut known, mut why) = (Vec::new(), BTreeSet::new(), None);
        for state in &states {
            for (rank, (come, early)) in ways(state, arrivals, departure).into_iter().enumerate() {
                let mut state = state.clone();
                match state.depart(arrivals, departure, come, early) {
                    Ok(()) => {
                        state.ties += usize::from(rank > 0);
                        if known.insert(state.future()) {
                            next.push(state);
                        }
                    }
                    Err(differs) => why = why.or(Some(differs)),
                }
            }
        }
        if next.is_empty() {
            let why = why.unwrap_or_default();
            return Err(format!("departure {number} of {}: {why}", departures.len()));
        }
        next.sort_by_key(|state| state.ties);
        next.truncate(MOST_STATES);
        states = next;
    }
    let is_whole = |state: &&State| {
        let gone = state.dropped.len() + departures.len();
        state.cake.backlog().packets == 0 && gone == arrivals.len()
    };
    let state = states.iter().find(is_whole).ok_or("other packets are left or dropped")?;
    Ok(Outcome {
        runs: 1,
        sent: departures.len(),
        dropped: state.dropped.len(),
        marked: departures.iter().filter(|it| it.is_marked).count(),
        ties: state.ties,
        latest: state.latest,
        different: Vec::new(),
    })
}

/// How many packets may have come before a departure, and how long before its stamp it may have
/// been chosen, the likeliest first.
fn ways(state: &State, arrivals: &[Arrival], departure: &Departure) -> Vec<(usize, i64)> {
    let come = |by: &dyn Fn(&Arrival) -> bool| {
        arrivals.iter().position(|arrival| !by(arrival)).unwrap_or(arrivals.len())
    };
    let least = come(&|arrival| arrival.after + AHEAD < departure.at).max(state.come);
    let most = come(&|arrival| arrival.before < departure.at).max(least);
    let likely = come(&|arrival| arrival.after < departure.at).clamp(least, most);
    let mut numbers: Vec<_> = (least..=most).collect();
    numbers.sort_by_key(|number| number.abs_diff(likely));
    let with = |number| BEFORE_STAMP.map(|early| (number, early));
    numbers.into_iter().flat_map(with).collect()
}

impl State {
    /// What would be sent and dropped if nothing came any more: states that go on alike are one.
    fn future(&self) -> Vec<u64> {
        let mut cake = self.cake.clone();
        let (mut future, mut now) = (vec![self.come as u64], Nanos::ZERO);
        while let Some(ready) = cake.next_ready(now) {
            now = ready;
            let mut dropped = |packet: Packet, _: DropReason| future.push(!packet.handle);
            let sent = cake.dequeue(now, &mut dropped);
            future.extend(sent.map(|sent| sent.packet.handle));
        }
        future
    }

    /// Sends what the kernel sent.
    fn depart(
        &mut self,
        arrivals: &[Arrival],
        departure: &Departure,
        come: usize,
        early: i64,
    ) -> Result<(), String> {
        let State { cake, dropped, .. } = self;
        let mut drops = |packet: Packet, _: DropReason| {
            dropped.insert(packet.handle);
        };
        for (number, arrival) in arrivals.iter().enumerate().take(come).skip(self.come) {
            let now = Nanos(arrival.before.0.midpoint(arrival.after.0));
            let packet = Packet {
                class: ClassId(arrival.flow),
                flow: FlowId(0),
                length: arrival.length,
                ecn: arrival.ecn,
                arrival: now,
                handle: number as u64,
                ..Packet::default()
            };
            cake.place(now, packet, &mut drops);
        }
        self.come = self.come.max(come);
        let at = Nanos(departure.at.0.saturating_add_signed(-early));
        let Some(opens) = cake.next_ready(Nanos::ZERO) else {
            return Err(format!("packet {} is sent, and nothing is queued", departure.packet));
        };
        if opens > departure.at + AHEAD {
            return Err(format!("the shaper opens {} later", opens - departure.at));
        }
        let sent = cake.dequeue(at.max(opens), &mut drops).map(|sent| sent.packet);
        let Some(sent) = sent else { return Err("nothing is sent".into()) };
        let is_marked = sent.ecn == Ecn::Experienced;
        if (sent.handle, is_marked) != (departure.packet.into(), departure.is_marked) {
            return Err(format!(
                "packet {} (marked: {is_marked}) in place of {} (marked: {})",
                sent.handle, departure.packet, departure.is_marked
            ));
        }
        self.latest = self.latest.max(departure.at.saturating_sub(opens));
        Ok(())
    }
}
