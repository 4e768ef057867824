//! Windows of consecutive packets: how many a stream may lose, and how many it did lose under any
//! scheduler.

use alloc::boxed::Box;
use alloc::string::{String, ToString};
use core::fmt;
use core::str::FromStr;

/// A loss tolerance x/y: of any `of` consecutive packets of a stream at most `lost` may be late or
/// lost (West, Schwan, Poellabauer 1999, section 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loss {
    lost: u32,
    of: u32,
}

/// Why two numbers or a text are not a loss tolerance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum LossError {
    /// Not two numbers with a stroke between them.
    #[error(
        "`{0}` is not a loss tolerance: write how many packets may be lost of how many, such as `1/80`"
    )]
    NotAFraction(String),
    /// A window of no packets, or of too many.
    #[error(
        "`{lost}/{of}` has a window of {of} packets: it must be 1 to {} packets long",
        Loss::LONGEST
    )]
    Window {
        /// Packets that may be lost.
        lost: u64,
        /// The window.
        of: u64,
    },
    /// More losses than packets.
    #[error(
        "`{lost}/{of}` allows more losses than there are packets: at most {of} of {of} can be lost"
    )]
    TooManyLost {
        /// Packets that may be lost.
        lost: u64,
        /// The window.
        of: u64,
    },
}

impl Loss {
    /// The longest window.
    pub const LONGEST: u32 = 65_535;

    /// At most `lost` of any `of` consecutive packets.
    ///
    /// # Errors
    /// If `of` is zero or above [`Loss::LONGEST`], or `lost` is above `of`.
    pub fn new(lost: u32, of: u32) -> Result<Loss, LossError> {
        Loss::checked(lost.into(), of.into())
    }

    /// How many packets of a window may be late or lost: x.
    pub const fn lost(self) -> u32 {
        self.lost
    }

    /// How many packets a window has: y.
    pub const fn window(self) -> u32 {
        self.of
    }

    fn checked(lost: u64, of: u64) -> Result<Loss, LossError> {
        if of == 0 || of > Loss::LONGEST.into() {
            return Err(LossError::Window { lost, of });
        }
        if lost > of {
            return Err(LossError::TooManyLost { lost, of });
        }
        Ok(Loss { lost: lost as u32, of: of as u32 })
    }
}

impl FromStr for Loss {
    type Err = LossError;

    fn from_str(text: &str) -> Result<Loss, LossError> {
        let number = |part: &str| {
            let part = part.trim();
            let is_plain = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
            is_plain.then(|| part.parse().unwrap_or(u64::MAX))
        };
        let numbers = text.split_once('/').and_then(|(x, y)| Some((number(x)?, number(y)?)));
        let (lost, of) = numbers.ok_or_else(|| LossError::NotAFraction(text.to_string()))?;
        Loss::checked(lost, of)
    }
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.lost, self.of)
    }
}

/// Outcomes of a stream's packets, and the number of windows that lost too many.
///
/// Windows slide: every packet from the `of`-th on completes one. The monitor also counts
/// consecutive windows without overlap, which some admission tests are about. An outcome takes
/// constant time; the monitor holds one bit for every packet of a window.
#[derive(Clone, Debug)]
pub struct Monitor {
    loss: Loss,
    /// The outcomes of the last `of` packets, in a ring: a set bit for one that was lost.
    outcomes: Box<[u64]>,
    /// Where in the ring the next outcome goes.
    next: u32,
    /// How many of those in the ring were lost.
    lost_in_window: u32,
    /// Packets lost since the last one that was not.
    run: u64,
    counts: Counts,
    consecutive: Consecutive,
}

/// The counts of a [`Monitor`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Packets with an outcome.
    pub packets: u64,
    /// Packets that were late or lost.
    pub lost: u64,
    /// Complete windows.
    pub windows: u64,
    /// Windows in which more were lost than the tolerance allows.
    pub violations: u64,
    /// The most packets that were lost one after the other.
    pub longest_run: u64,
}

/// The counts of a [`Monitor`] over windows that do not overlap.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Consecutive {
    /// Complete windows.
    pub windows: u64,
    /// Windows in which more were lost than the tolerance allows.
    pub violations: u64,
}

impl Monitor {
    /// A monitor of a stream with this tolerance that has had no packet.
    pub fn new(loss: Loss) -> Self {
        Monitor {
            loss,
            outcomes: alloc::vec![0; loss.of.div_ceil(u64::BITS) as usize].into_boxed_slice(),
            next: 0,
            lost_in_window: 0,
            run: 0,
            counts: Counts::default(),
            consecutive: Consecutive::default(),
        }
    }

