//! From weights and largest packets of classes to aggregates, their shares of the link, and the
//! slots that their times are rounded to.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::error::{SetupError, check, check_of};
use crate::packet::ClassId;

/// A class under [`Qfq`](super::Qfq).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[expect(clippy::exhaustive_structs, reason = "a class has a weight and a largest packet")]
pub struct QfqClass {
    /// Its share among all classes: ratios count, not sizes.
    pub weight: u64,
    /// Its largest packet in bytes.
    pub max_packet: u32,
}

/// The most classes in an aggregate.
pub const AGGREGATE: usize = 8;

/// Parts of a byte in which virtual time counts the link's work.
pub(crate) const BYTE: u128 = 1 << 32;

/// The largest packet of all.
const LARGEST_PACKET: u64 = 1 << 30;

/// The most that all classes weigh together, in multiples of the lightest.
const SPREAD: u128 = 1 << 31;

/// A slot is at least this part of the largest budget, so that new entries of a group lie few slots
/// behind its front.
const LEAST_SLOT: u128 = 16;

/// Alike classes that are scheduled as one.
#[derive(Clone, Debug)]
pub(crate) struct Share {
    /// Of each of its classes.
    pub class: QfqClass,
    pub classes: Vec<ClassId>,
    /// 1/phi: by how much the virtual time passes while it is served a byte at its share, rounded
    /// up, so that all shares together are no more than the link.
    pub per_byte: u64,
    /// sigma is 2 to the power of this.
    pub slot_shift: u32,
}

impl Share {
    /// The bytes that it may send at a time: the largest packet of each of its classes.
    pub(crate) fn budget(&self) -> u64 {
        self.classes.len() as u64 * u64::from(self.class.max_packet)
    }

    /// The shares of these classes, in the order of the first class of each. Classes of one weight
    /// and one largest packet are aggregated in their order.
    pub(crate) fn all(classes: &[Option<QfqClass>]) -> Result<Vec<Share>, SetupError> {
        let numbered = || {
            (0..).map(ClassId).zip(classes).filter_map(|(id, class)| class.map(|class| (id, class)))
        };
        let total: u128 = numbered().map(|(_, class)| u128::from(class.weight)).sum();
        let lightest = u64::try_from(total.div_ceil(SPREAD)).unwrap_or(u64::MAX).max(1);
        for (id, class) in numbered() {
            check_of("the weight", id, class.weight, lightest..=u64::MAX)?;
            let what = "the largest packet in bytes";
            check_of(what, id, class.max_packet.into(), 1..=LARGEST_PACKET)?;
        }
        check("the number of classes", classes.len() as u64, 0..=1 << 31)?;
        let mut shares = aggregate(numbered());
        for share in &mut shares {
            let weight = share.classes.len() as u128 * u128::from(share.class.weight);
            // No more than SPREAD bytes.
            share.per_byte = (BYTE * total).div_ceil(weight) as u64;
        }
        let largest = shares.iter().map(Share::budget).max().unwrap_or(1);
        let least = u128::from(largest) * (BYTE / LEAST_SLOT);
        for share in &mut shares {
            let budget = u128::from(share.budget()) * u128::from(share.per_byte);
            share.slot_shift = budget.max(least).next_power_of_two().ilog2();
        }
        Ok(shares)
    }
}

/// Fills one aggregate after another with the classes that are alike.
fn aggregate(classes: impl Iterator<Item = (ClassId, QfqClass)>) -> Vec<Share> {
    let mut shares: Vec<Share> = Vec::new();
    let mut open: BTreeMap<QfqClass, usize> = BTreeMap::new();
    for (id, class) in classes {
        match open.get(&class).map(|&at| &mut shares[at].classes) {
            Some(classes) if classes.len() < AGGREGATE => classes.push(id),
            _ => {
                open.insert(class, shares.len());
                shares.push(Share { class, classes: Vec::from([id]), per_byte: 0, slot_shift: 0 });
            }
        }
    }
    shares
}
