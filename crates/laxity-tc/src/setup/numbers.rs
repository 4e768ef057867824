//! Numbers that stay what they were.

use std::collections::{BTreeMap, BTreeSet};

use super::{Handle, QdiscKind, Setup};

impl Setup {
    /// The numbers of its classes by their names.
    pub fn names(&self) -> BTreeMap<String, Handle> {
        self.classes.iter().filter_map(|class| Some((class.name.clone()?, class.handle))).collect()
    }

    /// Gives classes the numbers that those of the same names had: then the kernel takes them for
    /// the same and keeps what waits in them. Numbers of other disciplines are not theirs.
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
            if let QdiscKind::Hfsc { default } | QdiscKind::Htb { default, .. } = &mut qdisc.kind
                && let Ok(minor @ 1..) = u16::try_from(*default)
            {
                *default = number(Handle::new(major, minor)).minor().into();
            }
        }
        for filter in &mut self.filters {
            (filter.parent, filter.class) = (number(filter.parent), filter.class.map(number));
        }
    }
}

#[cfg(test)]
mod tests;
