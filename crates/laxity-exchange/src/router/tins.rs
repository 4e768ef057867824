//! The tins of cake: which code points belong together, and what of the link they have.

use super::Urgency;

/// How cake sorts packets by their DSCP (`sch_cake.c`, Linux 6.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "cake has these words")]
pub enum Tins {
    /// All together.
    #[default]
    BestEffort,
    /// Bulk, best effort and voice.
    Diffserv3,
    /// Bulk, best effort, video and voice.
    Diffserv4,
    /// Eight tins by the service class.
    Diffserv8,
    /// Eight tins by the three bits of precedence.
    Precedence,
}

impl Tins {
    /// Every way with its word.
    pub const ALL: [(&'static str, Tins); 5] = [
        ("besteffort", Tins::BestEffort),
        ("diffserv3", Tins::Diffserv3),
        ("diffserv4", Tins::Diffserv4),
        ("diffserv8", Tins::Diffserv8),
        ("precedence", Tins::Precedence),
    ];

    /// The word of cake.
    pub fn word(self) -> &'static str {
        match self {
            Tins::BestEffort => "besteffort",
            Tins::Diffserv3 => "diffserv3",
            Tins::Diffserv4 => "diffserv4",
            Tins::Diffserv8 => "diffserv8",
            Tins::Precedence => "precedence",
        }
    }

    /// The way with this word.
    pub fn from_word(word: &str) -> Option<Tins> {
        Tins::ALL.into_iter().find(|(known, _)| *known == word).map(|(_, tins)| tins)
    }

    /// The code points of the tins that are this urgent, as values in a match.
    pub fn code_points(self, urgency: Urgency) -> Option<&'static str> {
        match (self, urgency) {
            (Tins::BestEffort, _) | (Tins::Diffserv3, Urgency::Video) => None,
            (Tins::Diffserv3 | Tins::Diffserv4, Urgency::Bulk) => Some("le, cs1"),
            (Tins::Diffserv3, Urgency::RealTime) => Some("4, 44, ef, cs6, cs7"),
            (Tins::Diffserv4 | Tins::Diffserv8, Urgency::Video) => {
                Some("4, cs2, af21, af22, af23, cs3, af31, af32, af33, af41, af42, af43")
            }
            (Tins::Diffserv4 | Tins::Diffserv8, Urgency::RealTime) => {
                Some("cs4, cs5, 44, ef, cs6, cs7")
            }
            (Tins::Diffserv8, Urgency::Bulk) => Some("le, 2, cs1, af11, af12, af13"),
            // The higher the precedence, the more urgent; 1 is below 0 by convention alone.
            (Tins::Precedence, Urgency::Bulk) => None,
            (Tins::Precedence, Urgency::Video) => Some("16-39"),
            (Tins::Precedence, Urgency::RealTime) => Some("40-63"),
        }
    }
}
