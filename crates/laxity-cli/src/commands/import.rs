//! `laxity import`: plans from what shapes a link today.

use std::path::{Path, PathBuf};

use laxity_api::exchange::tsnkit::File;
use laxity_api::exchange::{self, Conversion, Format, vyos};
use laxity_tc::{Import, LARGEST_SCRIPT, NoteKind, Options, Source};

mod libreqos;
#[cfg(target_os = "linux")]
mod sandbox;

#[cfg(target_os = "linux")]
use crate::args::ImportKernel;
use crate::args::{ImportFrom, ImportNetwork, ImportTc, ImportTsnkit, ImportVyos};
use crate::failure::Failure;
use crate::output::deliver;
use crate::{Promises, input, terminal};

/// Carries the command out.
pub(crate) fn run(from: &ImportFrom) -> Result<Promises, Failure> {
    match from {
        ImportFrom::Tc(tc) => from_tc(tc),
        ImportFrom::Saihu(network) => from_network(network, Format::Saihu),
        ImportFrom::Wopanet(network) => from_network(network, Format::Wopanet),
        ImportFrom::Tsnkit(tsnkit) => from_tsnkit(tsnkit),
        ImportFrom::Libreqos(libreqos) => libreqos::run(libreqos),
        ImportFrom::Vyos(vyos) => from_vyos(vyos),
        #[cfg(target_os = "linux")]
        ImportFrom::Kernel(kernel) => from_kernel(kernel),
    }
}

fn from_network(arguments: &ImportNetwork, format: Format) -> Result<Promises, Failure> {
    let text = input::text(&arguments.file, exchange::LARGEST as u64)?;
    let name = input::shown(&arguments.file);
    let carried = exchange::import(&text, format).map_err(|error| wrong(&name, &error))?;
    told(&carried, arguments.out.as_deref())
}

fn from_tsnkit(arguments: &ImportTsnkit) -> Result<Promises, Failure> {
    let text = |file| input::text(file, exchange::LARGEST as u64);
    let (streams, topology) = (text(&arguments.streams)?, text(&arguments.topology)?);
    let carried = exchange::tsnkit::import(&streams, &topology, arguments.frame).map_err(
        |(file, error)| {
            let file = match file {
                File::Streams => input::shown(&arguments.streams),
                File::Topology => input::shown(&arguments.topology),
            };
            wrong(&file, &error)
        },
    )?;
    told(&carried, arguments.out.as_deref())
}

fn from_vyos(arguments: &ImportVyos) -> Result<Promises, Failure> {
    let text = input::text(&arguments.file, exchange::LARGEST as u64)?;
    let options =
        vyos::Options { policy: arguments.policy.clone(), link_rate: arguments.link_rate };
    let name = input::shown(&arguments.file);
    let imported = vyos::import(&text, &options).map_err(|error| wrong(&name, &error))?;
    told(&imported, arguments.out.as_deref())
}

/// What is wrong, with the file and the place in it.
fn wrong(file: &str, error: &exchange::Error) -> Failure {
    match error.place() {
        Some(_) => Failure::input(format!("{file}:{error}")),
        None => Failure::input(format!("{file}: {error}")),
    }
}

/// Prints or writes a plan, and says what was said in another way.
fn told(carried: &Conversion, out: Option<&Path>) -> Result<Promises, Failure> {
    deliver(&carried.text, out, "Plan", "--out ")?;
    terminal::notes(&carried.notes);
    Ok(Promises::Kept)
}

fn from_tc(arguments: &ImportTc) -> Result<Promises, Failure> {
    #[cfg(target_os = "linux")]
    if arguments.run {
        let (import, name) = sandbox::import(arguments)?;
        return written(&import, &name, arguments.out.as_deref());
    }
    let name = input::shown(&arguments.script);
    let script = input::text(&arguments.script, LARGEST_SCRIPT as u64)?;
    let source = |path: &PathBuf| {
        let text = input::text(path, LARGEST_SCRIPT as u64)?;
        Ok(Source { name: input::shown(path), text })
    };
    let sources: Result<Vec<Source>, Failure> = arguments.sources.iter().map(source).collect();
    let options = Options {
        link_rate: arguments.link_rate,
        device: arguments.dev.clone(),
        arguments: Some(arguments.arguments.clone()).filter(|arguments| !arguments.is_empty()),
        variables: arguments.variables.iter().cloned().collect(),
        sources: sources?,
    };
    written(&laxity_api::import(&script, &name, &options)?, &name, arguments.out.as_deref())
}

#[cfg(target_os = "linux")]
fn from_kernel(arguments: &ImportKernel) -> Result<Promises, Failure> {
    let dev = &arguments.dev;
    let (objects, contracts) = laxity_kernel::status::objects(dev)?;
    let options = Options { link_rate: arguments.link_rate, ..Options::default() };
    let import = laxity_tc::import_objects(&objects.in_order(), &contracts, dev, &options)?;
    written(&import, dev, arguments.out.as_deref())
}

/// Writes the plan of a set-up, and what is to be said of it.
fn written(import: &Import, name: &str, out: Option<&Path>) -> Result<Promises, Failure> {
    deliver(&import.plan, out, "Plan", "--out ")?;
    terminal::remark(&summary(import, name));
    Ok(Promises::Kept)
}

/// The notes as a list.
fn summary(import: &Import, name: &str) -> String {
    let mut text = String::new();
    for kind in NoteKind::ALL {
        let mut of_kind = import.notes.iter().filter(|note| note.kind == kind).peekable();
        if of_kind.peek().is_some() {
            text += &format!("{kind}:\n");
        }
        for note in of_kind {
            text += &match note.line {
                0 => format!("  {}\n", note.text),
                line => format!("  {name}:{line}: {}\n", note.text),
            };
        }
    }
    text
}
