//! What is searched.

use std::fmt;
use std::str::FromStr;

/// A kind of plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Discipline {
    /// A link under EDF.
    Edf,
    /// Hierarchies under H-FSC.
    Hfsc,
    /// Hierarchies under WF2Q+.
    Wf2q,
    /// Schedulers below shares.
    Nested,
    /// Weighted fair queueing.
    Wfq,
    /// Deficit round robin.
    Drr,
    /// Quick fair queueing, QFQ+.
    Qfq,
    /// Static priority.
    Priority,
    /// Windows under DWCS.
    Dwcs,
    /// Networks of links under different disciplines.
    Network,
    /// Networks of time-driven priority.
    Tdp,
}

impl Discipline {
    /// All of them.
    pub const ALL: [Discipline; 11] = [
        Discipline::Edf,
        Discipline::Hfsc,
        Discipline::Wf2q,
        Discipline::Nested,
        Discipline::Wfq,
        Discipline::Drr,
        Discipline::Qfq,
        Discipline::Priority,
        Discipline::Dwcs,
        Discipline::Network,
        Discipline::Tdp,
    ];

    /// Its word.
    pub fn name(self) -> &'static str {
        match self {
            Discipline::Edf => "edf",
            Discipline::Hfsc => "hfsc",
            Discipline::Wf2q => "wf2q",
            Discipline::Nested => "nested",
            Discipline::Wfq => "wfq",
            Discipline::Drr => "drr",
            Discipline::Qfq => "qfq",
            Discipline::Priority => "priority",
            Discipline::Dwcs => "dwcs",
            Discipline::Network => "network",
            Discipline::Tdp => "tdp",
        }
    }
}

impl fmt::Display for Discipline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A word that is none of a discipline's.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{given}` is not searched: accepted are {}", Discipline::ALL.map(Discipline::name).join(", "))]
pub struct UnknownDiscipline {
    given: String,
}

impl FromStr for Discipline {
    type Err = UnknownDiscipline;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let known = Discipline::ALL.into_iter().find(|discipline| discipline.name() == text);
        known.ok_or_else(|| UnknownDiscipline { given: text.escape_debug().to_string() })
    }
}
