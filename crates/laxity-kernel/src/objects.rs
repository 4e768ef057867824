//! The qdiscs, classes and filters of an interface in one form.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use laxity_tc::netlink::{Object, Sort};
use laxity_tc::setup::Handle;
use serde::{Deserialize, Serialize, Serializer};

/// Identity of an object: no two objects of a set-up share it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// Whether it is a qdisc, a class or a filter.
    pub sort: Sort,
    /// Where a filter hangs; zero of others.
    at: Handle,
    /// The priority of a filter; zero of others.
    priority: u16,
    /// Its number.
    pub handle: Handle,
}

impl Key {
    /// The key of a class.
    pub fn class(handle: Handle) -> Key {
        Key { sort: Sort::Class, at: Handle(0), priority: 0, handle }
    }

    /// The key of the qdisc of this number.
    pub fn qdisc(major: u16) -> Key {
        Key { sort: Sort::Qdisc, at: Handle(0), priority: 0, handle: Handle::new(major, 0) }
    }

    /// The key of an object.
    pub fn new(object: &Object) -> Self {
        let Object { sort, handle, parent, .. } = *object;
        match sort {
            Sort::Filter => Key { sort, at: parent, priority: object.priority(), handle },
            Sort::Qdisc | Sort::Class => Key { sort, at: Handle(0), priority: 0, handle },
        }
    }
}

/// What was added to an interface, without what the kernel makes by itself. Two are equal if the
/// kernel could not tell them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Object>")]
pub struct Objects {
    objects: BTreeMap<Key, Object>,
}

impl From<Vec<Object>> for Objects {
    fn from(objects: Vec<Object>) -> Objects {
        Objects { objects: objects.into_iter().map(|object| (Key::new(&object), object)).collect() }
    }
}

impl Serialize for Objects {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.objects.values())
    }
}

impl Objects {
    /// Whether there is nothing but what the kernel makes by itself.
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// How many objects it has.
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// The object of this key.
    pub fn get(&self, key: &Key) -> Option<&Object> {
        self.objects.get(key)
    }

    /// Whether some object is among both, whatever its parameters are.
    pub fn share(&self, other: &Objects) -> bool {
        self.iter()
            .any(|(key, object)| other.get(key).is_some_and(|there| there.kind() == object.kind()))
    }

    /// All of them, in no order that matters.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Object)> {
        self.objects.iter()
    }

    /// What an object hangs at, of those that were added: a class, or else the qdisc that made the
    /// class; `None` at the root.
    pub fn above(&self, object: &Object) -> Option<Key> {
        if object.parent == Handle::ROOT {
            return None;
        }
        let places = [Key::class(object.parent), Key::qdisc(object.parent.major())];
        places.into_iter().find(|key| self.objects.contains_key(key))
    }

    /// The objects in an order in which they can be added: parents first, filters last.
    pub fn in_order(&self) -> Vec<&Object> {
        let mut hanging: HashMap<Option<Key>, Vec<&Object>> = HashMap::new();
        let (filters, others): (Vec<&Object>, Vec<&Object>) =
            self.objects.values().partition(|object| object.sort == Sort::Filter);
        for object in others {
            hanging.entry(self.above(object)).or_default().push(object);
        }
        let mut ordered = Vec::with_capacity(self.objects.len());
        let mut next = VecDeque::from(hanging.remove(&None).unwrap_or_default());
        while let Some(object) = next.pop_front() {
            ordered.push(object);
            next.extend(hanging.remove(&Some(Key::new(object))).unwrap_or_default());
        }
        ordered.extend(filters);
        ordered
    }

    /// The classes that packets wait in: those that no other class is part of.
    pub fn leaves(&self) -> BTreeSet<Handle> {
        let classes = || self.objects.values().filter(|object| object.sort == Sort::Class);
        let inner: BTreeSet<Handle> = classes().map(|class| class.parent).collect();
        classes().map(|class| class.handle).filter(|handle| !inner.contains(handle)).collect()
    }
}
