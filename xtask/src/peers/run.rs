//! What a run of any simulator measured.

use std::time::Duration;

/// Of a segment and of a datagram.
pub(super) const PACKET_BITS: f64 = 8_000.0;

/// What one run measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Run {
    /// Bits a second.
    pub tcp: f64,
    pub udp: f64,
    /// Jain's index of the goodputs of all flows; 0 for transfers, which get what they ask for.
    pub fairness: f64,
    /// Of transfers.
    pub completion: Completion,
    /// Of the packets that left the bottleneck.
    pub wait: Wait,
    /// Packets, before the bottleneck.
    pub dropped: u64,
    /// Segments.
    pub retransmitted: u64,
    pub timeouts: u64,
    /// Windows cut for echoes of congestion.
    pub echoes: u64,
    /// Packets that were sent over a link, acknowledgements included.
    pub hops: u64,
    /// How long it ran: ns-2 and ns-3 from the first event on, because ns-2 takes longer to find
    /// the routes of many nodes than to simulate them; Laxity from the program's start on.
    pub took: Duration,
}

/// How long transfers took, in s; 0 where there are none.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Completion {
    pub mean: f64,
    pub median: f64,
    pub p99: f64,
}

impl Completion {
    pub(super) fn new(mut times: Vec<f64>) -> Completion {
        if times.is_empty() {
            return Completion::default();
        }
        times.sort_by(f64::total_cmp);
        let quantile = |share: f64| times[(share * times.len() as f64).ceil() as usize - 1];
        Completion {
            mean: times.iter().sum::<f64>() / times.len() as f64,
            median: quantile(0.5),
            p99: quantile(0.99),
        }
    }
}

/// The time in a queue in s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Wait {
    pub mean: f64,
    /// NaN where it is not known.
    pub deviation: f64,
}

impl Wait {
    /// Over the packets of several classes: how many there are, their mean, and its variance.
    pub(super) fn over(classes: impl Iterator<Item = (u64, f64, f64)>) -> Wait {
        let (count, sum, squares) =
            classes.fold((0.0, 0.0, 0.0), |(count, sum, squares), (n, mean, variance)| {
                let n = n as f64;
                (count + n, sum + n * mean, squares + n * (variance + mean * mean))
            });
        let mean = sum / count;
        let variance = squares / count - mean * mean;
        Wait { mean, deviation: if variance < 0.0 { 0.0 } else { variance.sqrt() } }
    }
}

/// Jain's index of fairness (Jain, Chiu, Hawe 1984).
pub(super) fn jain(goodputs: &[f64]) -> f64 {
    let sum: f64 = goodputs.iter().sum();
    let squares: f64 = goodputs.iter().map(|goodput| goodput * goodput).sum();
    sum * sum / (goodputs.len() as f64 * squares)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_of_classes_are_one_distribution() {
        // 1, 3 and 5, 5: mean 3.5, squares' mean 15.
        let wait = Wait::over([(2, 2.0, 1.0), (2, 5.0, 0.0)].into_iter());
        assert_eq!(wait.mean, 3.5);
        assert!((wait.deviation - 2.75f64.sqrt()).abs() < 1e-12, "{wait:?}");
    }

    #[test]
    fn completion_of_transfers() {
        assert_eq!(Completion::new(Vec::new()), Completion::default());
        let times = (1..=200).rev().map(f64::from).collect();
        let expected = Completion { mean: 100.5, median: 100.0, p99: 198.0 };
        assert_eq!(Completion::new(times), expected);
    }

    #[test]
    fn fairness() {
        assert_eq!(jain(&[3.0, 3.0]), 1.0);
        assert_eq!(jain(&[8.0, 0.0, 0.0, 0.0]), 0.25);
    }
}
