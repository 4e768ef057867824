//! Which packets a filter takes: for each field of the headers the values that it asks for.

use laxity_plan::matching::{Expr, Net, Numbers, Side, Version};

/// The most ranges of numbers that a mask may come to.
const MOST_RANGES: u64 = 64;

/// The packets of which every field has one of these values; a field that is `None` is not looked
/// at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packets {
    pub version: Option<Version>,
    /// Whether frames have no VLAN tag.
    pub untagged: bool,
    pub numbers: [Option<Numbers>; FIELDS.len()],
    /// Source and destination.
    pub nets: [Option<Net>; 2],
    /// It asks for two things that exclude each other.
    pub is_empty: bool,
}

/// The fields that hold numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    Vlan,
    Pcp,
    Protocol,
    SourcePort,
    DestinationPort,
    Dscp,
    Ecn,
}

/// In the order of `Packets::numbers`.
pub const FIELDS: [Field; 7] = [
    Field::Vlan,
    Field::Pcp,
    Field::Protocol,
    Field::SourcePort,
    Field::DestinationPort,
    Field::Dscp,
    Field::Ecn,
];
/// What only frames with a VLAN tag have.
const OF_TAG: [Field; 2] = [Field::Vlan, Field::Pcp];

/// In the order of `Packets::nets`.
const SIDES: [Side; 2] = [Side::Source, Side::Destination];

impl Packets {
    /// Asks for this version of IP, too.
    pub fn of_version(&mut self, version: Version) {
        self.is_empty |= self.version.is_some_and(|other| other != version);
        self.version = Some(version);
    }

    /// Asks for frames without a VLAN tag, too.
    pub fn without_tag(&mut self) {
        self.untagged = true;
        self.is_empty |= self.has_tag();
    }

    /// The same whether frames have a VLAN tag or not, where it asks for none.
    pub fn of_any_tag(&self) -> Packets {
        Packets { untagged: false, ..self.clone() }
    }

    /// Whether it asks for some values of a field.
    pub fn asks_for(&self, field: Field) -> bool {
        self.numbers[field as usize].is_some()
    }

    /// Whether it asks for something that only a VLAN tag has.
    pub fn has_tag(&self) -> bool {
        OF_TAG.iter().any(|field| self.numbers[*field as usize].is_some())
    }

    /// Asks for one of these numbers, too.
    pub fn with(&mut self, field: Field, numbers: &Numbers) {
        let place = &mut self.numbers[field as usize];
        let both = place.as_ref().map_or_else(|| numbers.clone(), |before| and(before, numbers));
        self.is_empty |= both.ranges().is_empty();
        *place = Some(both);
        self.is_empty |= self.untagged && self.has_tag();
    }

    /// Asks for an address of this network, too.
    pub fn within(&mut self, side: Side, net: Net) {
        self.of_version(if net.address().is_ipv4() { Version::V4 } else { Version::V6 });
        let place = &mut self.nets[usize::from(side != Side::Source)];
        match place {
            _ if net.prefix() == 0 => {}
            Some(before) if !is_part(&net, before) => self.is_empty |= !is_part(before, &net),
            _ => *place = Some(net),
        }
    }

    /// The packets that are among both.
    pub fn and(&self, other: &Packets) -> Packets {
        let mut both = self.clone();
        both.is_empty |= other.is_empty;
        if let Some(version) = other.version {
            both.of_version(version);
        }
        if other.untagged {
            both.without_tag();
        }
        for (field, numbers) in FIELDS.into_iter().zip(&other.numbers) {
            if let Some(numbers) = numbers {
                both.with(field, numbers);
            }
        }
        for (side, net) in SIDES.into_iter().zip(other.nets) {
            if let Some(net) = net {
                both.within(side, net);
            }
        }
        both
    }

    /// Whether some packet may be among both.
    pub fn overlaps(&self, other: &Packets) -> bool {
        fn all<T>(a: &[Option<T>], b: &[Option<T>], meet: impl Fn(&T, &T) -> bool) -> bool {
            a.iter().zip(b).all(|pair| !matches!(pair, (Some(a), Some(b)) if !meet(a, b)))
        }
        let by_tag = self.untagged && other.has_tag() || other.untagged && self.has_tag();
        !self.is_empty
            && !other.is_empty
            && !by_tag
            && all(&[self.version], &[other.version], |a, b| a == b)
            && all(&self.numbers, &other.numbers, meet)
            && all(&self.nets, &other.nets, |a, b| is_part(a, b) || is_part(b, a))
    }

