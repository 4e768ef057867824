//! Which commands of a script are about the set-up, and what they do to it.

use std::collections::{HashMap, HashSet};

use laxity_plan::error::Fault;

use super::class::{NewClass, Verb};
use super::discipline::Root;
use super::qdisc::{NewQdisc, Place};
use super::state::{Assembly, Origin, QUEUE_LENGTH};
use crate::error::plain;
use crate::netfilter::Netfilter;
use crate::notes::{Notes, quoted};
use crate::setup::closest;
use crate::words::command::{Args, Command, Word};
use crate::words::filter::FilterWords;
use crate::words::{class, qdisc, quantity, size_table};

/// All interfaces that a script sets up.
#[derive(Debug, Default)]
pub(crate) struct Commands {
    setups: Vec<Assembly>,
    by_device: HashMap<String, usize>,
    /// The one interface that is wanted, if one is.
    only: Option<String>,
    /// How much queues of interfaces hold that say nothing themselves.
    queue_lengths: HashMap<String, u64>,
    netfilter: Netfilter,
    /// The lines that are noted as not carried out.
    passed_over: HashSet<usize>,
    pub notes: Notes,
}

/// The roots that are read.
const READ: &str = "hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf";
/// Rank of a set-up that shapes, under any discipline.
const SHAPED_RANK: u32 = 1;
/// Options of `tc` itself that have a value.
const WITH_VALUE: [&str; 6] = ["-n", "-net", "-netns", "-cf", "-conf", "-loop"];

impl Commands {
    pub(crate) fn new(only: Option<String>) -> Self {
        Commands { only, ..Commands::default() }
    }

    /// Takes a command of `tc`, or a line of a batch without that word.
    pub(crate) fn take(&mut self, command: &Command) -> Result<(), Fault> {
        let words = &command.words[..];
        if command.is_beside() {
            self.beside(command);
            return Ok(());
        }
        match words.first().map(|word| word.text.as_str()) {
            Some("qdisc" | "class" | "filter") => self.tc(words, command),
            Some(_) => self.tc(&words[1..], command),
            None => Ok(()),
        }
    }

    /// A command of another program.
    fn beside(&mut self, command: &Command) {
        if ["ip", "ifconfig"].contains(&command.program()) {
            if let Some((device, length)) = queue_length(command) {
                self.queue_lengths.insert(device, length);
                return;
            }
        } else {
            let lost = self.netfilter.take(command);
            let (other, lost): (Vec<_>, Vec<_>) = lost.into_iter().partition(String::is_empty);
            for why in lost {
                let text = format!("{}: {why}", quoted(&command.words[..1]));
                self.notes.not_mapped(command.line, text);
            }
            if other.is_empty() {
                return;
            }
        }
        if self.passed_over.insert(command.line) {
            self.notes.not_read(command.line, command.no_command_of_tc());
        }
    }

    /// What follows the word `tc`.
    fn tc(&mut self, words: &[Word], command: &Command) -> Result<(), Fault> {
        let mut words = words;
        while let [option, rest @ ..] = words
            && option.text.starts_with('-')
        {
            let value = usize::from(WITH_VALUE.contains(&option.text.as_str()));
            words = &rest[value.min(rest.len())..];
        }
        let [object, verb, rest @ ..] = words else { return Ok(()) };
        let is = |names: &[&str]| names.iter().any(|name| verb.means(name));
        let verb = match verb {
            _ if is(&["add"]) => Verb::Add,
            _ if is(&["change"]) => Verb::Change,
            _ if is(&["replace"]) => Verb::Replace,
            _ if is(&["show", "list", "lst", "ls", "get", "help", "monitor"]) => return Ok(()),
            _ if is(&["delete"]) => return self.delete(command),
            _ => {
                let text = format!("{} neither adds, changes nor replaces", quoted(words));
                self.notes.not_read(command.line, text);
                return Ok(());
            }
        };
        let args = Args::new(rest);
        match object {
            object if object.means("qdisc") => self.qdisc(verb, args, command),
            object if object.means("class") => self.class(verb, args, command),
            object if object.means("filter") => self.filter(args, command),
            _ => {
                let text = format!("{} is not about a qdisc, class or filter", quoted(words));
                self.notes.not_read(command.line, text);
                Ok(())
            }
        }
    }

