//! Sorts of plans that are searched.

use std::fmt;
use std::str::FromStr;

use laxity_plan::discipline::Kind;

use crate::Generator;
use crate::draft::Draft;
use crate::plans::place::Place;
use crate::plans::{self, nested, network};

/// A sort of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    /// Plans under one discipline.
    Kind(Kind),
    /// Schedulers below shares.
    Nested,
    /// Networks of links under different disciplines.
    Network,
    /// Flows that come and go on a link.
    Reservations,
}

impl Discipline {
    /// Every discipline that promises anything, alone and together.
    pub fn all() -> impl Iterator<Item = Discipline> + Clone {
        let kinds = Kind::ALL.iter().copied().filter(|kind| plans::drawing(*kind).is_some());
        let together = [Discipline::Nested, Discipline::Network, Discipline::Reservations];
        kinds.map(Discipline::Kind).chain(together)
    }

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Discipline::Kind(kind) => kind.word(),
            Discipline::Nested => "nested",
            Discipline::Network => "network",
            Discipline::Reservations => "reservations",
        }
    }

    /// Draws a plan, which need not be admitted. `None` if its plans are no drafts: see
    /// [`reservations`](crate::reservations).
    pub fn draw(self, draw: &mut Generator) -> Option<Draft> {
        Some(match self {
            Discipline::Kind(kind) => {
                let drawing =
                    plans::drawing(kind).expect("only what promises anything is searched");
                let draft = drawing(draw);
                // First come, first served bounds nothing on a link.
                if kind == Kind::Fifo { Place::Links.lay(draft, draw) } else { draft }
            }
            Discipline::Nested => nested::draw(draw),
            Discipline::Network => network::draw(draw),
            Discipline::Reservations => return None,
        })
    }

    /// The stream of random numbers for its cases.
    pub(crate) fn stream(self) -> u64 {
        let first = STREAMS.iter().position(|word| *word == self.name());
        let of_kind = |kind: &Kind| Discipline::Kind(*kind) == self;
        let behind = || Kind::ALL.iter().position(of_kind).map(|at| at + STREAMS.len());
        let last = || (self == Discipline::Reservations).then_some(LAST_STREAM);
        first.or_else(behind).or_else(last).expect("a kind, or one of the others") as u64
    }
}

/// The first streams of random numbers. A discipline keeps its stream, so that a case stays the
/// same when others are added.
const STREAMS: [&str; 11] =
    ["edf", "hfsc", "wf2q", "nested", "wfq", "drr", "qfq", "priority", "dwcs", "network", "tdp"];

/// The stream of flows that come and go, behind those of all kinds that there may be.
const LAST_STREAM: usize = 1 << 16;

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that names no sort of plans.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not searched: accepted are {}", words())]
pub struct UnknownDiscipline {
    given: String,
}

/// The words of all sorts.
pub fn words() -> String {
    Discipline::all().map(Discipline::name).collect::<Vec<_>>().join(", ")
}

impl FromStr for Discipline {
    type Err = UnknownDiscipline;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Discipline::all().find(|discipline| discipline.name() == text);
        known.ok_or_else(|| UnknownDiscipline { given: text.escape_debug().to_string() })
    }
}
