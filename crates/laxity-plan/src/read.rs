//! From the file to the [`Plan`]: names resolved, defaults filled in, nonsense refused.

mod class;
mod curve;
mod file;
mod hierarchy;
mod network;
mod stream;
#[cfg(test)]
mod tests;
mod toml_error;

use std::io;
use std::ops::Range;
use std::path::Path;

use laxity::units::{Bytes, Nanos, Rate};
pub use network::Paths;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::aqm;
use crate::discipline::Kind;
use crate::error::{Fault, PlanError};
use crate::keys::astray;
use crate::matching::Match;
use crate::model::{Class, LinkSpec, Network, Overhead, Plan, RunSpec, Scheduling};
use crate::raw::{self, Measure, Quantity};
use crate::source;

/// What every step of reading gives.
pub type Read<T> = Result<T, Fault>;

/// The most classes that a plan has, and the most streams and the most sources that all of its
/// counts make.
pub const MOST: usize = 1_000_000;
/// The most classes of a network, each counted at every output.
const MOST_BOOKS: usize = 4_000_000;
/// The longest frame of Ethernet without tags, without its check sequence.
const LONGEST_FRAME: u32 = 1514;
/// The largest packet that a link may carry.
const LARGEST_PACKET: Bytes = Bytes(1_000_000_000);
/// The longest that a largest packet may take on the link.
const LONGEST_TRANSMISSION: Nanos = Nanos(3_600_000_000_000);

impl Plan {
    /// Reads a plan file. A relative `file` of a source counts from the plan's folder.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`Plan::parse`].
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        let name = path.display().to_string();
        let text = file::text(path, &name)?;
        Plan::parse(&text, &name, path.parent().unwrap_or(Path::new("")))
    }

    /// Reads a plan from any reader, such as standard input; `name` and `folder` as for
    /// [`Plan::parse`].
    ///
    /// # Errors
    /// If it cannot be read, or as [`Plan::parse`].
    pub fn read_from(input: impl io::Read, name: &str, folder: &Path) -> Result<Plan, PlanError> {
        Plan::parse(&file::text_of(input, name)?, name, folder)
    }

    /// Reads a plan from its text. `name` stands before the line in errors; `folder` is where a
    /// relative `file` of a source counts from.
    ///
    /// # Errors
    /// At the first thing that is not TOML, not a key or value of a plan, or makes no sense.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Plan, PlanError> {
        if text.len() > file::LIMIT {
            return Err(PlanError::new(name, "", Fault::new(None, file::too_large())));
        }
        plan(text, folder).map_err(|fault| PlanError::new(name, text, fault))
    }
}

fn plan(text: &str, folder: &Path) -> Read<Plan> {
    let root = DeTable::parse(text).map_err(|error| toml_error::syntax(&error, text))?;
    check_version(root.get_ref())?;
    let raw = serde::Deserialize::deserialize(Deserializer::from(root));
    let raw: raw::Plan = raw.map_err(|error| toml_error::content(&error, text))?;

    let delay = delay(&raw)?;
    let link = link(raw.link.0)?;
    let network = network::read(raw.network, raw.node, &link, delay)?;
    let Scheduling { scheduler, queue } = scheduling(&raw.scheduler, &link)?;
    let run = run(raw.run.map(|run| run.0).unwrap_or_default())?;
    let context = class::Context {
        link: &link,
        in_network: network.is_some(),
        scheduler: &raw.scheduler.value.0,
        text,
    };
    let classes = class::all(raw.class, &context)?;
    check_books(&classes, network.as_ref(), &raw.scheduler.span)?;
    let (title, sources) = (raw.title, Vec::new());
    let mut plan = Plan { title, link, network, scheduler, queue, classes, sources, run };
    plan.sources = source::all(raw.source, &plan, folder, text)?;
    (plan.scheduler.room().check)(&plan, &raw.scheduler.span)?;
    Ok(plan)
}

/// Before anything else, so that a plan of another version is not blamed for its keys.
fn check_version(root: &DeTable<'_>) -> Read<()> {
    const HELP: &str = "a plan begins with `version = 1`";
    if root.is_empty() {
        return Err(Fault::new(None, "the plan is empty").help(HELP));
    }
    let Some((_, version)) = root.iter().find(|(key, _)| key.get_ref() == "version") else {
        return Err(Fault::new(Some(0..0), "`version` is missing").help(HELP));
    };
    match version.get_ref() {
        DeValue::Integer(number) if number.as_str() == "1" => Ok(()),
        _ => Err(Fault::at(
            &version.span(),
            "`version` is not 1, the only version of plans there is",
        )
        .help(HELP)),
    }
}

/// Refuses networks of which too much would be measured: every class at every output.
fn check_books(classes: &[Class], network: Option<&Network>, at: &Range<usize>) -> Read<()> {
    let outputs = network.map_or(0, |network| 2 * network.links.len());
    match outputs.saturating_mul(classes.len()) {
        books if books > MOST_BOOKS => {
            Err(Fault::at(at, format!("{} classes at {outputs} outputs of links", classes.len()))
                .help(format!("classes times outputs are at most {MOST_BOOKS}")))
        }
        _ => Ok(()),
    }
}

