//! Lengths of the packets that a model sends.

use laxity::units::Bytes;
use laxity_plan::model::{ModelSource, Plan};

use super::random::{Generator, Sampler};
use crate::error::DistError;

/// Draws packet lengths that the plan accepts: raised to the link's shortest packet, then cut to
/// the largest one of the class.
#[derive(Clone, Debug)]
pub struct Lengths {
    sampler: Sampler<Bytes>,
    shortest: u32,
    longest: u32,
}

impl Lengths {
    /// No model's packet is longer, whatever the plan says: 1 GiB.
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
            sampler: Sampler::new(source.packet)?,
            shortest: cut(plan.link.min_packet),
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
}
