//! Which commands of a script are about the set-up, and what they do to it.

use std::collections::{HashMap, HashSet};

use laxity_plan::error::Fault;

use crate::args::Args;
use crate::command::{Command, Word};
use crate::error::{Read, plain};
use crate::filter::Written;
use crate::netfilter::Netfilter;
use crate::notes::{Notes, quoted};
use crate::setup::{Origin, Root, Setup, Verb};
use crate::size_table::SizeTable;
use crate::units;
use crate::{link, queue, unsupported};

/// All interfaces that a script sets up.
#[derive(Debug, Default)]
pub struct Commands {
    setups: Vec<Setup>,
    by_device: HashMap<String, usize>,
    /// The one interface that is wanted, if one is.
    only: Option<String>,
    /// How much queues of interfaces hold that say nothing themselves.
    queue_lengths: HashMap<String, u64>,
    netfilter: Netfilter,
    /// The lines of which it is noted that they are not carried out.
    passed_over: HashSet<usize>,
    pub notes: Notes,
}

/// The roots that are read.
const READ: &str = "hfsc, htb, qfq, drr, prio, fq_codel, cake or tbf";
/// The rank of a set-up that shapes, whatever shares it.
const SHAPED_RANK: u32 = 1;
/// Options of `tc` itself that have a value.
const WITH_VALUE: [&str; 6] = ["-n", "-net", "-netns", "-cf", "-conf", "-loop"];

impl Commands {
    pub fn new(only: Option<String>) -> Self {
        Commands { only, ..Commands::default() }
    }

    /// Takes a command of `tc`, or a line of a batch without that word.
    pub fn take(&mut self, command: &Command) -> Read<()> {
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
        let read = match command.program() {
            "ip" | "ifconfig" => link::queue_length(command),
            _ => {
                let lost = self.netfilter.take(command);
                let (other, lost): (Vec<_>, Vec<_>) = lost.into_iter().partition(String::is_empty);
                for why in lost {
                    self.notes.not_mapped(
                        command.line,
                        format!("{}: {why}", quoted(&command.words[..1])),
                    );
                }
                if other.is_empty() {
                    return;
                }
                None
            }
        };
        match read {
            Some((device, length)) => {
                self.queue_lengths.insert(device, length);
            }
            None if self.passed_over.insert(command.line) => {
                self.notes.not_read(command.line, command.no_command_of_tc());
            }
            None => {}
        }
    }

