//! Random hierarchies and their arrivals.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Arrival, arrivals};
use crate::packet::ClassId;
use crate::sched::Share;
use crate::units::{Bytes, Rate};

pub(crate) const LONGEST: u32 = 1500;

/// A link and the classes that share it.
#[derive(Clone, Debug)]
pub(crate) struct Tree {
    pub rate: Rate,
    pub shares: Vec<Share>,
    pub leaves: Vec<u32>,
}

/// The sum of the rates below a class or link, relative to its own rate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sum {
    Full,
    NoMore,
    Any,
}

/// Up to ten classes on at most `levels` levels, in any order.
pub(crate) fn trees(levels: u32, sum: Sum) -> impl Strategy<Value = Tree> {
    let rate = prop_oneof![
        Just(10_000_000),
        Just(1_000_003),
        Just(3_000_000_000),
        1_000..1_000_000_000_000u64
    ];
    let weight = prop_oneof![Just(1), 1..10u64, 1..1000u64];
    let per_mille = match sum {
        Sum::Full => (1000..=1000u64).boxed(),
        Sum::NoMore => prop_oneof![Just(1000), 300..1000u64].boxed(),
        Sum::Any => prop_oneof![Just(1000), 300..1000u64, 1000..3000u64].boxed(),
    };
    let class = (0..100usize, prop::bool::weighted(0.4), weight);
    let grown = (rate, vec(class, 1..=10), vec(per_mille, 11));
    let tree = grown.prop_flat_map(move |(rate, classes, per_mille)| {
        let classes = grow(levels, rate, &classes, &per_mille);
        let numbers: Vec<_> = (0..classes.len() as u32).collect();
        Just(numbers).prop_shuffle().prop_map(move |numbers| number(rate, &classes, &numbers))
    });
    // No rate is zero, so those that are rounded up to one may be too many.
    tree.prop_filter("rates fit", move |tree| sum == Sum::Any || tree.fits())
}

/// Classes as `(parent, rate)`, parents first. For each a place to look for its parent, whether it
/// has none, and a weight; for each server the sum of the rates below, per mille.
fn grow(
    most_levels: u32,
    rate: u64,
    classes: &[(usize, bool, u64)],
    per_mille: &[u64],
) -> Vec<(Option<usize>, u64)> {
    let mut parents: Vec<Option<usize>> = Vec::new();
    let mut levels: Vec<u32> = Vec::new();
    for (number, &(place, at_top, _)) in classes.iter().enumerate() {
        let parent = Some(place % number.max(1))
            .filter(|&parent| number > 0 && !at_top && levels[parent] < most_levels);
        levels.push(parent.map_or(1, |parent| levels[parent] + 1));
        parents.push(parent);
    }
    let mut rates: Vec<u64> = Vec::new();
    for (number, &parent) in parents.iter().enumerate() {
        let siblings = (0..parents.len()).filter(|&other| parents[other] == parent);
        let weights = siblings.map(|other| classes[other].2).sum::<u64>();
        let above = parent.map_or(rate, |parent| rates[parent]);
        let sum = per_mille[parent.map_or(0, |parent| parent + 1)];
        let parts = u128::from(above) * u128::from(classes[number].2) * u128::from(sum);
        rates.push(((parts / u128::from(weights * 1000)) as u64).clamp(1, Rate::LIMIT.0));
    }
    parents.into_iter().zip(rates).collect()
}

/// The same classes with these numbers.
fn number(rate: u64, classes: &[(Option<usize>, u64)], numbers: &[u32]) -> Tree {
    let mut shares = std::vec![None; classes.len()];
    for (&(parent, rate), &number) in classes.iter().zip(numbers) {
        let parent = parent.map(|parent| ClassId(numbers[parent]));
        shares[number as usize] = Some(Share { parent, rate: Rate(rate) });
    }
    let shares: Vec<_> = shares.into_iter().flatten().collect();
    let is_leaf = |&class: &u32| shares.iter().all(|share| share.parent != Some(ClassId(class)));
    let leaves = (0..shares.len() as u32).filter(is_leaf).collect();
    Tree { rate: Rate(rate), shares, leaves }
}

impl Tree {
    /// The class above, or `None` at the top.
    pub(crate) fn parent(&self, class: usize) -> Option<usize> {
        self.shares[class].parent.map(ClassId::index)
    }

    /// A class and all above it.
    pub(crate) fn path(&self, class: usize) -> impl Iterator<Item = usize> {
        std::iter::successors(Some(class), |&class| self.parent(class))
    }

    /// Whether no class or link has less than those below it.
    fn fits(&self) -> bool {
        (0..self.shares.len()).all(|class| {
            let siblings =
                self.shares.iter().filter(|share| share.parent == self.shares[class].parent);
            siblings.map(|share| share.rate.0).sum::<u64>() <= self.rate_above(class).0
        })
    }

    /// The rate that a class's siblings and itself share.
    pub(crate) fn rate_above(&self, class: usize) -> Rate {
        self.parent(class).map_or(self.rate, |parent| self.shares[parent].rate)
    }
}

/// Arrivals at the leaves of a tree on the scale of its link.
pub(crate) fn at_leaves(tree: &Tree, count: usize) -> impl Strategy<Value = Vec<Arrival>> + use<> {
    let leaves = tree.leaves.clone();
    let unit = tree.rate.time_for(Bytes(LONGEST.into())).0;
    let lengths = prop_oneof![Just(1..=LONGEST), Just(LONGEST..=LONGEST), Just(40..=60)];
    lengths
        .prop_flat_map(move |lengths| arrivals(leaves.len() as u32, lengths, 1, unit, count))
        .prop_map({
            let leaves = tree.leaves.clone();
            move |mut arrivals| {
                for arrival in &mut arrivals {
                    arrival.class = leaves[arrival.class as usize];
                }
                arrivals
            }
        })
}

/// A tree with arrivals at its leaves.
pub(crate) fn loaded(
    trees: impl Strategy<Value = Tree>,
    count: usize,
) -> impl Strategy<Value = (Tree, Vec<Arrival>)> {
    trees.prop_flat_map(move |tree| {
        let arrivals = at_leaves(&tree, count);
        (Just(tree), arrivals)
    })
}
