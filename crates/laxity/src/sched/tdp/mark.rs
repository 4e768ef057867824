//! The two bits of a packet that tell its frame (Baldi et al. 2006, section III.B).

/// The frame of a packet as far as its header tells it.
///
/// In the DS field that is one of the four codes 0x0c, 0x1c, 0x2c and 0x3c: code points 3, 7, 11
/// and 15, which are for local use (RFC 2474 section 6).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Mark {
    /// Whether the frame's number within the cycle is odd.
    pub odd_frame: bool,
    /// Turns with every cycle: whether the number of cycles since time zero is odd. Within super
    /// cycles of an odd number of cycles, so do the parities of cycles' numbers, from one super
    /// cycle to the next.
    pub odd_cycle: bool,
}

impl Mark {
    const TDP: u8 = 0x0c;
    const ODD_FRAME: u8 = 0x10;
    const ODD_CYCLE: u8 = 0x20;
    const ECN: u8 = 0x03;

    /// As the DS field of a packet, with its ECN bits zero.
    pub fn encode(self) -> u8 {
        let bit = |bit, is_set| if is_set { bit } else { 0 };
        Self::TDP | bit(Self::ODD_FRAME, self.odd_frame) | bit(Self::ODD_CYCLE, self.odd_cycle)
    }

    /// Reads the mark from the DS field of a packet, ignoring the ECN bits; `None` if there is no
    /// mark.
    pub fn decode(ds: u8) -> Option<Mark> {
        let is_marked = ds & !(Self::ODD_FRAME | Self::ODD_CYCLE | Self::ECN) == Self::TDP;
        is_marked.then_some(Mark {
            odd_frame: ds & Self::ODD_FRAME != 0,
            odd_cycle: ds & Self::ODD_CYCLE != 0,
        })
    }
}
