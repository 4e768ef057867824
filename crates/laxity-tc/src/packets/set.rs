//! Which packets a filter takes: for each field of the headers the values that it asks for.

use laxity_plan::matching::{Expr, Net, Numbers, Side, Version};

/// The most ranges of numbers that a mask may come to.
const MOST_RANGES: u64 = 64;

/// Packets by the values of their fields: each has one of these values. A field that is `None` may
/// have any.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Packets {
    pub version: Option<Version>,
    /// Whether frames have no VLAN tag.
    pub untagged: bool,
    pub numbers: [Option<Numbers>; FIELDS.len()],
    /// Source and destination.
    pub nets: [Option<Net>; 2],
    /// Two of the conditions exclude each other.
    pub is_empty: bool,
}

/// The fields that hold numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Vlan,
    Pcp,
    Protocol,
    SourcePort,
    DestinationPort,
    Dscp,
    Ecn,
}

/// In the order of `Packets::numbers`.
pub(crate) const FIELDS: [Field; 7] = [
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

/// The ports, in the order of [`SIDES`].
pub(crate) const PORTS: [Field; 2] = [Field::SourcePort, Field::DestinationPort];
/// In the order of `Packets::nets`.
pub(crate) const SIDES: [Side; 2] = [Side::Source, Side::Destination];

impl Packets {
    /// Asks for this version of IP, too.
    pub(crate) fn require_version(&mut self, version: Version) {
        self.is_empty |= self.version.is_some_and(|other| other != version);
        self.version = Some(version);
    }

    /// Asks for frames without a VLAN tag, too.
    pub(crate) fn without_tag(&mut self) {
        self.untagged = true;
        self.is_empty |= self.has_tag();
    }

    /// The packets whether their frames have a VLAN tag or not.
    pub(crate) fn with_any_tag(&self) -> Packets {
        Packets { untagged: false, ..self.clone() }
    }

    /// Whether a field is asked for.
    pub(crate) fn asks_for(&self, field: Field) -> bool {
        self.numbers[field as usize].is_some()
    }

    /// Whether a field of the VLAN tag is asked for.
    pub(crate) fn has_tag(&self) -> bool {
        OF_TAG.iter().any(|field| self.numbers[*field as usize].is_some())
    }

    /// Asks for one of these numbers, too.
    pub(crate) fn with(&mut self, field: Field, numbers: &Numbers) {
        let place = &mut self.numbers[field as usize];
        let both = place.as_ref().map_or_else(|| numbers.clone(), |before| and(before, numbers));
        self.is_empty |= both.ranges().is_empty();
        *place = Some(both);
        self.is_empty |= self.untagged && self.has_tag();
    }

    /// Asks for an address of this network, too.
    pub(crate) fn within(&mut self, side: Side, net: Net) {
        self.require_version(if net.address().is_ipv4() { Version::V4 } else { Version::V6 });
        let place = &mut self.nets[usize::from(side != Side::Source)];
        match place {
            _ if net.prefix() == 0 => {}
            Some(before) if !is_part(&net, before) => self.is_empty |= !is_part(before, &net),
            _ => *place = Some(net),
        }
    }

    /// The packets that are among both.
    pub(crate) fn and(&self, other: &Packets) -> Packets {
        let mut both = self.clone();
        both.is_empty |= other.is_empty;
        if let Some(version) = other.version {
            both.require_version(version);
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
    pub(crate) fn overlaps(&self, other: &Packets) -> bool {
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
    pub(crate) fn contains(&self, other: &Packets) -> bool {
        fn all<T>(wide: &[Option<T>], other: &[Option<T>], part: fn(&T, &T) -> bool) -> bool {
            let is_part = |other: &Option<T>, wide| other.as_ref().is_some_and(|it| part(it, wide));
            let mut pairs = wide.iter().zip(other);
            pairs.all(|(wide, other)| wide.as_ref().is_none_or(|wide| is_part(other, wide)))
        }
        other.is_empty
            || !self.is_empty
                && (!self.untagged || other.untagged)
                && all(&[self.version], &[other.version], |part, whole| part == whole)
                && all(&self.numbers, &other.numbers, contained)
                && all(&self.nets, &other.nets, is_part)
    }

    /// The packets of either, if they differ in the numbers of one field alone.
    pub(crate) fn or(&self, other: &Packets) -> Option<Packets> {
        let mut fields = FIELDS.map(|field| field as usize).into_iter();
        let field = fields.find(|field| self.numbers[*field] != other.numbers[*field])?;
        let (own, others) = (self.numbers[field].as_ref()?, other.numbers[field].as_ref()?);
        let either = Numbers::new([own.ranges(), others.ranges()].concat());
        let (mut joined, mut same) = (self.clone(), other.clone());
        joined.numbers[field] = Some(either.clone());
        same.numbers[field] = Some(either);
        (joined == same).then_some(joined)
    }

    /// The packets in the match language.
    pub(crate) fn expression(&self) -> Expr {
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
        // Addresses imply the version.
        if self.nets == [None, None] {
            tests.extend(self.version.map(Expr::Version));
        }
        let nets = SIDES.into_iter().zip(self.nets);
        tests.extend(nets.filter_map(|(side, net)| Some(Expr::Address(side, Box::new([net?])))));
        tests.extend(numbers);
        if tests.is_empty() { Expr::Any } else { Expr::all(tests) }
    }
}

/// Asks each of these packets for one of these numbers, too.
pub(crate) fn with_all(all: &mut [Packets], field: Field, numbers: &Numbers) {
    for packets in all {
        packets.with(field, numbers);
    }
}

/// What frames with a VLAN tag have one of.
pub(crate) fn all_vlans() -> Numbers {
    Numbers::new(vec![(0, 4095)])
}

/// One number.
pub(crate) fn one(number: u16) -> Numbers {
    Numbers::new(vec![(number, number)])
}

/// The numbers that are `value` where `mask` has ones. `None` if they are too scattered.
pub(crate) fn masked(value: u16, mask: u16, bits: u32) -> Option<Numbers> {
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
mod tests;
