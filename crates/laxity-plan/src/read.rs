//! From the file to the [`Plan`]: names resolved, defaults filled in, nonsense refused.

mod autorate;
mod class;
mod curve;
mod frames;
mod hierarchy;
mod keys;
mod link;
mod network;
mod outside;
mod request;
mod scheduling;
mod stream;
#[cfg(test)]
mod tests;
mod threads;
mod topology;
mod wire;

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use laxity::units::Nanos;
use toml::de::{DeTable, DeValue, Deserializer};

use crate::discipline::Kind;
use crate::error::{Fault, PlanError, Span};
use crate::file;
use crate::model::{Class, Network, Plan, RunSpec, Scheduling};
use crate::raw::{self, Fragments, SourceTables, positive, toml_error};
use crate::source;
use link::{delay, link};
use outside::{Outside, Place};
use scheduling::scheduling;

/// The most classes of a network, each counted at every output: more would take minutes to prove.
const MOST_PLACES: usize = 40_000_000;

impl Plan {
    /// Reads a plan file. A relative `file` of a source counts from the plan's folder.
    ///
    /// # Errors
    /// If the file cannot be read, or as [`Plan::parse`].
    pub fn read(path: &Path) -> Result<Plan, PlanError> {
        Plan::read_with_text(path, &[]).map(|(plan, _)| plan)
    }

    /// Reads a plan file that is to be put [under](Plan::under) other disciplines, too, and its
    /// text.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn read_with_text(path: &Path, others: &[Kind]) -> Result<(Plan, String), PlanError> {
        let name = path.display().to_string();
        let text = file::text(path, &name)?;
        let folder = path.parent().unwrap_or(Path::new(""));
        Ok((Plan::parse_for(&text, &name, folder, others)?, text))
    }

    /// Reads a plan file that is to be put [under](Plan::under) other disciplines, too.
    ///
    /// # Errors
    /// As [`Plan::read`].
    pub fn read_for(path: &Path, others: &[Kind]) -> Result<Plan, PlanError> {
        let name = path.display().to_string();
        let folder = path.parent().unwrap_or(Path::new(""));
        Plan::parse_for(&file::text(path, &name)?, &name, folder, others)
    }

    /// Reads a plan from any reader, such as standard input; `name`, `folder` and
    /// `others` as for [`Plan::parse_for`].
    ///
    /// # Errors
    /// If it cannot be read, or as [`Plan::parse_for`].
    pub fn read_from(
        input: impl io::Read,
        name: &str,
        folder: &Path,
        others: &[Kind],
    ) -> Result<Plan, PlanError> {
        Plan::parse_for(&file::text_of(input, name)?, name, folder, others)
    }

    /// Reads a plan from its text. `name` stands before the line in errors; `folder` is where a
    /// relative `file` of a source counts from.
    ///
    /// # Errors
    /// At the first thing that is not TOML, not a key or value of a plan, or makes no sense.
    pub fn parse(text: &str, name: &str, folder: &Path) -> Result<Plan, PlanError> {
        Plan::parse_for(text, name, folder, &[])
    }

    /// Reads a plan that is to be put [under](Plan::under) other disciplines, too: its classes may
    /// have keys that mean something to one of these and nothing to its own.
    ///
    /// # Errors
    /// As [`Plan::parse`].
    pub fn parse_for(
        text: &str,
        name: &str,
        folder: &Path,
        others: &[Kind],
    ) -> Result<Plan, PlanError> {
        Plan::parse_at(text, name, Place::Folder(folder), others)
    }

    /// Reads a plan from its text and the texts of the files that it names, by the keys that name
    /// them. `name` and `others` are as for [`Plan::parse_for`]. Recordings of sources are not
    /// looked for before they are used.
    ///
    /// # Errors
    /// As [`Plan::parse_for`], and if a file is not among them.
    pub fn parse_with(
        text: &str,
        name: &str,
        files: &BTreeMap<String, String>,
        others: &[Kind],
    ) -> Result<Plan, PlanError> {
        Plan::parse_at(text, name, Place::Memory(files), others)
    }

    /// Reads a plan from its text and the texts of the files that it names, by their names as it
    /// writes them: where there are no folders. `name` and `others` are as for
    /// [`Plan::parse_for`].
    ///
    /// # Errors
    /// As [`Plan::parse_with`].
    pub fn parse_beside(
        text: &str,
        name: &str,
        files: &BTreeMap<String, String>,
        others: &[Kind],
    ) -> Result<Plan, PlanError> {
        Plan::parse_at(text, name, Place::Named(files), others)
    }

    fn parse_at(
        text: &str,
        name: &str,
        place: Place<'_>,
        others: &[Kind],
    ) -> Result<Plan, PlanError> {
        if text.len() > file::LIMIT {
            return Err(PlanError::new(name, "", Fault::new(None, file::too_large())));
        }
        plan(text, place, others).map_err(|fault| PlanError::new(name, text, fault))
    }
}

