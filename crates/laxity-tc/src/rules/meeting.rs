//! Which of many sets of packets may have some in common with another one, without a look at each.

use std::collections::BTreeSet;
use std::net::IpAddr;

use crate::packets::{FIELDS, Packets};

/// Sets of packets, indexed by the field that tells most of them apart.
pub(super) struct Meeting {
    field: usize,
    /// The spans of values that something asks for, with its number, in the order of first values.
    spans: Vec<(u128, u128, u32)>,
    /// A tree over the spans: the greatest last value of each part of them, its root at 1.
    last: Vec<u128>,
    /// The numbers of packets that ask for no value.
    others: Vec<u32>,
    count: u32,
}

impl Meeting {
    pub(super) fn new<'a>(all: impl Iterator<Item = &'a Packets> + Clone) -> Meeting {
        let values = |field: usize| {
            let spans = all.clone().filter_map(move |packets| span(packets, field));
            spans.collect::<BTreeSet<_>>().len()
        };
        let field = (0..FIELDS.len() + 2).max_by_key(|field| values(*field)).unwrap_or(0);
        let (mut spans, mut others, mut count) = (Vec::new(), Vec::new(), 0);
        for packets in all {
            match span(packets, field) {
                Some((from, to)) => spans.push((from, to, count)),
                None => others.push(count),
            }
            count += 1;
        }
        spans.sort_unstable();
        let leaves = spans.len().next_power_of_two();
        let mut last = vec![0; 2 * leaves];
        for (last, (_, to, _)) in last.iter_mut().skip(leaves).zip(&spans) {
            *last = *to;
        }
        for part in (1..leaves).rev() {
            last[part] = last[2 * part].max(last[2 * part + 1]);
        }
        Meeting { field, spans, last, others, count }
    }

    /// The numbers of those that may have packets in common with these, in their order.
    pub(super) fn with(&self, packets: &Packets) -> Vec<u32> {
        let Some((from, to)) = span(packets, self.field) else { return (0..self.count).collect() };
        let mut found = self.others.clone();
        let most = self.spans.partition_point(|(first, ..)| *first <= to);
        self.reaching(1, 0, self.last.len() / 2, most, from, &mut found);
        found.sort_unstable();
        found
    }

    /// Finds the spans in this part of the tree that stand before `most` and reach `from`.
    fn reaching(
        &self,
        part: usize,
        start: usize,
        length: usize,
        most: usize,
        from: u128,
        found: &mut Vec<u32>,
    ) {
        if start >= most || self.last[part] < from {
            return;
        }
        if length == 1 {
            found.extend(self.spans.get(start).map(|(.., number)| *number));
            return;
        }
        let half = length / 2;
        self.reaching(2 * part, start, half, most, from, found);
        self.reaching(2 * part + 1, start + half, half, most, from, found);
    }
}

/// The first and last value that packets have in a field. The last two fields are addresses.
fn span(packets: &Packets, field: usize) -> Option<(u128, u128)> {
    if let Some(numbers) = packets.numbers.get(field) {
        let ranges = numbers.as_ref()?.ranges();
        return Some((ranges.first()?.0.into(), ranges.last()?.1.into()));
    }
    let net = packets.nets.get(field - packets.numbers.len()).copied().flatten()?;
    let (first, bits) = match net.address() {
        IpAddr::V4(address) => (address.to_bits().into(), 32),
        IpAddr::V6(address) => (address.to_bits(), 128),
    };
    let free = bits - u32::from(net.prefix());
    let rest = u128::MAX.checked_shr(128 - free).unwrap_or(0);
    Some((first, first | rest))
}

#[cfg(test)]
mod tests;
