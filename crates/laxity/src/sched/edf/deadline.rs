//! Deadlines for best-effort packets: Algorithm 1 of Chakraborty, Gries and Thiele (2002), with
//! bounded history and in amortised constant time for each straight segment of the curve.
//!
//! The n-th packet arrives at r_n and takes w_n bytes; W_n = w_1 + ... + w_n. With a curve E below
//! the effective residual capacity its deadline is
//!
//! ```text
//! D_n = max over i <= n of ( r_i + E^-1(W_n - W_{i-1}) ),   E^-1(w) = min { t : E(t) >= w }
//! ```
//!
//! Consider one straight segment of E and all packets i whose W_n - W_{i-1} falls into its range.
//! They compare by r_i - W_{i-1}/slope, which does not change while n grows. The range is a window
//! that packets enter and leave in order, so each segment needs the maximum of a sliding window.
//! Packets never leave the last segment's window, so one number is enough for it.
//!
//! A deadline costs amortised constant time for each segment that the work since the last reset has
//! reached. Segments that end before the far ones let the packet be due cost next to nothing: their
//! windows are updated when they may decide again. Segments follow from the bends of E. Real-time
//! classes with different deadlines and bursts add a few bends each; a line has one segment
//! whatever the number of classes.
//!
//! A packet that arrives before the previous one's work could have been served at E's steepest
//! slope never decides: E^-1 grows at least that fast, so the previous packet stays ahead of it for
//! all time. On a line this alone leaves one packet. The result is the Total Bandwidth recursion
//! D_n = w_n/slope + max(r_n, D_{n-1}) of section 4.1, or with an offset that of 4.2. On two lines
//! it is Algorithm 2.
//!
//! Nor does a packet decide if the packet behind the last deadline stays ahead of it for all time:
//! if E takes longer for the work between the two, wherever it begins, than the one arrived after
//! the other. While best effort has much to send, this leaves few packets, and most segments
//! have none.

mod rise;

use alloc::collections::VecDeque;
use alloc::vec::Vec;

use num_integer::Integer;
use num_traits::{One, ToPrimitive, Zero};

use crate::curve::{Curve, Exact};
use crate::units::Nanos;
use rise::Rise;

/// Assigns deadlines to a sequence of best-effort packets.
#[derive(Clone, Debug)]
pub struct Deadlines {
    segments: Vec<Segment>,
    /// How many of them any packet has reached.
    reached: usize,
    /// E's steepest slope, as nanoseconds a byte.
    steepest: PerByte,
    /// How much E rises within a time at most.
    rise: Rise,
    /// Packets that may still decide a deadline and that not every segment's window has taken in,
    /// oldest first.
    history: VecDeque<Earlier>,
    /// The number of the oldest packet in `history`, counted over all that were ever in it.
    oldest: u64,
    /// The packet that entered `history` last.
    latest: Option<Earlier>,
    /// The packet that decided the last deadline.
    decider: Option<Earlier>,
    /// W_n.
    work: u64,
}

/// A packet i as later deadlines see it.
#[derive(Clone, Copy, Debug)]
struct Earlier {
    /// r_i in ns.
    arrival: u64,
    /// W_{i-1} in bytes.
    work_before: u64,
}

/// A straight piece of E^-1 over the work in `(above, up_to]` bytes.
#[derive(Clone, Debug)]
struct Segment {
    above: u64,
    up_to: u64,
    /// E^-1 at `above` + 1 bytes is `start` ns and `start_rest` of the slope's denominators.
    start: u64,
    start_rest: u64,
    slope: PerByte,
    /// E^-1 at `up_to`, rounded up.
    end: u64,
    /// The work up to which no packet enters the range and its leader stays in it.
    until: u64,
    /// No deadline by the leader is later than this; zero without one.
    bound: u64,
    /// The packets in the range that may come to lead it, the leader first; each has no larger
    /// r_i - W_{i-1}/slope than the one before and leaves the range after it.
    window: VecDeque<Earlier>,
    /// The number in `history` of the packet that enters next.
    next: u64,
}

/// `nanos / denominator` nanoseconds a byte.
#[derive(Clone, Copy, Debug)]
struct PerByte {
    nanos: u64,
    denominator: u64,
}

impl Deadlines {
    /// Deadlines from a curve E in bytes over ns: not decreasing, never negative.
    ///
    /// `None` if E is neither, or if its breakpoints and slopes are fractions too fine for 64 bits;
    /// curves made of whole rates, sizes and times never are.
    pub fn new(curve: &Curve) -> Option<Self> {
        Some(Deadlines {
            segments: segments(curve)?,
            reached: 0,
            steepest: steepest(curve)?,
            rise: Rise::new(curve)?,
            history: VecDeque::new(),
            oldest: 0,
            latest: None,
            decider: None,
            work: 0,
        })
    }

