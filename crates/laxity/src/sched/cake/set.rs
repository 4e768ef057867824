//! Set-associative hashing: as long as a set has a free place, no two keys share one.

use alloc::vec::Vec;

use crate::sched::fq_codel::mix;

/// The places of a set.
pub(super) const WAYS: usize = 8;

/// Where a key has its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// The key had this place already.
    Kept(usize),
    /// The place was free.
    Free(usize),
    /// None of the set is free: this is another key's, too.
    Shared(usize),
}

/// The keys that had the places last.
#[derive(Clone, Debug)]
pub(super) struct Tags {
    salt: u64,
    keys: Vec<u64>,
}

/// A key that nothing has. The greatest number is that of two unknown hosts.
const NOTHING: u64 = u64::MAX - 1;

impl Tags {
    /// Free places, a multiple of [`WAYS`].
    pub(super) fn new(places: usize, salt: u64) -> Self {
        Tags { salt, keys: alloc::vec![NOTHING; places] }
    }

    /// The place that a key has now, if it has one.
    pub(super) fn find(&self, key: u64) -> Option<usize> {
        self.ways(key).find(|&place| self.keys[place] == key)
    }

    /// Whether a key has a place of its own, or there is a free one for it.
    pub(super) fn has_room(&self, key: u64, is_free: impl Fn(usize) -> bool) -> bool {
        self.ways(key).any(|place| self.keys[place] == key || is_free(place))
    }

    /// Makes as many places, all free, instead of those that there are, which it returns.
    pub(super) fn replace(&mut self, places: usize) -> Tags {
        let free = Tags::new(places, self.salt);
        core::mem::replace(self, free)
    }

    /// The key that each place had last.
    pub(super) fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.keys.iter().copied()
    }

    /// Gives a key a place of its set: its own, or else the first that is free from the one that
    /// its hash says, or else that one.
    pub(super) fn place(&mut self, key: u64, is_free: impl Fn(usize) -> bool) -> Way {
        if let Some(place) = self.find(key) {
            return Way::Kept(place);
        }
        let free = self.ways(key).find(|&place| is_free(place));
        let first = self.ways(key).next();
        let way = free.map_or(Way::Shared(first.unwrap_or_default()), Way::Free);
        let (Way::Kept(place) | Way::Free(place) | Way::Shared(place)) = way;
        self.keys[place] = key;
        way
    }

    /// The places of a key's set, from the one that its hash says.
    pub(super) fn ways(&self, key: u64) -> impl Iterator<Item = usize> + use<> {
        let hash = mix(key ^ self.salt) >> 32;
        let place = ((u128::from(hash) * self.keys.len() as u128) >> 32) as usize;
        let (first, set) = (place % WAYS, place - place % WAYS);
        (0..WAYS).map(move |way| set + (first + way) % WAYS)
    }

    pub(super) fn footprint(&self) -> usize {
        self.keys.capacity() * size_of::<u64>()
    }
}
