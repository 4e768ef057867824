//! Tickets of what is queued.

/// A slot of what is queued and the lower half of its number, which tells it from those that stood
/// there before.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ticket(pub(crate) u64);

impl Ticket {
    pub(crate) fn new(slot: usize, number: u64) -> Ticket {
        Ticket(number << 32 | slot as u64)
    }

    pub(crate) fn slot(self) -> usize {
        self.0 as u32 as usize
    }

    pub(crate) fn is_of(self, number: u64) -> bool {
        self.0 >> 32 == number & u64::from(u32::MAX)
    }
}

/// The number of what is queued after that of a number, the first being 1. No ticket is 0.
#[inline(always)]
pub(crate) fn number_after(number: u64) -> u64 {
    number + if number as u32 == u32::MAX { 2 } else { 1 }
}
