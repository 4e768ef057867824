//! Numbers that stay what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::{Handle, QdiscKind, Tree};

impl Tree {
    /// What its classes are called, and their numbers.
    pub fn names(&self) -> BTreeMap<String, Handle> {
        let named =
            self.classes.iter().filter_map(|class| Some((class.name.clone()?, class.handle)));
        named.collect()
    }

    /// Gives classes the numbers that those of the same names had, so that the kernel takes them for the same and keeps
    /// what waits in them, whichever others come or go. Numbers of other disciplines are not theirs.
    pub fn keep_numbers(&mut self, had: &BTreeMap<String, Handle>) {
        let mut numbers: BTreeMap<Handle, Handle> = BTreeMap::new();
        for class in &self.classes {
            let before = class.name.as_ref().and_then(|name| had.get(name));
            if let Some(before) = before.filter(|before| before.major() == class.handle.major()) {
                numbers.insert(class.handle, *before);
            }
        }
        let mut taken: BTreeSet<Handle> = numbers.values().copied().collect();
        for class in self.classes.iter().filter(|class| class.name.is_some()) {
            if numbers.contains_key(&class.handle) {
                continue;
            }
            let (major, own) = (class.handle.major(), class.handle.minor());
            let minors = (own..=u16::MAX).chain(1..own).map(|minor| Handle::new(major, minor));
            let free = minors.into_iter().find(|handle| !taken.contains(handle));
            let number = free.unwrap_or(class.handle);
            taken.insert(number);
            numbers.insert(class.handle, number);
        }
        self.renumber(&numbers);
    }

    fn renumber(&mut self, numbers: &BTreeMap<Handle, Handle>) {
        let number = |handle: Handle| numbers.get(&handle).copied().unwrap_or(handle);
        for class in &mut self.classes {
            (class.handle, class.parent) = (number(class.handle), number(class.parent));
        }
        for qdisc in &mut self.qdiscs {
            let major = qdisc.handle.major();
            // The queue of a class has its number.
            if qdisc.parent != Handle::ROOT && major == qdisc.parent.minor() {
                qdisc.handle = Handle::new(number(qdisc.parent).minor(), 0);
            }
            qdisc.parent = number(qdisc.parent);
            let default = |minor: u16| number(Handle::new(major, minor)).minor();
            match &mut qdisc.kind {
                QdiscKind::Hfsc { default: minor } if *minor > 0 => *minor = default(*minor),
                QdiscKind::Htb { default: minor, .. } if *minor > 0 && *minor <= 0xffff => {
                    *minor = default(*minor as u16).into();
                }
                _ => {}
            }
        }
        for filter in &mut self.filters {
            (filter.parent, filter.class) = (number(filter.parent), number(filter.class));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tree::{Class, ClassKind, Filter, FilterKind, Protocol, Qdisc};

    fn tree(names: &[&str]) -> Tree {
        let qdisc = |handle, parent, kind| Qdisc { handle, parent, kind, stab: None };
        let top = Handle::new(2, 0);
        let mut tree = Tree {
            qdiscs: vec![qdisc(top, Handle::ROOT, QdiscKind::Hfsc { default: 0x10 })],
            ..Tree::default()
        };
        for (name, minor) in names.iter().zip(0x10..) {
            let (handle, name) = (Handle::new(2, minor), Some(name.to_string()));
            let kind = ClassKind::Drr { quantum: minor.into() };
            tree.classes.push(Class { handle, parent: top, kind, name });
            tree.qdiscs.push(qdisc(Handle::new(minor, 0), handle, QdiscKind::Pfifo { limit: 1 }));
            tree.filters.push(Filter {
                parent: top,
                priority: minor,
                number: 1,
                protocol: Protocol::All,
                kind: FilterKind::Matchall,
                class: handle,
                police: Vec::new(),
            });
        }
        tree
    }

    #[test]
    fn who_stays_keeps_its_number() {
        let had = tree(&["a", "b", "c"]).names();
        let mut now = tree(&["new", "c", "b"]);
        now.keep_numbers(&had);
        let names = now.names();
        assert_eq!([names["b"], names["c"]], [had["b"], had["c"]]);
        assert_eq!(names["new"], Handle::new(2, 0x10));
        for (class, (queue, filter)) in
            now.classes.iter().zip(now.qdiscs[1..].iter().zip(&now.filters))
        {
            assert_eq!((queue.parent, queue.handle.major()), (class.handle, class.handle.minor()));
            assert_eq!(filter.class, class.handle);
        }
        let again = now.clone();
        now.keep_numbers(&again.names());
        assert_eq!(now, again);
    }
}
