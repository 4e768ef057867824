//! Plans from traffic-control scripts for Linux, and from what `tc` shows.
//!
//! [`import`] interprets a shell script or a `tc -batch` file, or reads what `tc … show` printed, and
//! writes the plan that comes nearest to its qdiscs, classes and filters. What a plan cannot say is not passed over:
//! each such thing becomes a [`Note`] with its line, and stands in a comment at the head of the plan.
//!
//! ```
//! use laxity_tc::{Options, import};
//!
//! let script = "
//!     tc qdisc add dev eth0 root handle 1: hfsc default 20
//!     tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit
//!     tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc umax 160b dmax 5ms rate 64kbit # voice
//!     tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit # rest
//!     tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 5004 0xffff flowid 1:10
//! ";
//! let imported = import(script, "gateway.sh", &Options::default())?;
//! assert!(imported.plan.contains("rate = \"10mbit\""));
//! assert!(imported.plan.contains("[class.voice]"));
//! # Ok::<(), laxity_plan::PlanError>(())
//! ```
#![deny(missing_docs)]

mod args;
mod below;
mod cake;
mod command;
mod commands;
mod contract;
mod curves;
mod draft;
mod drr;
mod error;
pub mod export;
mod filter;
mod fq_codel;
mod htb;
mod link;
pub mod linux;
mod meeting;
mod netfilter;
pub mod netlink;
mod notes;
mod order;
mod packets;
mod prio;
mod qfq;
mod queue;
mod ran;
mod rules;
mod setup;
mod shell;
mod shown;
mod size_table;
mod tbf;
#[cfg(test)]
mod tests;
mod texts;
pub mod tree;
mod units;
mod unsupported;

use std::collections::BTreeMap;
use std::path::Path;

use laxity::units::Rate;
use laxity_plan::error::Fault;
use laxity_plan::{Plan, PlanError};

pub use notes::{Note, NoteKind};
pub use ran::{Issued, Ran, import_ran, words_issued};
pub use texts::{LARGEST_SCRIPT, Source};

/// What a script does not say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The rate of the link. Default: that of the one class at the top.
    pub link_rate: Option<Rate>,
    /// The interface whose set-up is wanted. Default: the one with a hfsc or htb qdisc, or
    /// else the one with prio or a shaper, or else with fq_codel.
    pub device: Option<String>,
    /// What the script is called with: `$1` and so on. Default: not known.
    pub arguments: Option<Vec<String>>,
    /// The environment of the script. A variable of it also has this value where the script gives
    /// it one that is not known, such as the output of another program.
    pub variables: BTreeMap<String, String>,
    /// Files that the script may read with `.` or `source`. No others are read.
    pub sources: Vec<Source>,
}

/// A plan that was written from a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its text, which [`Plan::parse`] reads.
    pub plan: String,
    /// What was not taken as it stands, by kind and line.
    pub notes: Vec<Note>,
}

/// Writes the plan for a set-up of hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf. `name` is what the script is called in the plan and in
/// errors. Nothing is run, and no file is opened.
///
/// # Errors
/// At the first command that `tc` would not read either; where the set-up depends on what only the
/// machine knows; if the script has no set-up, or several; or if the rate of the link is not known.
pub fn import(script: &str, name: &str, options: &Options) -> Result<Import, PlanError> {
    let texts = texts::Texts::new(script, name, &options.sources)?;
    read(&texts, name, options).map_err(|fault| texts.error(fault))
}

/// The words of every command of tc, and of those beside it that count, which a script without
/// arguments comes to.
///
/// # Errors
/// Where what it issues depends on what only the machine knows, or is written in a way that is not read.
pub fn words(script: &str, name: &str) -> Result<Vec<Vec<String>>, PlanError> {
    let call = shell::Call { arguments: Some(Vec::new()), ..shell::Call::default() };
    let commands = shell::commands(script, script.len(), name, &call, &mut notes::Notes::default());
    let known = commands.and_then(|commands| {
        let mut words = commands.iter().flat_map(|command| &command.words);
        let unknown = words.find(|word| word.doubt.as_ref().is_some_and(|doubt| doubt.is_unknown));
        match unknown {
            Some(word) => Err(word.fault("known here", "a word that is")),
            None => Ok(commands),
        }
    });
    let known = known.map_err(|fault| PlanError::new(name, script, fault))?;
    Ok(known.iter().map(command::Command::texts).collect())
}

fn read(texts: &texts::Texts<'_>, name: &str, options: &Options) -> error::Read<Import> {
    let mut commands = commands::Commands::new(options.device.clone());
    let found = match shown::commands(&texts.all[..texts.end()], &mut commands.notes)? {
        Some(found) => found,
        None => {
            let call = shell::Call {
                arguments: options.arguments.clone(),
                variables: options.variables.clone(),
                files: texts.files(),
            };
            shell::commands(&texts.all, texts.end(), name, &call, &mut commands.notes)?
        }
    };
    let contract = contract::Contract::read(&texts.all[..texts.end()]);
    plan_of(found, commands, contract, name, options, |note| texts.note(note))
}

/// The plan that commands come to.
fn plan_of(
    found: Vec<command::Command>,
    mut commands: commands::Commands,
    contract: contract::Contract,
    name: &str,
    options: &Options,
    located: impl Fn(Note) -> Note,
) -> error::Read<Import> {
    let found = command::at_their_calls(found);
    found
        .iter()
        .try_for_each(|command| commands.take(command).map_err(|fault| command.named(fault)))?;
    let (mut setup, mut notes) = commands.finish()?;
    setup.contract = contract;
    let Some(root) = setup.root.take() else { return Err(Fault::new(None, "there is no set-up")) };
    let (setup, root) = below::shaped(setup, root, options.link_rate, &mut notes)?;
    let draft = draft::Draft::new(setup, root, options.link_rate, &mut notes)?;
    let notes: Vec<Note> = notes.sorted().into_iter().map(located).collect();
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    let plan = draft.text(&file, &notes);
    match Plan::parse(&plan, "the imported plan", Path::new("")) {
        Ok(_) => Ok(Import { plan, notes }),
        Err(error) => Err(Fault::new(None, format!("no plan came of this script: {error}"))),
    }
}
