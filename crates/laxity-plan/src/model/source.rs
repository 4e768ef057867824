//! The traffic of a simulation.

use std::path::PathBuf;

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos, Rate};

use super::{Hops, TcpSource};
use crate::matching::Match;

laxity::id! {
    /// A source of a plan: its position in [`Plan::sources`](super::Plan::sources).
    pub struct SourceId;
}

/// `[[source]]`.
#[derive(Clone, Debug, PartialEq)]
pub enum Source {
    /// Packets drawn from a model.
    Model(ModelSource),
    /// Connections over a network.
    Tcp(TcpSource),
    /// Packets read from a file.
    Recording(Recording),
}

impl Source {
    /// The class that it feeds; `None` for a recording, which may hold packets of any that has
    /// none below it.
    pub fn class(&self) -> Option<ClassId> {
        match self {
            Source::Model(source) => Some(source.class),
            Source::Tcp(source) => Some(source.class),
            Source::Recording(_) => None,
        }
    }

    /// The links that its packets take; none where there is one link only.
    pub fn path(&self) -> &Hops {
        match self {
            Source::Model(ModelSource { path, .. })
            | Source::Tcp(TcpSource { path, .. })
            | Source::Recording(Recording { path, .. }) => path,
        }
    }
}

/// A capture, or arrivals as CSV.
#[derive(Clone, Debug, PartialEq)]
pub struct Recording {
    /// Where it is, as seen from the working directory (a relative path in a plan counts from the
    /// plan's folder, and is resolved already).
    pub file: PathBuf,
    /// The links that its packets take; none where there is one link only.
    pub path: Hops,
    /// Which of its frames take part; all when `None`. Captures only.
    pub filter: Option<Match>,
    /// Whether it is read whole and sorted by time before anything arrives.
    pub sort: bool,
}

/// A traffic model that feeds one class.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelSource {
    /// The class it feeds.
    pub class: ClassId,
    /// How many independent copies there are, each a flow of its own. Default as many as the class
    /// has streams.
    pub count: u32,
    /// The links that its packets take; none where there is one link only.
    pub path: Hops,
    /// Lengths of its packets.
    pub packet: Dist<Bytes>,
    /// When it sends.
    pub model: Model,
    /// When it begins. Default 0.
    pub start: Nanos,
    /// The time over which the copies' beginnings are spread at random. Default none.
    pub stagger: Nanos,
    /// When it ends. Default never.
    pub stop: Option<Nanos>,
}

/// When a source sends.
#[derive(Clone, Debug, PartialEq)]
pub enum Model {
    /// Inside a burst as fast as its class's arrival curve allows, between bursts not at all.
    Greedy {
        /// Length of a burst.
        burst: Dist<Nanos>,
        /// Pause between bursts.
        spacing: Dist<Nanos>,
    },
    /// One packet after another, spaced so that the rate is constant.
    Constant {
        /// Its rate.
        rate: Rate,
        /// By how much each packet is later than that. Default not at all.
        jitter: Option<Dist<Nanos>>,
    },
    /// A Poisson process: exponential gaps that depend neither on one another nor on lengths, with
    /// the mean that gives the rate.
    Poisson {
        /// Mean rate.
        rate: Rate,
    },
    /// Exponential gaps, each with the mean that the length of the packet behind it takes at the
    /// rate (a correlated queue: Conolly 1968).
    Correlated {
        /// Mean rate.
        rate: Rate,
    },
    /// Constant rate while on, silent while off. Pareto on-off is this with Pareto periods.
    OnOff {
        /// Rate while on.
        rate: Rate,
        /// Length of an on period.
        on: Dist<Nanos>,
        /// Length of an off period.
        off: Dist<Nanos>,
    },
    /// Always a packet waiting: the next arrives when the transmission of one begins.
    Backlogged {
        /// How many packets it keeps queued. Default 2.
        window: u32,
    },
}

/// A distribution of times or sizes. Draws are rounded to whole units; negative ones become 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Dist<T> {
    /// `"5ms"`.
    Constant(T),
    /// `{ uniform = [from, to] }`.
    Uniform(T, T),
    /// `{ normal = [mean, deviation] }`.
    Normal(T, T),
    /// `{ exponential = mean }`.
    Exponential(T),
    /// `{ pareto = [minimum, shape] }`.
    Pareto(T, f64),
    /// `{ lognormal = [median, sigma] }`.
    LogNormal(T, f64),
    /// `{ weibull = [scale, shape] }`.
    Weibull(T, f64),
}

impl<T: Copy> Dist<T> {
    /// What no draw is above, if there is such a limit.
    pub fn most(&self) -> Option<T> {
        match *self {
            Dist::Constant(most) | Dist::Uniform(_, most) => Some(most),
            Dist::Normal(..)
            | Dist::Exponential(_)
            | Dist::Pareto(..)
            | Dist::LogNormal(..)
            | Dist::Weibull(..) => None,
        }
    }
}
