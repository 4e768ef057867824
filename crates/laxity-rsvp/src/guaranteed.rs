//! From guaranteed service (RFC 2212) to a deadline and an arrival curve at this hop.
//!
//! # What is advertised
//!
//! RFC 2212 asks of every node that it delays a flow with the rate R by no more than C / R + D
//! longer than a wire of that rate. In terms of service curves: the node offers the rate-latency
//! curve `β(t) = R max(0, t - C / R - D)`. This node advertises
//!
//! - C = b, the bucket of the sender;
//! - D = the time of the link's largest packet, the link's latency, and the lateness of the process
//!   that forwards.
//!
//! # Why a deadline implies it
//!
//! The flow's packets get the deadline `d = C / R + D`, rounded down, from their last bit in to
//! their last bit out. (The link is asked for d less the lateness, which comes on top of what it
//! keeps.) *The node offers β.* All that has come by `t - d` has left by t. If
//! `t <= d`, then `β(t) = 0`. Let A be the arrivals and D the departures. Then
//! `D(t) >= A(t - d) >= A(t - d) + β(d) >= inf_s A(s) + β(t - s)`, for `s = t - d`. ∎
//!
//! So the sum of C / R + D over all nodes is the latency of the whole path, and the bound of RFC
//! 2212 holds over any mixture of such nodes: `Q = (b - M)(p - R) / (R (p - r)) + (M + C) / R + D`
//! for `p > R`, and `(M + C) / R + D` else.
//!
//! # Why C = b
//!
//! Any C makes the bound true. This one makes R what the flow takes of the link: what is due of it
//! within t is at most `b + r (t - d) <= R (t - D)` for `t >= d`, since `r <= R` and both are equal
//! at most at `t = b / R + D`. So flows whose rates R add up to no more than the rate of the link
//! fit under EDF, as they would fit under weighted fair queueing, if D covers the time of the
//! largest packet and the latency of the link. (This is for flows that come from their senders.
//! What comes through other nodes comes in larger bursts.) Georgiadis, Guérin, Peris and Sivarajan
//! (1996) map flows to deadlines, too, and reshape them at every node; nothing is reshaped here.
//!
//! # What arrives
//!
//! A flow that came through other nodes has been delayed by them and comes in larger bursts. They
//! offer the curve `β_u` of R and the latency `T = C_sum / R + D_sum`. So what comes here is bound
//! by `α ⊘ β_u` for the sender's `α(t) = min(M + p t, b + r t)` (Le Boudec and Thiran 2001, Theorem
//! 1.4.3). The supremum of `α(t + u) - R max(0, u - T)` is at `u = T`, or where α bends if that is
//! later and `p > R`. This is [`Contract::buckets`].

use laxity::police::TokenBucket;
use laxity::units::{Bytes, NANOBITS_PER_BYTE, Nanos, Rate};

use crate::message::{ErrorCode, Rspec, Tspec};

/// What this hop adds to the path's error terms for a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "RFC 2212 has these")]
pub struct Terms {
    /// C, in bytes.
    pub c: u32,
    /// D, in microseconds.
    pub d: u32,
}

/// What a flow is promised and what it promises at this hop, in bytes of the link.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "a class has these")]
pub struct Contract {
    /// From a packet's last bit in to its last bit out.
    pub deadline: Nanos,
    /// Token buckets that its traffic keeps to, all of them.
    pub buckets: Vec<TokenBucket>,
    /// Its largest packet.
    pub packet: Bytes,
}

impl Terms {
    /// The terms of a hop for a sender: C is its bucket.
    pub fn new(tspec: &Tspec, d: Nanos) -> Terms {
        // Saturates: more than that is refused when it is reserved.
        let d = u32::try_from(d.0.div_ceil(1_000)).unwrap_or(u32::MAX);
        Terms { c: tspec.bucket.ceil() as u32, d }
    }

    /// C / R + D, for a rate in bit/s, rounded down.
    fn at_most(self, rate: u64) -> Nanos {
        Nanos(transmission(self.c, rate).0.saturating_add(u64::from(self.d) * 1_000))
    }

    /// C / R + D, for a rate in bit/s, rounded up.
    fn at_least(self, rate: u64) -> Nanos {
        Nanos(transmission(self.c, rate).1.saturating_add(u64::from(self.d) * 1_000))
    }
}

impl Contract {
    /// The contract of a flow at a hop with these terms. `upstream` has the terms of the nodes that
    /// it came through, if it did. `on_link` tells how many bytes of the link a packet of IP takes.
    ///
    /// # Errors
    /// If the flow or what it asks for makes no sense: [`ErrorCode::BadTspec`] or
    /// [`ErrorCode::BadFlowspec`].
    pub fn new(
        tspec: &Tspec,
        rspec: &Rspec,
        terms: Terms,
        upstream: Option<Terms>,
        on_link: impl Fn(u32) -> u32,
    ) -> Result<Contract, ErrorCode> {
        let traffic = Traffic::new(tspec).ok_or(ErrorCode::BadTspec)?;
        let asked = bits(rspec.rate).ok_or(ErrorCode::BadFlowspec)?;
        if rspec.rate < tspec.rate {
            return Err(ErrorCode::BadFlowspec);
        }
        let buckets = match upstream {
            None => traffic.buckets(),
            Some(upstream) => {
                // The rate is rounded so that the latency is long.
                let latency = upstream.at_least((f64::from(rspec.rate) * 8.0) as u64);
                traffic.behind(asked, latency)
            }
        };
        let framing = Framing::new(tspec, &on_link);
        let buckets = buckets.into_iter().map(|bucket| framing.bucket(bucket)).collect();
        let buckets: Vec<_> = Option::from_iter::<Vec<_>>(buckets).ok_or(ErrorCode::BadTspec)?;
        Ok(Contract { deadline: terms.at_most(asked), buckets, packet: framing.packet })
    }
}

