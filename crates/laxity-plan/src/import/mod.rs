//! Plans from traffic-control scripts for Linux.
//!
//! [`tc`] reads the `tc qdisc`, `tc class` and `tc filter` lines of a shell script or a `tc -batch`
//! file and writes the plan that comes nearest to them. What a plan cannot say is not passed over:
//! each such thing becomes a [`Note`] with its line, and stands in a comment at the head of the plan.
//!
//! ```
//! use laxity_plan::import::{Options, tc};
//!
//! let script = "
//!     tc qdisc add dev eth0 root handle 1: hfsc default 20
//!     tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit
//!     tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc umax 160b dmax 5ms rate 64kbit # voice
//!     tc class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit # rest
//!     tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 5004 0xffff flowid 1:10
//! ";
//! let imported = tc(script, "gateway.sh", &Options::default())?;
//! assert!(imported.plan.contains("rate = \"10mbit\""));
//! assert!(imported.plan.contains("[class.voice]"));
//! # Ok::<(), laxity_plan::PlanError>(())
//! ```

mod args;
mod commands;
mod curves;
mod draft;
mod filter;
mod htb;
mod notes;
mod order;
mod packets;
mod queue;
mod rules;
mod setup;
mod shell;
#[cfg(test)]
mod tests;
mod units;

use std::path::Path;

use laxity::units::Rate;

use crate::error::{Fault, PlanError};
use crate::model::Plan;
pub use notes::{Note, NoteKind};

/// The largest script, in bytes: 16 MiB, as of a plan.
pub const LARGEST_SCRIPT: usize = 16 << 20;

/// What a script does not say.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The rate of the link. Default: that of the one class at the top.
    pub link_rate: Option<Rate>,
    /// The interface whose set-up is wanted. Default: the one with a hfsc or htb qdisc.
    pub device: Option<String>,
}

/// A plan that was written from a script.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Its text, which [`Plan::parse`] reads.
    pub plan: String,
    /// What was not taken as it stands, by kind and line.
    pub notes: Vec<Note>,
}

/// Writes the plan for a hfsc or htb set-up. `name` is what the script is called in the plan and in
/// errors.
///
/// # Errors
/// At the first command that `tc` would not read either; if the script has no set-up, or several;
/// or if the rate of the link is not known.
pub fn tc(script: &str, name: &str, options: &Options) -> Result<Import, PlanError> {
    if script.len() > LARGEST_SCRIPT {
        let message = format!(
            "the script is larger than {} MiB, the most that is read",
            LARGEST_SCRIPT >> 20
        );
        return Err(PlanError::new(name, "", Fault::new(None, message)));
    }
    read(script, name, options).map_err(|fault| PlanError::new(name, script, fault))
}

fn read(text: &str, name: &str, options: &Options) -> args::Read<Import> {
    let mut script = shell::Script::new(text);
    let mut commands = commands::Commands::new(options.device.clone());
    while let Some(line) = script.next_line()? {
        line.iter().try_for_each(|command| commands.take(command))?;
    }
    let (mut setup, mut notes) = commands.finish()?;
    let Some(root) = setup.root.take() else { return Err(Fault::new(None, "there is no set-up")) };
    let draft = draft::Draft::new(setup, root, options.link_rate, &mut notes)?;
    let notes = notes.sorted();
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    let plan = draft.text(&file, &notes);
    match Plan::parse(&plan, "the imported plan", Path::new("")) {
        Ok(_) => Ok(Import { plan, notes }),
        Err(error) => Err(Fault::new(None, format!("no plan came of this script: {error}"))),
    }
}
