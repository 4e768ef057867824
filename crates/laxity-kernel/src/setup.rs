//! What an interface has in both directions, and the steps from one such set-up to another.

use laxity_tc::netlink::{Object, Request, Sort, ingress};
use serde::ser::SerializeStruct;
use serde::{Deserialize, Serialize, Serializer};

use crate::objects::Objects;
use crate::steps::{Action, Step, Steps};

/// What was added to an interface.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "Form")]
pub struct Setup {
    /// For what leaves.
    pub egress: Objects,
    /// For what arrives; `None` where that is of no concern and stays as it is.
    pub ingress: Option<Ingress>,
}

/// What is there for frames that arrive.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ingress {
    /// Whether the interface has a qdisc `clsact`.
    pub has_clsact: bool,
    /// The number of the device to which a filter there leads every frame.
    pub redirect: Option<u32>,
    /// The device, in whose discipline they wait.
    pub device: Option<IngressDevice>,
}

/// A device that frames are led to when they arrive, an `ifb`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IngressDevice {
    /// Its name.
    pub name: String,
    /// Its number.
    pub index: u32,
    /// What was added to it.
    pub objects: Objects,
}

/// The forms of a set-up in files: that of one direction is its objects.
#[derive(Deserialize)]
#[serde(untagged)]
enum Form {
    One(Objects),
    Both { egress: Objects, ingress: Ingress },
}

impl From<Form> for Setup {
    fn from(form: Form) -> Setup {
        match form {
            Form::One(egress) => egress.into(),
            Form::Both { egress, ingress } => Setup { egress, ingress: Some(ingress) },
        }
    }
}

impl Serialize for Setup {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Some(ingress) = &self.ingress else { return self.egress.serialize(to) };
        let mut both = to.serialize_struct("Setup", 2)?;
        both.serialize_field("egress", &self.egress)?;
        both.serialize_field("ingress", ingress)?;
        both.end()
    }
}

impl Setup {
    /// Whether something is among both, whatever its parameters are.
    pub fn share(&self, other: &Setup) -> bool {
        let devices = [self, other].map(|setup| setup.ingress.as_ref()?.device.as_ref());
        let is_device_shared = matches!(devices, [Some(a), Some(b)] if a.index == b.index);
        self.egress.share(&other.egress) || is_device_shared
    }

    /// Whether nothing was added.
    pub fn is_empty(&self) -> bool {
        let nothing = Ingress::default();
        self.egress.is_empty() && *self.ingress.as_ref().unwrap_or(&nothing) == nothing
    }
}

impl From<Objects> for Setup {
    fn from(egress: Objects) -> Setup {
        Setup { egress, ingress: None }
    }
}

/// What takes an interface from one set-up to another.
#[derive(Clone, Debug, Default)]
pub struct Change {
    /// For what leaves.
    pub egress: Steps,
    /// For what arrives.
    pub ingress: IngressChange,
}

/// What changes for frames that arrive. First they are no longer led to a device, and last they
/// are.
#[derive(Clone, Debug, Default)]
pub struct IngressChange {
    /// What is taken away at the interface.
    pub unhooked: Vec<Step>,
    /// The device that goes, and all that hangs at it.
    pub removed: Option<IngressDevice>,
    /// The device that comes.
    pub added: Option<IngressDevice>,
    /// The number of the device that comes or stays.
    index: u32,
    /// At that device, and the queues that are lost at either.
    pub device: Steps,
    /// What is added at the interface.
    pub hooked: Vec<Step>,
}