    /// A script commonly clears what was there before it begins.
    fn delete(&mut self, command: &Command) -> Result<(), Fault> {
        if self.setups.iter().any(|setup| setup.root.is_some()) {
            let text = format!("{}: what it deletes is kept", quoted(&command.words));
            self.notes.not_read(command.line, text);
        }
        Ok(())
    }

    fn qdisc(&mut self, verb: Verb, mut args: Args<'_>, command: &Command) -> Result<(), Fault> {
        let (mut device, mut major, mut place, mut kind) = (None, None, Place::Missing, None);
        let mut sizes = None;
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "handle" => {
                    let value = args.value("handle")?;
                    let none = value.text == "none";
                    major = if none { None } else { Some(quantity::major(value)?) };
                }
                "root" => place = Place::Root,
                "ingress" | "clsact" => {
                    place = Place::Incoming;
                    break;
                }
                "parent" => {
                    let parent = args.value("parent")?;
                    place = match parent.text.as_str() {
                        "root" => Place::Root,
                        _ => Place::from(quantity::handle(parent)?),
                    };
                }
                _ if word.means("estimator") => estimator(&mut args)?,
                _ if word.means("stab") => sizes = Some(size_table::read(&mut args)?),
                _ if ["ingress_block", "egress_block"].iter().any(|name| word.means(name)) => {
                    args.value("ingress_block")?;
                }
                _ => {
                    kind = Some(word);
                    break;
                }
            }
        }
        let Some(setup) = self.setup(device, command)? else { return Ok(()) };
        let kind = match (place, kind) {
            (Place::Incoming, kind) => kind.cloned().unwrap_or_default(),
            (_, Some(kind)) => kind.clone(),
            (_, None) => {
                return Err(Fault::at(&command.span(), "this qdisc has no kind")
                    .help("write one such as hfsc or htb after `root`"));
            }
        };
        setup.add_qdisc(NewQdisc {
            place,
            major,
            sizes,
            adds: verb == Verb::Add,
            kind: &kind,
            read: Box::new(|flows| qdisc::kind(&kind, &mut args, flows)),
            origin: origin(command),
        })
    }

    fn class(&mut self, verb: Verb, mut args: Args<'_>, command: &Command) -> Result<(), Fault> {
        let (mut device, mut handle, mut parent, mut kind) = (None, None, None, None);
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "classid" => handle = Some(args.value("classid")?),
                "root" => parent = None,
                "parent" => parent = Some(args.value("parent")?),
                _ if word.means("estimator") => estimator(&mut args)?,
                _ => {
                    kind = Some(word);
                    break;
                }
            }
        }
        let Some(setup) = self.setup(device, command)? else { return Ok(()) };
        let Some(kind) = kind else {
            return Err(Fault::at(&command.span(), "this class has no kind")
                .help("write hfsc or htb after its `classid`"));
        };
        let named = |word: &Word| Ok::<_, Fault>((quantity::handle(word)?, word.clone()));
        let has_root = setup.root.is_some();
        let parent = parent.filter(|word| has_root && word.text != "root");
        setup.add_class(NewClass {
            verb,
            parent: parent.map(named).transpose()?,
            handle: handle.filter(|_| has_root).map(named).transpose()?,
            kind,
            read: Box::new(|| class::kind(kind, &mut args)),
            origin: origin(command),
        })
    }

    fn filter(&mut self, mut args: Args<'_>, command: &Command) -> Result<(), Fault> {
        let (words, device) = FilterWords::read(&mut args)?;
        let Some(setup) = self.setup(device, command)? else { return Ok(()) };
        setup.add_filter(&words.head, || words.action(), &origin(command))
    }

    /// The set-up of an interface; `None` if another one is wanted.
    fn setup(
        &mut self,
        device: Option<&Word>,
        command: &Command,
    ) -> Result<Option<&mut Assembly>, Fault> {
        let Some(device) = device else {
            return Err(Fault::at(&command.span(), "this command names no interface")
                .help("add one such as `dev eth0`"));
        };
        // A value that comes to nothing leaves the next keyword in its place.
        let keyword = ["", "root", "parent", "handle", "ingress", "clsact", "classid", "protocol"];
        if let Some(doubt) = &device.doubt
            && keyword.contains(&device.text.as_str())
        {
            let message = format!("`dev` names no interface: {}", doubt.why);
            return Err(Fault::at(&command.span(), message).help(doubt.help.clone()));
        }
        if self.only.as_ref().is_some_and(|only| *only != device.text) {
            let text = format!("{} is about another interface", quoted(&command.words));
            self.notes.not_read(command.line, text);
            return Ok(None);
        }
        Ok(Some(self.device(&device.text)))
    }

    /// The set-up of an interface.
    pub(super) fn device(&mut self, device: &str) -> &mut Assembly {
        let next = self.setups.len();
        let at = *self.by_device.entry(device.into()).or_insert(next);
        if at == next {
            self.setups.push(Assembly::new(device.into()));
        }
        &mut self.setups[at]
    }

    /// The set-up that is imported, and all notes.
    pub(crate) fn finish(mut self) -> Result<(Assembly, Notes), Fault> {
        for setup in &mut self.setups {
            setup.shape_all();
        }
        let roots = self.setups.iter().enumerate();
        let roots = roots.filter_map(|(at, setup)| Some((at, setup.root.as_ref()?)));
        let rank = |at: usize, root: &Root| {
            let most = if self.setups[at].shaper.is_some() { SHAPED_RANK } else { u32::MAX };
            root.discipline.rank().min(most)
        };
        let least = roots.clone().map(|(at, root)| rank(at, root)).min();
        let mut roots = roots.filter(|(at, root)| Some(rank(*at, root)) == least);
        let Some((at, _)) = roots.next() else { return Err(self.nothing()) };
        if let Some((second, root)) = roots.next() {
            let [first, second] = [at, second].map(|at| plain(&self.setups[at].device));
            let message = format!("the script sets up {first} and {second}");
            return Err(
                Fault::at(&root.span, message).help(format!("choose one, such as --dev {first}"))
            );
        }
        let mut setup = self.setups.swap_remove(at);
        setup.queue_length = self.queue_lengths.get(&setup.device).copied().unwrap_or(QUEUE_LENGTH);
        for other in self.setups {
            let text = format!("the set-up of {}, another interface", plain(&other.device));
            self.notes.not_read(0, text);
        }
        setup.states = self.netfilter.states(&setup.device, &mut self.notes);
        setup.note_elsewhere();
        self.notes.append(std::mem::take(&mut setup.notes));
        Ok((setup, self.notes))
    }

    fn nothing(&self) -> Fault {
        let help =
            "a set-up begins with a line such as `tc qdisc add dev eth0 root handle 1: hfsc`";
        let other = self.setups.iter().find_map(|setup| {
            let (kind, span) = setup.other_root.as_ref()?;
            Some((plain(&setup.device), kind, span))
        });
        match (&self.only, other) {
            (_, Some((device, kind, span))) => {
                let fault = Fault::at(
                    span,
                    format!(
                        "the root of {device} is {kind}: hfsc, htb, qfq, drr, prio, fq_codel and cake are read, at the root or below tbf, netem or mq"
                    ),
                );
                match closest(kind) {
                    Some(closest) => fault.help(format!("the plan that comes closest: {closest}")),
                    None => fault,
                }
            }
            (Some(only), None) => {
                let message = format!("there is no {READ} set-up of {}", plain(only));
                Fault::new(None, message).help(help)
            }
            (None, None) => Fault::new(None, format!("the script has no {READ} set-up")).help(help),
        }
    }
}

