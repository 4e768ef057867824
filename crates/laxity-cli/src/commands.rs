//! One file a command.

#[cfg(target_os = "linux")]
pub(crate) mod apply;
pub(crate) mod bench;
pub(crate) mod check;
pub(crate) mod compare;
#[cfg(target_os = "linux")]
mod demo;
pub(crate) mod export;
pub(crate) mod fit;
pub(crate) mod import;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
pub(crate) mod live;
#[cfg(target_os = "linux")]
pub(crate) mod reload;
pub(crate) mod replay;
#[cfg(feature = "papers")]
pub(crate) mod reproduce;
#[cfg(target_os = "linux")]
mod routers;
pub(crate) mod run;
mod seeds;
#[cfg(target_os = "linux")]
pub(crate) mod status;
pub(crate) mod sweep;
#[cfg(target_os = "linux")]
pub(crate) mod top;
pub(crate) mod tune;
#[cfg(target_os = "linux")]
pub(crate) mod watch;

use clap::CommandFactory;

use crate::args::{Arguments, Completions, Manual};
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// `laxity schema`.
pub(crate) fn schema() -> Result<Promises, Failure> {
    print_json(&laxity_plan::schema())?;
    Ok(Promises::Kept)
}

/// `laxity completions`.
pub(crate) fn completions(arguments: &Completions) -> Result<Promises, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "laxity", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Promises::Kept)
}

/// `laxity manual`.
pub(crate) fn manual(arguments: &Manual) -> Result<Promises, Failure> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| Failure::unwritable(folder, &error))?;
    Ok(Promises::Kept)
}
