//! A live link's ledger again, in the simulator.

use std::cell::RefCell;
use std::collections::{BTreeMap, VecDeque};
use std::io::{self, Read, Seek, Write};

use laxity::packet::Packet;
use laxity::scheduler::Scheduler;
use laxity::units::Nanos;
use laxity_forward::ledger::{Entry, Header, LedgerError, Reader};
use laxity_forward::{ArrivedPacket, DeliveredPacket, Event, LossCause};
use laxity_plan::discipline::Kind;
use laxity_plan::{Plan, PlanError};
use laxity_sim::record::{Fate, Observer, Record, WireFate};
use laxity_sim::replay::{Live, QueuedPacket, ReplayError, Step, Wrong, replay_on};
use laxity_sim::source::{Arrival, Introduction};
use laxity_sim::trace::PerfettoTrace;
use serde::Serialize;
use thiserror::Error;

/// What came of it.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Repetition {
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were sent, by both alike.
    pub sent: u64,
    /// Packets that were dropped, by both alike.
    pub dropped: u64,
    /// What became of packets on a wire that was emulated, if there was one; by both alike.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wire: Option<WireRepetition>,
    /// Plans that were followed after the first one.
    pub reloads: u64,
    /// The first packet on which the ledger and the simulator disagree.
    pub difference: Option<Difference>,
    /// Whether the ledger ends within a record, as when its writer was killed.
    pub cut_short: bool,
    /// Where events are not in the ledger. What is between is repeated by itself.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub gaps: Vec<LedgerGap>,
}

/// Events that are not in a ledger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct LedgerGap {
    /// How many they are.
    pub events: u64,
    /// The last time before, in ns.
    pub from_ns: u64,
    /// The first time after, in ns; `None` if the ledger ends with the gap.
    pub until_ns: Option<u64>,
}

/// What became of packets on a wire that was emulated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WireRepetition {
    /// Packets and copies that came out.
    pub delivered: u64,
    /// Copies among them.
    pub copies: u64,
    /// Packets that were lost.
    pub lost: u64,
}

/// A packet on which the ledger and the simulator disagree, in words.
#[derive(Clone, Debug, Serialize)]
pub struct Difference {
    /// What the ledger says.
    pub ledger: Option<String>,
    /// What the simulator does.
    pub simulator: Option<String>,
}

