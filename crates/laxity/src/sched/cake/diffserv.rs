//! Which tin a code point belongs to, and what part of the rate each tin may have before the
//! others: RFC 4594 as Linux reads it.

/// How packets are sorted into tins by their DSCP. The names are those of `tc-cake(8)`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "these are the modes of Linux")]
pub enum Diffserv {
    /// One tin.
    Besteffort,
    /// Bulk, best effort and voice.
    #[default]
    Diffserv3,
    /// Bulk, best effort, video and voice.
    Diffserv4,
    /// Eight tins of twelve classes of traffic.
    Diffserv8,
    /// Eight tins by the three highest bits.
    Precedence,
}

impl Diffserv {
    /// Every mode, in the order of the kernel's numbers (CAKE_DIFFSERV_*).
    pub const ALL: [Diffserv; 5] = [
        Diffserv::Diffserv3,
        Diffserv::Diffserv4,
        Diffserv::Diffserv8,
        Diffserv::Besteffort,
        Diffserv::Precedence,
    ];

    /// Its word in `tc-cake(8)`.
    pub fn word(self) -> &'static str {
        match self {
            Diffserv::Besteffort => "besteffort",
            Diffserv::Diffserv3 => "diffserv3",
            Diffserv::Diffserv4 => "diffserv4",
            Diffserv::Diffserv8 => "diffserv8",
            Diffserv::Precedence => "precedence",
        }
    }

    /// The mode with a word.
    pub fn from_word(word: &str) -> Option<Diffserv> {
        Diffserv::ALL.into_iter().find(|mode| mode.word() == word)
    }

    /// How many tins there are.
    pub fn tins(self) -> usize {
        match self {
            Diffserv::Besteffort => 1,
            Diffserv::Diffserv3 => 3,
            Diffserv::Diffserv4 => 4,
            Diffserv::Diffserv8 | Diffserv::Precedence => 8,
        }
    }

    /// The tin of a code point of six bits. Of tins within their rates, the highest goes first.
    pub fn tin(self, dscp: u8) -> usize {
        match self {
            Diffserv::Besteffort => 0,
            Diffserv::Precedence => usize::from(dscp >> 3 & 7),
            Diffserv::Diffserv3 => match dscp {
                LE | CS1 => 1,
                TOS4 | VA | EF | CS6 | CS7 => 2,
                _ => 0,
            },
            Diffserv::Diffserv4 => match dscp {
                LE | CS1 => 1,
                CS4 | CS5 | VA | EF | CS6 | CS7 => 3,
                TOS4 | CS2 | CS3 => 2,
                AF21 | AF22 | AF23 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43 => 2,
                _ => 0,
            },
            Diffserv::Diffserv8 => match dscp {
                LE => 0,
                TOS2 | CS1 | AF11 | AF12 | AF13 => 1,
                CS3 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43 => 3,
                TOS4 | AF21 | AF22 | AF23 => 4,
                CS2 => 5,
                CS4 | CS5 | VA | EF => 6,
                CS6 | CS7 => 7,
                _ => 2,
            },
        }
    }

    /// The part of a rate that is a tin's threshold.
    pub fn threshold(self, tin: usize, rate: u64) -> u64 {
        let shift = match self {
            Diffserv::Besteffort => 0,
            Diffserv::Diffserv3 => [0, 4, 2][tin],
            Diffserv::Diffserv4 => [0, 4, 1, 2][tin],
            Diffserv::Diffserv8 | Diffserv::Precedence => {
                return (0..tin).fold(rate, |rate, _| ((u128::from(rate) * 7) >> 3) as u64);
            }
        };
        rate >> shift
    }

    /// What a tin is called.
    pub fn name(self, tin: usize) -> &'static str {
        const NUMBERS: [&str; 8] =
            ["tin 0", "tin 1", "tin 2", "tin 3", "tin 4", "tin 5", "tin 6", "tin 7"];
        match self {
            Diffserv::Besteffort => "best effort",
            Diffserv::Diffserv3 => ["best effort", "bulk", "voice"][tin],
            Diffserv::Diffserv4 => ["best effort", "bulk", "video", "voice"][tin],
            Diffserv::Diffserv8 | Diffserv::Precedence => NUMBERS[tin],
        }
    }
}

const LE: u8 = 1;
const TOS2: u8 = 2;
const TOS4: u8 = 4;
const CS1: u8 = 8;
const AF11: u8 = 10;
const AF12: u8 = 12;
const AF13: u8 = 14;
const CS2: u8 = 16;
const AF21: u8 = 18;
const AF22: u8 = 20;
const AF23: u8 = 22;
const CS3: u8 = 24;
const AF31: u8 = 26;
const AF32: u8 = 28;
const AF33: u8 = 30;
const CS4: u8 = 32;
const AF41: u8 = 34;
const AF42: u8 = 36;
const AF43: u8 = 38;
const CS5: u8 = 40;
const VA: u8 = 44;
const EF: u8 = 46;
const CS6: u8 = 48;
const CS7: u8 = 56;
