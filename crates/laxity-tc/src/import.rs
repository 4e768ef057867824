//! Plans from scripts, from what `tc` shows, and from what the kernel tells.

use std::collections::BTreeMap;
use std::path::Path;

use laxity::units::Rate;
use laxity_plan::error::Fault;
use laxity_plan::{Plan, PlanError};

use crate::assembly::{Commands, Discipline};
use crate::contract::Contract;
use crate::draft::cake::CakeDraft;
use crate::draft::{Draft, shaped};
use crate::netlink::{self, Object};
use crate::notes::{Note, Notes};
use crate::words::command::{Command, at_their_calls};
use crate::words::texts::{Source, Texts};
use crate::{shell, shown};

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
    /// The text of the plan, which [`Plan::parse`] reads.
    pub plan: String,
    /// What was not taken as it stands, by kind and line.
    pub notes: Vec<Note>,
}

/// Writes the plan for a set-up of hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf. `name` is what
/// the script is called in the plan and in errors. Nothing is run, and no file is opened.
///
/// # Errors
/// At the first command that `tc` would not read either; where the set-up depends on what only the
/// machine knows; if the script has no set-up, or several; or if the rate of the link is not known.
pub fn import(script: &str, name: &str, options: &Options) -> Result<Import, PlanError> {
    let texts = Texts::new(script, name, &options.sources)?;
    read(&texts, name, options).map_err(|fault| texts.error(fault))
}

/// Writes the plan for a set-up that the kernel shows, in objects after their parents. `contracts`
/// are comments of an exported script about it. Of the options, the rate counts. Lines in notes are
/// those of the comments and then of the objects.
///
/// # Errors
/// The errors of [`import()`].
pub fn import_objects(
    objects: &[&Object],
    contracts: &str,
    device: &str,
    options: &Options,
) -> Result<Import, PlanError> {
    let mut commands = Commands::new(Some(device.into()));
    let first = contracts.lines().count() + 1;
    let mut taken = objects.iter().zip(first..);
    let taken = taken.try_for_each(|(object, line)| commands.take_object(object, device, line));
    let contract = Contract::read(contracts, None);
    let imported = taken.and_then(|()| plan_of(commands, contract, device, options, |note| note));
    imported.map_err(|mut fault| {
        // Spans are numbers of lines up to here.
        let line = fault.span.take().map_or(0, |span| span.start);
        let mut text = contracts.to_string();
        for (object, at) in objects.iter().zip(first..) {
            let begin = text.len();
            text += &netlink::command(object, device);
            if at == line {
                fault.span = Some(begin..text.len());
            }
            text.push('\n');
        }
        PlanError::new(device, &text, fault)
    })
}

/// The words of each command that a script without arguments comes to, as far as it counts.
///
/// # Errors
/// A command may depend on what only the machine knows, or be written in a way that is not read.
pub fn words(script: &str, name: &str) -> Result<Vec<Vec<String>>, PlanError> {
    let call = shell::Call { arguments: Some(Vec::new()), ..shell::Call::default() };
    let commands = shell::commands(script, script.len(), name, call, &mut Notes::default());
    let known =
        commands.and_then(|commands| match commands.iter().find_map(Command::unknown_word) {
            Some(word) => Err(word.fault("known here", "a word that is")),
            None => Ok(commands.iter().map(Command::texts).collect()),
        });
    known.map_err(|fault| PlanError::new(name, script, fault))
}

fn read(texts: &Texts<'_>, name: &str, options: &Options) -> Result<Import, Fault> {
    let mut commands = Commands::new(options.device.clone());
    let found = match shown::commands(&texts.all[..texts.end()], &mut commands.notes)? {
        Some(found) => found,
        None => {
            let call = shell::Call {
                arguments: options.arguments.clone(),
                variables: options.variables.clone(),
                files: texts.files(),
            };
            shell::commands(&texts.all, texts.end(), name, call, &mut commands.notes)?
        }
    };
    take_all(&mut commands, found)?;
    let contract = Contract::read(&texts.all[..texts.end()], options.device.as_deref());
    plan_of(commands, contract, name, options, |note| texts.note(note))
}

/// Takes all commands that a script comes to.
pub(crate) fn take_all(commands: &mut Commands, found: Vec<Command>) -> Result<(), Fault> {
    at_their_calls(found)
        .iter()
        .try_for_each(|command| commands.take(command).map_err(|fault| command.named(fault)))
}

/// The plan that commands come to.
pub(crate) fn plan_of(
    commands: Commands,
    contract: Contract,
    name: &str,
    options: &Options,
    located: impl Fn(Note) -> Note,
) -> Result<Import, Fault> {
    let (mut setup, mut notes) = commands.finish()?;
    setup.contract = contract;
    let Some(root) = setup.root.take() else { return Err(Fault::new(None, "there is no set-up")) };
    let (setup, root) = shaped(setup, root, options.link_rate, &mut notes)?;
    let file = Path::new(name).file_name().map_or(name.into(), |file| file.to_string_lossy());
    let sorted = |notes: Notes| notes.sorted().into_iter().map(&located).collect::<Vec<Note>>();
    let (plan, notes) = if let Discipline::Cake(cake) = root.discipline {
        let draft = CakeDraft::new(setup, &root, cake, options.link_rate, &mut notes)?;
        let notes = sorted(notes);
        (draft.text(&file, &notes), notes)
    } else {
        let draft = Draft::new(setup, root, options.link_rate, &mut notes)?;
        let notes = sorted(notes);
        (draft.text(&file, &notes), notes)
    };
    match Plan::parse(&plan, "the imported plan", Path::new("")) {
        Ok(_) => Ok(Import { plan, notes }),
        Err(error) => Err(Fault::new(None, format!("no plan came of this script: {error}"))),
    }
}