    /// Whether every packet of the other is among these.
    pub fn contains(&self, other: &Packets) -> bool {
        fn all<T>(
            wide: &[Option<T>],
            other: &[Option<T>],
            is_part: impl Fn(&T, &T) -> bool,
        ) -> bool {
            wide.iter().zip(other).all(|pair| match pair {
                (None, _) => true,
                (Some(_), None) => false,
                (Some(wide), Some(other)) => is_part(other, wide),
            })
        }
        other.is_empty
            || !self.is_empty
                && (!self.untagged || other.untagged)
                && all(&[self.version], &[other.version], |part, whole| part == whole)
                && all(&self.numbers, &other.numbers, contained)
                && all(&self.nets, &other.nets, is_part)
    }

    /// The packets of either, if they differ in the numbers of one field alone.
    pub fn or(&self, other: &Packets) -> Option<Packets> {
        let mut fields = FIELDS.map(|field| field as usize).into_iter();
        let field = fields.find(|field| self.numbers[*field] != other.numbers[*field])?;
        let (own, others) = (self.numbers[field].as_ref()?, other.numbers[field].as_ref()?);
        let either = Numbers::new([own.ranges(), others.ranges()].concat());
        let (mut joined, mut same) = (self.clone(), other.clone());
        joined.numbers[field] = Some(either.clone());
        same.numbers[field] = Some(either);
        (joined == same).then_some(joined)
    }

    /// The same in the match language.
    pub fn expression(&self) -> Expr {
        let mut tests = Vec::new();
        if self.untagged {
            tests.push(Expr::Tagged(false));
        }
        let has_pcp = self.numbers[Field::Pcp as usize].is_some();
        let is_said = |field: Field, numbers: &Numbers| {
            field == Field::Vlan && has_pcp && *numbers == all_vlans()
        };
        let mut numbers = FIELDS.into_iter().zip(&self.numbers).filter_map(|(field, numbers)| {
            let numbers = numbers.clone().filter(|numbers| !is_said(field, numbers))?;
            Some(match field {
                Field::Vlan if numbers == all_vlans() => Expr::Tagged(true),
                Field::Vlan => Expr::Vlan(numbers),
                Field::Pcp => Expr::Pcp(numbers),
                Field::Protocol => Expr::Protocol(numbers),
                Field::SourcePort => Expr::Port(Side::Source, numbers),
                Field::DestinationPort => Expr::Port(Side::Destination, numbers),
                Field::Dscp => Expr::Dscp(numbers),
                Field::Ecn => Expr::Ecn(numbers),
            })
        });
        let of_tag = OF_TAG.into_iter().filter(|field| {
            let numbers = self.numbers[*field as usize].as_ref();
            numbers.is_some_and(|numbers| !is_said(*field, numbers))
        });
        tests.extend(numbers.by_ref().take(of_tag.count()));
        // Addresses say of which version they are.
        if self.nets == [None, None] {
            tests.extend(self.version.map(Expr::Version));
        }
        let nets = SIDES.into_iter().zip(self.nets);
        tests.extend(nets.filter_map(|(side, net)| Some(Expr::Address(side, Box::new([net?])))));
        tests.extend(numbers);
        if tests.is_empty() { Expr::Any } else { Expr::all(tests) }
    }
}

/// What frames with a VLAN tag have one of.
pub fn all_vlans() -> Numbers {
    Numbers::new(vec![(0, 4095)])
}

/// One number.
pub fn one(number: u16) -> Numbers {
    Numbers::new(vec![(number, number)])
}

/// The numbers of so many bits that are `value` where `mask` has ones. `None` if these are too
/// scattered.
pub fn masked(value: u16, mask: u16, bits: u32) -> Option<Numbers> {
    let whole = (1u32 << bits) - 1;
    let free = u32::from(!mask) & whole;
    // The lowest free bits make ranges; each other one doubles their number.
    let length = 1u32 << free.trailing_ones();
    let scattered = free & !(length - 1);
    if 1u64 << scattered.count_ones() > MOST_RANGES {
        return None;
    }
    let fixed = u32::from(value & mask) & whole;
    let mut ranges = Vec::new();
    let mut part = 0;
    loop {
        let start = fixed | part;
        ranges.push((start as u16, (start + length - 1) as u16));
        // The next number with ones among the scattered bits alone.
        part = part.wrapping_sub(scattered) & scattered;
        if part == 0 {
            return Some(Numbers::new(ranges));
        }
    }
}

fn and(a: &Numbers, b: &Numbers) -> Numbers {
    let overlap = |a: &(u16, u16), b: &(u16, u16)| (a.0.max(b.0), a.1.min(b.1));
    let all = a.ranges().iter().flat_map(|a| b.ranges().iter().map(move |b| overlap(a, b)));
    Numbers::new(all.filter(|(from, to)| from <= to).collect())
}

/// Whether some number is among both.
fn meet(a: &Numbers, b: &Numbers) -> bool {
    let mut others = b.ranges().iter().peekable();
    a.ranges().iter().any(|(from, to)| {
        while others.next_if(|(_, end)| end < from).is_some() {}
        others.peek().is_some_and(|(start, _)| start <= to)
    })
}

