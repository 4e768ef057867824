//! Filters with what they compare.

use std::net::IpAddr;

use laxity::units::Rate;
use laxity_plan::matching::Version;

use super::handle::Handle;

/// The most filters: one discipline has as many priorities.
pub(crate) const MOST_FILTERS: usize = 65_535;

/// A filter at a discipline or class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Filter {
    /// The discipline or class that it hangs at.
    pub parent: Handle,
    /// Its place in the order: a lower one is asked first. Those of one have one kind and one
    /// protocol, and are asked in the order of their numbers. 0 if it is given none.
    pub priority: u16,
    /// Its number at its priority, from 1; of `u32`, the item in table 800:0.
    pub number: u32,
    /// The kind of frame that it looks at.
    pub protocol: Protocol,
    /// The packets that it takes.
    pub kind: FilterKind,
    /// The class that they go to (TCA_FLOWER_CLASSID and so on).
    pub class: Option<Handle>,
    /// What they have to keep to, each in turn (`action police`).
    pub police: Vec<Police>,
    /// Whether they do not leave by this interface (`action drop`, `mirred … redirect`).
    pub is_gone: bool,
}

/// The protocol of a filter.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Protocol {
    /// Every frame (ETH_P_ALL).
    All,
    /// IPv4 (ETH_P_IP).
    Ip,
    /// IPv6 (ETH_P_IPV6).
    Ipv6,
    /// Frames with a tag (ETH_P_8021Q).
    Vlan,
    /// Another one, as it is written.
    Other(String),
}

impl Protocol {
    /// The protocols whose numbers are known.
    pub const ALL: [Protocol; 4] = [Protocol::All, Protocol::Ip, Protocol::Ipv6, Protocol::Vlan];

    /// The EtherType, in the order of the host.
    pub const fn ether_type(&self) -> u16 {
        match self {
            Protocol::All | Protocol::Other(_) => 0x0003,
            Protocol::Ip => 0x0800,
            Protocol::Ipv6 => 0x86dd,
            Protocol::Vlan => 0x8100,
        }
    }

    /// What `tc` calls it.
    pub fn name(&self) -> &str {
        match self {
            Protocol::All => "all",
            Protocol::Ip => "ip",
            Protocol::Ipv6 => "ipv6",
            Protocol::Vlan => "802.1Q",
            Protocol::Other(name) => name,
        }
    }

    /// The version of IP, if it is one.
    pub const fn version(&self) -> Option<Version> {
        match self {
            Protocol::Ip => Some(Version::V4),
            Protocol::Ipv6 => Some(Version::V6),
            Protocol::All | Protocol::Vlan | Protocol::Other(_) => None,
        }
    }
}

impl From<Version> for Protocol {
    fn from(version: Version) -> Protocol {
        match version {
            Version::V4 => Protocol::Ip,
            Version::V6 => Protocol::Ipv6,
        }
    }
}

/// Which packets a filter takes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FilterKind {
    /// All of its protocol.
    Matchall,
    /// Packets with these fields.
    Flower(Flower),
    /// Packets with these bits in their headers, or the filters of a table.
    U32(U32),
    /// Packets that pass all tests of one alternative; without an alternative, all.
    Basic(Vec<Test>),
    /// Packets with a mark of netfilter.
    Fw(Mark),
}

impl FilterKind {
    /// The kernel's name of the kind (TCA_KIND).
    pub fn name(&self) -> &'static str {
        match self {
            FilterKind::Matchall => "matchall",
            FilterKind::Flower(_) => "flower",
            FilterKind::U32(_) => "u32",
            FilterKind::Basic(_) => "basic",
            FilterKind::Fw(_) => "fw",
        }
    }
}

/// A mark of netfilter that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Mark {
    /// These bits of it are so.
    Is {
        /// The bits.
        value: u32,
        /// Which of them count.
        mask: u32,
    },
    /// The mark is the class that packets go to.
    IsClass,
}

/// The fields of `flower`. A field that is `None` is not looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Flower {
    /// TCA_FLOWER_KEY_VLAN_ID; the protocol is [`Protocol::Vlan`].
    pub vlan: Option<u16>,
    /// TCA_FLOWER_KEY_VLAN_PRIO, under the same protocol.
    pub pcp: Option<u8>,
    /// Under [`Protocol::Vlan`]: the protocol behind the tag (TCA_FLOWER_KEY_VLAN_ETH_TYPE).
    pub inner: Option<Protocol>,
    /// TCA_FLOWER_KEY_IP_PROTO.
    pub ip_proto: Option<u8>,
    /// Source and destination, each with how many leading bits count (TCA_FLOWER_KEY_IPV4_SRC,
    /// IPV6_SRC, IPV4_DST and IPV6_DST).
    pub addresses: [Option<(IpAddr, u8)>; 2],
    /// The source port and the destination port.
    pub ports: [Option<Ports>; 2],
    /// TCA_FLOWER_KEY_IP_TOS and its mask.
    pub tos: Option<(u8, u8)>,
}