/// Why a ledger is not repeated.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RepeatError {
    /// It cannot be read.
    #[error(transparent)]
    Ledger(#[from] LedgerError),
    /// A plan in it cannot be.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It is that of no link.
    #[error(transparent)]
    Replay(#[from] ReplayError),
}

/// What a ledger says of its link.
pub(crate) struct LedgerLink {
    /// What is not in the plans.
    pub header: Header,
    /// The plans that it followed, one after the other.
    pub plans: Vec<Plan>,
    /// The text of the last of them.
    pub text: String,
}

impl LedgerLink {
    /// Reads it. Classes may have keys of these other disciplines. What follows a record that is
    /// cut short is left out.
    pub(crate) fn read(ledger: impl Read, others: &[Kind]) -> Result<LedgerLink, RepeatError> {
        let reader = Reader::new(ledger)?;
        let mut link = LedgerLink { header: reader.header(), plans: vec![], text: String::new() };
        let mut files = BTreeMap::new();
        for entry in reader {
            match entry {
                Ok(Entry::File { key, text }) => drop(files.insert(key, text)),
                Ok(Entry::Plan(text)) => {
                    link.plans.push(Plan::parse_with(&text, "ledger", &files, others)?);
                    link.text = text;
                    files.clear();
                }
                Ok(Entry::Gap { .. } | Entry::Event(_)) => {}
                Err(LedgerError::CutShort { .. }) => break,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(link)
    }
}

/// Gives the simulator all that arrived, how late the link chose, and the reloads, and compares
/// every dispatch and drop with those that the ledger has, but for the deadlines of what was
/// dropped. It goes through the ledger twice.
///
/// # Errors
/// If it is no ledger, or one of no link.
pub fn repeat(ledger: impl Read + Seek) -> Result<Repetition, RepeatError> {
    repeat_observed(ledger, |_| ()).map(|(repeated, ())| repeated)
}

/// Repeats a ledger as [`repeat`] does, and writes a trace of what the simulator does into a file.
/// The trace ends with the first packet on which the two disagree.
///
/// # Errors
/// As [`repeat`]. Whether the file could be written is the second result.
pub fn repeat_traced(
    ledger: impl Read + Seek,
    file: impl Write + Send,
) -> Result<(Repetition, io::Result<()>), RepeatError> {
    let (repeated, trace) = repeat_observed(ledger, |plan| PerfettoTrace::new(file, plan))?;
    Ok((repeated, trace.finish()))
}

/// Repeats a ledger, with an observer that is made for its first plan.
fn repeat_observed<O: Observer>(
    mut ledger: impl Read + Seek,
    observer: impl FnOnce(&Plan) -> O,
) -> Result<(Repetition, O), RepeatError> {
    let link = LedgerLink::read(&mut ledger, &[])?;
    ledger.rewind().map_err(LedgerError::Io)?;
    let seed = link.header.seed;
    let build =
        |plan: &Plan, _: Option<(Nanos, Box<dyn Scheduler + Send>)>| plan.build_scheduler(seed);
    let first = link.plans.first().ok_or(ReplayError { step: 0, wrong: Wrong::NoPlan })?;
    let mut observer = observer(first);
    let repeated = repeat_on(ledger, &link, build, &mut observer)?;
    Ok((repeated, observer))
}

/// The same with schedulers of the caller's own, and an observer of what the simulator does.
pub(crate) fn repeat_on<S: Scheduler>(
    ledger: impl Read,
    link: &LedgerLink,
    build: impl FnMut(&Plan, Option<(Nanos, S)>) -> S,
    observer: &mut dyn Observer,
) -> Result<Repetition, RepeatError> {
    let fates = RefCell::new(Fates::default());
    let mut steps = Steps::new(Reader::new(ledger)?, &fates);
    let Header { seed, backlog, catch_up } = link.header;
    let live = Live { plans: &link.plans, seed, backlog, catch_up };
    let mut observers = (FateObserver(&fates), observer);
    let replayed = replay_on(live, build, &mut steps, &mut observers);
    let failed = steps.error.take();
    let mut fates = fates.into_inner();
    fates.repeated.cut_short = matches!(failed, Some(LedgerError::CutShort { .. }));
    match failed {
        Some(error) if !fates.repeated.cut_short => return Err(error.into()),
        _ => {}
    }
    // A simulator that was led astray need not be able to go on.
    if fates.repeated.difference.is_none() {
        replayed?;
        fates.compare_the_rest();
    }
    Ok(fates.repeated)
}

/// What becomes of packets, by the ledger and by the simulator, as far as not compared yet.
#[derive(Default)]
struct Fates {
    ledger: VecDeque<Outcome>,
    simulator: VecDeque<Outcome>,
    repeated: Repetition,
}

/// What becomes of a packet at the link, or of the packet of a number on the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    Link(Record),
    Wire(u64, WireFate),
}

impl Fates {
    fn compare(&mut self) {
        while let (Some(told), Some(done)) = (self.ledger.front(), self.simulator.front()) {
            if told != done {
                return self.differ();
            }
            match told {
                Outcome::Link(told) => match told.fate {
                    Fate::Sent { .. } => self.repeated.sent += 1,
                    Fate::Dropped(_) => self.repeated.dropped += 1,
                    Fate::Queued => {}
                },
                Outcome::Wire(_, fate) => {
                    let wire = self.repeated.wire.get_or_insert_default();
                    match fate {
                        WireFate::Lost | WireFate::NoRoom => wire.lost += 1,
                        WireFate::Delivered { is_copy, .. } => {
                            wire.delivered += 1;
                            wire.copies += u64::from(*is_copy);
                        }
                    }
                }
            }
            self.ledger.pop_front();
            self.simulator.pop_front();
        }
    }

    fn compare_the_rest(&mut self) {
        self.compare();
        // A ledger may end before it tells the last drops.
        if !self.ledger.is_empty() {
            self.differ();
        }
    }

    fn differ(&mut self) {
        let said = |outcome: Option<&Outcome>| match outcome? {
            Outcome::Link(record) => Some(format!("{record:?}")),
            Outcome::Wire(number, fate) => Some(format!("packet {number} on the wire: {fate:?}")),
        };
        let (ledger, simulator) = (said(self.ledger.front()), said(self.simulator.front()));
        self.repeated.difference.get_or_insert(Difference { ledger, simulator });
    }
}

/// Takes down what becomes of the packets in the simulator.
struct FateObserver<'a>(&'a RefCell<Fates>);

impl Observer for FateObserver<'_> {
    fn record(&mut self, record: &Record) {
        let mut fates = self.0.borrow_mut();
        let deadline = match record.fate {
            Fate::Dropped(_) => None,
            Fate::Sent { .. } | Fate::Queued => record.deadline,
        };
        fates.simulator.push_back(Outcome::Link(Record { deadline, ..*record }));
        fates.compare();
    }

    fn crossed(&mut self, number: u64, fate: WireFate) {
        let mut fates = self.0.borrow_mut();
        fates.simulator.push_back(Outcome::Wire(number, fate));
        fates.compare();
    }
}

