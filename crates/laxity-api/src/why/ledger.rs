//! Why packets of a live link were delayed, from its ledger.

use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use laxity::units::{Bytes, Nanos};
use laxity_answers::why::{JointClasses, LiveGatherer};
use laxity_forward::ledger::{Entry, LedgerError, Reader};
use laxity_forward::{ArrivedPacket, Event};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_sim::Progress;
use laxity_sim::error::SimError;
use laxity_sim::source::{Arrival, Arrivals};

use super::{Change, Question, WhyResult, compare};
use crate::repeat::{LedgerLink, RepeatError, repeat_on};
use crate::{Error, Traffic};

/// The ledger of a live link, whose packets are asked about.
pub struct Ledger {
    path: PathBuf,
    link: LedgerLink,
    classes: JointClasses,
}

/// Whether a file is a ledger, of any version.
pub fn is_ledger(path: &Path) -> bool {
    let reader = File::open(path).map(|file| Reader::new(BufReader::new(file)));
    let is_file = path.metadata().is_ok_and(|found| found.is_file());
    is_file
        && reader
            .is_ok_and(|reader| !matches!(reader, Err(LedgerError::NoLedger | LedgerError::Io(_))))
}

impl Ledger {
    /// Reads the plans of a ledger. Their classes may have keys of these other disciplines.
    ///
    /// # Errors
    /// If it is no ledger, cannot be read, or its link was emulated or its rate found.
    pub fn read(path: &Path, others: &[Kind]) -> Result<Ledger, Error> {
        let link = open(path).and_then(|file| LedgerLink::read(file, others));
        let link = link.map_err(|error| error_of(path, error))?;
        if link.plans.iter().any(|plan| plan.link.wire.is_some()) {
            return Err(Error::question(format!(
                "{}: its link was emulated, where packets do not wait for late choices: \
                 `laxity replay` repeats it, and causes are told of links that are not",
                path.display()
            )));
        }
        if link.plans.iter().any(|plan| plan.link.autorate.is_some()) {
            return Err(Error::question(format!(
                "{}: its link's rate was found, and causes are told at one rate: `laxity replay` \
                 repeats it",
                path.display()
            )));
        }
        let classes = JointClasses::new(&link.plans)
            .ok_or_else(|| Error::question(format!("{}: it has no plan", path.display())))?;
        Ok(Ledger { path: path.to_path_buf(), link, classes })
    }

    /// The plan that the link followed last. It also has the classes of earlier ones.
    pub fn plan(&self) -> &Plan {
        &self.classes.plan
    }

    /// The text of the plan that the link followed last.
    pub fn text(&self) -> &str {
        &self.link.text
    }

    /// The link as it would have been without any late choice.
    pub fn never_late(&self) -> Change {
        let plan = self.classes.plan.clone();
        Change { name: "never late".to_string(), plan, without: Vec::new() }
    }

    /// Replays the link, and says of packets why they were delayed. Each change is simulated with
    /// the arrivals of the ledger, on a link that is never late.
    ///
    /// # Errors
    /// If the ledger cannot be read, the simulator does not send and drop the same, or changes are
    /// asked for and the link followed several plans.
    pub fn why(
        &self,
        question: Question<'_>,
        progress: Progress<'_>,
    ) -> Result<WhyResult<'_>, Error> {
        let Question { changes, proposals, .. } = question;
        let (path, plans) = (self.path.display(), self.link.plans.len());
        if plans > 1 && (!changes.is_empty() || proposals.is_some()) {
            return Err(Error::question(format!(
                "{path}: the link followed {plans} plans, one after the other, and changes are \
                 simulated under one: ask without changes"
            )));
        }
        let leaves = |plan: &Plan| plan.leaves().map(|(class, _)| class).collect::<Vec<_>>();
        if let Some(change) =
            changes.iter().find(|change| leaves(&change.plan) != leaves(self.plan()))
        {
            return Err(Error::question(format!(
                "{}: the classes that have packets in the ledger are to have packets",
                change.name
            )));
        }
        let seed = self.link.header.seed;
        let arrivals = |plan: &Plan, _| LedgerArrivals::open(&self.path, plan.link.max_packet);
        let traffic = Traffic {
            duration: Some(Nanos::LIMIT),
            seed: Some(seed),
            arrivals: Some(&arrivals),
            ..Traffic::default()
        };
        compare(&self.classes.plan, &traffic, question, progress, |sink, _, drops, _| {
            let mut gatherer = LiveGatherer::new(|delay| sink.sent(delay));
            let build = gatherer.schedulers(&self.classes, seed);
            let mut observers = (drops, &mut gatherer);
            let repeated = open(&self.path)
                .and_then(|file| repeat_on(file, &self.link, build, &mut observers));
            let repeated = repeated.map_err(|error| error_of(&self.path, error))?;
            if repeated.difference.is_some() {
                return Err(Error::question(format!(
                    "{path}: the simulator does not do what the ledger says, so it cannot tell \
                     causes: `laxity replay` shows the first difference"
                )));
            }
            if !repeated.gaps.is_empty() {
                return Err(Error::question(format!(
                    "{path}: the ledger has a gap, across which causes cannot be told: `laxity replay` \
                     shows where"
                )));
            }
            Ok(())
        })
    }
}

fn open(path: &Path) -> Result<BufReader<File>, RepeatError> {
    let file = File::open(path).map_err(LedgerError::Io)?;
    Ok(BufReader::new(file))
}

fn error_of(path: &Path, error: RepeatError) -> Error {
    match error {
        RepeatError::Ledger(LedgerError::Io(error)) => {
            Error::Io { path: path.to_path_buf(), error }
        }
        error => Error::question(format!("{}: {error}", path.display())),
    }
}

/// What arrived at the link, but for packets that are too long for it.
struct LedgerArrivals {
    path: PathBuf,
    reader: Reader<BufReader<File>>,
    longest: Bytes,
}

impl LedgerArrivals {
    fn open(path: &Path, longest: Bytes) -> Result<Box<dyn Arrivals>, SimError> {
        let reader = File::open(path).map_err(LedgerError::Io);
        let reader = reader.and_then(|file| Reader::new(BufReader::new(file)));
        let reader = reader.map_err(|error| unreadable(path, error))?;
        Ok(Box::new(LedgerArrivals { path: path.to_path_buf(), reader, longest }))
    }
}

impl Arrivals for LedgerArrivals {
    fn next_arrival(&mut self) -> Result<Option<Arrival>, SimError> {
        for entry in self.reader.by_ref() {
            match entry {
                Ok(Entry::Event(Event::Arrived(arrived)))
                    if Bytes(arrived.length.into()) <= self.longest =>
                {
                    let ArrivedPacket { time, class, flow, length, ecn, ack, .. } = arrived;
                    return Ok(Some(Arrival { time, class, flow, length, ecn, ack }));
                }
                Ok(_) => {}
                Err(LedgerError::CutShort { .. }) => return Ok(None),
                Err(error) => return Err(unreadable(&self.path, error)),
            }
        }
        Ok(None)
    }

    fn is_recording(&self) -> bool {
        true
    }
}

/// A ledger was read before, and cannot be read again.
fn unreadable(path: &Path, error: LedgerError) -> SimError {
    let source = match error {
        LedgerError::Io(error) => error,
        error => io::Error::new(io::ErrorKind::InvalidData, error),
    };
    SimError::System { path: path.to_path_buf(), source }
}