/// Ports that `flower` compares with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ports {
    /// Ports with these bits: a value and its mask (TCA_FLOWER_KEY_TCP_SRC and so on).
    Masked(u16, u16),
    /// From the first to the last (TCA_FLOWER_KEY_PORT_SRC_MIN and MAX).
    Range(u16, u16),
}

impl Ports {
    /// The ports from the first to the last, which may be the same.
    pub const fn new(first: u16, last: u16) -> Ports {
        if first == last { Ports::Masked(first, u16::MAX) } else { Ports::Range(first, last) }
    }
}

/// What a filter of `u32` compares, or the table that it is.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct U32 {
    /// Words of the header that are compared.
    pub keys: Vec<U32Key>,
    /// The version of IP that its words name, beside the protocol.
    pub version: Option<Version>,
    /// A mark of netfilter that packets have, too.
    pub mark: Option<Mark>,
    /// The table that it is in, and which part of it; `None` for that of its priority.
    pub place: Option<(u16, u16)>,
    /// The table whose filters are asked about its packets.
    pub link: Option<u16>,
    /// Which part of the linked table is asked.
    pub hash: U32Hash,
    /// How many parts it has, if it is a table itself.
    pub parts: Option<u32>,
    /// Whether places after IP count from the end of its header for the filters that it links to.
    pub finds_next_header: bool,
}

/// Which part of a table of `u32` is asked: some bits of a word of the header (`u32_hash_fold`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct U32Hash {
    /// Which bits count.
    pub mask: u32,
    /// Where the word stands.
    pub at: i64,
}

/// A word that `u32` compares (`tc_u32_key`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct U32Key {
    /// The bits, in the order of the host; none outside of `mask`.
    pub value: u32,
    /// Which bits count.
    pub mask: u32,
    /// Where the word is: a multiple of 4.
    pub offset: i32,
    /// Whether the offset counts from the header after IP instead of that of IP.
    pub is_behind_ip: bool,
}

impl U32Key {
    /// Adds the keys that compare the bits of `value` that `mask` has, in `width` bytes from a
    /// place on. Offsets count from the header of IP, or with `is_behind_ip` from that behind it.
    pub(crate) fn push(
        keys: &mut Vec<U32Key>,
        (place, is_behind_ip): (i64, bool),
        width: u32,
        value: u32,
        mask: u32,
    ) {
        let first = keys.len();
        for index in 0..width {
            let place = place + i64::from(index);
            let (offset, shift) = ((place & !3) as i32, 24 - 8 * (place & 3) as u32);
            let byte = |number: u32| (number >> (8 * (width - 1 - index)) & 0xff) << shift;
            if keys[first..].last().is_none_or(|key| key.offset != offset) {
                keys.push(U32Key { value: 0, mask: 0, offset, is_behind_ip });
            }
            if let Some(key) = keys.last_mut() {
                key.value |= byte(value & mask);
                key.mask |= byte(mask);
            }
        }
    }

    /// The keys that compare the leading bits of an address that stands at a place.
    pub(crate) fn for_address((address, prefix): (IpAddr, u8), at: i32) -> Vec<U32Key> {
        let bytes = match address {
            IpAddr::V4(address) => address.octets().to_vec(),
            IpAddr::V6(address) => address.octets().to_vec(),
        };
        let (words, _) = bytes.as_chunks::<4>();
        let word = |(index, word): (usize, [u8; 4])| {
            let left = u32::from(prefix).saturating_sub(32 * index as u32).min(32);
            let mask = u32::MAX.checked_shl(32 - left).unwrap_or(0);
            let value = u32::from_be_bytes(word) & mask;
            U32Key { value, mask, offset: at + 4 * index as i32, is_behind_ip: false }
        };
        words.iter().copied().enumerate().map(word).filter(|key| key.mask != 0).collect()
    }
}

/// One alternative of `basic`: all of these.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Test {
    /// Words of the header that are compared.
    pub keys: Vec<U32Key>,
    /// A mark of netfilter that packets have.
    pub mark: Option<Mark>,
}

/// `action police` (`tc_police`). What keeps to it goes on to the next one, and after the last to
/// the class (TC_ACT_PIPE).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Police {
    /// The action's own number: filters with the same one share its bucket.
    pub index: u32,
    /// The rate at which tokens come.
    pub rate: Rate,
    /// Bytes. The kernel holds it in ticks: see [`whole_ticks`](super::units::whole_ticks).
    pub burst: u32,
    /// The longest packet, in bytes.
    pub mtu: u32,
    /// Whether what exceeds it is asked of the next filters (TC_ACT_UNSPEC, `continue`) instead of
    /// being dropped (TC_ACT_SHOT).
    pub demote: bool,
}