    /// The deadline of the next packet, which arrives at `arrival`, not before any earlier one,
    /// and is `length` bytes long; rounded up to the next nanosecond. [`Nanos::MAX`] when E never
    /// reaches the work that the packet's history asks of it.
    pub fn assign(&mut self, arrival: Nanos, length: u32) -> Nanos {
        self.remember(Earlier { arrival: arrival.0, work_before: self.work });
        self.work += u64::from(length);
        while self.segments.get(self.reached).is_some_and(|next| self.work > next.above) {
            self.reached += 1;
        }
        let mut deadline = 0;
        // The far segments have the long E^-1: after them the near ones rarely need a look.
        for segment in self.segments[..self.reached].iter_mut().rev() {
            if arrival.0.saturating_add(segment.end) <= deadline {
                break;
            }
            if self.work > segment.until {
                segment.slide(self.work, &self.history, self.oldest);
            }
            if segment.bound > deadline
                && let Some(leader) = segment.window.front()
            {
                let of_leader = segment.deadline(leader, self.work);
                if of_leader > deadline {
                    (deadline, self.decider) = (of_leader, Some(*leader));
                }
            }
        }
        self.forget();
        Nanos(deadline)
    }

    /// Lets go of packets that the last segment has taken in, to which they come last.
    fn forget(&mut self) {
        let taken_by_all = self.segments.last().map_or(0, |segment| segment.next);
        while self.oldest < taken_by_all {
            self.history.pop_front();
            self.oldest += 1;
        }
    }

    /// Forgets all history; allowed whenever nothing with a deadline is waiting.
    pub fn reset(&mut self) {
        if self.latest.is_none() {
            return;
        }
        self.history.clear();
        (self.latest, self.decider) = (None, None);
        self.oldest = 0;
        self.work = 0;
        for segment in &mut self.segments[..self.reached] {
            segment.clear();
        }
        self.reached = 0;
    }

    /// How many earlier packets are held.
    pub fn remembered(&self) -> usize {
        self.history.len() + self.segments.iter().map(|s| s.window.len()).sum::<usize>()
    }

    /// The most packets that can ever be held when none is shorter than `shortest` bytes: those of
    /// the work below the last segment, once in the history and once in windows, where each segment
    /// may hold one more than fit into its range, and the one leader of the last segment.
    pub fn most_remembered(&self, shortest: u64) -> u64 {
        let last = self.segments.last().map_or(0, |segment| segment.above);
        2 * (last / shortest.max(1) + 2) + (self.segments.len() as u64).saturating_sub(2)
    }

    /// Bytes held.
    pub fn footprint(&self) -> usize {
        let windows: usize = self.segments.iter().map(|segment| segment.window.capacity()).sum();
        (self.history.capacity() + windows) * size_of::<Earlier>()
            + self.segments.capacity() * size_of::<Segment>()
            + self.rise.footprint()
    }

    /// Remembers a packet unless an earlier one stays ahead of it for all time.
    fn remember(&mut self, packet: Earlier) {
        if self.decider.is_some_and(|decider| packet.stays_behind(&decider, &mut self.rise)) {
            return;
        }
        if self.latest.is_none_or(|latest| packet.leads(&latest, self.steepest)) {
            self.history.push_back(packet);
            self.latest = Some(packet);
        }
    }
}

impl Earlier {
    /// Whether this packet is ahead of an earlier one where E^-1 has this slope:
    /// r_j - W_{j-1}/slope > r_i - W_{i-1}/slope.
    fn leads(&self, earlier: &Earlier, slope: PerByte) -> bool {
        let later_by = u128::from(self.arrival - earlier.arrival);
        let work = u128::from(self.work_before - earlier.work_before);
        later_by * u128::from(slope.denominator) > work * u128::from(slope.nanos)
    }

    /// Whether an earlier packet is ahead of this one for all time: E takes longer for the work
    /// between them, wherever it begins, than this one arrived later.
    fn stays_behind(&self, earlier: &Earlier, rise: &mut Rise) -> bool {
        let work = self.work_before - earlier.work_before;
        rise.is_at_most(self.arrival - earlier.arrival, work)
    }
}

impl Segment {
    /// Over `(above, up_to]` bytes, with E^-1 equal to `start` ns at `above` + 1.
    fn new(above: u64, up_to: u64, start: &Exact, nanos_per_byte: &Exact) -> Option<Segment> {
        let denominator = start.denom().lcm(&nanos_per_byte.denom());
        let over = Exact::from_integer(denominator.clone());
        let rest = (start - start.floor()) * &over;
        let mut segment = Segment {
            above,
            up_to,
            start: whole(start),
            start_rest: rest.to_integer().to_u64()?,
            slope: PerByte {
                nanos: (nanos_per_byte * &over).to_integer().to_u64()?,
                denominator: denominator.to_u64()?,
            },
            end: 0,
            until: above,
            bound: 0,
            window: VecDeque::new(),
            next: 0,
        };
        segment.end = segment.inverse(up_to);
        Some(segment)
    }