fn plan(text: &str, place: Place<'_>, others: &[Kind]) -> Result<Plan, Fault> {
    // What is wrong is told of the whole plan, in the order of its text.
    if let Some(Fragments { rest, sources }) = Fragments::cut(text)
        && let Ok(plan) = plan_of(&rest, Some(sources), place, others)
    {
        return Ok(plan);
    }
    plan_of(text, None, place, others)
}

/// The plan of a text, which says all but these sources if they are pieces of their own.
fn plan_of(
    text: &str,
    pieces: Option<Vec<&str>>,
    place: Place<'_>,
    others: &[Kind],
) -> Result<Plan, Fault> {
    let root = DeTable::parse(text).map_err(|error| toml_error::syntax(&error, text))?;
    check_version(root.get_ref())?;
    if pieces.is_some() && root.get_ref().iter().any(|(key, _)| key.get_ref() == "source") {
        return Err(Fault::new(None, "sources that are written in two ways"));
    }
    let raw = serde::Deserialize::deserialize(Deserializer::from(root));
    let mut raw: raw::Plan = raw.map_err(|error| toml_error::content(&error, text))?;
    let tables = match pieces {
        Some(pieces) => SourceTables::Fragments(pieces),
        None => SourceTables::Whole(std::mem::take(&mut raw.source)),
    };

    let mut outside = Outside::new(place);
    let in_network = !raw.network.0.is_empty() || raw.topology.is_some();
    let delay = delay(&raw.link.0);
    let link = link(&raw.link.0, in_network, &mut outside)?;
    let given = raw.topology.as_ref();
    let topology = given.map(|topology| topology::read(topology, &mut outside)).transpose()?;
    let written = network::NetworkTables {
        topology: topology.zip(given),
        links: raw.network,
        nodes: raw.node,
    };
    let regulated = written.regulated();
    let network = network::read(written, &link, delay, &mut outside)?;
    let Scheduling { scheduler, queue } = scheduling(&raw.scheduler, &link)?;
    let run = run(raw.run.map(|run| run.0).unwrap_or_default())?;
    let disciplines = disciplines(scheduler.kind(), network.as_ref(), others);
    let context = class::Context {
        link: &link,
        network: network.as_ref(),
        scheduler: &raw.scheduler.value.0,
        disciplines: &disciplines,
        text,
    };
    let chosen = frames::written(&raw.class);
    let classes = class::all(raw.class, &context)?;
    check_size(&classes, network.as_ref(), &raw.scheduler.span)?;
    let (title, sources) = (raw.title, Vec::new());
    let mut plan = Plan {
        title,
        link,
        files: Vec::new(),
        network,
        scheduler,
        queue,
        classes,
        sources,
        requests: Vec::new(),
        run,
    };
    let (sources, hosts) = source::all(&tables, &plan, place.folder(), text)?;
    plan.sources = sources;
    plan.requests = request::all(raw.request, &plan, &mut outside)?;
    plan.files = outside.files;
    hosts.tell(&mut plan.classes);
    network::check_order(&plan, &regulated)?;
    threads::check(&plan, &raw.link.0, in_network)?;
    (plan.scheduler.room().check)(&plan, &raw.scheduler.span)?;
    frames::check(&plan, &chosen)?;
    Ok(plan)
}

/// The disciplines that share links: that of the plan, those of a network's links and nodes, and
/// others under which the plan is to be put.
fn disciplines(own: Kind, network: Option<&Network>, others: &[Kind]) -> Vec<Kind> {
    let of_links = network.into_iter().flat_map(|network| &network.links);
    let of_nodes = network.into_iter().flat_map(|network| &network.nodes);
    let of_links = of_links.filter_map(|link| link.scheduling);
    let scheduling = of_links.chain(of_nodes.filter_map(|node| node.scheduling));
    let mut all = vec![own];
    for kind in scheduling.map(|of| of.scheduler.kind()).chain(others.iter().copied()) {
        if !all.contains(&kind) {
            all.push(kind);
        }
    }
    all
}

/// Before anything else, so that a plan of another version is not blamed for its keys.
fn check_version(root: &DeTable<'_>) -> Result<(), Fault> {
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

/// Refuses a network with too many classes at too many outputs.
fn check_size(classes: &[Class], network: Option<&Network>, at: &Span) -> Result<(), Fault> {
    let outputs = network.map_or(0, |network| 2 * network.links.len());
    match outputs.saturating_mul(classes.len()) {
        places if places > MOST_PLACES => {
            Err(Fault::at(at, format!("{} classes at {outputs} outputs of links", classes.len()))
                .help(format!("classes times outputs are at most {MOST_PLACES}")))
        }
        _ => Ok(()),
    }
}

fn run(raw: raw::Run) -> Result<RunSpec, Fault> {
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
