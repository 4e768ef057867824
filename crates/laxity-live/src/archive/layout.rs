//! Where things are in the file of a history.

use laxity_plan::Plan;
use serde::{Deserialize, Serialize};

use super::slot::{CHECK, CLASS, MOMENT};
use crate::status::PastSpan;

/// What a history is of: the directions and classes, in the order in which they are written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Subject {
    /// The name of each direction, and of one of its classes.
    classes: Vec<(String, String)>,
}

/// How many classes are recorded, the first ones.
pub(super) const MOST_CLASSES: usize = 64;
/// How many moments are kept.
pub(super) const MOMENTS: u64 = 1_024;
/// Bytes before the first slot.
pub(super) const HEADER: u64 = 65_536;
/// What a file begins with. The last figure is the version.
pub(super) const MAGIC: &[u8; 16] = b"laxity-history 1";

impl Subject {
    /// The first of these classes, each with its direction.
    pub(crate) fn new(classes: impl IntoIterator<Item = (String, String)>) -> Self {
        Subject { classes: classes.into_iter().take(MOST_CLASSES).collect() }
    }

    /// The first classes of these plans, each with the name of its direction.
    pub(crate) fn of_plans<'p>(ways: impl Iterator<Item = (&'p str, &'p Plan)>) -> Self {
        Subject::new(ways.flat_map(|(way, plan)| {
            plan.leaves().map(move |(_, class)| (way.to_string(), class.name.clone()))
        }))
    }

    /// The number of classes.
    pub(super) fn len(&self) -> usize {
        self.classes.len()
    }

    /// Directions and classes.
    pub(super) fn classes(&self) -> impl Iterator<Item = &(String, String)> {
        self.classes.iter()
    }

    /// The direction of a class.
    pub(super) fn way(&self, place: usize) -> &str {
        self.classes.get(place).map_or("", |(way, _)| way)
    }

    /// The name of a class.
    pub(super) fn class(&self, place: usize) -> Option<&str> {
        self.classes.get(place).map(|(_, class)| class.as_str())
    }

    /// The place of a class.
    pub(crate) fn place(&self, way: &str, class: &str) -> Option<usize> {
        self.classes.iter().position(|(its_way, its)| its_way == way && its == class)
    }

    /// Bytes of a slot.
    pub(super) fn slot(&self) -> usize {
        8 + self.len() * CLASS + CHECK
    }

    /// Where the slots of a span begin.
    pub(super) fn ring(&self, span: PastSpan) -> u64 {
        let before = PastSpan::ALL.iter().take_while(|other| **other != span);
        HEADER + before.map(|span| span.slots()).sum::<u64>() * self.slot() as u64
    }

    /// Where a slot is.
    pub(super) fn place_of(&self, span: PastSpan, at: u64) -> u64 {
        self.ring(span) + at / span.width_s() % span.slots() * self.slot() as u64
    }

    /// Where a moment is.
    pub(super) fn place_of_moment(&self, number: u64) -> u64 {
        let slots = PastSpan::ALL.iter().map(|span| span.slots()).sum::<u64>();
        HEADER + slots * self.slot() as u64 + number % MOMENTS * MOMENT as u64
    }

    /// Bytes of the whole file.
    pub(super) fn length(&self) -> u64 {
        self.place_of_moment(0) + MOMENTS * MOMENT as u64
    }

    /// The header of a file.
    pub(super) fn header(&self) -> Option<Vec<u8>> {
        let text = serde_json::to_vec(self).ok()?;
        let mut header = MAGIC.to_vec();
        header.extend((text.len() as u32).to_le_bytes());
        header.extend(crc32fast::hash(&text).to_le_bytes());
        header.extend(text);
        (header.len() as u64 <= HEADER).then_some(header)
    }

    /// Reads a header; `None` if it is none, or of another version.
    pub(super) fn from_header(header: &[u8]) -> Option<Subject> {
        let rest = header.strip_prefix(MAGIC)?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let (check, rest) = rest.split_first_chunk::<4>()?;
        let text = rest.get(..u32::from_le_bytes(*length) as usize)?;
        let is_right = crc32fast::hash(text) == u32::from_le_bytes(*check);
        let subject: Subject = is_right.then(|| serde_json::from_slice(text).ok()).flatten()?;
        (subject.len() <= MOST_CLASSES).then_some(subject)
    }
}