    /// What follows the word `tc`.
    fn tc(&mut self, words: &[Word], command: &Command) -> Read<()> {
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
    fn delete(&mut self, command: &Command) -> Read<()> {
        if self.setups.iter().any(|setup| setup.root.is_some()) {
            let text = format!("{}: what it deletes is kept", quoted(&command.words));
            self.notes.not_read(command.line, text);
        }
        Ok(())
    }

    fn qdisc(&mut self, verb: Verb, mut args: Args<'_>, command: &Command) -> Read<()> {
        let (mut device, mut major, mut place, mut kind) = (None, None, Place::Missing, None);
        let mut sizes = SizeTable::default();
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "handle" => {
                    let value = args.value("handle")?;
                    major = if value.text == "none" { None } else { Some(units::major(value)?) };
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
                        _ => match units::handle(parent)? {
                            units::Handle { major: 0xffff, .. } => Place::Incoming,
                            above => Place::Class(above),
                        },
                    };
                }
                _ if word.means("estimator") => estimator(&mut args)?,
                _ if word.means("stab") => sizes = SizeTable::read(&mut args)?,
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
        let (mut place, mut sizes_above) = (place, None);
        if let (Place::Class(above), Some(shaper)) = (&place, &setup.shaper)
            && above.major == shaper.major
        {
            (place, sizes_above) = (Place::Root, Some(shaper.overhead));
        }
        if let (Place::Class(above), Some(mq)) = (&place, &mut setup.mq)
            && above.major == mq.major
        {
            let queue = *mq.queue.get_or_insert_with(|| {
                let text = format!(
                    "mq: the plan is of queue {:x} of the interface alone, and of what comes to that",
                    above.minor
                );
                setup.notes.reading(command.line, text);
                above.minor
            });
            if queue != above.minor {
                let text = format!(
                    "queue {:x} of the interface has a qdisc of its own: the plan is of queue {queue:x}",
                    above.minor
                );
                setup.notes.not_mapped(command.line, text);
                return Ok(());
            }
            place = Place::Root;
        }
        if let Place::Class(above) = &place
            && setup.wire == Some(above.major)
        {
            place = Place::Root;
        }
        if let (Place::Class(_) | Place::Incoming, Some(words)) = (&place, sizes.words()) {
            let text =
                format!("stab ({words}): a plan says what the link adds, not what a class does");
            setup.notes.not_mapped(command.line, text);
        }
        match (place, kind) {
            (Place::Incoming, _) => {
                setup
                    .notes
                    .not_mapped(command.line, "what comes in: a plan schedules what goes out");
                Ok(())
            }
            (_, None) => Err(Fault::at(&command.span(), "this qdisc has no kind")
                .help("write one such as hfsc or htb after `root`")),
            (Place::Root | Place::Missing, Some(kind)) => {
                let sizes =
                    sizes_above.unwrap_or_else(|| sizes.overhead(&mut setup.notes, command.line));
                setup.set_root(sizes, major, verb == Verb::Add, kind, &mut args, origin(command))
            }
            (Place::Class(above), Some(kind)) => {
                setup.add_queue(above, major, kind, args, origin(command))
            }
        }
    }

    fn class(&mut self, verb: Verb, mut args: Args<'_>, command: &Command) -> Read<()> {
        let (mut device, mut handle, mut parent, mut kind) = (None, None, None, None);
        while let Some(word) = args.next() {
            match word.text.as_str() {
                "dev" => device = Some(args.value("dev")?),
                "classid" => handle = Some(args.value("classid")?),
                "root" => parent = Some(word),
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
        setup.add_class(verb, handle, parent, kind, &mut args, origin(command))
    }

    fn filter(&mut self, mut args: Args<'_>, command: &Command) -> Read<()> {
        let (filter, device) = Written::read(&mut args)?;
        match self.setup(device, command)? {
            Some(setup) => setup.add_filter(&filter, command.line),
            None => Ok(()),
        }
    }

    /// The set-up of an interface; `None` if another one is wanted.
    fn setup(&mut self, device: Option<&Word>, command: &Command) -> Read<Option<&mut Setup>> {
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
        let next = self.setups.len();
        let at = *self.by_device.entry(device.text.clone()).or_insert(next);
        if at == next {
            self.setups.push(Setup::new(device.text.clone()));
        }
        Ok(self.setups.get_mut(at))
    }

    /// The set-up that is imported, and all notes.
    pub fn finish(mut self) -> Read<(Setup, Notes)> {
        self.setups.iter_mut().for_each(Setup::shape_all);
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
        setup.queue_length =
            self.queue_lengths.get(&setup.device).copied().unwrap_or(queue::LENGTH);
        for other in self.setups {
            let text = format!("the set-up of {}, another interface", plain(&other.device));
            self.notes.not_read(0, text);
        }
        setup.states = self.netfilter.states(&setup.device, &mut self.notes);
        setup.tell_elsewhere();
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
                match unsupported::closest(kind) {
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

/// Where a qdisc hangs.
enum Place {
    Root,
    Class(units::Handle),
    Incoming,
    /// Nothing is said; Linux takes it for the root.
    Missing,
}

fn origin(command: &Command) -> Origin {
    Origin { line: command.line, span: command.span(), comment: command.comment.clone() }
}

fn estimator(args: &mut Args<'_>) -> Read<()> {
    args.value("estimator")?;
    args.value("estimator")?;
    Ok(())
}
