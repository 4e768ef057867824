//! The growth of CUBIC's window (RFC 9438) in integers.
//!
//! Windows are in 1/2^16 segments, times in 1/2^16 s. A time since an epoch counts at most 1024 s,
//! so that no product overflows.

use laxity::units::Nanos;

use super::segment::ONE;

/// What CUBIC remembers beside the window.
#[derive(Clone, Debug, Default)]
pub(super) struct Cubic {
    /// W_max: the window before the last reduction, less if the flow gives way; 0 after a timeout.
    max: u64,
    /// cwnd_prior: the window before the last reduction.
    prior: u64,
    /// The present stage of congestion avoidance.
    epoch: Option<Epoch>,
}

#[derive(Clone, Debug)]
struct Epoch {
    start: Nanos,
    /// W_max of this stage.
    plateau: u64,
    /// K, the time to the plateau.
    to_plateau: i64,
    /// W_est, the window of a Reno flow under the same losses.
    friendly: u64,
}

impl Cubic {
    /// A congestion event at this window, with fast convergence (RFC 9438 section 4.7).
    pub(super) fn reduced(&mut self, cwnd: u64) {
        self.max = if cwnd < self.max { cwnd * 17 / 20 } else { cwnd };
        self.prior = cwnd;
        self.epoch = None;
    }

    /// A timeout at this window: the next stage begins on its plateau (RFC 9438 section 4.8).
    pub(super) fn timed_out(&mut self, cwnd: u64) {
        self.max = 0;
        self.prior = cwnd;
        self.epoch = None;
    }

    /// The window is not what limits the flow, so its time does not count (RFC 9438 section 5.8).
    pub(super) fn pause(&mut self) {
        self.epoch = None;
    }

    /// The window after an acknowledgement in congestion avoidance (RFC 9438 sections 4.2 to 4.5).
    pub(super) fn grown(&mut self, now: Nanos, round_trip: Nanos, cwnd: u64, acked: u64) -> u64 {
        let max = self.max;
        let epoch = self.epoch.get_or_insert_with(|| Epoch::begin(now, max, cwnd));
        // alpha is 3 (1 - 0.7) / (1 + 0.7) until the flow is where it was.
        let (over, under) = if epoch.friendly < self.prior { (9, 17) } else { (1, 1) };
        let acked = acked.min(cwnd / ONE + 1);
        epoch.friendly += acked * over * ONE / under * ONE / cwnd;
        let elapsed = now.saturating_sub(epoch.start);
        if epoch.window(elapsed) < epoch.friendly {
            return cwnd.max(epoch.friendly);
        }
        let target = epoch.window(elapsed.saturating_add(round_trip)).clamp(cwnd, cwnd + cwnd / 2);
        cwnd + (target - cwnd) * ONE / cwnd
    }
}

impl Epoch {
    fn begin(start: Nanos, max: u64, cwnd: u64) -> Self {
        let missing = max.saturating_sub(cwnd);
        // K^3 = missing / C with C = 2/5, in 2^-48 s^3.
        let to_plateau = cube_root((u128::from(missing) * 5) << 31) as i64;
        Epoch { start, plateau: max.max(cwnd), to_plateau, friendly: cwnd }
    }

    /// W_cubic after a time in this stage: C (t - K)^3 + W_max (RFC 9438, Fig. 1).
    fn window(&self, elapsed: Nanos) -> u64 {
        const LONGEST: u64 = 1_024_000_000_000;
        let elapsed = (elapsed.0.min(LONGEST) << 16) / 1_000_000_000;
        let distance = i128::from(elapsed as i64 - self.to_plateau);
        let growth = ((distance * distance * distance) >> 31) / 5;
        (i128::from(self.plateau) + growth).max(0) as u64
    }
}

/// The greatest integer whose cube is not above `value`, found bit by bit.
fn cube_root(value: u128) -> u64 {
    let mut root = 0_u128;
    for bit in (0..42).rev() {
        let larger = root | 1 << bit;
        if larger * larger * larger <= value {
            root = larger;
        }
    }
    root as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn roots_of_cubes(root in 0_u128..1 << 41, above in 0_u128..=1) {
            prop_assert_eq!(u128::from(cube_root(root.pow(3))), root);
            let below_next = (root + 1).pow(3) - 1;
            prop_assert_eq!(u128::from(cube_root(below_next - above * root)), root);
        }
    }

    /// RFC 9438 section 4.2 for a flow reduced from 100 segments to 70.
    #[test]
    fn a_stage() {
        let epoch = Epoch::begin(Nanos::ZERO, 100 * ONE, 70 * ONE);
        let hundredths = |ms: u64| epoch.window(Nanos(ms * 1_000_000)) * 100 / ONE;
        for (ms, expected, why) in [
            (0, 7_000, "it begins at the reduced window"),
            (2_108, 9_625, "half of K, 4.217 s: an eighth of the 30 segments is left"),
            (4_217, 10_000, "at K it is back"),
            (6_325, 10_375, "the curve is odd around K"),
            (14_217, 49_998, "0.4 * 10^3 segments ten seconds (less 0.16 ms) after K"),
        ] {
            assert!(hundredths(ms).abs_diff(expected) <= 1, "{why}: {}", hundredths(ms));
        }
    }

    #[test]
    fn fast_convergence_and_timeouts() {
        let mut cubic = Cubic::default();
        cubic.reduced(100 * ONE);
        assert_eq!(cubic.max, 100 * ONE);
        cubic.reduced(80 * ONE);
        assert_eq!(cubic.max, 68 * ONE, "section 4.7: 80 (1 + 0.7) / 2");
        cubic.timed_out(60 * ONE);
        let grown = cubic.grown(Nanos(5), Nanos::ZERO, 42 * ONE, 0);
        assert_eq!(grown, 42 * ONE, "section 4.8: K = 0, W_max = the window");
    }
}
