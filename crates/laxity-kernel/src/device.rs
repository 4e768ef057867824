//! An interface, as the kernel shows and changes it.

use std::collections::{BTreeMap, BTreeSet};

use laxity_linux::interface::Interface;
use laxity_linux::rtnetlink::{Message, Rtnetlink};
use laxity_tc::netlink::{self, Object, Request, Sort, Statistics};
use laxity_tc::setup::Handle;

use crate::objects::Objects;

/// What the kernel shows of an interface.
#[derive(Clone, Debug, Default)]
pub struct DeviceState {
    /// What was added to it.
    pub objects: Objects,
    /// What has passed each qdisc and class, those that the kernel made among them.
    pub statistics: BTreeMap<(Sort, Handle), Statistics>,
}

impl DeviceState {
    /// How many packets wait in a class.
    pub fn queued(&self, class: Handle) -> u32 {
        self.statistics.get(&(Sort::Class, class)).map_or(0, |statistics| statistics.queued)
    }
}

/// An object that the kernel shows, as it is kept.
struct ReadObject {
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
    pub fn read(&mut self) -> Result<DeviceState, laxity_linux::Error> {
        let mut shown = DeviceState::default();
        let mut told = self.dump(Sort::Qdisc, Handle(0))?;
        told.extend(self.dump(Sort::Class, Handle(0))?);
        let mut places: BTreeSet<Handle> = BTreeSet::new();
        let mut objects: Vec<Object> = Vec::with_capacity(told.len());
        for ReadObject { of, statistics, added } in told {
            if let Some(statistics) = statistics {
                shown.statistics.insert(of, statistics);
            }
            if let Some(object) = added {
                // Filters hang at qdiscs and at classes that others are part of.
                match object.sort {
                    Sort::Qdisc => places.insert(object.handle),
                    _ => places.insert(object.parent),
                };
                objects.push(object);
            }
        }
        for place in places {
            // A qdisc without classes has no filters, which the kernel says in an error.
            let filters = self.dump(Sort::Filter, place).unwrap_or_default();
            objects.extend(filters.into_iter().filter_map(|told| told.added));
        }
        shown.objects = objects.into();
        Ok(shown)
    }

    fn dump(&mut self, sort: Sort, parent: Handle) -> Result<Vec<ReadObject>, laxity_linux::Error> {
        let index = self.interface.index;
        self.netlink.dump(&message(&netlink::dump(sort, index, parent)), |kind, payload| {
            Object::read(kind, payload, index).map(|object| ReadObject {
                of: (object.sort, object.handle),
                statistics: Statistics::new(&object),
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
        Ok(self.netlink.send(&messages)?.into_iter().next().map(|refusal| {
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
