//! Messages of rtnetlink about traffic control (`struct tcmsg` and its attributes).

use serde::{Deserialize, Serialize};

use super::attributes::{self, Attributes};
use crate::setup::Handle;

/// TCA_KIND.
pub(super) const KIND: u16 = 1;
/// TCA_OPTIONS.
pub(super) const OPTIONS: u16 = 2;
/// TCA_STATS2.
pub(super) const STATS2: u16 = 7;
/// TCA_STAB.
pub(super) const STAB: u16 = 8;
/// TCA_CHAIN.
const CHAIN: u16 = 11;

/// The length of `struct tcmsg`.
const HEAD: usize = 20;

/// What a message is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Sort {
    /// A queueing discipline.
    Qdisc,
    /// A class.
    Class,
    /// A filter.
    Filter,
}

impl Sort {
    /// What `tc` calls it.
    pub fn name(self) -> &'static str {
        match self {
            Sort::Qdisc => "qdisc",
            Sort::Class => "class",
            Sort::Filter => "filter",
        }
    }

    /// RTM_NEWQDISC, RTM_NEWTCLASS, RTM_NEWTFILTER; one more deletes, two more ask.
    const fn new_message(self) -> u16 {
        match self {
            Sort::Qdisc => 36,
            Sort::Class => 40,
            Sort::Filter => 44,
        }
    }
}

/// A qdisc, a class or a filter.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Object {
    /// Which of them.
    pub sort: Sort,
    /// Its own number; of a filter, its number at its priority.
    pub handle: Handle,
    /// What it hangs at.
    pub parent: Handle,
    /// A filter's priority in the upper half and its protocol, in the order of the network,
    /// in the lower (`tcm_info`). Zero of others.
    pub info: u32,
    /// Its attributes.
    #[serde(with = "digits")]
    pub attributes: Vec<u8>,
}

impl Object {
    pub(super) fn new(sort: Sort, handle: Handle, parent: Handle, kind: &str) -> Object {
        let attributes = Attributes::default().with_text(KIND, kind).0;
        Object { sort, handle, parent, info: 0, attributes }
    }

    pub(super) fn with(mut self, kind: u16, value: &[u8]) -> Object {
        self.attributes = Attributes(self.attributes).with(kind, value).0;
        self
    }

    /// The kernel's name of its kind.
    pub fn kind(&self) -> String {
        let kind = attributes::find(&self.attributes, KIND).unwrap_or_default();
        let end = kind.iter().position(|byte| *byte == 0).unwrap_or(kind.len());
        String::from_utf8_lossy(&kind[..end]).into_owned()
    }

    /// Its parameters.
    pub(super) fn options(&self) -> &[u8] {
        attributes::find(&self.attributes, OPTIONS).unwrap_or_default()
    }

    /// The priority of a filter.
    pub fn priority(&self) -> u16 {
        (self.info >> 16) as u16
    }

    /// The object with the attributes alone that the kernel takes.
    pub(super) fn settable(&self) -> Object {
        let mut attributes = Attributes::default();
        for (kind, value) in attributes::read(&self.attributes) {
            // The table of a size table is not shown, so that it cannot be put back as it is.
            if matches!(kind, KIND | OPTIONS | CHAIN) {
                attributes = attributes.with(kind, value);
            }
        }
        let info = if self.sort == Sort::Filter { self.info } else { 0 };
        Object { attributes: attributes.0, info, ..self.clone() }
    }

    /// What the kernel sends about an interface; `None` if the message is about another, or is none
    /// of these, or is cut off. `kind` is the type of the message.
    pub fn read(kind: u16, payload: &[u8], interface: u32) -> Option<Object> {
        let sorts = [Sort::Qdisc, Sort::Class, Sort::Filter];
        let sort = sorts.into_iter().find(|sort| sort.new_message() == kind)?;
        let [_, index, handle, parent, info] = attributes::words(payload)?;
        let info = if sort == Sort::Filter { info } else { 0 };
        (index == interface).then(|| Object {
            sort,
            handle: Handle(handle),
            parent: Handle(parent),
            info,
            attributes: payload[HEAD..].to_vec(),
        })
    }

    /// The message that does something to it on an interface.
    pub fn request(&self, action: Action, interface: u32) -> Request {
        let is_filter = self.sort == Sort::Filter;
        let message = self.sort.new_message();
        let (kind, flags, attributes) = match action {
            Action::Add => (message, CREATE | EXCLUSIVE, self.attributes.clone()),
            Action::Replace => (message, CREATE | REPLACE, self.attributes.clone()),
            // A filter is changed by a request that could make it.
            Action::Change if is_filter => (message, CREATE, self.attributes.clone()),
            Action::Change => (message, 0, super::changing(self).attributes),
            Action::Delete if is_filter => {
                (message + 1, 0, Attributes::default().with_text(KIND, &self.kind()).0)
            }
            Action::Delete => (message + 1, 0, Vec::new()),
        };
        let head = [0, interface, self.handle.0, self.parent.0, self.info];
        Request { kind, flags, payload: [attributes::bytes(&head), attributes].concat() }
    }
}

/// What is done to an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// The object is added; refused if it is there.
    Add,
    /// The object takes the place of another one.
    Replace,
    /// The object is changed in place; refused if it is not there.
    Change,
    /// The object is taken away, and what hangs at it.
    Delete,
}

/// NLM_F_REPLACE.
const REPLACE: u16 = 0x100;
/// NLM_F_EXCL.
const EXCLUSIVE: u16 = 0x200;
/// NLM_F_CREATE.
const CREATE: u16 = 0x400;
/// NLM_F_DUMP.
const DUMP: u16 = 0x300;

/// A message without its header, whose length and sequence number the sender gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Its type.
    pub kind: u16,
    /// What is to be done, beside NLM_F_REQUEST and NLM_F_ACK.
    pub flags: u16,
    /// `struct tcmsg` and attributes.
    pub payload: Vec<u8>,
}

/// Asks for all of a sort; of filters, for those at a qdisc or class.
pub fn dump(sort: Sort, interface: u32, parent: Handle) -> Request {
    let payload = attributes::bytes(&[0, interface, 0, parent.0, 0]);
    Request { kind: sort.new_message() + 2, flags: DUMP, payload }
}

/// Bytes as hexadecimal digits.
mod digits {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    const DIGITS: &[u8; 16] = b"0123456789abcdef";

    pub(super) fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        let halves = bytes.iter().flat_map(|byte| [byte >> 4, byte & 0xf]);
        let text: String = halves.map(|half| char::from(DIGITS[usize::from(half)])).collect();
        to.serialize_str(&text)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        let text = String::deserialize(from)?;
        let half = |digit: u8| char::from(digit).to_digit(16).map(|half| half as u8);
        let (pairs, rest) = text.as_bytes().as_chunks::<2>();
        let bytes: Option<Vec<u8>> =
            pairs.iter().map(|[high, low]| Some(half(*high)? << 4 | half(*low)?)).collect();
        bytes
            .filter(|_| rest.is_empty())
            .ok_or_else(|| D::Error::custom("pairs of hexadecimal digits"))
    }
}