fn link(raw: raw::Link) -> Read<LinkSpec> {
    let max = raw.max_packet.as_ref().map(positive("max-packet")).transpose()?;
    let min = raw.min_packet.as_ref().map(positive("min-packet")).transpose()?;
    let overhead = raw.overhead.as_ref().map_or(Overhead::NONE, |overhead| overhead.value.0);
    let max_packet = max.unwrap_or(Bytes(overhead.on_link(LONGEST_FRAME).into()));
    let min_packet = min.unwrap_or(Bytes(40).min(max_packet));
    let written = raw.max_packet.as_ref().or(raw.min_packet.as_ref());
    if let Some(Quantity { span, .. }) = written {
        if max_packet > LARGEST_PACKET {
            return Err(Fault::at(
                span,
                format!("`max-packet` is {max_packet}, above the largest, {LARGEST_PACKET}"),
            ));
        }
        if max_packet < min_packet {
            return Err(Fault::at(
                span,
                format!("`max-packet` is {max_packet}, below `min-packet`, {min_packet}"),
            ));
        }
    }
    let rate = raw.rate.value.0;
    check_transmission(rate, max_packet, &raw.rate.span)?;
    Ok(LinkSpec { rate, overhead, max_packet, min_packet, latency: Some(Nanos::ZERO) })
}

fn check_transmission(rate: Rate, max_packet: Bytes, written: &Range<usize>) -> Read<()> {
    let transmission = rate.time_for(max_packet);
    if transmission <= LONGEST_TRANSMISSION {
        return Ok(());
    }
    let message = format!("a largest packet of {max_packet} would take {transmission} at {rate}");
    let help =
        format!("at most {LONGEST_TRANSMISSION} is accepted: raise `rate` or lower `max-packet`");
    Err(Fault::at(written, message).help(help))
}

/// The propagation delay of links that do not say otherwise.
fn delay(raw: &raw::Plan) -> Read<Nanos> {
    match &raw.link.0.delay {
        Some(delay) if raw.network.0.is_empty() => {
            Err(Fault::at(&delay.span, "`delay` without a network: nothing is far away")
                .help("leave it out, or add links as `[network.NAME]` tables"))
        }
        delay => Ok(delay.as_ref().map_or(Nanos::ZERO, |delay| delay.value.0)),
    }
}

/// A discipline, with the queue of the classes that have none of their own.
fn scheduling(at: &raw::At<raw::Table<raw::Scheduler>>, link: &LinkSpec) -> Read<Scheduling> {
    let queue = at.value.0.queue.as_ref();
    let queue = queue.map(|at| aqm::queue(&at.value.0, &at.span, link)).transpose()?;
    let raw::At { value: raw::Table(raw), span } = at;
    let kind = raw.kind.0;
    let scheduler = (kind.room().read)(raw, span)?;
    check_options(raw, kind)?;
    Ok(Scheduling { scheduler, queue })
}

/// Refuses the options of another discipline.
fn check_options(raw: &raw::Scheduler, kind: Kind) -> Read<()> {
    let takes = |key: &str| kind.room().keys.contains(&key);
    let Some((key, span)) = astray(raw.options(), takes) else { return Ok(()) };
    let owners = Kind::ALL.iter().filter(|kind| kind.room().keys.contains(&key));
    let owners: Vec<_> = owners.map(|owner| format!("`kind = \"{}\"`", owner.word())).collect();
    let message = format!("`{key}` does not belong to `kind = \"{}\"`", kind.word());
    Err(Fault::at(span, message).help(format!("leave it out, or write {}", owners.join(" or "))))
}

fn run(raw: raw::Run) -> Read<RunSpec> {
    let duration = raw.duration.as_ref().map(positive("duration")).transpose()?;
    let warm_up = raw.warm_up.as_ref().map_or(Nanos::ZERO, |warm_up| warm_up.value.0);
    if let (Some(duration), Some(written)) = (duration, &raw.warm_up)
        && warm_up >= duration
    {
        let message =
            format!("`warm-up` is {warm_up}, which leaves nothing of `duration`, {duration}");
        return Err(Fault::at(&written.span, message).help("a warm-up is shorter than the run"));
    }
    Ok(RunSpec { duration, warm_up, seed: raw.seed.map_or(1, |seed| seed.0) })
}

/// Reads the quantity of a key that cannot be zero.
pub fn positive<T: Measure>(key: &str) -> impl Fn(&Quantity<T>) -> Read<T> {
    move |quantity| match quantity.value.0.units() {
        0 => Err(zero(key, &quantity.span)),
        _ => Ok(quantity.value.0),
    }
}

pub fn zero(key: &str, span: &Range<usize>) -> Fault {
    Fault::at(span, format!("`{key}` is zero: it must be more"))
}

/// Reads a match expression; its error points into the string.
pub fn matching(raw: &raw::At<String>, text: &str) -> Read<Match> {
    raw.value.parse().map_err(|error: crate::matching::MatchError| {
        let quoted = text.get(raw.span.clone()).unwrap_or_default();
        let plain = quoted.len() == raw.value.len() + 2 && quoted[1..].starts_with(&raw.value);
        let span = match plain {
            true => raw.span.start + 1 + error.span.start..raw.span.start + 1 + error.span.end,
            false => raw.span.clone(),
        };
        Fault::at(&span, format!("`match`: {}", error.message()))
            .help(format!("accepted here: {}", error.expected))
    })
}
