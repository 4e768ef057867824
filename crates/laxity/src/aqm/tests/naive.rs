//! Random early detection and CHOKe as their papers write them, on a list.

use std::vec::Vec;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::aqm::{Fraction, Limit, Measure, Red, Spacing};
use crate::packet::{Ecn, Packet};
use crate::scheduler::DropReason;
use crate::units::Nanos;

const ONE: u128 = 1 << 32;

pub(super) struct Naive {
    pub red: Red,
    /// In 2^-32 packets or bytes.
    pub average: u128,
    count: i64,
    q_time: Nanos,
    random: Pcg32,
    /// In the order in which they are drawn.
    pub queued: Vec<Packet>,
    draws: Pcg32,
}

impl Naive {
    pub(super) fn new(red: Red, seed: u64) -> Self {
        Naive {
            red,
            average: 0,
            count: -1,
            q_time: Nanos::ZERO,
            random: Pcg32::new(seed, 0),
            queued: Vec::new(),
            draws: Pcg32::new(seed, 1),
        }
    }

    pub(super) fn average(&mut self, now: Nanos) {
        let weight = u128::from(self.red.weight.parts());
        if self.queued.is_empty() {
            let m = (now - self.q_time).0 / self.red.transmission.0;
            self.average =
                (self.average * u128::from(self.red.weight.rest().power(m).parts())) >> 32;
            return;
        }
        let length = match self.red.measure {
            Measure::Packets => self.queued.len() as u128,
            Measure::Bytes => self.bytes().into(),
        };
        // (1 - w) avg + w q, where what is below a part is lost from the sum.
        self.average = (self.average * (ONE - weight) + length * ONE * weight) >> 32;
    }

    fn bytes(&self) -> u64 {
        self.queued.iter().map(|packet| u64::from(packet.length)).sum()
    }

    /// The packets that an arriving one meets.
    pub(super) fn victims(&mut self, packet: &Packet, candidates: u32) -> Vec<Packet> {
        let mut victims = Vec::new();
        if self.average < u128::from(self.red.min) * ONE {
            return victims;
        }
        for _ in 0..candidates {
            let drawn = (u64::from(self.draws.next_u32()) * self.queued.len() as u64) >> 32;
            let Some(drawn) = self.queued.get(drawn as usize) else { continue };
            if (drawn.class, drawn.flow) == (packet.class, packet.flow) {
                let drawn = *drawn;
                self.remove(packet.arrival, &drawn);
                victims.push(drawn);
            }
        }
        // The packet comes, although it is not judged.
        self.count += i64::from(!victims.is_empty());
        victims
    }

    pub(super) fn remove(&mut self, now: Nanos, packet: &Packet) {
        let at = self.queued.iter().position(|queued| queued.handle == packet.handle);
        self.queued.swap_remove(at.expect("the packet is queued"));
        if self.queued.is_empty() {
            self.q_time = now;
        }
    }

    pub(super) fn judge(&mut self, packet: &mut Packet) -> Result<(), DropReason> {
        let is_full = match self.red.limit {
            Limit::None => false,
            Limit::Packets(limit) => self.queued.len() as u64 >= limit,
            Limit::Bytes(limit) => self.bytes() + u64::from(packet.length) > limit,
        };
        if is_full {
            self.count = 0;
            return Err(DropReason::QueueFull);
        }
        let [min, max] = [self.red.min, self.red.max].map(|units| u128::from(units) * ONE);
        let max_p = u128::from(self.red.max_p.parts());
        // Slopes are rounded down to 2^-64.
        let slope = |rise: u128, over: u64| ((rise << 32) / u128::from(over)).min(u64::MAX.into());
        let p_b = if self.average < min {
            self.count = -1;
            return Ok(());
        } else if self.average < max {
            ((self.average - min) * slope(max_p, self.red.max - self.red.min)) >> 64
        } else if self.red.gentle && self.average < 2 * max {
            max_p + (((self.average - max) * slope(ONE - max_p, self.red.max)) >> 64)
        } else {
            self.count = 0;
            return Err(DropReason::Red);
        };
        self.count += 1;
        if !self.is_hit(p_b) {
            return Ok(());
        }
        self.count = 0;
        if self.red.ecn && self.average < max && packet.ecn != Ecn::NotCapable {
            packet.ecn = Ecn::Experienced;
            return Ok(());
        }
        Err(DropReason::Red)
    }

    /// Whether a number drawn from [0, 1) is below p_a.
    fn is_hit(&mut self, p_b: u128) -> bool {
        if p_b == ONE {
            return true;
        }
        let count_p = self.count as u128 * p_b;
        let (p_a, of) = match self.red.spacing {
            Spacing::Uniform if count_p >= ONE => return true,
            Spacing::Uniform => (p_b, ONE - count_p),
            Spacing::Wait if count_p < ONE => return false,
            Spacing::Wait if count_p >= 2 * ONE => return true,
            Spacing::Wait => (p_b, 2 * ONE - count_p),
        };
        // The draw, of 32 digits, is less than the quotient if it is less than that rounded up.
        u128::from(self.random.next_u32()) < (p_a << 32).div_ceil(of)
    }
}

#[test]
fn powers_are_close_to_powers() {
    for (millionths, exponent) in [(998_000, 500), (999_999, 100_000), (500_000, 31), (900_000, 0)]
    {
        let power = Fraction::millionths(millionths).power(exponent).parts() as f64 / ONE as f64;
        let exact = (f64::from(millionths) / 1e6).powi(exponent as i32);
        // Every one of 2 log2(exponent) roundings takes less than a part of what is left, and is
        // taken to the exponent at most.
        let error = (exponent as f64 + 1.0) * 2.0 / ONE as f64;
        assert!((power - exact).abs() <= error, "{power} is not {exact}");
    }
}