/// What a sender sends, in bytes of IP and bits a second, rounded up.
struct Traffic {
    rate: u64,
    bucket: u64,
    /// `None` if there is none.
    peak: Option<u64>,
    most: u64,
}

/// The largest packet of IP.
const LARGEST: u32 = 65_535;
/// The header of a packet of IP.
const SMALLEST: u32 = 20;

impl Traffic {
    /// `None` if it makes no sense.
    fn new(tspec: &Tspec) -> Option<Traffic> {
        let Tspec { rate, bucket, peak, least, most } = *tspec;
        let is_sound = (1..=LARGEST).contains(&most)
            && least <= most
            && bucket.is_finite()
            && f64::from(bucket) >= f64::from(most)
            && f64::from(bucket) <= Bytes::LIMIT.0 as f64
            && (peak >= rate);
        let peak = if peak == f32::INFINITY { None } else { Some(bits(peak)?) };
        // No packet is smaller than its header, and a bucket holds one.
        let most = u64::from(most.max(SMALLEST));
        let bucket = (f64::from(bucket).ceil() as u64).max(most);
        let traffic = Traffic { rate: bits(rate)?, bucket, peak, most };
        is_sound.then_some(traffic)
    }

    /// As they leave the sender, in bytes and bit/s: `min(M + p t, b + r t)`.
    fn buckets(&self) -> Vec<(u128, u64)> {
        let peak = self.peak.map(|peak| (self.most.into(), peak));
        [Some((u128::from(self.bucket), self.rate)), peak].into_iter().flatten().collect()
    }

    /// As they come from nodes that offer a rate and a latency.
    fn behind(&self, offered: u64, latency: Nanos) -> Vec<(u128, u64)> {
        let longer = |bucket: u64, rate: u64| u128::from(bucket) + bytes_in(rate, latency);
        let sustained = (longer(self.bucket, self.rate), self.rate);
        let Some(peak) = self.peak else {
            // The whole bucket may come at once: no rate is below that.
            return vec![sustained];
        };
        if peak <= offered {
            return vec![sustained, (longer(self.most, peak), peak)];
        }
        // Bits that come until the sender's curve bends, (b - M) p / (p - r), less those that are
        // served in that time, (b - M) R / (p - r): rounded up.
        let burst = u128::from(self.bucket - self.most);
        let left = (burst * u128::from(peak - offered)).div_ceil(u128::from(peak - self.rate));
        let served = u128::from(self.most) + left + bytes_in(offered, latency);
        vec![sustained, (served, offered)]
    }
}

/// What packets of IP take on the link.
struct Framing {
    /// The most bytes of the link for a byte of IP.
    ratio: (u32, u32),
    packet: Bytes,
}

impl Framing {
    fn new(tspec: &Tspec, on_link: impl Fn(u32) -> u32) -> Framing {
        let most = tspec.most.clamp(SMALLEST, LARGEST);
        // A smaller packet counts as one of this size.
        let least = tspec.least.clamp(SMALLEST, most);
        let more = |a: (u32, u32), b: (u32, u32)| {
            let is_more = u64::from(b.0) * u64::from(a.1) > u64::from(a.0) * u64::from(b.1);
            if is_more { b } else { a }
        };
        let ratios = (least..=most).map(|packet| (on_link(packet), packet));
        let ratio = ratios.fold((0, 1), more);
        Framing { ratio, packet: Bytes(on_link(most).into()) }
    }

    /// `None` beyond what plans have.
    fn bucket(&self, (bucket, rate): (u128, u64)) -> Option<TokenBucket> {
        let (link, ip) = (u128::from(self.ratio.0), u128::from(self.ratio.1));
        let longer = |ip_bytes: u128| u64::try_from((ip_bytes * link).div_ceil(ip)).ok();
        let (bucket, rate) = (Bytes(longer(bucket)?), Rate(longer(rate.into())?));
        let is_sound = bucket <= Bytes::LIMIT && rate <= Rate::LIMIT;
        is_sound.then_some(TokenBucket { bucket, rate })
    }
}

/// A rate in bytes a second as bits a second, rounded up; `None` if it is none that a plan has.
fn bits(rate: f32) -> Option<u64> {
    let bits = (f64::from(rate) * 8.0).ceil();
    (bits >= 8.0 && bits <= Rate::LIMIT.0 as f64).then_some(bits as u64)
}

/// How long a rate in bit/s takes for bytes, rounded down and up.
fn transmission(bytes: u32, rate: u64) -> (u64, u64) {
    let (work, rate) = (u128::from(bytes) * u128::from(NANOBITS_PER_BYTE), u128::from(rate.max(1)));
    let down = u64::try_from(work / rate).unwrap_or(u64::MAX);
    (down, u64::try_from(work.div_ceil(rate)).unwrap_or(u64::MAX))
}

/// The bytes that a rate in bit/s sends in this time, rounded up.
fn bytes_in(rate: u64, time: Nanos) -> u128 {
    (u128::from(rate) * u128::from(time.0)).div_ceil(u128::from(NANOBITS_PER_BYTE))
}

#[cfg(test)]
mod tests;