/// The steps of the simulator, from the entries of a ledger.
struct Steps<'a, R> {
    entries: Reader<R>,
    fates: &'a RefCell<Fates>,
    error: Option<LedgerError>,
    /// Plans that were read.
    plans: usize,
    /// The time of the last event.
    time: Nanos,
    /// Whether events are not there, until one says from what others follow.
    is_in_gap: bool,
    /// An event that was read and comes next.
    read_next: Option<Event>,
}

/// Flows that are introduced and packets that are queued, with their numbers, where a scheduler
/// begins anew.
type Resumption = (Vec<Introduction>, Vec<(u64, Packet)>);

impl<'a, R: Read> Steps<'a, R> {
    fn new(entries: Reader<R>, fates: &'a RefCell<Fates>) -> Self {
        let (plans, time, is_in_gap, read_next) = (0, Nanos::ZERO, false, None);
        Steps { entries, fates, error: None, plans, time, is_in_gap, read_next }
    }

    fn event(&mut self) -> Option<Event> {
        if let Some(event) = self.read_next.take() {
            return Some(event);
        }
        loop {
            match self.entries.next()? {
                Ok(Entry::Event(Event::Resumed { time, arrived, free_at, queued })) => {
                    self.is_in_gap = false;
                    if let Some(gap) = self.fates.borrow_mut().repeated.gaps.last_mut() {
                        gap.until_ns.get_or_insert(time.0);
                    }
                    return Some(Event::Resumed { time, arrived, free_at, queued });
                }
                Ok(Entry::Event(event)) if !self.is_in_gap => return Some(event),
                Ok(Entry::Gap { lost }) => self.miss(lost),
                Ok(Entry::Plan(_)) => self.plans += 1,
                Ok(Entry::Event(_) | Entry::File { .. }) => {}
                Err(error) => {
                    self.error = Some(error);
                    return None;
                }
            }
        }
    }

    /// Events are not there: what was said before of packets that were queued cannot be compared.
    fn miss(&mut self, events: u64) {
        let mut fates = self.fates.borrow_mut();
        fates.ledger.clear();
        fates.simulator.clear();
        let (from_ns, until_ns) = (self.time.0, None);
        fates.repeated.gaps.push(LedgerGap { events, from_ns, until_ns });
        self.is_in_gap = true;
    }

    /// What is queued where a scheduler begins anew, behind the flows that are introduced. `None`
    /// where some of it is not there.
    fn queued(&mut self, count: u64) -> Option<Resumption> {
        let (mut introduced, mut queued) = (Vec::new(), Vec::new());
        while (queued.len() as u64) < count {
            match self.event()? {
                Event::Introduced { class, flow, hosts } => {
                    introduced.push(Introduction { class, flow, hosts });
                }
                Event::Queued { number, packet } => queued.push((number, packet)),
                other => {
                    self.read_next = Some(other);
                    return None;
                }
            }
        }
        Some((introduced, queued))
    }

