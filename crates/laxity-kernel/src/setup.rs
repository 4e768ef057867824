//! What an interface has: qdiscs, classes and filters in one form, whoever made them.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use laxity_linux::interface::Interface;
use laxity_linux::rtnetlink::{Message, Rtnetlink};
use laxity_tc::netlink::{self, Object, Request, Sort, Statistics};
use laxity_tc::tree::Handle;
use serde::{Deserialize, Serialize, Serializer};

/// By what an object is found again: one of a set-up has it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key {
    /// What it is.
    pub sort: Sort,
    /// Where a filter hangs; zero of others.
    at: Handle,
    /// The priority of a filter; zero of others.
    priority: u16,
    /// Its number.
    pub handle: Handle,
}

impl Key {
    /// That of a class.
    pub fn class(handle: Handle) -> Key {
        Key { sort: Sort::Class, at: Handle(0), priority: 0, handle }
    }

    /// That of the qdisc of this number.
    pub fn qdisc(major: u16) -> Key {
        Key { sort: Sort::Qdisc, at: Handle(0), priority: 0, handle: Handle::new(major, 0) }
    }

    /// That of an object.
    pub fn of(object: &Object) -> Key {
        let Object { sort, handle, parent, .. } = *object;
        match sort {
            Sort::Filter => Key { sort, at: parent, priority: object.priority(), handle },
            Sort::Qdisc | Sort::Class => Key { sort, at: Handle(0), priority: 0, handle },
        }
    }
}

/// What was added to an interface, without what the kernel makes by itself. Two are equal if the kernel could not tell
/// them apart.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Vec<Object>")]
pub struct Setup {
    objects: BTreeMap<Key, Object>,
}

impl From<Vec<Object>> for Setup {
    fn from(objects: Vec<Object>) -> Setup {
        Setup { objects: objects.into_iter().map(|object| (Key::of(&object), object)).collect() }
    }
}

impl Serialize for Setup {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.objects.values())
    }
}

impl Setup {
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

    /// All of them, in no order that matters.
    pub fn iter(&self) -> impl Iterator<Item = (&Key, &Object)> {
        self.objects.iter()
    }

    /// What an object hangs at, of those that were added: a class, or else the qdisc that made the class; `None` at the
    /// root.
    pub fn above(&self, object: &Object) -> Option<Key> {
        if object.parent == Handle::ROOT {
            return None;
        }
        let places = [Key::class(object.parent), Key::qdisc(object.parent.major())];
        places.into_iter().find(|key| self.objects.contains_key(key))
    }

    /// In an order in which they can be added: what something hangs at comes before it, filters last.
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
            next.extend(hanging.remove(&Some(Key::of(object))).unwrap_or_default());
        }
        ordered.extend(filters);
        ordered
    }

    /// What adds all of it to an interface, in the words of `tc -batch`.
    pub fn commands(&self, device: &str) -> String {
        let commands = self.in_order().into_iter().map(|object| netlink::command(object, device));
        commands.flat_map(|command| [command, "\n".into()]).collect()
    }

    /// The classes that packets wait in: those that no other class is part of.
    pub fn leaves(&self) -> BTreeSet<Handle> {
        let classes = || self.objects.values().filter(|object| object.sort == Sort::Class);
        let inner: BTreeSet<Handle> = classes().map(|class| class.parent).collect();
        classes().map(|class| class.handle).filter(|handle| !inner.contains(handle)).collect()
    }
}

/// What the kernel shows of an interface.
#[derive(Clone, Debug, Default)]
pub struct Shown {
    /// What was added to it.
    pub setup: Setup,
    /// What has passed each qdisc and class, those that the kernel made among them.
    pub statistics: BTreeMap<(Sort, Handle), Statistics>,
}

impl Shown {
    /// How many packets wait in a class.
    pub fn queued(&self, class: Handle) -> u32 {
        self.statistics.get(&(Sort::Class, class)).map_or(0, |statistics| statistics.queued)
    }
}

/// What is kept of an object that the kernel tells of.
struct Told {
    of: (Sort, Handle),
    statistics: Option<Statistics>,
    /// As it was added, if the kernel did not make it by itself.
    added: Option<Object>,
}

/// An interface whose set-up is read and changed.
#[derive(Debug)]
pub struct Device {
    netlink: Rtnetlink,
    interface: Interface,
}

impl Device {
    /// The interface of that name, in the network namespace of the calling thread.
    ///
    /// # Errors
    /// If there is none.
    pub fn named(name: &str) -> Result<Device, laxity_linux::Error> {
        Ok(Device { netlink: Rtnetlink::open()?, interface: Interface::named(name)? })
    }

    /// It.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// What it has.
    ///
    /// # Errors
    /// If the kernel refuses to tell.
    pub fn read(&mut self) -> Result<Shown, laxity_linux::Error> {
        let mut shown = Shown::default();
        let mut told = self.dump(Sort::Qdisc, Handle(0))?;
        told.extend(self.dump(Sort::Class, Handle(0))?);
        let mut places: BTreeSet<Handle> = BTreeSet::new();
        let mut setup: Vec<Object> = Vec::with_capacity(told.len());
        for Told { of, statistics, added } in told {
            if let Some(statistics) = statistics {
                shown.statistics.insert(of, statistics);
            }
            if let Some(object) = added {
                // Filters hang at qdiscs and at classes that others are part of.
                match object.sort {
                    Sort::Qdisc => places.insert(object.handle),
                    _ => places.insert(object.parent),
                };
                setup.push(object);
            }
        }
        for place in places {
            // A qdisc without classes has no filters, which the kernel says in an error.
            let filters = self.dump(Sort::Filter, place).unwrap_or_default();
            setup.extend(filters.into_iter().filter_map(|told| told.added));
        }
        shown.setup = setup.into();
        Ok(shown)
    }

    fn dump(&mut self, sort: Sort, parent: Handle) -> Result<Vec<Told>, laxity_linux::Error> {
        let index = self.interface.index;
        self.netlink.dump(&message(&netlink::dump(sort, index, parent)), |kind, payload| {
            Object::read(kind, payload, index).map(|object| Told {
                of: (object.sort, object.handle),
                statistics: Statistics::of(&object),
                added: netlink::shown(&object),
            })
        })
    }

    /// Has all of these carried out; the first that is refused, with the kernel's words.
    ///
    /// # Errors
    /// If they cannot be sent.
    pub(crate) fn send(
        &mut self,
        requests: &[Request],
    ) -> Result<Option<(usize, String)>, laxity_linux::Error> {
        let messages: Vec<Message<'_>> = requests.iter().map(message).collect();
        let refused = self.netlink.send(&messages)?.into_iter().next();
        Ok(refused.map(|refusal| {
            let error = refusal.error.to_string();
            (
                refusal.place,
                refusal.words.map_or(error.clone(), |words| format!("{words} ({error})")),
            )
        }))
    }
}

fn message(request: &Request) -> Message<'_> {
    Message { kind: request.kind, flags: request.flags, payload: &request.payload }
}
