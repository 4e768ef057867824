//! What of the plan is needed to read its sources, and the keys that most models have.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};

use super::paths::Paths;
use super::values::{longer, need};
use crate::error::{Fault, Span, quoted_list};
use crate::model::{Class, Dist, Hop, Hops, Model, ModelSource, Plan, Source};
use crate::raw::{self, At, Count, Distribution, MOST, Quantity, SourceTables};

/// The plan without its sources, and how many of these there are so far.
pub(super) struct Context<'a> {
    pub plan: &'a Plan,
    /// The classes' positions by name.
    names: HashMap<&'a str, usize>,
    paths: Paths<'a>,
    /// Where a relative file counts from.
    pub folder: &'a Path,
    /// The plan as it is written.
    pub text: &'a str,
    /// How many there are so far, copies included.
    sources: usize,
    /// How many packets backlogged sources keep queued.
    pub queued: u64,
    /// How many links all paths have, each counted once for each class that takes it, and for each
    /// flow where links are private.
    hops: usize,
    shared: HashSet<(ClassId, Hops)>,
}

impl<'a> Context<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        sources: &SourceTables<'_>,
        folder: &'a Path,
        text: &'a str,
    ) -> Result<Self, Fault> {
        let names =
            plan.classes.iter().enumerate().map(|(at, class)| (class.name.as_str(), at)).collect();
        let paths = Paths::new(plan.network.as_ref(), sources)?;
        let shared = HashSet::new();
        Ok(Context { plan, names, paths, folder, text, sources: 0, queued: 0, hops: 0, shared })
    }

    /// A source of this model, with the keys that all models have that feed a class.
    pub(super) fn model(
        &mut self,
        raw: &raw::Source,
        span: &Span,
        model: Model,
    ) -> Result<Source, Fault> {
        let (class, count) = self.class_and_count(raw, span)?;
        let packet = need(&raw.packet, "packet", "\"100b\"", span)?;
        let start = raw.start.as_ref().map_or(Nanos::ZERO, |start| start.value.0);
        Ok(Source::Model(ModelSource {
            class,
            count,
            path: self.path(raw, class, count, span)?,
            packet: self.packet(packet, &self.plan.classes[class.index()])?,
            model,
            start,
            stagger: raw.stagger.as_ref().map_or(Nanos::ZERO, |stagger| stagger.value.0),
            stop: raw.stop.as_ref().map(|stop| after(stop, start)).transpose()?,
        }))
    }

    /// The class that it feeds, and how many copies there are of it.
    pub(super) fn class_and_count(
        &mut self,
        raw: &raw::Source,
        span: &Span,
    ) -> Result<(ClassId, u32), Fault> {
        let class = self.class(raw, span)?;
        let count = self.count(raw.count.as_ref(), &self.plan.classes[class.index()], span)?;
        Ok((class, count))
    }

    /// The class that it feeds.
    pub(super) fn class(&self, raw: &raw::Source, source: &Span) -> Result<ClassId, Fault> {
        let At { value: name, span } = need(&raw.class, "class", "\"voice\"", source)?;
        if let Some(at) = self.names.get(name.as_str()) {
            let class = &self.plan.classes[*at];
            return if class.is_leaf() {
                Ok(ClassId(*at as u32))
            } else {
                Err(self.interior(class, span))
            };
        }
        Err(Fault::no_class(name, span, self.plan.classes.iter().map(|class| class.name.as_str())))
    }

    fn interior(&self, class: &Class, span: &Span) -> Fault {
        let below = class.children.iter().map(|child| &*self.plan.classes[child.index()].name);
        let message =
            format!("class `{}` has classes below it, and no packets of its own", class.name);
        Fault::at(span, message)
            .help(format!("feed a class without any; below it are {}", quoted_list(below)))
    }

    /// As many copies as are asked for, or as the class has streams.
    fn count(
        &mut self,
        raw: Option<&At<Count>>,
        class: &Class,
        source: &Span,
    ) -> Result<u32, Fault> {
        let (count, span) = match raw {
            Some(At { value: Count(0), span }) => return Err(Fault::zero("count", span)),
            Some(At { value: Count(count), span }) => (*count, span),
            None => (class.count.into(), source),
        };
        self.sources = self.sources.saturating_add(usize::try_from(count).unwrap_or(usize::MAX));
        let fits = u32::try_from(count).ok().filter(|_| self.sources <= MOST);
        fits.ok_or_else(|| {
            let message = format!("too many sources: all `count`s together are at most {MOST}");
            let fault = Fault::at(span, message);
            match raw {
                Some(_) => fault,
                None => fault.help(format!(
                    "this source has as many copies as its class has streams, {count}: write a \
                     smaller `count`"
                )),
            }
        })
    }

    /// The path of each of `count` copies.
    pub(super) fn path(
        &mut self,
        raw: &raw::Source,
        class: ClassId,
        count: u32,
        span: &Span,
    ) -> Result<Hops, Fault> {
        let path = self.paths.read(raw, span)?;
        let is_private = |hop: &Hop| {
            let network = self.plan.network.as_ref();
            network.is_some_and(|network| network.links[hop.link.index()].private)
        };
        let times = if path.iter().any(is_private) {
            count as usize
        } else {
            usize::from(self.shared.insert((class, path.clone())))
        };
        self.hops = self.hops.saturating_add(path.len().saturating_mul(times));
        if self.hops > MOST {
            let at = raw.path.as_ref().map_or(span, |path| &path.span);
            let message = format!(
                "too many hops: the paths of all classes, those with private links times their \
                 `count`s, are at most {MOST} links"
            );
            return Err(Fault::at(at, message));
        }
        Ok(path)
    }

    fn packet(&self, raw: &At<Distribution<Bytes>>, class: &Class) -> Result<Dist<Bytes>, Fault> {
        let packet = longer("packet", raw)?;
        let (max, min) = (self.plan.max_packet(class), self.plan.min_packet(class));
        let shortest = match packet {
            Dist::Constant(length) | Dist::Uniform(length, _) | Dist::Pareto(length, _) => length,
            Dist::Normal(..) | Dist::Exponential(_) | Dist::LogNormal(..) | Dist::Weibull(..) => {
                min
            }
        };
        if shortest > max {
            let message = format!(
                "`packet` is {shortest}, above {max}, the largest packet of class `{}`",
                class.name
            );
            let help = "the largest packet is `packet` in the class's `arrival`, or else `max-packet` in `[link]`";
            return Err(Fault::at(&raw.span, message).help(help));
        }
        match packet {
            Dist::Constant(length) if length < min && min > self.plan.link.min_packet => {
                let message = format!(
                    "`packet` is {length}, below {min}, the shortest packet of class `{}`",
                    class.name
                );
                let help = "the shortest packet is `at-least` of `packet` in the class's `arrival`";
                Err(Fault::at(&raw.span, message).help(help))
            }
            Dist::Constant(length) if length < min => {
                let message = format!("`packet` is {length}, below the link's `min-packet`, {min}");
                let help = "write a lower `min-packet` in `[link]` (its default is 40b)";
                Err(Fault::at(&raw.span, message).help(help))
            }
            _ => Ok(packet),
        }
    }
}

fn after(stop: &Quantity<Nanos>, start: Nanos) -> Result<Nanos, Fault> {
    let At { value: raw::Unit(stop), span } = stop;
    if *stop > start {
        Ok(*stop)
    } else {
        Err(Fault::at(span, format!("`stop` is {stop}, not after `start`, {start}")))
    }
}