/// One of the requests of a change.
#[derive(Clone, Copy, Debug)]
pub enum Operation<'a> {
    /// A step at the interface of this number.
    Step(u32, &'a Step),
    /// A device is made.
    Add(&'a IngressDevice),
    /// A device is removed.
    Remove(&'a IngressDevice),
}

impl Change {
    /// The steps from what is shown to what is wanted. A `clsact` stays that others use.
    pub fn between(before: &Setup, after: &Setup, others_use_clsact: bool) -> Change {
        let ingress = match (&before.ingress, &after.ingress) {
            (Some(before), Some(after)) => IngressChange::between(before, after, others_use_clsact),
            _ => IngressChange::default(),
        };
        Change { egress: Steps::between(&before.egress, &after.egress), ingress }
    }

    /// Whether there is nothing to do.
    pub fn is_empty(&self) -> bool {
        self.operations(0).is_empty()
    }

    /// The requests in their order, at the interface of this number.
    pub fn operations(&self, interface: u32) -> Vec<Operation<'_>> {
        let IngressChange { unhooked, removed, added, index, device, hooked } = &self.ingress;
        let own = |step| Operation::Step(interface, step);
        let all = self.egress.steps.iter().chain(unhooked).map(own);
        let all = all.chain(removed.iter().map(Operation::Remove));
        let all = all.chain(added.iter().map(Operation::Add));
        let all = all.chain(device.steps.iter().map(|step| Operation::Step(*index, step)));
        all.chain(hooked.iter().map(own)).collect()
    }
}

impl IngressChange {
    fn between(before: &Ingress, after: &Ingress, others_use_clsact: bool) -> IngressChange {
        let step = |action, object| Step { action, object };
        let mut change = IngressChange::default();
        if before.redirect != after.redirect {
            let [old, new] = [before, after].map(|ingress| ingress.redirect.map(ingress::redirect));
            change.unhooked.extend(old.map(|filter| step(Action::Delete, filter)));
            change.hooked.extend(new.map(|filter| step(Action::Add, filter)));
        }
        match (before.has_clsact, after.has_clsact) {
            (true, false) if !others_use_clsact => {
                change.unhooked.push(step(Action::Delete, ingress::clsact()));
            }
            (false, true) => change.hooked.insert(0, step(Action::Add, ingress::clsact())),
            _ => {}
        }
        let none = Objects::default();
        let objects = |of: &'_ Ingress| of.device.as_ref().map(|device| device.objects.clone());
        let [old, new] = [before, after].map(|of| objects(of).unwrap_or_default());
        let [was, is] = [before, after].map(|of| of.device.as_ref().map(|device| device.index));
        change.index = is.unwrap_or_default();
        if was == is {
            change.device = Steps::between(&old, &new);
        } else {
            (change.removed, change.added) = (before.device.clone(), after.device.clone());
            let lost = Steps::between(&old, &none);
            change.device = Steps { steps: Steps::between(&none, &new).steps, ..lost };
        }
        change
    }

    /// Whether nothing changes.
    pub fn is_empty(&self) -> bool {
        let IngressChange { unhooked, removed, added, index: _, device, hooked } = self;
        let is_hook_kept = unhooked.is_empty() && hooked.is_empty();
        is_hook_kept && removed.is_none() && added.is_none() && device.is_empty()
    }
}

impl Operation<'_> {
    pub(crate) fn request(self) -> Request {
        match self {
            Operation::Step(interface, step) => step.object.request(step.action, interface),
            Operation::Add(device) => ingress::add_device(&device.name, device.index),
            Operation::Remove(device) => ingress::remove_device(device.index),
        }
    }

    /// It in a few words, for errors.
    pub(crate) fn described(self) -> String {
        let step = match self {
            Operation::Step(_, step) => step,
            Operation::Add(device) => return format!("the device {} (ifb)", device.name),
            Operation::Remove(device) => return format!("that {} is removed", device.name),
        };
        let Object { sort, handle, parent, .. } = &step.object;
        let (kind, what) = (step.object.kind(), sort.name());
        match sort {
            Sort::Filter => {
                let priority = step.object.priority();
                format!("a filter of {kind} at {parent}, priority {priority}")
            }
            Sort::Qdisc | Sort::Class => format!("{what} {handle} of {kind} at {parent}"),
        }
    }
}
