//! Attributes: a length, a type and a value each, padded to four bytes
//! (include/uapi/linux/netlink.h, nlattr).

/// The bits of a type that are none of its number (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
const FLAGS: u16 = 0xc000;

/// Attributes in the form in which they are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Attributes(pub Vec<u8>);

impl Attributes {
    /// With one more behind.
    ///
    /// # Panics
    /// If the value is longer than an attribute can be, which is 65 531 bytes.
    pub fn with(mut self, kind: u16, value: &[u8]) -> Attributes {
        let length = u16::try_from(value.len() + 4).expect("an attribute's length fits");
        self.0.extend(length.to_ne_bytes());
        self.0.extend(kind.to_ne_bytes());
        self.0.extend(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// With one more behind, if there is a value.
    pub(super) fn with_some(self, kind: u16, value: Option<impl AsRef<[u8]>>) -> Attributes {
        match value {
            Some(value) => self.with(kind, value.as_ref()),
            None => self,
        }
    }

    /// With a number behind.
    pub fn with_u32(self, kind: u16, value: u32) -> Attributes {
        self.with(kind, &value.to_ne_bytes())
    }

    /// With a text behind, which ends with a zero.
    pub fn with_text(self, kind: u16, text: &str) -> Attributes {
        self.with(kind, &[text.as_bytes(), &[0]].concat())
    }
}

/// The attributes of some bytes, up to the first that is cut off.
pub(super) fn read(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let (head, _) = bytes.split_first_chunk::<4>()?;
        let length = usize::from(u16::from_ne_bytes([head[0], head[1]]));
        let kind = u16::from_ne_bytes([head[2], head[3]]) & !FLAGS;
        let value = bytes.get(4..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
        Some((kind, value))
    })
}

/// The value of the first attribute of a type.
pub(super) fn find(bytes: &[u8], kind: u16) -> Option<&[u8]> {
    read(bytes).find(|(found, _)| *found == kind).map(|(_, value)| value)
}

/// A number in the order of the host, if there are as many bytes.
pub(super) fn u32_of(value: &[u8]) -> Option<u32> {
    value.try_into().ok().map(u32::from_ne_bytes)
}

/// An attribute as a number in the order of the host.
pub(super) fn find_u32(bytes: &[u8], kind: u16) -> Option<u32> {
    find(bytes, kind).and_then(u32_of)
}

/// The numbers that bytes begin with, of a struct of the kernel's.
pub(super) fn words<const N: usize>(bytes: &[u8]) -> Option<[u32; N]> {
    let mut words = [0; N];
    for (word, bytes) in words.iter_mut().zip(bytes.get(..4 * N)?.as_chunks::<4>().0) {
        *word = u32::from_ne_bytes(*bytes);
    }
    Some(words)
}

/// A struct that is made of these numbers.
pub(super) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().flat_map(|word| word.to_ne_bytes()).collect()
}
