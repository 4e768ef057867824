//! One file a command.

#[cfg(target_os = "linux")]
pub mod apply;
pub mod bench;
pub mod check;
pub mod compare;
#[cfg(target_os = "linux")]
mod demo;
pub mod export;
pub mod fit;
pub mod import;
#[cfg(target_os = "linux")]
mod kernel;
#[cfg(target_os = "linux")]
pub mod live;
#[cfg(target_os = "linux")]
pub mod reload;
pub mod replay;
pub mod reproduce;
#[cfg(target_os = "linux")]
mod routers;
pub mod run;
mod seeds;
#[cfg(target_os = "linux")]
pub mod status;
pub mod sweep;
#[cfg(target_os = "linux")]
pub mod top;
pub mod tune;
#[cfg(target_os = "linux")]
pub mod watch;

use clap::CommandFactory;

use crate::args::{Arguments, Completions, Manual};
use crate::failure::Failure;
use crate::{Promises, print, print_json};

/// `laxity schema`.
pub fn schema() -> Result<Promises, Failure> {
    print_json(&laxity_plan::schema())?;
    Ok(Promises::Kept)
}

/// `laxity completions`.
pub fn completions(arguments: &Completions) -> Result<Promises, Failure> {
    let mut script = Vec::new();
    let mut command = Arguments::command();
    clap_complete::generate(arguments.shell, &mut command, "laxity", &mut script);
    print(&String::from_utf8_lossy(&script))?;
    Ok(Promises::Kept)
}

/// `laxity manual`.
pub fn manual(arguments: &Manual) -> Result<Promises, Failure> {
    let folder = &arguments.folder;
    let written = std::fs::create_dir_all(folder)
        .and_then(|()| clap_mangen::generate_to(Arguments::command(), folder));
    written.map_err(|error| Failure::unwritable(folder, &error))?;
    Ok(Promises::Kept)
}
