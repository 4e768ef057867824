//! Packets that are lost under way.

use laxity_plan::model::WireLoss;
use rand::RngExt;

use crate::source::random::Generator;

/// Losses in runs: a chain of two states, one of them with every packet lost (Gilbert 1960).
#[derive(Clone, Debug)]
pub(crate) struct Losses {
    /// The probability that a run begins with a packet that follows no lost one.
    begin: f64,
    /// The probability that a lost packet is the last one of its run.
    end: f64,
    in_run: bool,
    generator: Generator,
    /// Packets lost so far.
    pub lost: u64,
}

impl Losses {
    pub(crate) fn new(WireLoss { share, run }: WireLoss, generator: Generator) -> Self {
        let end = 1.0 / run;
        Losses { begin: share * end / (1.0 - share), end, in_run: false, generator, lost: 0 }
    }

    /// Whether the next packet is lost.
    pub(crate) fn next(&mut self) -> bool {
        let turn = if self.in_run { self.end } else { self.begin };
        self.in_run ^= self.generator.random::<f64>() < turn;
        self.lost += u64::from(self.in_run);
        self.in_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::random::generator;

    #[test]
    fn shares_and_runs_are_as_asked() {
        for (share, run) in [(0.01, 1.0 / 0.99), (0.2, 4.0), (0.5, 2.0), (0.7, 10.0)] {
            for seed in 1..4 {
                let mut losses = Losses::new(WireLoss { share, run }, generator(seed, 0, 0));
                let packets = 400_000;
                let lost: Vec<bool> = (0..packets).map(|_| losses.next()).collect();
                let runs = lost.windows(2).filter(|pair| !pair[0] && pair[1]).count();
                let (all, runs) = (losses.lost as f64, runs as f64);
                assert!((all / f64::from(packets) / share - 1.0).abs() < 0.05, "{share} {run}");
                assert!((all / runs / run - 1.0).abs() < 0.05, "{share} {run}: {}", all / runs);
            }
        }
    }
}