/// Whether all numbers of one are among the other.
fn contained(part: &Numbers, whole: &Numbers) -> bool {
    let mut ranges = whole.ranges().iter().peekable();
    part.ranges().iter().all(|(from, to)| {
        while ranges.next_if(|(_, end)| end < from).is_some() {}
        ranges.peek().is_some_and(|(start, end)| start <= from && to <= end)
    })
}

fn is_part(net: &Net, of: &Net) -> bool {
    of.prefix() <= net.prefix() && of.contains(net.address())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn ports(field: Field, from: u16, to: u16) -> Packets {
        let mut packets = Packets::default();
        packets.with(field, &Numbers::new(vec![(from, to)]));
        packets
    }

    #[test]
    fn either_of_two_filters_is_one_if_one_field_differs() {
        let (http, https) =
            (ports(Field::DestinationPort, 80, 80), ports(Field::DestinationPort, 443, 443));
        let both = http.or(&https).unwrap();
        assert_eq!(both.expression().to_string(), "dport {80, 443}");
        let mut sent = https.clone();
        sent.with(Field::SourcePort, &one(5));
        assert_eq!(http.or(&sent), None);
        assert_eq!(http.or(&Packets::default()), None);
        assert_eq!(http.or(&http), None);
    }

    #[test]
    fn what_excludes_itself_is_empty() {
        let mut both = ports(Field::DestinationPort, 1, 5);
        both.with(Field::DestinationPort, &one(6));
        assert!(both.is_empty && !both.overlaps(&Packets::default()));
        let mut versions = Packets::default();
        versions.of_version(Version::V6);
        versions.within(Side::Source, Net::new([10, 0, 0, 1].into(), 32));
        assert!(versions.is_empty);
    }

    /// Filters of one port and one network, few enough to meet often.
    fn filters() -> impl Strategy<Value = Packets> {
        let port = (0u16..4, 0u16..4).prop_map(|(a, b)| Numbers::new(vec![(a.min(b), a.max(b))]));
        let net = (0u8..4, 30u8..=32)
            .prop_map(|(last, prefix)| Net::new([10, 0, 0, last].into(), prefix));
        (prop::option::of(port), prop::option::of(net)).prop_map(|(port, net)| {
            let mut packets = Packets::default();
            port.iter().for_each(|port| packets.with(Field::DestinationPort, port));
            net.into_iter().for_each(|net| packets.within(Side::Source, net));
            packets
        })
    }

    /// Whether an IPv4 packet is among them.
    fn takes(packets: &Packets, port: u16, last: u8) -> bool {
        let in_ports =
            packets.numbers[Field::DestinationPort as usize].as_ref().is_none_or(|numbers| {
                numbers.ranges().iter().any(|(from, to)| (*from..=*to).contains(&port))
            });
        let net = Net::new([10, 0, 0, last].into(), 32);
        !packets.is_empty && in_ports && packets.nets[0].is_none_or(|of| is_part(&net, &of))
    }

    proptest! {
        #[test]
        fn sets_of_packets_behave_as_sets(a in filters(), b in filters()) {
            let (mut meet, mut inside) = (false, true);
            let both = a.and(&b);
            for (port, last) in (0..4).flat_map(|port| (0..4).map(move |last| (port, last))) {
                let (in_a, in_b) = (takes(&a, port, last), takes(&b, port, last));
                prop_assert_eq!(takes(&both, port, last), in_a && in_b);
                meet |= in_a && in_b;
                inside &= in_a || !in_b;
                if let Some(either) = a.or(&b) {
                    prop_assert_eq!(takes(&either, port, last), in_a || in_b);
                }
            }
            prop_assert_eq!(a.overlaps(&b), meet);
            prop_assert!(inside || !a.contains(&b));
            prop_assert!(a.contains(&both) && a.contains(&a));
        }

        #[test]
        fn a_mask_holds_for_the_numbers_that_it_leaves(value in 0u8..64, mask in 0u8..64) {
            let Some(numbers) = masked(value.into(), mask.into(), 6) else {
                return Err(TestCaseError::fail("6 bits are not too scattered"));
            };
            for number in 0..64u8 {
                let holds = numbers.ranges().iter().any(|(from, to)| (*from..=*to).contains(&number.into()));
                prop_assert_eq!(holds, number & mask == value & mask);
            }
        }
    }

    #[test]
    fn a_scattered_mask_is_no_set_of_ports() {
        assert_eq!(masked(1, 1, 16), None);
        assert_eq!(masked(0x4000, 0xc000, 16), Some(Numbers::new(vec![(0x4000, 0x7fff)])));
        assert_eq!(masked(0, 0, 16), Some(Numbers::new(vec![(0, 0xffff)])));
    }
}
