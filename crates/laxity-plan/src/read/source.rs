//! `[[source]]`.

use std::collections::HashMap;
use std::fmt::Display;
use std::ops::Range;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::units::{Bytes, Nanos};

use super::network::Paths;
use super::{MOST, Read, matching, tcp, zero};
use crate::error::{Fault, quoted_list};
use crate::model::{Class, Dist, Hop, Model, ModelSource, Plan, Police, Recording, Source};
use crate::raw::{self, At, Count, Distribution, Measure, ModelKind, Number, Quantity, Table};

/// The shape of Pareto periods unless the plan gives one.
const DEFAULT_SHAPE: f64 = 1.5;
/// The largest shape or sigma of a distribution.
const LARGEST_SHAPE: f64 = 100.0;

pub fn all(raw: raw::Sources, plan: &Plan, folder: &Path, text: &str) -> Read<Vec<Source>> {
    let names =
        plan.classes.iter().enumerate().map(|(at, class)| (class.name.as_str(), at)).collect();
    let paths = Paths::new(plan.network.as_ref());
    let mut context = Context { plan, names, paths, folder, text, sources: 0, queued: 0, hops: 0 };
    raw.0.into_iter().map(|source| context.source(source)).collect()
}

struct Context<'a> {
    plan: &'a Plan,
    /// The classes' positions by name.
    names: HashMap<&'a str, usize>,
    paths: Paths<'a>,
    folder: &'a Path,
    text: &'a str,
    /// How many there are so far, copies included.
    sources: usize,
    /// How many packets backlogged sources keep queued.
    queued: u64,
    /// How many links all flows take, one after another.
    hops: usize,
}

/// The keys that a model takes besides `model`.
fn keys(model: ModelKind) -> &'static [&'static str] {
    match model {
        ModelKind::Greedy => &[
            "class", "packet", "count", "start", "stagger", "stop", "path", "laps", "burst",
            "spacing",
        ],
        ModelKind::Constant => &[
            "class", "packet", "count", "start", "stagger", "stop", "path", "laps", "rate",
            "jitter",
        ],
        ModelKind::Poisson | ModelKind::Correlated => {
            &["class", "packet", "count", "start", "stagger", "stop", "path", "laps", "rate"]
        }
        ModelKind::OnOff => &[
            "class", "packet", "count", "start", "stagger", "stop", "path", "laps", "rate", "on",
            "off",
        ],
        ModelKind::ParetoOnOff => &[
            "class", "packet", "count", "start", "stagger", "stop", "path", "laps", "rate", "on",
            "off", "shape",
        ],
        ModelKind::Backlogged => &["class", "packet", "count", "start", "stop", "window"],
        ModelKind::Tcp => &[
            "class",
            "packet",
            "count",
            "start",
            "stagger",
            "path",
            "laps",
            "variant",
            "ack",
            "transfer",
            "pause",
            "window",
            "initial-window",
            "delayed-acks",
            "limited-transmit",
            "ecn",
            "min-timeout",
            "tick",
            "jitter",
        ],
        ModelKind::Capture => &["file", "match", "sort"],
        ModelKind::Csv => &["file", "sort"],
    }
}

