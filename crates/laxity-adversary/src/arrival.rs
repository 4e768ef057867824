//! Packets that arrive, and what contracts allow of them.

use laxity::police::TokenBucket;

use crate::contract::Conduct;

/// A packet that arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// In ns.
    pub time: u64,
    /// The name of its feed.
    pub feed: u16,
    /// Its stream within its class.
    pub flow: u16,
    /// In bytes.
    pub length: u32,
}

/// When the first packet may arrive, in ns.
pub const FIRST: u64 = 1;

/// One byte as tokens count it: a rate in bit/s times a time in ns.
pub const BYTE: u64 = 8_000_000_000;

/// What a class may send from a time on, by its contract and what it has sent.
#[derive(Clone, Debug)]
pub struct Allowance {
    buckets: Vec<Bucket>,
    /// By stream, when its last packet is due; `None` before its first one.
    due: Vec<Option<u64>>,
    gap: u64,
}

#[derive(Clone, Debug)]
struct Bucket {
    size: u64,
    rate: u64,
    tokens: u64,
    at: u64,
    /// How long it takes to fill.
    fills: u64,
}

impl Bucket {
    fn full(line: &TokenBucket) -> Bucket {
        let size = line.bucket.0.saturating_mul(BYTE);
        Bucket { size, rate: line.rate.0, tokens: size, at: 0, fills: size / line.rate.0 + 1 }
    }

    fn tokens(&self, now: u64) -> u64 {
        let since = now - self.at;
        if since >= self.fills { self.size } else { self.size.min(self.tokens + self.rate * since) }
    }

    fn earliest(&self, now: u64, length: u32) -> u64 {
        let missing = (u64::from(length) * BYTE).saturating_sub(self.tokens(now));
        now + missing.div_ceil(self.rate)
    }

    fn take(&mut self, now: u64, length: u32) {
        self.tokens = self.tokens(now) - u64::from(length) * BYTE;
        self.at = now;
    }
}

impl Allowance {
    /// Of a class that has sent nothing.
    pub fn new(conduct: &Conduct) -> Allowance {
        let none = Allowance { buckets: Vec::new(), due: Vec::new(), gap: 0 };
        match conduct {
            Conduct::Keeps(lines) => {
                Allowance { buckets: lines.iter().map(Bucket::full).collect(), ..none }
            }
            Conduct::InStep { streams, gap } => {
                Allowance { due: vec![None; *streams as usize], gap: *gap, ..none }
            }
            Conduct::Free => none,
        }
    }

    /// The time nearest to the one that is wanted, and not before it if buckets have to fill, at
    /// which a packet keeps to the contract.
    pub fn grant(&mut self, wanted: u64, flow: u16, length: u32) -> u64 {
        let mut time = wanted;
        for bucket in &self.buckets {
            time = time.max(bucket.earliest(time, length));
        }
        for bucket in &mut self.buckets {
            bucket.take(time, length);
        }
        if let Some(due) = self.due.get_mut(usize::from(flow)) {
            time = match *due {
                None => time.next_multiple_of(self.gap),
                Some(due) => time.min(due),
            };
            *due = Some(due.unwrap_or(time) + self.gap);
        }
        time
    }

    /// Whether each stream has an allowance of its own.
    pub fn is_in_step(&self) -> bool {
        !self.due.is_empty()
    }

    /// How long it takes until nothing is left of what it has sent.
    pub fn fills(&self) -> u64 {
        self.buckets.iter().map(|bucket| bucket.fills).max().unwrap_or(0)
    }
}