fn origin(command: &Command) -> Origin {
    Origin { line: command.line, span: command.span(), comment: command.comment.clone() }
}

fn estimator(args: &mut Args<'_>) -> Result<(), Fault> {
    args.value("estimator")?;
    args.value("estimator")?;
    Ok(())
}

/// The interface and how many packets its queues hold, of `ip link set` and `ifconfig`.
pub(super) fn queue_length(command: &Command) -> Option<(String, u64)> {
    let words = &command.words[1..];
    let is = |word: &Word, names: &[&str]| names.contains(&word.text.as_str());
    let at = words.iter().position(|word| is(word, &["txqueuelen", "qlen"]))?;
    let length = words.get(at + 1)?.text.parse().ok().filter(|length| *length > 0)?;
    let named = words.iter().position(|word| is(word, &["dev"])).map(|at| at + 1);
    let device = match command.program() {
        "ifconfig" => 0,
        _ => named.or_else(|| {
            let keywords = ["link", "l", "set", "txqueuelen", "qlen", "up", "down"];
            (0..words.len()).find(|place| {
                *place != at + 1
                    && !is(&words[*place], &keywords)
                    && !words[*place].text.starts_with('-')
            })
        })?,
    };
    let device = words.get(device)?;
    let is_known = device.doubt.is_none() && words[at + 1].doubt.is_none();
    is_known.then(|| (device.text.clone(), length))
}
