//! Rates that change over time.

use alloc::vec::Vec;

use thiserror::Error;

use crate::units::{NANOBITS_PER_BYTE, Nanos, Rate};

/// A link rate over time: piecewise constant. After its last piece it stays as it is, or repeats.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trace {
    pieces: Vec<Piece>,
    /// The time after which the trace repeats, and the work served in it.
    period: Option<(u64, Work)>,
}

/// Bits times nanoseconds over seconds: at a rate of r bits a second, r a nanosecond.
type Work = u128;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Piece {
    begins: u64,
    /// In bits a second; may be zero.
    rate: u64,
    /// The work served before this piece.
    served: Work,
}

/// Why a list of pieces is not a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum TraceError {
    /// There is no piece, or the first does not begin at 0.
    #[error("it does not begin at 0s")]
    Beginning,
    /// A piece begins no later than the one before it, or the period ends no later than a piece
    /// begins.
    #[error("the time {0} is not after the one before")]
    Order(Nanos),
    /// A rate is above [`Rate::LIMIT`].
    #[error("the rate from {0} on is above {limit}", limit = Rate::LIMIT)]
    TooFast(Nanos),
    /// The trace ends in a rate of 0, or serves nothing in its period.
    #[error("nothing is sent in the end, so packets would wait for ever")]
    Dead,
}

impl Trace {
    /// A trace of pieces: the time at which each begins, and its rate in bits per second. The last
    /// piece lasts for ever, or until `period`, when the trace repeats.
    ///
    /// # Errors
    /// If the pieces are not in order, do not begin at 0, exceed [`Rate::LIMIT`], or stop serving
    /// for ever.
    pub fn new(
        rates: impl IntoIterator<Item = (Nanos, u64)>,
        period: Option<Nanos>,
    ) -> Result<Trace, TraceError> {
        let mut pieces: Vec<Piece> = Vec::new();
        for (begins, rate) in rates {
            if rate > Rate::LIMIT.0 {
                return Err(TraceError::TooFast(begins));
            }
            let Some(last) = pieces.last() else {
                if begins > Nanos::ZERO {
                    return Err(TraceError::Beginning);
                }
                pieces.push(Piece { begins: 0, rate, served: 0 });
                continue;
            };
            if begins.0 <= last.begins {
                return Err(TraceError::Order(begins));
            }
            pieces.push(Piece { begins: begins.0, rate, served: last.until(begins.0) });
        }
        let last = pieces.last().ok_or(TraceError::Beginning)?;
        let period = match period {
            Some(period) if period.0 <= last.begins => return Err(TraceError::Order(period)),
            Some(period) => Some((period.0, last.until(period.0))),
            None => None,
        };
        match period.map_or(u128::from(last.rate), |(_, served)| served) {
            0 => Err(TraceError::Dead),
            _ => Ok(Trace { pieces, period }),
        }
    }

    /// The highest rate.
    pub fn peak(&self) -> Rate {
        Rate(self.pieces.iter().map(|piece| piece.rate).max().unwrap_or_default())
    }

    /// The latency of the trace as a rate-latency service curve for `rate` (Le Boudec, Thiran 2001,
    /// chapter 1): the least T, rounded up, such that any interval of length t serves at least what
    /// `rate` serves in t - T. `None` if the trace falls behind without end.
    pub fn latency(&self, rate: Rate) -> Option<Nanos> {
        let due = |time: u64| i128::from(time) * i128::from(rate.0);
        let behind = |piece: &Piece| due(piece.begins) - piece.served as i128;
        let (last, per_period) = (self.pieces.last()?, self.period);
        let lags = match per_period {
            Some((period, served)) => due(period) > served as i128,
            None => rate.0 > last.rate,
        };
        if lags {
            return None;
        }
        // The lag changes its slope where pieces begin, and repeats with the period.
        let gained = per_period.map_or(0, |(period, served)| due(period) - served as i128);
        let again = self.pieces.iter().map(|piece| behind(piece) + gained);
        let again = again.take(if per_period.is_some() { usize::MAX } else { 0 });
        let (mut least, mut most) = (i128::MAX, 0);
        for behind in self.pieces.iter().map(behind).chain(again) {
            least = least.min(behind);
            most = most.max(behind - least);
        }
        let rate = i128::from(rate.0.max(1));
        u64::try_from((most + rate - 1) / rate).ok().map(Nanos)
    }

    /// How many bytes are served by a time, rounded down.
    pub fn bytes_by(&self, time: Nanos) -> u64 {
        let bytes = self.served(time) / u128::from(NANOBITS_PER_BYTE);
        u64::try_from(bytes).unwrap_or(u64::MAX)
    }

    /// The work served by a time.
    pub(super) fn served(&self, time: Nanos) -> Work {
        let (before, time) = match self.period {
            Some((period, served)) => (u128::from(time.0 / period) * served, time.0 % period),
            None => (0, time.0),
        };
        let at = self.pieces.partition_point(|piece| piece.begins <= time);
        before + self.pieces[at - 1].until(time)
    }

    /// The first nanosecond by which this much work has been served.
    pub(super) fn when(&self, work: Work) -> Nanos {
        if work == 0 {
            return Nanos::ZERO;
        }
        let (periods, work, period) = match self.period {
            Some((period, served)) => ((work - 1) / served, (work - 1) % served + 1, period),
            None => (0, work, 0),
        };
        let at = self.pieces.partition_point(|piece| piece.served < work);
        let Piece { begins, rate, served } = self.pieces[at - 1];
        let within = u128::from(begins) + (work - served).div_ceil(u128::from(rate));
        let time = periods.saturating_mul(u128::from(period)).saturating_add(within);
        Nanos(u64::try_from(time).unwrap_or(u64::MAX))
    }
}

