//! What a script issued as it ran, read as commands.

use std::collections::BTreeMap;

use laxity_plan::PlanError;
use laxity_plan::error::Fault;

use crate::assembly::Commands;
use crate::contract::{Contract, MARK};
use crate::error::plain;
use crate::import::{Import, Options, plan_of, take_all};
use crate::netfilter::restore;
use crate::notes::Notes;
use crate::words::batch;
use crate::words::command::{Command, Word};

/// The most commands that are read.
const MOST_COMMANDS: usize = 100_000;
/// The most questions of a script that are noted.
const MOST_QUESTIONS: usize = 20;

/// A script that was run, with what came of it.
#[derive(Clone, Debug, Default)]
pub struct Recording<'a> {
    /// The text of the script.
    pub script: &'a str,
    /// The commands that it issued, in order.
    pub commands: Vec<RecordedCommand>,
    /// What else is to be said of it, in sentences without their full stops.
    pub remarks: Vec<String>,
}

/// A command that a script issued.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecordedCommand {
    /// The program and its arguments.
    pub words: Vec<String>,
    /// What the command reads beside them.
    pub input: Option<String>,
    /// How far the script had been read then, in bytes.
    pub at: Option<u64>,
}

/// Writes the plan for the set-up that a script issued, as [`import`](crate::import) does for one
/// that is read. Of the options, the rate and the interface count. Lines in notes are those up to
/// which the script had been read.
///
/// # Errors
/// The errors of [`import`](crate::import). They show commands as they were issued.
pub fn import_recording(
    recording: &Recording<'_>,
    name: &str,
    options: &Options,
) -> Result<Import, PlanError> {
    let mut commands = Commands::new(options.device.clone());
    for text in &recording.remarks {
        commands.notes.reading(0, text);
    }
    let mut reader = Reader::new(recording);
    let imported = reader.read(&mut commands.notes).and_then(|found| {
        if !found.iter().any(Command::sets_up) {
            let count = recording.commands.len();
            let message =
                format!("as it ran, the script set nothing up: it issued {count} commands");
            return Err(Fault::new(None, message).help(
                "say what it is called with behind its name, and its variables as in --set NAME=VALUE.",
            ));
        }
        take_all(&mut commands, found)?;
        let contract = Contract::read(recording.script, options.device.as_deref());
        plan_of(commands, contract, name, options, |note| note)
    });
    // What became of the script may be why.
    let remarks = recording.remarks.iter().map(|text| format!(" {}.", capitalized(text)));
    imported.map_err(|fault| {
        let fault = fault.more_help(&remarks.collect::<String>());
        PlanError::new(&format!("{name}, as it ran"), &reader.text, fault)
    })
}

/// The words of every command of tc, and of those beside it that count, which a script issued.
///
/// # Errors
/// If there are more than are read.
pub fn words_recorded(recorded: &[RecordedCommand]) -> Result<Vec<Vec<String>>, PlanError> {
    let recording = Recording { commands: recorded.to_vec(), ..Recording::default() };
    let mut reader = Reader::new(&recording);
    let found = reader.read(&mut Notes::default());
    let found = found.map_err(|fault| PlanError::new("", &reader.text, fault))?;
    Ok(found.iter().map(Command::texts).collect())
}

fn capitalized(text: &str) -> String {
    let mut signs = text.chars();
    signs.next().map_or(String::new(), |first| first.to_uppercase().chain(signs).collect())
}

/// Reads recorded commands, and writes down what faults point at.
struct Reader<'a> {
    recording: &'a Recording<'a>,
    text: String,
    commands: Vec<Command>,
    /// What is not carried out, by its line: the first of each.
    skipped: BTreeMap<usize, String>,
}

impl<'a> Reader<'a> {
    fn new(recording: &'a Recording<'a>) -> Self {
        Reader { recording, text: String::new(), commands: Vec::new(), skipped: BTreeMap::new() }
    }

    /// All commands that count. Notes tell of the others, once a line.
    fn read(&mut self, notes: &mut Notes) -> Result<Vec<Command>, Fault> {
        let recorded = &self.recording.commands;
        let lines = Lines::new(self.recording.script);
        let mut questions = Vec::new();
        for (at, one) in recorded.iter().enumerate() {
            let found = lines.find(one);
            let line = found.map_or(0, |line| line.number);
            if asks(&one.words) {
                let text = plain(&one.words.join(" "));
                if questions.len() < MOST_QUESTIONS && !questions.contains(&text) {
                    notes.reading(line, format!(
                        "the script asked `{text}` and was told nothing, as by a machine that has nothing yet"
                    ));
                    questions.push(text);
                }
                continue;
            }
            // A line with several commands has no comment on one of them.
            let alone =
                |other: Option<&RecordedCommand>| other.is_none_or(|other| other.at != one.at);
            let before = at.checked_sub(1).and_then(|at| recorded.get(at));
            let is_alone = alone(before) && alone(recorded.get(at + 1));
            let comment = found.filter(|_| is_alone).and_then(|line| line.comment);
            let comment = comment.map(|text| text.trim_start_matches('#').trim().to_string());
            self.take(one, line, comment);
            if self.commands.len() > MOST_COMMANDS {
                let message =
                    format!("the script comes to more than {MOST_COMMANDS} commands of tc");
                return Err(Fault::new(None, message));
            }
        }
        for (line, text) in std::mem::take(&mut self.skipped) {
            notes.not_read(line, text);
        }
        Ok(std::mem::take(&mut self.commands))
    }

