//! An interface, as the kernel shows and changes it.

use std::collections::{BTreeMap, BTreeSet};

use laxity_linux::interface::Interface;
use laxity_linux::rtnetlink::{Message, Rtnetlink};
use laxity_tc::netlink::{self, Object, Request, Sort, Statistics, ingress};
use laxity_tc::setup::Handle;

use crate::objects::Objects;
use crate::setup::{Change, Ingress, IngressDevice, Setup};
use crate::steps::Steps;

/// What the kernel shows of an interface.
#[derive(Clone, Debug, Default)]
pub struct DeviceState {
    /// What was added to it.
    pub setup: Setup,
    /// What has left it.
    pub egress: Counters,
    /// What has left the device that frames are led to when they arrive.
    pub ingress: Counters,
    /// What others have there for frames that arrive.
    pub others: Others,
}

/// What is at an interface beside what is known of it.
#[derive(Clone, Debug, Default)]
pub struct Others {
    /// Whether a qdisc `ingress` has the place of `clsact`.
    pub has_ingress_qdisc: bool,
    /// Filters for frames that arrive: the kind and the priority of each.
    pub arriving: Vec<(String, u16)>,
    /// Whether `clsact` has filters for frames that leave.
    pub has_leaving: bool,
    /// Whether an interface that is no `ifb` has the name of the device that frames are led to.
    pub has_name: bool,
}

impl Others {
    /// Whether `clsact` is needed by others.
    pub fn use_clsact(&self) -> bool {
        self.has_leaving || !self.arriving.is_empty()
    }
}

impl DeviceState {
    /// What it takes from there to what is wanted.
    pub fn change(&self, wanted: &Setup) -> Change {
        Change::between(&self.setup, wanted, self.others.use_clsact())
    }

    /// Packets that wait now in the queues that a change drops.
    pub fn lost_packets(&self, change: &Change) -> u64 {
        self.egress.lost_packets(&change.egress) + self.ingress.lost_packets(&change.ingress.device)
    }
}

/// What has passed each qdisc and class, those that the kernel made among them.
#[derive(Clone, Debug, Default)]
pub struct Counters {
    /// By number.
    pub statistics: BTreeMap<(Sort, Handle), Statistics>,
    /// Packets that wait, by where: in a class, or at the root.
    queued: BTreeMap<Handle, u32>,
}

impl Counters {
    /// How many packets wait in a class, or at [`Handle::ROOT`] in all.
    pub fn queued(&self, place: Handle) -> u32 {
        self.queued.get(&place).copied().unwrap_or_default()
    }

    /// Packets that wait in the queues that these steps drop.
    fn lost_packets(&self, steps: &Steps) -> u64 {
        let root = steps.drops_root.then_some(&Handle::ROOT);
        steps.drops.iter().chain(root).map(|place| u64::from(self.queued(*place))).sum()
    }

    /// Some disciplines count what waits in their classes, others leave that to the qdisc there.
    fn insert(&mut self, told: &ReadObject) {
        let Some(statistics) = told.statistics else { return };
        let (sort, handle) = told.of;
        self.statistics.insert((sort, handle), statistics);
        let place = if sort == Sort::Class { handle } else { told.parent };
        let queued = self.queued.entry(place).or_default();
        *queued = statistics.queued.max(*queued);
    }
}

/// An object that the kernel shows, as it is kept.
struct ReadObject {
    of: (Sort, Handle),
    parent: Handle,
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

    /// What it has; with what is there for frames that arrive if that is of concern.
    ///
    /// # Errors
    /// If the kernel refuses to tell.
    pub fn read(&mut self, with_ingress: bool) -> Result<DeviceState, laxity_linux::Error> {
        let mut shown = DeviceState::default();
        (shown.setup.egress, shown.egress) = self.read_one(self.interface.index)?;
        if with_ingress {
            let mut ingress = self.read_hook(&mut shown.others)?;
            let name = ingress::device(&self.interface.name);
            let found = Interface::all()?.into_iter().find(|interface| interface.name == name);
            shown.others.has_name = found.as_ref().is_some_and(|found| !found.is_ifb);
            if let Some(Interface { index, .. }) = found.filter(|found| found.is_ifb) {
                let objects;
                (objects, shown.ingress) = self.read_one(index)?;
                ingress.device = Some(IngressDevice { name, index, objects });
            }
            shown.setup.ingress = Some(ingress);
        }
        Ok(shown)
    }

    /// What an interface of this number has, and what has passed it.
    fn read_one(&mut self, index: u32) -> Result<(Objects, Counters), laxity_linux::Error> {
        let mut counters = Counters::default();
        let mut told = self.dump(Sort::Qdisc, index, Handle(0))?;
        told.extend(self.dump(Sort::Class, index, Handle(0))?);
        let mut places: BTreeSet<Handle> = BTreeSet::new();
        let mut objects: Vec<Object> = Vec::with_capacity(told.len());
        for told in told {
            counters.insert(&told);
            if let Some(object) = told.added {
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
            let filters = self.dump(Sort::Filter, index, place).unwrap_or_default();
            objects.extend(filters.into_iter().filter_map(|told| told.added));
        }
        Ok((objects.into(), counters))
    }

    /// What leads frames that arrive, and what others have beside it.
    fn read_hook(&mut self, others: &mut Others) -> Result<Ingress, laxity_linux::Error> {
        let index = self.interface.index;
        let mut read = |sort, parent| {
            self.netlink.dump(&message(&netlink::dump(sort, index, parent)), |kind, payload| {
                Object::read(kind, payload, index)
            })
        };
        let qdiscs = read(Sort::Qdisc, Handle(0))?;
        let Some(qdisc) = qdiscs.iter().find(|object| ingress::is_in_place(object)) else {
            return Ok(Ingress::default());
        };
        let has_clsact = qdisc.kind() == ingress::clsact().kind();
        others.has_ingress_qdisc = !has_clsact;
        let mut redirect = None;
        let is_filter = |object: &Object| netlink::shown(object).is_some();
        for filter in read(Sort::Filter, ingress::ARRIVING)?.into_iter().filter(is_filter) {
            match ingress::redirected(&filter) {
                Some(device) => redirect = Some(device),
                None => others.arriving.push((filter.kind(), filter.priority())),
            }
        }
        let leaving = if has_clsact { read(Sort::Filter, ingress::LEAVING)? } else { Vec::new() };
        others.has_leaving = leaving.iter().any(is_filter);
        Ok(Ingress { has_clsact, redirect, device: None })
    }

    fn dump(
        &mut self,
        sort: Sort,
        index: u32,
        parent: Handle,
    ) -> Result<Vec<ReadObject>, laxity_linux::Error> {
        self.netlink.dump(&message(&netlink::dump(sort, index, parent)), |kind, payload| {
            Object::read(kind, payload, index).map(|object| ReadObject {
                of: (object.sort, object.handle),
                parent: object.parent,
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
