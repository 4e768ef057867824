//! The samples of a metric in a status.

use crate::status::{
    ClassStatus, DelayStatus, FramesStatus, InterfaceStatus, PassageStatus, Status, WayStatus,
};

/// The part of a status that has a sample each, and how the sample is got from it; `None` if it is
/// not known.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Samples {
    /// Any part, with these labels: calls the second argument with the values of the labels and the
    /// value of each sample.
    Any(&'static [&'static str], fn(&Status, &mut Tell<'_>)),
    /// An interface.
    Interface(fn(&InterfaceStatus) -> Option<Value<'_>>),
    /// A way.
    Way(fn(&WayStatus) -> Option<Value<'_>>),
    /// A way whose lateness counts: routers have frames to be late for, and from outside lateness
    /// is not known.
    Forwarded(fn(&WayStatus) -> Option<Value<'_>>),
    /// A class.
    Class(fn(&ClassStatus) -> Option<Value<'_>>),
    /// A class's way through routers.
    Passage(fn(&PassageStatus) -> Option<Value<'_>>),
    /// The time frames of routers.
    Frames(fn(&FramesStatus) -> u64),
}

/// Receives the values of the labels and the value of a sample.
pub type Tell<'t> = dyn FnMut(&[&str], Value<'_>) + 't;

/// The value of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum Value<'s> {
    /// A number, as it is.
    Whole(u64),
    /// A time in ns, shown in seconds.
    Nanos(u64),
    /// A rate in bits a second, shown in bytes.
    Bits(u64),
    /// How often a time was at most as long as each edge; `None` if nothing was timed yet.
    Delays(Option<&'s DelayStatus>),
}

impl Samples {
    /// The labels of each sample.
    pub fn labels(&self) -> &'static [&'static str] {
        match self {
            Samples::Any(labels, _) => labels,
            Samples::Interface(_) => &["interface"],
            Samples::Way(_) | Samples::Forwarded(_) => &["way"],
            Samples::Class(_) | Samples::Passage(_) => &["way", "class"],
            Samples::Frames(_) => &[],
        }
    }

    /// Calls `tell` with each sample.
    pub fn each(&self, status: &Status, tell: &mut Tell<'_>) {
        let mut known = |labels: &[&str], value: Option<Value<'_>>| {
            value.into_iter().for_each(|value| tell(labels, value));
        };
        let Status { interfaces, ways, network, .. } = status;
        match self {
            Samples::Any(_, each) => each(status, tell),
            Samples::Interface(of) => interfaces.iter().for_each(|it| known(&[&it.name], of(it))),
            Samples::Way(of) => ways.iter().for_each(|way| known(&[&way.way], of(way))),
            Samples::Forwarded(of) => {
                let forwarded =
                    ways.iter().filter(|way| network.is_none() && way.watched.is_none());
                forwarded.for_each(|way| known(&[&way.way], of(way)));
            }
            Samples::Class(of) => {
                leaves(status).for_each(|(way, class)| known(&[&way.way, &class.name], of(class)))
            }
            Samples::Passage(of) => {
                for (network, way) in network.iter().zip(ways) {
                    let passages = network.classes.iter();
                    passages.for_each(|it| known(&[&way.way, &it.name], of(it)));
                }
            }
            Samples::Frames(of) => {
                let frames = network.as_ref().and_then(|network| network.frames.as_ref());
                known(&[], frames.map(|frames| Value::Whole(of(frames))));
            }
        }
    }
}

/// All classes of all ways.
pub(super) fn leaves(status: &Status) -> impl Iterator<Item = (&WayStatus, &ClassStatus)> {
    status.ways.iter().flat_map(|way| way.classes.iter().map(move |class| (way, class)))
}
