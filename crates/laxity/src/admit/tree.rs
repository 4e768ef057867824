//! A hierarchy of classes, from the top down.

use alloc::vec;
use alloc::vec::Vec;

use crate::packet::ClassId;

/// The parents and children of all classes.
pub(super) struct Tree {
    children: Vec<Vec<usize>>,
    /// Every class after its parent. Classes that no path leads to from the top are left out.
    pub top_down: Vec<usize>,
    /// How many of those are at the top: the first ones.
    top: usize,
}

impl Tree {
    /// By the parent of each class.
    pub(super) fn new(parents: impl ExactSizeIterator<Item = Option<ClassId>>) -> Tree {
        let mut children = vec![Vec::new(); parents.len()];
        let mut top_down = Vec::new();
        for (class, parent) in parents.enumerate() {
            match parent.map(|parent| children.get_mut(parent.index())) {
                None => top_down.push(class),
                Some(Some(siblings)) => siblings.push(class),
                Some(None) => {}
            }
        }
        let top = top_down.len();
        let mut next = 0;
        while let Some(class) = top_down.get(next) {
            top_down.extend(&children[*class]);
            next += 1;
        }
        Tree { children, top_down, top }
    }

    pub(super) fn is_leaf(&self, class: usize) -> bool {
        self.children[class].is_empty()
    }

    pub(super) fn children(&self, class: usize) -> &[usize] {
        &self.children[class]
    }

    /// The classes that are part of no other.
    pub(super) fn top(&self) -> &[usize] {
        &self.top_down[..self.top]
    }

    /// The leaves of a subtree.
    pub(super) fn leaves_below(&self, class: usize) -> Vec<usize> {
        let mut below = vec![class];
        let mut next = 0;
        while let Some(class) = below.get(next) {
            below.extend(&self.children[*class]);
            next += 1;
        }
        below.retain(|class| self.is_leaf(*class));
        below
    }
}