    /// Counts the outcome of the stream's next packet, in the order of the packets.
    pub fn record(&mut self, is_lost: bool) {
        let word = &mut self.outcomes[(self.next / u64::BITS) as usize];
        let bit = 1 << (self.next % u64::BITS);
        self.lost_in_window -= u32::from(*word & bit != 0);
        self.lost_in_window += u32::from(is_lost);
        *word = if is_lost { *word | bit } else { *word & !bit };
        self.next = if self.next + 1 == self.loss.of { 0 } else { self.next + 1 };

        self.run = if is_lost { self.run + 1 } else { 0 };
        let counts = &mut self.counts;
        counts.packets += 1;
        counts.lost += u64::from(is_lost);
        counts.longest_run = counts.longest_run.max(self.run);
        if counts.packets >= u64::from(self.loss.of) {
            counts.windows += 1;
            let is_violated = u64::from(self.lost_in_window > self.loss.lost);
            counts.violations += is_violated;
            if self.next == 0 {
                self.consecutive.windows += 1;
                self.consecutive.violations += is_violated;
            }
        }
    }

    /// The tolerance.
    pub fn loss(&self) -> Loss {
        self.loss
    }

    /// The counts over sliding windows.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// The counts over windows that do not overlap: the first `of` packets, the next `of`, and so
    /// on.
    pub fn consecutive(&self) -> Consecutive {
        self.consecutive
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        size_of_val(&*self.outcomes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::vec::Vec;

    /// Every window looked through from its first packet to its last.
    fn counted(loss: Loss, outcomes: &[bool]) -> Counts {
        let windows: Vec<_> = outcomes.windows(loss.window() as usize).collect();
        let lost = |packets: &[bool]| packets.iter().filter(|lost| **lost).count() as u64;
        let is_violated = |window: &&&[bool]| lost(window) > u64::from(loss.lost());
        let runs = outcomes.split(|lost| !lost).map(<[bool]>::len);
        Counts {
            packets: outcomes.len() as u64,
            lost: lost(outcomes),
            windows: windows.len() as u64,
            violations: windows.iter().filter(is_violated).count() as u64,
            longest_run: runs.max().unwrap_or(0) as u64,
        }
    }

    fn counted_consecutive(loss: Loss, outcomes: &[bool]) -> Consecutive {
        let windows = outcomes.chunks_exact(loss.window() as usize);
        let lost = windows.map(|window| window.iter().filter(|lost| **lost).count());
        let lost: Vec<_> = lost.collect();
        Consecutive {
            windows: lost.len() as u64,
            violations: lost.iter().filter(|&&lost| lost > loss.lost() as usize).count() as u64,
        }
    }

    fn any_loss() -> impl Strategy<Value = Loss> {
        (1..150u32)
            .prop_flat_map(|of| (0..=of, Just(of)))
            .prop_map(|(lost, of)| Loss::new(lost, of).unwrap())
    }

    proptest! {
        #[test]
        fn agrees_with_a_count_of_every_window(
            loss in any_loss(), share in 0.0..1.0, seeds in prop::collection::vec(0.0..1.0, 0..600),
        ) {
            let outcomes: Vec<bool> = seeds.into_iter().map(|seed| seed < share).collect();
            let mut monitor = Monitor::new(loss);
            for (seen, &outcome) in outcomes.iter().enumerate() {
                prop_assert_eq!(monitor.counts(), counted(loss, &outcomes[..seen]));
                monitor.record(outcome);
            }
            prop_assert_eq!(monitor.counts(), counted(loss, &outcomes));
            prop_assert_eq!(monitor.consecutive(), counted_consecutive(loss, &outcomes));
        }

        #[test]
        fn what_is_printed_is_read_back(loss in any_loss()) {
            prop_assert_eq!(loss.to_string().parse(), Ok(loss));
        }

        #[test]
        fn no_text_is_too_much(text: String) {
            let _ = text.parse::<Loss>();
        }
    }

    #[test]
    fn a_tolerance_is_a_fraction_of_a_window() {
        assert_eq!("1/80".parse(), Loss::new(1, 80));
        assert_eq!(" 3 / 3 ".parse(), Loss::new(3, 3));
        assert_eq!("0/65535".parse(), Loss::new(0, 65_535));
        for text in ["", "1", "/", "1/", "/2", "-1/2", "+1/2", "1.5/2", "1/2/3", "a/b"] {
            assert_eq!(text.parse::<Loss>(), Err(LossError::NotAFraction(text.to_string())));
        }
        for (text, lost, of) in [("0/0", 0, 0), ("1/65536", 1, 65_536)] {
            assert_eq!(text.parse::<Loss>(), Err(LossError::Window { lost, of }));
        }
        assert_eq!("3/2".parse::<Loss>(), Err(LossError::TooManyLost { lost: 3, of: 2 }));
        let huge = "1/99999999999999999999999".parse::<Loss>();
        assert_eq!(huge, Err(LossError::Window { lost: 1, of: u64::MAX }));
        assert_eq!(
            Loss::new(3, 2).unwrap_err().to_string(),
            "`3/2` allows more losses than there are packets: at most 2 of 2 can be lost"
        );
    }
}
