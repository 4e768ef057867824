//! Which class and flow the frames of a conversation have, remembered in bounded memory.

use laxity::packet::{ClassId, FlowId};
use laxity_plan::matching::Headers;
use prefetch_index::prefetch_index;

use crate::key::{Hasher, Key, WORDS};

/// What a frame was found to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Classification {
    /// Its class.
    pub class: ClassId,
    /// Its flow within that.
    pub flow: FlowId,
}

/// A set-associative cache of fixed size. All headers of one conversation are in one set, so a
/// conversation keeps its flow number as long as any of them is there.
///
/// A set that is full gives up an entry that was not asked for since the set was last looked
/// through for one (the clock algorithm): who sends many flows of a packet each drives out others
/// like that, and hardly a flow that goes on. Which conversations share a set depends on a secret.
#[derive(Clone, Debug)]
pub(crate) struct Cache {
    hasher: Hasher,
    sets: Vec<Set>,
    /// [`WAYS`] of each set.
    entries: Vec<Entry>,
}

/// The entries of a set.
const WAYS: usize = 8;

/// Half a cache line.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(32))]
struct Set {
    /// Part of the hash of each entry's conversation; 0 if there is no entry.
    tags: [u16; WAYS],
    /// A bit for each entry that was asked for.
    used: u8,
    /// The next entry to give up.
    hand: u8,
}

#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
struct Entry {
    key: Key,
    found: Classification,
}

/// Where a conversation's entries are.
#[derive(Clone, Copy, Debug, Default)]
struct Place {
    set: usize,
    tag: u16,
}

/// What a frame is looked up by.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Lookup {
    key: Key,
    place: Place,
}

impl Cache {
    /// A cache for about `capacity` headers, with at least one set.
    ///
    /// A `secret` that others do not know keeps them from choosing headers that share a set.
    pub(crate) fn new(capacity: usize, secret: u64) -> Self {
        let sets = capacity.clamp(1, 1 << 24).div_ceil(WAYS).next_power_of_two();
        Cache {
            hasher: Hasher::new(secret),
            sets: vec![Set::default(); sets],
            entries: vec![Entry::default(); sets * WAYS],
        }
    }

    /// The hash that sets depend on.
    pub(crate) fn hasher(&self) -> Hasher {
        self.hasher
    }

    /// How these headers are looked up. The set where they may be is loaded.
    #[inline]
    pub(crate) fn lookup(&self, headers: &Headers) -> Lookup {
        let key = Key::new(headers);
        let hash = self.hasher.hash(key.conversation());
        let set = (hash >> 32) as usize & (self.sets.len() - 1);
        prefetch_index(&self.sets, set);
        Lookup { key, place: Place { set, tag: hash as u16 | 1 } }
    }

    /// Loads the entry that may be of what is looked up, if the set is loaded.
    #[inline]
    pub(crate) fn prefetch(&self, lookup: &Lookup) {
        let Place { set, tag } = lookup.place;
        if let Some(way) = self.sets[set].tags.iter().position(|other| *other == tag) {
            let entry = set * WAYS + way;
            prefetch_index(&self.entries, entry);
            prefetch_index(std::slice::from_ref(&self.entries[entry].found), 0);
        }
    }

    /// What headers were found to be; `find` says the class of headers that are not known, and
    /// `number` the number of a flow of that class that is not.
    pub(crate) fn find(
        &mut self,
        Lookup { key, place }: Lookup,
        find: impl FnOnce() -> ClassId,
        number: impl FnOnce(ClassId) -> FlowId,
    ) -> Classification {
        match self.known(place, |entry| entry.key == key) {
            Some(found) => found,
            None => self.learn(place, key, find(), number),
        }
    }

    #[inline]
    fn known(
        &mut self,
        Place { set, tag }: Place,
        is: impl Fn(&Entry) -> bool,
    ) -> Option<Classification> {
        let ways = &mut self.sets[set];
        let entries = &self.entries[set * WAYS..][..WAYS];
        for (way, entry) in entries.iter().enumerate() {
            if ways.tags[way] == tag && is(entry) {
                ways.used |= 1 << way;
                return Some(entry.found);
            }
        }
        None
    }

    #[cold]
    fn learn(
        &mut self,
        place: Place,
        key: Key,
        class: ClassId,
        number: impl FnOnce(ClassId) -> FlowId,
    ) -> Classification {
        let is_of_flow = |entry: &Entry| {
            entry.found.class == class && entry.key.conversation() == key.conversation()
        };
        let known = self.known(place, is_of_flow);
        let found = known.unwrap_or_else(|| Classification { class, flow: number(class) });
        let Place { set, tag } = place;
        let ways = &mut self.sets[set];
        let way = ways.tags.iter().position(|&tag| tag == 0).unwrap_or_else(|| ways.give_up());
        ways.tags[way] = tag;
        ways.used &= !(1 << way);
        self.entries[set * WAYS + way] = Entry { key, found };
        found
    }
}

impl Set {
    /// An entry that was not asked for since the hand passed it, or else the first that it comes
    /// to.
    fn give_up(&mut self) -> usize {
        loop {
            let way = usize::from(self.hand) % WAYS;
            self.hand = (way + 1) as u8;
            let bit = 1 << way;
            if self.used & bit == 0 {
                return way;
            }
            self.used &= !bit;
        }
    }
}

const _: () = assert!(size_of::<Set>() == 32 && size_of::<Entry>() <= 80 && WORDS == 9);