impl Piece {
    /// The work served by a time within the piece.
    fn until(&self, time: u64) -> Work {
        self.served + u128::from(time - self.begins) * u128::from(self.rate)
    }
}

#[cfg(test)]
mod tests {
    use alloc::sync::Arc;

    use proptest::prelude::*;

    use super::*;
    use crate::link::Link;

    /// The rate in the nanosecond that begins at a time, by the definition.
    fn rate_at(pieces: &[(u64, u64)], period: Option<u64>, time: u64) -> u128 {
        let time = period.map_or(time, |period| time % period);
        pieces
            .iter()
            .rev()
            .find(|(begins, _)| *begins <= time)
            .map_or(0, |(_, rate)| (*rate).into())
    }

    fn drawn() -> impl Strategy<Value = (Vec<(u64, u64)>, Option<u64>)> {
        let gaps = prop::collection::vec((1u64..60, 0u64..9), 1..6);
        (gaps, any::<bool>()).prop_filter_map("it sends for ever", |(gaps, comes_again)| {
            let mut time = 0;
            let mut pieces = Vec::new();
            for (gap, rate) in gaps {
                pieces.push((time, rate * 1_234_567_891));
                time += gap;
            }
            let sends = if comes_again {
                pieces.iter().any(|piece| piece.1 > 0)
            } else {
                pieces.last()?.1 > 0
            };
            sends.then_some((pieces, comes_again.then_some(time)))
        })
    }

    fn trace((pieces, period): &(Vec<(u64, u64)>, Option<u64>)) -> Trace {
        let rates = pieces.iter().map(|(begins, rate)| (Nanos(*begins), *rate));
        Trace::new(rates, period.map(Nanos)).unwrap()
    }

    proptest! {
        /// Nanosecond by nanosecond: what a busy link has served, all of it used.
        #[test]
        fn packets_end_where_the_rates_say(
            drawn in drawn(),
            packets in prop::collection::vec((0u64..200, 1u32..40), 1..30),
        ) {
            let mut link = Link::varying(Arc::new(trace(&drawn)), Rate(1));
            let (mut free_at, mut left) = (0u64, 0u128);
            for (idle, length) in packets {
                let begins = free_at + idle.saturating_sub(100);
                if begins > free_at {
                    left = 0;
                }
                let work = u128::from(length) * 8_000_000_000;
                while left < work {
                    left += rate_at(&drawn.0, drawn.1, begins.max(free_at));
                    free_at = begins.max(free_at) + 1;
                }
                left -= work;
                prop_assert_eq!(link.transmit(Nanos(begins), length), Nanos(free_at));
                prop_assert_eq!(link.free_at(), Nanos(free_at));
            }
        }

        /// No interval serves less than the latency says, and one serves no more than it must.
        #[test]
        fn latencies_hold_and_are_reached(drawn in drawn(), rate in 1u64..6_000_000_000) {
            let trace = trace(&drawn);
            let long = 2 * drawn.1.unwrap_or(drawn.0.last().unwrap().0) + 40;
            let mut served = alloc::vec![0u128];
            for time in 0..long {
                served.push(served[time as usize] + rate_at(&drawn.0, drawn.1, time));
            }
            prop_assert_eq!(served[long as usize], trace.served(Nanos(long)));
            let mut worst = 0;
            for from in 0..=long {
                for to in from..=long {
                    let due = u128::from(rate) * u128::from(to - from);
                    worst = worst.max(due.saturating_sub(served[to as usize] - served[from as usize]));
                }
            }
            match trace.latency(Rate(rate)) {
                Some(latency) => prop_assert_eq!(u128::from(latency.0), worst.div_ceil(rate.into())),
                None => {
                    let lasting = drawn.1.map_or(drawn.0.last().unwrap().1.into(), |period| {
                        trace.served(Nanos(period)) / u128::from(period)
                    });
                    prop_assert!(lasting < rate.into());
                }
            }
        }
    }

    #[test]
    fn what_no_trace_is() {
        let trace = |pieces: &[(u64, u64)], period: Option<u64>| {
            Trace::new(
                pieces.iter().map(|(begins, rate)| (Nanos(*begins), *rate)),
                period.map(Nanos),
            )
        };
        assert_eq!(trace(&[], None), Err(TraceError::Beginning));
        assert_eq!(trace(&[(1, 1)], None), Err(TraceError::Beginning));
        assert_eq!(trace(&[(0, 1), (5, 1), (5, 2)], None), Err(TraceError::Order(Nanos(5))));
        assert_eq!(trace(&[(0, 1), (5, 1)], Some(5)), Err(TraceError::Order(Nanos(5))));
        assert_eq!(trace(&[(0, 1), (5, u64::MAX)], None), Err(TraceError::TooFast(Nanos(5))));
        assert_eq!(trace(&[(0, 1), (5, 0)], None), Err(TraceError::Dead));
        assert_eq!(trace(&[(0, 0), (5, 0)], Some(9)), Err(TraceError::Dead));
        assert!(trace(&[(0, 1), (5, 0)], Some(9)).is_ok());
    }

    #[test]
    fn a_packet_that_takes_ages_ends_at_the_end_of_time() {
        let slow = Trace::new([(Nanos(0), 1)], None).unwrap();
        let mut link = Link::varying(Arc::new(slow), Rate(1));
        let last = link.transmit(Nanos(u64::MAX - 5), u32::MAX);
        assert_eq!(last, Nanos(u64::MAX));
    }
}
