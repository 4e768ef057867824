//! Headers as a few words, and their hash.

use std::net::IpAddr;

use laxity::packet::{HostId, Hosts};
use laxity_plan::matching::{Headers, HostMarks};

/// All that a match may look at, and nothing else. The last words are what does not tell
/// conversations apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key([u64; WORDS]);

/// How many words that is.
pub(crate) const WORDS: usize = 9;

/// How many tell conversations apart.
const OF_CONVERSATION: usize = 5;

impl Key {
    /// Different headers have different keys.
    #[inline]
    pub(crate) fn new(headers: &Headers) -> Key {
        let mut words = [0; WORDS];
        // No word is zero for what is there: whether something is there is part of it.
        if let Some(ip) = &headers.ip {
            let version = if ip.source.is_ipv4() { 4 } else { 6 };
            [words[0], words[1]] = halves(ip.source);
            [words[2], words[3]] = halves(ip.destination);
            words[4] = version << 48 | u64::from(ip.protocol) << 40;
            words[5] = u64::from(ip.dscp) | u64::from(ip.ecn) << 8;
        }
        if let Some(ports) = headers.ports {
            words[4] |= 1 << 32 | u64::from(ports.source) << 16 | u64::from(ports.destination);
        }
        if let Some(vlan) = headers.vlan {
            words[5] |= 1 << 32 | u64::from(vlan) << 16;
        }
        if let Some(pcp) = headers.pcp {
            words[5] |= 1 << 43 | u64::from(pcp) << 40;
        }
        let HostMarks { mark, connection_mark, priority, cgroups } = headers.host;
        words[6] = u64::from(mark) << 32 | u64::from(connection_mark);
        words[7] = priority.into();
        // Those above it follow from the group.
        words[8] = cgroups[0];
        Key(words)
    }

    /// What tells conversations apart.
    #[inline]
    pub(crate) fn conversation(&self) -> &[u64; OF_CONVERSATION] {
        self.0.first_chunk().expect("fewer than all words")
    }
}

fn halves(address: IpAddr) -> [u64; 2] {
    match address {
        IpAddr::V4(address) => [0, u64::from(address.to_bits())],
        IpAddr::V6(address) => {
            let bits = address.to_bits();
            [(bits >> 64) as u64, bits as u64]
        }
    }
}

/// A hash that depends on a secret in every bit: each word is multiplied with a secret number into
/// 128 bits whose halves are folded, as in wyhash (Wang Yi 2019).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Hasher([u64; OF_CONVERSATION]);

impl Hasher {
    /// With words made from a secret.
    pub(crate) fn new(secret: u64) -> Self {
        let mut state = secret;
        // SplitMix64 (Steele, Lea, Flood 2014).
        Hasher(std::array::from_fn(|_| {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mixed = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            mixed ^ (mixed >> 31)
        }))
    }

    /// The hosts of a frame, by their addresses.
    pub(crate) fn hosts(&self, headers: &Headers) -> Hosts {
        let host = |address: IpAddr| {
            let [high, low] = halves(address);
            HostId((self.hash(&[high, low, 0, 0, 0]) as u32).min(HostId::UNKNOWN.0 - 1))
        };
        headers.ip.map_or(Hosts::UNKNOWN, |ip| Hosts {
            source: host(ip.source),
            destination: host(ip.destination),
        })
    }

    /// The hash of these words.
    #[inline]
    pub(crate) fn hash(&self, words: &[u64; OF_CONVERSATION]) -> u64 {
        let Hasher(secret) = self;
        let pairs = [(0, 1), (2, 3)].map(|(a, b)| fold(words[a] ^ secret[a], words[b] ^ secret[b]));
        let hash = fold(pairs[0] ^ words[4] ^ secret[4], pairs[1] ^ secret[0]);
        fold(hash ^ secret[1], secret[2] | 1)
    }
}

#[inline]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    (product >> 64) as u64 ^ product as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity_plan::matching::{IpHeaders, Ports};
    use proptest::prelude::*;

    fn address() -> impl Strategy<Value = (IpAddr, IpAddr)> {
        let few4 = (0..4u32, 0..4u32);
        let few6 = (0..4u128, 0..4u128);
        prop_oneof![
            few4.prop_map(|(a, b)| (IpAddr::V4(a.into()), IpAddr::V4(b.into()))),
            few6.prop_map(|(a, b)| (IpAddr::V6(a.into()), IpAddr::V6(b.into()))),
        ]
    }

    fn headers() -> impl Strategy<Value = Headers> {
        let ip = (address(), 0..3u8, 0..3u8, 0..4u8);
        let ip = ip.prop_map(|((source, destination), protocol, dscp, ecn)| IpHeaders {
            source,
            destination,
            protocol,
            dscp,
            ecn,
        });
        let ports =
            (0..3u16, 0..3u16).prop_map(|(source, destination)| Ports { source, destination });
        let tag = prop::option::of((0..3u16, 0..8u8));
        let host = (0..2u32, 0..2u32, 0..2u32, 0..2u64).prop_map(|(mark, ct, priority, group)| {
            HostMarks { mark, connection_mark: ct, priority, cgroups: [group, 0, 0, 0] }
        });
        let parts = (tag, prop::option::of(ip), prop::option::of(ports), host);
        parts.prop_map(|(tag, ip, ports, host)| Headers {
            vlan: tag.map(|(vlan, _)| vlan),
            pcp: tag.map(|(_, pcp)| pcp),
            ip,
            ports,
            host,
        })
    }

    proptest! {
        #[test]
        fn keys_are_equal_where_headers_are(a in headers(), b in headers()) {
            prop_assert_eq!(Key::new(&a) == Key::new(&b), a == b);
            let same = |h: &Headers| laxity_plan::classify::Conversation::new(h);
            let is_one = Key::new(&a).conversation() == Key::new(&b).conversation();
            prop_assert_eq!(is_one, same(&a) == same(&b));
        }
    }

    #[test]
    fn a_hash_spreads_neighbours_evenly() {
        let hasher = Hasher::new(1);
        let mut counts = [0u32; 64];
        for address in 0..64_000u64 {
            counts[(hasher.hash(&[0, address, 0, 1, 2]) >> 32) as usize & 63] += 1;
        }
        // A thousand are expected in each; the standard deviation is 32.
        assert!(counts.iter().all(|count| (840..1160).contains(count)), "{counts:?}");
    }
}
