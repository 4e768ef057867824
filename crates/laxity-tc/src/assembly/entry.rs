//! Filters in the order in which they are asked.

use crate::packets::{Bits, Packets};
use crate::setup::{Flower, Handle, Mark, Protocol, U32};

/// Packets that a filter takes: one of its alternatives, if it has several.
#[derive(Clone, Debug)]
pub(crate) struct Entry {
    /// The class that it hangs at, 0 for the qdisc.
    pub at: u16,
    /// In which order those at one place are asked.
    pub rank: (u16, usize),
    pub packets: Packets,
    pub class: Handle,
    /// The mark of netfilter that packets have.
    pub mark: Option<Mark>,
    /// The table whose filters are asked instead.
    pub link: Option<Box<Link>>,
    /// Whether packets do not leave by this interface.
    pub is_gone: bool,
    pub line: usize,
}

/// The line, class and mark that tell filters by marks apart.
pub(crate) type Sign = (usize, Handle, Option<Mark>);

impl Entry {
    /// What tells it apart from other filters that go by marks.
    pub(crate) fn sign(&self) -> Sign {
        (self.line, self.class, self.mark)
    }
}

/// What a filter of u32 says of tables, and the bits that it asks for itself.
#[derive(Clone, Debug)]
pub(crate) struct Link {
    pub u32: U32,
    pub bits: Bits,
}

/// Filters of u32 in parts. A packet asks one part.
#[derive(Debug, Default)]
pub(crate) struct Table {
    /// How many parts it has.
    pub parts: u32,
    pub filters: Vec<TableEntry>,
}

/// A filter in a table.
#[derive(Debug)]
pub(crate) struct TableEntry {
    pub part: u16,
    /// The packets of its protocol.
    pub packets: Packets,
    pub link: Link,
    pub class: Option<Handle>,
    pub is_gone: bool,
    pub line: usize,
}

/// The filters of one priority are of one kind and one protocol.
#[derive(Debug)]
pub(super) struct Priority {
    pub kind: String,
    pub protocol: Protocol,
    pub masks: Vec<Flower>,
}