impl Context<'_> {
    fn source(&mut self, At { value: Table(raw), span }: At<Table<raw::Source>>) -> Read<Source> {
        check_keys(&raw, self.text)?;
        let rate = || Ok(need(&raw.rate, "rate", "\"10mbit\"", &span)?.value.0);
        let on = || need(&raw.on, "on", "\"500ms\"", &span);
        let off = || need(&raw.off, "off", "\"500ms\"", &span);
        let model = match raw.model.value.0 {
            ModelKind::Capture | ModelKind::Csv => return self.recording(&raw, &span),
            ModelKind::Greedy => self.greedy(&raw, &span)?,
            ModelKind::Constant => Model::Constant {
                rate: rate()?,
                jitter: raw.jitter.as_ref().map(|raw| distribution("jitter", raw)).transpose()?,
            },
            ModelKind::Poisson => Model::Poisson { rate: rate()? },
            ModelKind::Correlated => Model::Correlated { rate: rate()? },
            ModelKind::OnOff => Model::OnOff {
                rate: rate()?,
                on: longer("on", on()?)?,
                off: distribution("off", off()?)?,
            },
            ModelKind::ParetoOnOff => {
                let shape = raw.shape.as_ref().map_or(Ok(DEFAULT_SHAPE), pareto_shape)?;
                let on = pareto_period("on", on()?, shape)?;
                Model::OnOff { rate: rate()?, on, off: pareto_period("off", off()?, shape)? }
            }
            ModelKind::Backlogged => self.backlogged(&raw, &span)?,
            ModelKind::Tcp => {
                let class = self.class(&raw, &span)?;
                let count =
                    self.count(raw.count.as_ref(), &self.plan.classes[class.index()], &span)?;
                let path = self.path(&raw, count, &span)?;
                return tcp::read(&raw, self.plan, (class, count, path), &span).map(Source::Tcp);
            }
        };
        let class = self.class(&raw, &span)?;
        let count = self.count(raw.count.as_ref(), &self.plan.classes[class.index()], &span)?;
        let packet = need(&raw.packet, "packet", "\"100b\"", &span)?;
        let start = raw.start.as_ref().map_or(Nanos::ZERO, |start| start.value.0);
        Ok(Source::Model(ModelSource {
            class,
            count,
            path: self.path(&raw, count, &span)?,
            packet: self.packet(packet, &self.plan.classes[class.index()])?,
            model,
            start,
            stagger: raw.stagger.as_ref().map_or(Nanos::ZERO, |stagger| stagger.value.0),
            stop: raw.stop.as_ref().map(|stop| after(stop, start)).transpose()?,
        }))
    }

    fn recording(&self, raw: &raw::Source, span: &Range<usize>) -> Read<Source> {
        self.outside_networks(raw)?;
        let file = need(&raw.file, "file", "\"traffic.pcap\"", span)?;
        if file.value.is_empty() {
            return Err(Fault::at(&file.span, "`file` is empty: write a path"));
        }
        let filter = raw.matching.as_ref().map(|filter| matching(filter, self.text)).transpose()?;
        Ok(Source::Recording(Recording {
            path: self.folder.join(&file.value),
            filter,
            sort: raw.sort.as_ref().is_some_and(|sort| sort.value),
        }))
    }

    fn greedy(&self, raw: &raw::Source, span: &Range<usize>) -> Read<Model> {
        let class = &self.plan.classes[self.class(raw, span)?.index()];
        if class.arrival.is_none() {
            let name = &class.name;
            let message = format!(
                "a greedy source follows the `arrival` of its class, and class `{name}` has none"
            );
            let at = raw.class.as_ref().map_or(span, |class| &class.span);
            return Err(
                Fault::at(at, message).help("add `arrival` to the class, or choose another model")
            );
        }
        let burst = need(&raw.burst, "burst", "{ uniform = [\"2ms\", \"4ms\"] }", span)?;
        let spacing = need(&raw.spacing, "spacing", "{ uniform = [\"6ms\", \"10ms\"] }", span)?;
        Ok(Model::Greedy {
            burst: longer("burst", burst)?,
            spacing: distribution("spacing", spacing)?,
        })
    }

    fn backlogged(&mut self, raw: &raw::Source, span: &Range<usize>) -> Read<Model> {
        self.outside_networks(raw)?;
        let class = &self.plan.classes[self.class(raw, span)?.index()];
        if class.police == Police::Drop {
            let message = format!(
                "a backlogged source sends when a packet leaves, and class `{}` drops packets that \
                 break its contract instead",
                class.name
            );
            let at = raw.class.as_ref().map_or(span, |class| &class.span);
            let help = "choose a greedy source, which keeps to the contract, or police = \"count\"";
            return Err(Fault::at(at, message).help(help));
        }
        let size = packets(raw.window.as_ref(), "window", 2)?;
        let copies = raw.count.as_ref().map_or(class.count.into(), |count| count.value.0);
        self.queued = self.queued.saturating_add(u64::from(size).saturating_mul(copies));
        if self.queued > MOST as u64 {
            let at = raw.window.as_ref().map_or(span, |window| &window.span);
            return Err(Fault::at(
                at,
                format!(
                    "too many packets: all `window`s, times their `count`s, are at most {MOST}"
                ),
            ));
        }
        Ok(Model::Backlogged { window: size })
    }

    /// The path of each of `count` copies.
    fn path(&mut self, raw: &raw::Source, count: u32, span: &Range<usize>) -> Read<Vec<Hop>> {
        let path = self.paths.read(raw, span)?;
        self.hops = self.hops.saturating_add(path.len().saturating_mul(count as usize));
        if self.hops > MOST {
            let at = raw.path.as_ref().map_or(span, |path| &path.span);
            let message =
                format!("too many hops: all paths, times their `count`s, are at most {MOST} links");
            return Err(Fault::at(at, message));
        }
        Ok(path)
    }

    /// Refuses a model that knows one link only.
    fn outside_networks(&self, raw: &raw::Source) -> Read<()> {
        match self.plan.network {
            None => Ok(()),
            Some(_) => {
                Err(Fault::at(&raw.model.span, "this model feeds a single link, no network").help(
                    "in a network write another, such as \"tcp\", \"constant\" or \"on-off\"",
                ))
            }
        }
    }

    fn class(&self, raw: &raw::Source, source: &Range<usize>) -> Read<ClassId> {
        let At { value: name, span } = need(&raw.class, "class", "\"voice\"", source)?;
        if let Some(at) = self.names.get(name.as_str()) {
            let class = &self.plan.classes[*at];
            return match class.is_leaf() {
                true => Ok(ClassId(*at as u32)),
                false => Err(self.interior(class, span)),
            };
        }
        Err(Fault::no_class(name, span, self.plan.classes.iter().map(|class| class.name.as_str())))
    }

    fn interior(&self, class: &Class, span: &Range<usize>) -> Fault {
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
        source: &Range<usize>,
    ) -> Read<u32> {
        let (count, span) = match raw {
            Some(At { value: Count(0), span }) => return Err(zero("count", span)),
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

    fn packet(&self, raw: &At<Distribution<Bytes>>, class: &Class) -> Read<Dist<Bytes>> {
        let packet = longer("packet", raw)?;
        let (max, min) = (self.plan.max_packet(class), self.plan.link.min_packet);
        let shortest = match packet {
            Dist::Constant(length) | Dist::Uniform(length, _) | Dist::Pareto(length, _) => length,
            _ => min,
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
            Dist::Constant(length) if length < min => {
                let message = format!("`packet` is {length}, below the link's `min-packet`, {min}");
                let help = "write a lower `min-packet` in `[link]` (its default is 40b)";
                Err(Fault::at(&raw.span, message).help(help))
            }
            _ => Ok(packet),
        }
    }
}

fn check_keys(raw: &raw::Source, text: &str) -> Read<()> {
    fn span<T>(key: &Option<At<T>>) -> Option<&Range<usize>> {
        key.as_ref().map(|at| &at.span)
    }
    let written = [
        ("class", span(&raw.class)),
        ("packet", span(&raw.packet)),
        ("count", span(&raw.count)),
        ("start", span(&raw.start)),
        ("stop", span(&raw.stop)),
        ("laps", span(&raw.laps)),
        ("burst", span(&raw.burst)),
        ("spacing", span(&raw.spacing)),
        ("rate", span(&raw.rate)),
        ("jitter", span(&raw.jitter)),
        ("on", span(&raw.on)),
        ("off", span(&raw.off)),
        ("shape", span(&raw.shape)),
        ("window", span(&raw.window)),
        ("path", span(&raw.path)),
        ("variant", span(&raw.variant)),
        ("ack", span(&raw.ack)),
        ("transfer", span(&raw.transfer)),
        ("pause", span(&raw.pause)),
        ("initial-window", span(&raw.initial_window)),
        ("delayed-acks", span(&raw.delayed_acks)),
        ("limited-transmit", span(&raw.limited_transmit)),
        ("ecn", span(&raw.ecn)),
        ("min-timeout", span(&raw.min_timeout)),
        ("tick", span(&raw.tick)),
        ("stagger", span(&raw.stagger)),
        ("file", span(&raw.file)),
        ("match", span(&raw.matching)),
        ("sort", span(&raw.sort)),
    ];
    let keys = keys(raw.model.value.0);
    match written.into_iter().find(|(key, span)| span.is_some() && !keys.contains(key)) {
        None => Ok(()),
        Some((key, span)) => {
            let model = text.get(raw.model.span.clone()).unwrap_or_default();
            let fault =
                Fault::new(span.cloned(), format!("`{key}` does not belong to `model = {model}`"));
            Err(fault.help(format!("its keys are model, {}", keys.join(", "))))
        }
    }
}

/// The value of a key that the model cannot do without.
pub fn need<'a, T>(
    value: &'a Option<At<T>>,
    key: &str,
    example: &str,
    span: &Range<usize>,
) -> Read<&'a At<T>> {
    value.as_ref().ok_or_else(|| {
        Fault::at(span, format!("`{key}` is missing"))
            .help(format!("this source needs one, such as `{key} = {example}`"))
    })
}

