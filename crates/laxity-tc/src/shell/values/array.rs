//! Arrays as bash has them: elements by number, or by name in the order of bash's table.

use super::value::Value;

/// The most elements of an array with names. Beyond twice as many bash orders them anew.
pub(crate) const MOST_NAMED: usize = 1000;
/// How many places the table of names has.
const PLACES: u32 = 1024;

/// Elements with their numbers or names, in the order in which bash gives them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Array {
    /// Whether its elements have names, as after `declare -A`.
    pub named: bool,
    elements: Vec<(usize, String, Value)>,
}

impl Array {
    pub(crate) fn named() -> Self {
        Array { named: true, elements: Vec::new() }
    }

    pub(crate) fn numbered(values: impl IntoIterator<Item = Value>) -> Self {
        let mut array = Array::default();
        for value in values {
            array.push(value);
        }
        array
    }

    pub(crate) fn get(&self, key: &str) -> Option<&Value> {
        self.position(key).map(|at| &self.elements[at].2)
    }

    pub(crate) fn set(&mut self, key: &str, value: Value) {
        let Some(place) = self.place(key) else { return };
        let first = self.first_at(place);
        match self.position(key) {
            Some(at) => self.elements[at].2 = value,
            None => self.elements.insert(first, (place, key.to_string(), value)),
        }
    }

    pub(crate) fn remove(&mut self, key: &str) {
        if let Some(at) = self.position(key) {
            self.elements.remove(at);
        }
    }

    /// Puts a value after the last one.
    pub(crate) fn push(&mut self, value: Value) {
        let place = self.next();
        self.elements.push((place, place.to_string(), value));
    }

    /// The number after the last one.
    pub(crate) fn next(&self) -> usize {
        self.elements.last().map_or(0, |(place, ..)| place.saturating_add(1))
    }

    /// Whether it has names, or numbers that do not follow each other.
    pub(crate) fn has_gaps(&self) -> bool {
        self.named || self.next() != self.len()
    }

    pub(crate) fn len(&self) -> usize {
        self.elements.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.elements.iter().map(|(_, key, _)| key.as_str())
    }

    pub(crate) fn values(&self) -> impl Iterator<Item = &Value> {
        self.elements.iter().map(|(_, _, value)| value)
    }

    fn position(&self, key: &str) -> Option<usize> {
        let place = self.place(key)?;
        let first = self.first_at(place);
        let same = self.elements[first..].iter().take_while(|(at, ..)| *at == place);
        same.zip(first..).find(|((_, known, _), _)| known == key).map(|(_, at)| at)
    }

    fn first_at(&self, place: usize) -> usize {
        self.elements.partition_point(|(at, ..)| *at < place)
    }

    /// Where an element stands: at its number, or where its name is in bash's table (FNV-1).
    fn place(&self, key: &str) -> Option<usize> {
        if !self.named {
            return key.parse().ok();
        }
        let sum = |sum: u32, byte: u8| sum.wrapping_mul(16_777_619) ^ u32::from(byte);
        Some((key.bytes().fold(2_166_136_261, sum) % PLACES) as usize)
    }
}
