//! The answer of DCTCP to marks (RFC 8257): the window shrinks by how many segments were marked,
//! not by whether one was.

use super::segment::ONE;

/// What DCTCP remembers beside the window.
#[derive(Clone, Debug)]
pub(super) struct Dctcp {
    /// DCTCP.Alpha: the estimated share of segments that are marked, in 1/2^16.
    alpha: u64,
    /// DCTCP.WindowEnd: what was sent when the present window of observation began.
    window_end: u64,
    /// Acknowledged and marked in this window, in segments.
    acked: u64,
    marked: u64,
}

/// Section 4.2: g = 1/16, as a shift.
const GAIN: u32 = 4;

impl Default for Dctcp {
    /// Section 3.3: all is taken for marked until something is known.
    fn default() -> Self {
        Dctcp { alpha: ONE, window_end: 0, acked: 0, marked: 0 }
    }
}

impl Dctcp {
    /// Takes in an acknowledgement of `acked` segments that reports `marked` more marks. `first` is
    /// the first unacknowledged segment, `next` the first that was never sent (section 3.3, steps 1
    /// to 9).
    pub(super) fn observe(&mut self, acked: u64, marked: u64, first: u64, next: u64) {
        self.acked += acked;
        self.marked += marked;
        if first <= self.window_end {
            return;
        }
        let share = (self.marked.min(self.acked) * ONE).checked_div(self.acked).unwrap_or(0);
        self.alpha = self.alpha - (self.alpha >> GAIN) + (share >> GAIN);
        (self.window_end, self.acked, self.marked) = (next, 0, 0);
    }

    /// The window after an answer to marks: cwnd (1 - alpha / 2).
    pub(super) fn reduced(&self, cwnd: u64) -> u64 {
        cwnd - (u128::from(cwnd) * u128::from(self.alpha) / u128::from(2 * ONE)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn alpha_follows_the_share_of_marks() {
        let mut dctcp = Dctcp::default();
        assert_eq!(dctcp.reduced(100 * ONE), 50 * ONE, "as Reno before anything is known");
        dctcp.observe(1, 0, 1, 10);
        assert_eq!(dctcp.alpha, ONE * 15 / 16, "the first window: none of one is marked");
        dctcp.observe(4, 2, 5, 14);
        dctcp.observe(5, 1, 10, 19);
        assert_eq!(dctcp.alpha, ONE * 15 / 16, "step 3: the window ends behind segment 10");
        dctcp.observe(1, 1, 11, 20);
        // 15/16 * 15/16 + 1/16 * 4/10 in 1/65536: 57600 + 1638.4
        assert_eq!(dctcp.alpha, 59_238, "step 5: M is four of ten");
        let mut first = 11;
        for _ in 0..200 {
            let next = first + 20;
            dctcp.observe(20, 5, next, next + 19);
            first = next;
        }
        assert!(dctcp.alpha.abs_diff(ONE / 4) <= 16, "a quarter: {}", dctcp.alpha);
        assert_eq!((dctcp.reduced(80 * ONE) + ONE / 2) / ONE, 70, "by an eighth of 80");
    }
}