fn after(stop: &Quantity<Nanos>, start: Nanos) -> Read<Nanos> {
    let At { value: raw::Unit(stop), span } = stop;
    match *stop > start {
        true => Ok(*stop),
        false => Err(Fault::at(span, format!("`stop` is {stop}, not after `start`, {start}"))),
    }
}

/// How many packets a window holds.
pub fn packets(raw: Option<&At<Count>>, key: &str, default: u32) -> Read<u32> {
    let Some(At { value: Count(count), span }) = raw else { return Ok(default) };
    match u32::try_from(*count) {
        Ok(0) => Err(zero(key, span)),
        Ok(packets) if packets as usize <= MOST => Ok(packets),
        _ => Err(Fault::at(span, format!("`{key}` is {count}, above the largest, {MOST}"))),
    }
}

fn pareto_shape(At { value: Number(shape), span }: &At<Number>) -> Read<f64> {
    match *shape > 1.0 && *shape <= LARGEST_SHAPE {
        true => Ok(*shape),
        false => {
            let help = format!(
                "write a number above 1, where such periods have a mean, and up to {LARGEST_SHAPE}"
            );
            Err(Fault::at(span, format!("`shape` is {shape}")).help(help))
        }
    }
}

/// A Pareto period of a mean: its minimum is mean (shape − 1) / shape.
fn pareto_period(key: &str, raw: &At<Distribution<Nanos>>, shape: f64) -> Read<Dist<Nanos>> {
    let Dist::Constant(mean) = distribution(key, raw)? else {
        let message = format!("`{key}` of `pareto-on-off` is a mean time, not a distribution");
        return Err(Fault::at(&raw.span, message)
            .help("write a time such as \"500ms\", or `model = \"on-off\"`"));
    };
    let minimum = (mean.0 as f64 * (shape - 1.0) / shape).round().max(1.0);
    Ok(Dist::Pareto(Nanos(minimum as u64), shape))
}

