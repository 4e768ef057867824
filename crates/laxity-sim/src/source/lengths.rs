//! Lengths of the packets that a model sends.

use laxity::units::Bytes;
use laxity_plan::model::{Dist, ModelSource, Plan};

use super::random::{DistError, Generator, Sampler, survival};

/// Draws packet lengths that the plan accepts: raised to the shortest packet of the class, then cut
/// to the largest one.
#[derive(Clone, Debug)]
pub struct Lengths {
    dist: Dist<Bytes>,
    sampler: Sampler<Bytes>,
    shortest: u32,
    longest: u32,
}

impl Lengths {
    /// The longest packet of any model: 1 GiB.
    const LONGEST: u64 = 1 << 30;

    /// The lengths of a source's packets.
    ///
    /// # Errors
    /// If its distribution's parameters describe none.
    pub fn new(plan: &Plan, source: &ModelSource) -> Result<Self, DistError> {
        let class = &plan.classes[source.class.index()];
        let cut = |size: Bytes| size.0.clamp(1, Self::LONGEST) as u32;
        let longest = plan.max_packet(class).min(plan.link.max_packet);
        Ok(Lengths {
            dist: source.packet,
            sampler: Sampler::new(source.packet)?,
            shortest: cut(plan.min_packet(class)),
            longest: cut(longest),
        })
    }

    /// The same, but none longer than `limit`, which is at least one byte.
    pub fn at_most(self, limit: Bytes) -> Self {
        let limit = limit.0.clamp(1, u64::from(self.longest)) as u32;
        Lengths { longest: limit, ..self }
    }

    /// One length in bytes.
    pub fn draw(&self, generator: &mut Generator) -> u32 {
        let drawn = self.sampler.draw(generator).0.min(Self::LONGEST) as u32;
        drawn.max(self.shortest).min(self.longest)
    }

    /// The mean length after rounding and limits: the shortest length plus, for every byte up to
    /// the longest, the probability that a draw has it. Beyond 16 KiB bytes are taken together, as
    /// many as one in 16,384 of their length.
    pub fn mean(&self) -> f64 {
        let (mut length, longest) = (self.shortest.min(self.longest), self.longest);
        let mut mean = f64::from(length);
        while length < longest {
            let more = (1 + length / 16_384).min(longest - length);
            let middle = f64::from(length) + f64::from(more) / 2.0;
            mean += f64::from(more) * survival(&self.dist, middle);
            length += more;
        }
        mean
    }
}

#[cfg(test)]
mod tests {
    use laxity_plan::model::Model;

    use super::*;
    use crate::source::random::generator;
    use crate::source::tests::testing::{fed_by, model};

    /// The mean of n draws lies within five of its own standard deviations of the true mean, which
    /// fails for one seed in two million.
    #[test]
    fn means_are_those_of_what_is_drawn() {
        let kilo = |kilobytes: u64| Bytes(1_000 * kilobytes);
        for (dist, max) in [
            (Dist::Constant(Bytes(700)), 1_536),
            (Dist::Uniform(Bytes(1), Bytes(3_000)), 1_536),
            (Dist::Uniform(Bytes(40), Bytes(43)), 1_536),
            (Dist::Normal(Bytes(1_700), Bytes(200)), 1_536),
            (Dist::Normal(Bytes(30), Bytes(900)), 1_536),
            (Dist::Exponential(Bytes(600)), 1_536),
            (Dist::Exponential(Bytes(25)), 1_536),
            (Dist::Exponential(kilo(300)), 1_000_000_000),
            (Dist::Pareto(Bytes(60), 1.2), 1_536),
            (Dist::Pareto(kilo(90), 2.5), 100_000_000),
            (Dist::LogNormal(Bytes(200), 1.5), 9_000),
            (Dist::LogNormal(kilo(400), 0.01), 1_000_000),
            (Dist::Weibull(Bytes(300), 0.7), 9_000),
            (Dist::Weibull(Bytes(3), 4.0), 9_000),
        ] {
            let mut plan = fed_by(Model::Backlogged { window: 2 }, dist);
            plan.link.max_packet = Bytes(max);
            let lengths = Lengths::new(&plan, model(&mut plan.clone())).unwrap();
            for seed in 1..=5 {
                let mut generator = generator(seed, 0, 0);
                let drawn: Vec<f64> =
                    (0..40_000).map(|_| lengths.draw(&mut generator).into()).collect();
                let n = drawn.len() as f64;
                let mean = drawn.iter().sum::<f64>() / n;
                let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
                let error = (mean - lengths.mean()).abs();
                assert!(
                    error <= 5.0 * (variance / n).sqrt() + 1e-9 * mean,
                    "{dist:?} up to {max}, seed {seed}: {mean} drawn, {} reckoned",
                    lengths.mean()
                );
            }
        }
    }
}