    fn tells(&mut self, number: u64, packet: Packet, deadline: Option<Nanos>, fate: Fate) {
        let packet = Packet { handle: number, ..packet };
        let set_out = packet.arrival;
        self.expects(Outcome::Link(Record { packet, set_out, hop: None, deadline, fate }));
    }

    fn expects(&mut self, outcome: Outcome) {
        let mut fates = self.fates.borrow_mut();
        fates.ledger.push_back(outcome);
        fates.compare();
    }

    /// What is queued at a reload follows it, behind the flows that are introduced. `None` where
    /// some of it is not there.
    fn kept(&mut self, count: u64) -> Option<(Vec<Introduction>, Vec<QueuedPacket>)> {
        let (mut introduced, mut kept) = (Vec::new(), Vec::new());
        while (kept.len() as u64) < count {
            match self.event()? {
                Event::Introduced { class, flow, hosts } => {
                    introduced.push(Introduction { class, flow, hosts });
                }
                Event::Kept { number, class, flow } => {
                    kept.push(QueuedPacket { number, class, flow });
                }
                other => {
                    self.read_next = Some(other);
                    if matches!(other, Event::Resumed { .. }) {
                        return None;
                    }
                    break;
                }
            }
        }
        Some((introduced, kept))
    }
}

impl<R: Read> Iterator for Steps<'_, R> {
    type Item = Step;

    fn next(&mut self) -> Option<Step> {
        loop {
            if self.fates.borrow().repeated.difference.is_some() {
                return None;
            }
            match self.event()? {
                Event::Arrived(arrived) => {
                    self.fates.borrow_mut().repeated.arrived += 1;
                    let ArrivedPacket { time, class, flow, length, ecn, ack, .. } = arrived;
                    self.time = time;
                    return Some(Step::Arrival(Arrival { time, class, flow, length, ecn, ack }));
                }
                Event::Sent(sent) => {
                    self.time = sent.start;
                    let fate = Fate::Sent { start: sent.start, departure: sent.departure };
                    self.tells(sent.number, sent.packet, sent.deadline, fate);
                    return Some(Step::Choice { lateness: sent.lateness });
                }
                Event::Dropped(dropped) => {
                    let fate = Fate::Dropped(dropped.reason);
                    self.tells(dropped.number, dropped.packet, None, fate);
                }
                Event::Lost(lost) => {
                    let fate = match lost.cause {
                        LossCause::Chance => WireFate::Lost,
                        LossCause::NoRoom => WireFate::NoRoom,
                    };
                    self.expects(Outcome::Wire(lost.number, fate));
                }
                Event::Delivered(delivered) => {
                    let DeliveredPacket { number, due, is_copy, time, .. } = delivered;
                    self.expects(Outcome::Wire(number, WireFate::Delivered { due, is_copy }));
                    return Some(Step::Delivery { time });
                }
                Event::Idle { lateness, .. } => return Some(Step::Choice { lateness }),
                Event::Rate { time, rate } => return Some(Step::Rate { time, rate }),
                Event::Reloaded { time, kept } => {
                    self.fates.borrow_mut().repeated.reloads += 1;
                    let Some((introduced, kept)) = self.kept(kept) else { continue };
                    return Some(Step::Reload { time, introduced, kept });
                }
                Event::Resumed { time, arrived, free_at, queued } => {
                    let Some((introduced, queued)) = self.queued(queued) else { continue };
                    self.time = time;
                    let plan = self.plans.saturating_sub(1);
                    return Some(Step::Resume { time, plan, arrived, free_at, introduced, queued });
                }
                Event::Introduced { class, flow, hosts } => {
                    return Some(Step::Introduction(Introduction { class, flow, hosts }));
                }
                // What breaks its curve follows from the plan. One kept that is not announced is
                // none of this link's.
                Event::Nonconforming { .. } | Event::Kept { .. } | Event::Queued { .. } => {}
            }
        }
    }
}