/// Reads a distribution of what cannot always be zero.
pub fn longer<T: Measure + Ord + Display>(key: &str, raw: &At<Distribution<T>>) -> Read<Dist<T>> {
    let dist = distribution(key, raw)?;
    let size = match dist {
        Dist::Uniform(_, size) | Dist::Constant(size) | Dist::Normal(size, _) => size,
        Dist::Exponential(size) | Dist::Pareto(size, _) => size,
        Dist::LogNormal(size, _) | Dist::Weibull(size, _) => size,
    };
    match size.units() {
        0 => Err(zero(key, &raw.span)),
        _ => Ok(dist),
    }
}

/// Refuses a distribution that cannot be drawn from.
pub fn distribution<T: Measure + Ord + Display>(
    key: &str,
    raw: &At<Distribution<T>>,
) -> Read<Dist<T>> {
    let At { value: Distribution(dist), span } = raw;
    let wrong = |message: String, help: String| Err(Fault::at(span, message).help(help));
    match dist {
        Dist::Uniform(from, to) if from > to => {
            let message =
                format!("`{key}` is uniform from {from} to {to}, and the first is larger");
            wrong(message, format!("write {{ uniform = [\"{to}\", \"{from}\"] }}"))
        }
        Dist::Pareto(_, shape) | Dist::Weibull(_, shape)
            if *shape <= 0.0 || *shape > LARGEST_SHAPE =>
        {
            wrong(
                format!("`{key}` has the shape {shape}"),
                format!("a shape is above 0 and at most {LARGEST_SHAPE}"),
            )
        }
        Dist::LogNormal(_, sigma) if *sigma < 0.0 || *sigma > LARGEST_SHAPE => wrong(
            format!("`{key}` has the sigma {sigma}"),
            format!("a sigma is from 0 to {LARGEST_SHAPE}"),
        ),
        Dist::Pareto(scale, _) | Dist::LogNormal(scale, _) | Dist::Weibull(scale, _)
            if scale.units() == 0 =>
        {
            Err(zero(key, span))
        }
        _ => Ok(*dist),
    }
}