    /// Takes a command, or those that it reads.
    fn take(&mut self, recorded: &RecordedCommand, line: usize, comment: Option<String>) {
        let words = &recorded.words;
        let program = words.first().map_or("", |word| word.rsplit('/').next().unwrap_or_default());
        let Some(input) = &recorded.input else {
            return self.push(words.clone(), line, comment);
        };
        match program {
            "tc" => {
                for command in batch::commands(input) {
                    let command = self.command(command.words, line, command.comment);
                    self.commands.push(command);
                }
            }
            "ip" => {
                for command in batch::commands(input) {
                    self.push([vec!["ip".into()], command.words].concat(), line, None);
                }
            }
            "nft" => self.push(vec!["nft".into(), input.clone()], line, None),
            program => {
                let options: Vec<&str> = words[1..].iter().map(String::as_str).collect();
                for words in restore::commands(program, &options, input) {
                    self.push(words, line, None);
                }
            }
        }
    }

    /// Takes a command of tc, or one beside it that counts.
    fn push(&mut self, words: Vec<String>, line: usize, comment: Option<String>) {
        let command = self.command(words, line, comment);
        let is_tc = ["tc", "qdisc", "class", "filter"].contains(&command.program());
        if is_tc || command.is_beside() {
            self.commands.push(command);
        } else {
            self.skipped.entry(line).or_insert_with(|| command.no_command_of_tc());
        }
    }

    /// A command, written down.
    fn command(&mut self, words: Vec<String>, line: usize, comment: Option<String>) -> Command {
        let words = words.into_iter().map(|text| {
            let start = self.text.len();
            self.text += &text;
            let span = start..self.text.len();
            self.text.push(' ');
            Word { text, span, doubt: None }
        });
        let words = words.collect();
        self.text.push('\n');
        Command { words, line, called: None, comment }
    }
}

/// The lines of the script in which anything stands.
struct Lines<'a> {
    length: u64,
    all: Vec<Line<'a>>,
}

struct Line<'a> {
    number: usize,
    /// Where its first sign stands in the script.
    begin: u64,
    /// The comment at its end.
    comment: Option<&'a str>,
}

impl<'a> Lines<'a> {
    fn new(script: &'a str) -> Self {
        let (mut all, mut passed) = (Vec::new(), 0);
        for (at, line) in script.split_inclusive('\n').enumerate() {
            if let Some(blank) = line.bytes().position(|byte| !byte.is_ascii_whitespace()) {
                let begin = (passed + blank) as u64;
                all.push(Line { number: at + 1, begin, comment: comment(line.trim_ascii_end()) });
            }
            passed += line.len();
        }
        Lines { length: script.len() as u64, all }
    }

    /// The line in which the command ends that issued this, if that is known.
    fn find(&self, issued: &RecordedCommand) -> Option<&Line<'a>> {
        let at = issued.at.filter(|at| *at <= self.length)?;
        self.all[..self.all.partition_point(|line| line.begin < at)].last()
    }
}

/// The comment at the end of a line.
fn comment(line: &str) -> Option<&str> {
    let mut quote = None;
    let mut before = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '\'' | '"') => quote = Some(c),
            (None, '#') if before.is_whitespace() => {
                let comment = &line[at..];
                return (!comment.starts_with(MARK)).then_some(comment);
            }
            _ => {}
        }
        before = c;
    }
    None
}

/// Whether a command only has something shown, or asks whether something is there.
fn asks(words: &[String]) -> bool {
    let [program, rest @ ..] = words else { return true };
    let has = |names: &[&str]| rest.iter().any(|word| names.contains(&word.as_str()));
    let mut operands = rest.iter().filter(|word| !word.starts_with('-'));
    let (object, verb) = (operands.next(), operands.next());
    let shows = |verb: &String| {
        ["show", "list", "lst", "ls", "get", "help", "monitor"].contains(&verb.as_str())
    };
    match program.as_str() {
        "tc" | "ip" if has(&["-b", "-batch"]) => false,
        "tc" | "ip" => object.is_none() || verb.is_none_or(shows),
        "ifconfig" => verb.is_none(),
        "ethtool" => rest.first().is_none_or(|option| {
            !option.starts_with('-')
                || ["-k", "-i", "-S", "-g", "-c", "-l", "-a", "-T"].contains(&option.as_str())
        }),
        "sysctl" => !has(&["-w", "-p", "--system"]) && !rest.iter().any(|word| word.contains('=')),
        "nft" => object.is_some_and(shows),
        program if program.contains("tables") && program.ends_with("-save") => true,
        program if program.contains("tables") => {
            has(&["-L", "-S", "-C", "--list", "--list-rules", "--check", "-V", "--version"])
                || rest.iter().any(|word| word.starts_with("-nv") || word.starts_with("-vn"))
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests;
