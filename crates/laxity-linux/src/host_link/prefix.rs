//! What the host knows of a frame, as a program writes it before the frame.

use crate::frames::Origin;

/// Places in a prefix, in bytes. The kernel puts a VLAN tag that a frame has beside it where one
/// belongs in a frame of Ethernet: behind the first twelve bytes, and so into the prefix.
pub(super) const MAGIC: i16 = 0;
pub(super) const HAS_TAG: i16 = 8;
const TAG: usize = 12;
pub(super) const MARK: i16 = 12;
pub(super) const PRIORITY: i16 = 16;
pub(super) const CGROUPS: i16 = 24;

/// How many control groups: the packet's own, and those above it at the first levels.
pub(super) const LEVELS: i16 = Origin::LEVELS as i16;

/// The length of an Ethernet header.
pub(super) const ETHERNET: i16 = 14;

/// A prefix that was read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Prefix {
    /// The VLAN tag that was put into it, protocol and control information.
    pub tag: Option<[u16; 2]>,
    /// How many bytes it takes with the tag.
    pub length: usize,
    pub origin: Origin,
}

impl Prefix {
    /// Its length without a tag.
    pub(super) const SIZE: usize = CGROUPS as usize + 8 * LEVELS as usize;
    /// The most that it takes.
    pub(super) const LONGEST: usize = Prefix::SIZE + 4;

    /// That with which these bytes begin; `None` if they begin with none of ours.
    pub(super) fn read(bytes: &[u8], magic: u64) -> Option<Prefix> {
        let first: &[u8; TAG] = bytes.first_chunk()?;
        if first[..8] != magic.to_ne_bytes() {
            return None;
        }
        let (tag, rest) = match first[8..] {
            [0, 0, 0, 0] => (None, &bytes[TAG..]),
            _ => {
                let (&[p0, p1, c0, c1], rest) = bytes[TAG..].split_first_chunk()?;
                (Some([[p0, p1], [c0, c1]].map(u16::from_be_bytes)), rest)
            }
        };
        let rest: &[u8; Prefix::SIZE - TAG] = rest.first_chunk()?;
        let word = |at: i16| {
            let at = at as usize - TAG;
            u32::from_ne_bytes([rest[at], rest[at + 1], rest[at + 2], rest[at + 3]])
        };
        let cgroup = |level: usize| {
            let at = CGROUPS as usize - TAG + 8 * level;
            rest[at..].first_chunk().map_or(0, |bytes| u64::from_ne_bytes(*bytes))
        };
        Some(Prefix {
            tag,
            length: Prefix::SIZE + if tag.is_some() { 4 } else { 0 },
            origin: Origin {
                mark: word(MARK),
                priority: word(PRIORITY),
                cgroups: std::array::from_fn(cgroup),
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(tag: Option<[u8; 4]>) -> Vec<u8> {
        let mut bytes = 7u64.to_ne_bytes().to_vec();
        bytes.extend(u32::from(tag.is_some()).to_ne_bytes());
        bytes.extend(tag.iter().flatten());
        bytes.extend([0x10u32, 6, 0].map(u32::to_ne_bytes).concat());
        bytes.extend([40u64, 1, 30, 0].map(u64::to_ne_bytes).concat());
        bytes
    }

    #[test]
    fn a_prefix_says_what_the_host_knows() {
        let origin = Origin { mark: 0x10, priority: 6, cgroups: [40, 1, 30, 0] };
        let bytes = written(None);
        assert_eq!(bytes.len(), Prefix::SIZE);
        let prefix = Prefix { tag: None, length: Prefix::SIZE, origin };
        assert_eq!(Prefix::read(&bytes, 7), Some(prefix));
        let tag = Some([0x8100, 0x6007]);
        let tagged = Prefix { tag, length: Prefix::LONGEST, origin };
        assert_eq!(Prefix::read(&written(Some([0x81, 0, 0x60, 7])), 7), Some(tagged));
    }

    #[test]
    fn what_others_send_has_none() {
        assert_eq!(Prefix::read(&written(None), 8), None);
        let tagged = written(Some([0x81, 0, 0x60, 7]));
        (0..Prefix::SIZE).for_each(|end| assert_eq!(Prefix::read(&tagged[..end], 7), None));
    }
}