    /// Adds the packets whose work has entered the range at `work`, and removes those whose work
    /// has left it, as if called for every packet.
    fn slide(&mut self, work: u64, history: &VecDeque<Earlier>, oldest: u64) {
        let has_left = |packet: &Earlier| work - packet.work_before > self.up_to;
        while self.window.front().is_some_and(has_left) {
            self.window.pop_front();
        }
        let mut at = self.next.saturating_sub(oldest) as usize;
        if history.get(at).is_some_and(has_left) {
            at = history.partition_point(has_left);
        }
        while let Some(packet) = history.get(at)
            && work - packet.work_before > self.above
        {
            at += 1;
            self.enter(*packet);
        }
        self.next = oldest + at as u64;
        let enters = history.get(at).map_or(work, |packet| packet.work_before);
        let leader = self.window.front();
        let leaves =
            leader.map_or(u64::MAX, |leader| leader.work_before.saturating_add(self.up_to));
        self.until = enters.saturating_add(self.above).min(leaves);
        self.bound = leader.map_or(0, |leader| leader.arrival.saturating_add(self.end));
    }

    /// Forgets all packets.
    fn clear(&mut self) {
        self.window.clear();
        (self.next, self.until, self.bound) = (0, self.above, 0);
    }

    fn enter(&mut self, packet: Earlier) {
        while self.window.back().is_some_and(|last| packet.leads(last, self.slope)) {
            self.window.pop_back();
        }
        // In a range without end the leader is only ever replaced by a better one.
        if self.up_to < u64::MAX || self.window.is_empty() {
            self.window.push_back(packet);
        }
    }

    /// r_i + E^-1(W_n - W_{i-1}), rounded up.
    fn deadline(&self, packet: &Earlier, work: u64) -> u64 {
        packet.arrival.saturating_add(self.inverse(work - packet.work_before))
    }

    /// E^-1 of `work` bytes in the range, rounded up to whole ns.
    fn inverse(&self, work: u64) -> u64 {
        let bytes = work - self.above - 1;
        let product =
            u128::from(self.slope.nanos) * u128::from(bytes) + u128::from(self.start_rest);
        let nanos = match u64::try_from(product) {
            Ok(product) => product.div_ceil(self.slope.denominator),
            Err(_) => u64::try_from(product.div_ceil(u128::from(self.slope.denominator)))
                .unwrap_or(u64::MAX),
        };
        self.start.saturating_add(nanos)
    }
}

/// E^-1 over whole bytes, cut where E bends. Where E is flat, E^-1 jumps between two segments;
/// where E jumps, E^-1 is level over one.
fn segments(curve: &Curve) -> Option<Vec<Segment>> {
    let pieces = curve.pieces();
    if !curve.is_nondecreasing() || pieces[0].value < Exact::zero() {
        return None;
    }
    let mut segments = Vec::new();
    let mut reached = 0;
    for (at, piece) in pieces.iter().enumerate() {
        let before = whole(&piece.value);
        if before > reached {
            segments.push(Segment::new(reached, before, &piece.start, &Exact::zero())?);
            reached = before;
        }
        let after = match pieces.get(at + 1) {
            Some(next) => whole(&curve.value_before(&next.start)),
            None if piece.slope.is_zero() => reached,
            None => u64::MAX,
        };
        if after > reached {
            let nanos_per_byte = piece.slope.recip();
            let first = Exact::from_integer(reached.into()) + Exact::one();
            let start = &piece.start + (first - &piece.value) * &nanos_per_byte;
            segments.push(Segment::new(reached, after, &start, &nanos_per_byte)?);
            reached = after;
        }
    }
    if reached < u64::MAX {
        let never = Exact::from_integer(u64::MAX.into());
        segments.push(Segment::new(reached, u64::MAX, &never, &Exact::zero())?);
    }
    Some(segments)
}

/// The integer part, clamped to 64 bits, which no work and no time reaches.
fn whole(number: &Exact) -> u64 {
    number.floor().to_integer().to_u64().unwrap_or(u64::MAX)
}

/// E's steepest slope, no time at all for a byte if E jumps. Pieces and jumps too short to reach a
/// whole byte count, although no segment comes from them.
fn steepest(curve: &Curve) -> Option<PerByte> {
    let pieces = curve.pieces();
    let jumps = pieces.iter().any(|piece| piece.value > curve.value_before(&piece.start));
    let slope =
        pieces.iter().map(|piece| &piece.slope).max().filter(|slope| !jumps && !slope.is_zero());
    let nanos_per_byte = slope.map_or_else(Exact::zero, Exact::recip);
    Some(PerByte {
        nanos: nanos_per_byte.numer().to_u64()?,
        denominator: nanos_per_byte.denom().to_u64()?,
    })
}
