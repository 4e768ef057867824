//! How streams are compared and adjusted.

/// Rule that chooses the next stream to serve.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::exhaustive_enums,
    reason = "a new precedence has to be named, proved and compared wherever one is matched"
)]
pub enum Precedence {
    /// The lowest loss tolerance, then the earliest deadline (1999, Table 1).
    #[default]
    LossFirst,
    /// The earliest deadline, then the lowest loss tolerance (West, Zhang, Schwan, Poellabauer
    /// 2004, *Dynamic window-constrained scheduling of real-time streams in media servers*). Rule
    /// (A) is that of the same paper, too: a packet that is served while all the rest of its window
    /// may be lost counts as one of the rest, so that windows are y packets long. Without it
    /// windows are violated that [`admit::dwcs`](crate::admit::dwcs) promises.
    DeadlineFirst,
}

/// How the tolerance of a stream that violated its own is adjusted: rule (C).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Violation {
    /// Method 1: the stream is favoured until its losses are made up for over a larger window. That
    /// window stops growing at 4 194 303 packets.
    Favour,
    /// Method 2: it starts a new window.
    #[default]
    Reset,
}

/// How streams are compared and adjusted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DwcsSettings {
    /// The rule by which the stream to serve is chosen.
    pub precedence: Precedence,
    /// The effect of a violation on the stream's tolerance.
    pub violation: Violation,
    /// p, at least 1: missed deadlines are looked for before the first service and then once every
    /// `check_every` services.
    pub check_every: u32,
}

impl Default for DwcsSettings {
    fn default() -> Self {
        DwcsSettings {
            precedence: Precedence::default(),
            violation: Violation::default(),
            check_every: 1,
        }
    }
}
