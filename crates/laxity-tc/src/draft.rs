//! From a set-up to the text of a plan.

use std::collections::HashSet;
use std::fmt::Write as _;

use laxity::overhead::Overhead;
use laxity::units::{Bytes, Rate};
use laxity_plan::error::Fault;
use laxity_plan::model::QueueLimit;

use crate::curves::Curves;
use crate::error::{Read, plain};
use crate::notes::{Note, NoteKind, Notes};
use crate::order::{self, Arrangement};
use crate::queue::{Early, Queue};
use crate::rules;
use crate::setup::{Class, Discipline, Root, Setup};
use crate::size_table;
use crate::{below, drr, htb};

/// The most classes on a way from the top to a leaf, as in every plan.
const DEEPEST: usize = 64;
/// The longest frame of Ethernet: a class of drr whose quantum is less sends one after several turns.
const PACKET: u32 = 1514;
/// The lowest rate at which a packet of the usual size takes less than an hour.
const LOWEST_RATE: Rate = Rate(4);

/// What a plan is written from.
pub struct Draft {
    setup: Setup,
    discipline: Discipline,
    overhead: Overhead,
    link: Rate,
    /// The one class at the top, if it is the link itself.
    whole: Option<usize>,
    curves: Vec<Curves>,
    names: Vec<String>,
    arranged: Arrangement,
    /// The least and the greatest quantum or weight.
    quanta: Option<(u32, u32)>,
    /// Classes hold the flow queues that hang at them.
    holds_flows: bool,
}

impl Draft {
    pub fn new(
        mut setup: Setup,
        root: Root,
        given: Option<Rate>,
        notes: &mut Notes,
    ) -> Read<Draft> {
        if setup.classes.is_empty() {
            return Err(Fault::at(&root.span, "this qdisc has no classes").help(
                "add one such as `tc class add dev eth0 parent 1: classid 1:1 hfsc sc m2 10mbit`",
            ));
        }
        let top: Vec<usize> = (0..setup.classes.len())
            .filter(|class| setup.classes[*class].parent.is_none())
            .collect();
        if let Discipline::Htb { r2q, .. } = root.discipline {
            htb::lend(&mut setup, r2q, notes);
        }
        let link = link_rate(&setup, &root, &top, given, notes)?;
        if let Discipline::Htb { .. } = root.discipline {
            htb::said(&setup, link, notes);
        }
        let whole = the_link(&setup, &top, link, notes);
        if let Some(deep) = setup
            .classes
            .iter()
            .find(|class| class.depth + 1 - usize::from(whole.is_some()) > DEEPEST)
        {
            let message = format!("class {} is more than {DEEPEST} levels deep", deep.handle);
            return Err(Fault::at(&deep.span, message)
                .help(format!("a plan has at most {DEEPEST} levels of classes")));
        }
        let curves = curves(&setup, root.discipline, link, whole, notes);
        let default = default_class(&setup, &root, notes);
        let rules = rules::of(&setup, &root, default, notes)?;
        let leaves: Vec<usize> =
            (0..setup.classes.len()).filter(|class| setup.classes[*class].is_leaf).collect();
        let arranged = order::arrange(rules, &leaves, setup.classes.len(), default, notes)?;
        for leaf in leaves.iter().filter(|leaf| arranged.matches[**leaf].is_none()) {
            let Class { handle, line, .. } = setup.classes[*leaf];
            notes.not_mapped(
                line,
                format!("{handle} has no filter that is mapped: write its `match`"),
            );
        }
        let names = names(&setup);
        let holds_flows = below::holds_flows(&setup, root.discipline, &curves, link);
        below::tell(&setup, holds_flows, notes);
        queues(&mut setup, &root, notes);
        let quanta = setup.classes.iter().filter_map(|class| class.weight);
        let quanta = quanta.clone().min().zip(quanta.max());
        let Root { discipline, overhead, line, .. } = root;
        if holds_flows {
            let text = "`kind = \"wf2q\"`, whose classes hold the fq_codel that hangs at them";
            notes.reading(line, text);
        }
        Ok(Draft {
            setup,
            discipline,
            overhead,
            link,
            whole,
            curves,
            names,
            arranged,
            quanta,
            holds_flows,
        })
    }

    /// The plan, with notes at its head.
    pub fn text(&self, name: &str, notes: &[Note]) -> String {
        let name = plain(name);
        let mut text = format!(
            "# Imported from {name} with `laxity import tc`. Numbers are lines of that file.\n"
        );
        for kind in NoteKind::ALL {
            let mut of_kind = notes.iter().filter(|note| note.kind == kind).peekable();
            if of_kind.peek().is_some() {
                let _ = write!(text, "#\n# {kind}:\n");
            }
            for Note { line, text: note, .. } in of_kind {
                let _ = match line {
                    0 => writeln!(text, "#   {note}"),
                    line => writeln!(text, "#   {line}: {note}"),
                };
            }
        }
        let packet = || {
            let (least, _) = self.quanta.filter(|_| self.discipline == Discipline::Drr)?;
            Some(format!("max-packet = \"{}b\"\n", least.max(PACKET)))
        };
        let contract = self.setup.contract.link(packet);
        let unshaped = self.setup.unshaped.as_ref().map(|what| format!(": {what}"));
        let title = format!("Imported from {name}{}", unshaped.unwrap_or_default());
        let overhead = size_table::written(&self.overhead);
        let overhead = overhead.map(|overhead| format!("overhead = {overhead}\n"));
        let _ = write!(
            text,
            "version = 1\ntitle = {}\n\n[link]\nrate = \"{}\"\n{}{contract}\n[scheduler]\n{}{}",
            quoted(&title),
            self.link,
            overhead.unwrap_or_default(),
            self.scheduler(),
            self.shared_queue()
        );
        let mut written = vec![false; self.setup.classes.len()];
        for leaf in &self.arranged.order {
            let mut way = vec![*leaf];
            while let Some(parent) = self.setup.classes[way[way.len() - 1]].parent {
                way.push(parent);
            }
            for class in way.into_iter().rev().filter(|class| Some(*class) != self.whole) {
                if !std::mem::replace(&mut written[class], true) {
                    self.class(class, &mut text);
                }
            }
        }
        text
    }

    /// The keys of `[scheduler]`.
    fn scheduler(&self) -> String {
        let kind = match &self.discipline {
            Discipline::Hfsc { .. } | Discipline::Htb { .. } if self.holds_flows => "wf2q",
            Discipline::Hfsc { .. } | Discipline::Htb { .. } => "hfsc",
            Discipline::Prio(_) => "priority",
            Discipline::Qfq => "qfq",
            Discipline::Drr => "drr",
            Discipline::Fifo => "fifo",
            Discipline::FqCodel(fq_codel) => return fq_codel.toml().map(|key| key + "\n").concat(),
        };
        format!("kind = \"{kind}\"\n")
    }

    /// The queue that all share, where there is but one.
    fn shared_queue(&self) -> String {
        let queue = self.setup.queue.as_ref().filter(|_| self.discipline == Discipline::Fifo);
        let words = queue.and_then(|(_, queue)| queue_words(queue));
        words.map_or(String::new(), |words| format!("queue = {{ {words} }}\n"))
    }

    fn class(&self, at: usize, text: &mut String) {
        let class = &self.setup.classes[at];
        let header = format!("[class.{}]", key(&self.names[at]));
        let _ = write!(text, "\n{header:<30} # {}\n", class.handle);
        if let Some(parent) = class.parent.filter(|parent| Some(*parent) != self.whole) {
            let _ = writeln!(text, "parent = {}", quoted(&self.names[parent]));
        }
        if let Some(weight) = class.weight {
            let _ = match self.discipline {
                Discipline::Drr => {
                    let (least, greatest) = self.quanta.unwrap_or((weight, weight));
                    writeln!(text, "weight = {}", drr::weight(weight, least, greatest))
                }
                _ => writeln!(text, "weight = {weight}"),
            };
        }
        text.push_str(&self.setup.contract.class(class.handle));
        if let Some(level) = class.level {
            let _ = writeln!(text, "level = {level}");
        }
        let Curves { real_time, link_share, upper_limit } = self.curves[at];
        let both = real_time.filter(|curve| Some(*curve) == link_share);
        let keys = match both {
            Some(curve) => [("curve", Some(curve)), ("upper-limit", upper_limit), ("", None)],
            None => {
                [("real-time", real_time), ("link-share", link_share), ("upper-limit", upper_limit)]
            }
        };
        for (key, curve) in keys {
            if let Some(curve) = curve {
                let _ = writeln!(text, "{key} = {}", curve.toml());
            }
        }
        if let Some(matching) = &self.arranged.matches[at] {
            let _ = writeln!(text, "match = {}", quoted(&matching.to_string()));
        }
        if let Some(fq_codel) = below::flows(class).filter(|_| self.holds_flows) {
            let _ = writeln!(text, "scheduler = {{ {} }}", fq_codel.toml().join(", "));
            return;
        }
        let queue = class.queue.as_ref().filter(|_| class.is_leaf);
        if let Some(queue) = queue.and_then(|(_, queue)| queue_words(queue)) {
            let _ = writeln!(text, "queue = {{ {queue} }}");
        }
    }
}

/// The keys of a queue; `None` if it has no limit.
fn queue_words(queue: &Queue) -> Option<String> {
    let length = |packets, value| match packets {
        true => format!("{value}"),
        false => quoted(&size(Bytes(value))),
    };
    let (packets, most) = match queue.limit? {
        QueueLimit::Packets(packets) => (true, packets),
        QueueLimit::Bytes(bytes) => (false, bytes.0),
    };
    let limit = format!("limit = {}", length(packets, most));
    let marks = |ecn| if ecn { ", ecn = true" } else { "" };
    Some(match queue.early {
        Early::None => format!("kind = \"droptail\", {limit}"),
        Early::CoDel { target, interval, ecn } => format!(
            "kind = \"codel\", {limit}, target = \"{target}\", interval = \"{interval}\"{}",
            marks(ecn)
        ),
        Early::Pie { target, update, alpha, beta, ecn } => format!(
            "kind = \"pie\", {limit}, target = \"{target}\", update = \"{update}\", alpha = {}, beta = {}{}",
            f64::from(alpha) / 16.0,
            f64::from(beta) / 16.0,
            marks(ecn)
        ),
        Early::Red { min, max, probability, weight, ecn, meets } => {
            let kind = if meets { "choke" } else { "red" };
            let (min, max) = (length(packets, min), length(packets, max));
            let weight = weight.map(|log| format!(", weight = {}", 0.5f64.powi(log)));
            format!(
                "kind = \"{kind}\", min = {min}, max = {max}, {limit}, max-p = {probability}{}, \
                 gentle = false{}",
                weight.unwrap_or_default(),
                marks(ecn)
            )
        }
    })
}

/// The rate that is given, or else that of the one class at the top: its limit or, without one, its
/// share.
pub fn link_rate(
    setup: &Setup,
    root: &Root,
    top: &[usize],
    given: Option<Rate>,
    notes: &mut Notes,
) -> Read<Rate> {
    let help = "say it with --link-rate, such as --link-rate 10mbit";
    if let (None, Some(shaper)) = (given, &setup.shaper)
        && shaper.rate >= LOWEST_RATE
    {
        let text = format!("the link's rate is {}, that of {}", shaper.rate, shaper.of);
        notes.reading(shaper.line, text);
        return Ok(shaper.rate);
    }
    let (rate, class, what) = match (given, top) {
        (None, _) if !root.discipline.has_rates() => {
            let kind = root.discipline.name();
            let message = format!("the link's rate is not known: {kind} has none");
            return Err(Fault::at(&root.span, message).help(help));
        }
        (Some(given), _) if given < LOWEST_RATE => {
            let message = format!("a link of {given} takes more than an hour for one packet");
            return Err(Fault::new(None, message).help(format!("give at least {LOWEST_RATE}")));
        }
        (Some(given), _) => return Ok(given),
        (None, [class]) => {
            let class = &setup.classes[*class];
            let limit = class.curves.upper_limit.map(|curve| (curve, "upper limit"));
            let share = class.curves.link_share.map(|curve| (curve, "share"));
            let guarantee = class.curves.real_time.map(|curve| (curve, "guarantee"));
            match limit.or(share).or(guarantee) {
                Some((curve, what)) => (curve.rate(), class, what),
                None => {
                    return Err(Fault::at(&class.span, "the link's rate is not known").help(help));
                }
            }
        }
        (None, several) if matches!(root.discipline, Discipline::Htb { .. }) => {
            let limits =
                several.iter().filter_map(|class| setup.classes[*class].curves.upper_limit);
            let sum = limits.fold(0u64, |sum, limit| sum.saturating_add(limit.rate().0));
            let rate = Rate(sum.clamp(LOWEST_RATE.0, Rate::LIMIT.0));
            let text = format!(
                "the link's rate is {rate}, what the {} classes at the top may send together",
                several.len()
            );
            notes.reading(root.line, text);
            return Ok(rate);
        }
        (None, several) => {
            let rates = several.iter().filter_map(|class| {
                let Curves { real_time, link_share, .. } = setup.classes[*class].curves;
                Some(u128::from(link_share.or(real_time)?.rate().0))
            });
            let sum = u64::try_from(rates.sum::<u128>()).unwrap_or(u64::MAX);
            let message = format!(
                "the link's rate is not known: {} classes are at the top, with {} in all",
                several.len(),
                Rate(sum)
            );
            return Err(Fault::at(&root.span, message).help(help));
        }
    };
    if rate < LOWEST_RATE {
        let message = format!("the link's rate would be {rate}, the {what} of {}", class.handle);
        return Err(Fault::at(&class.span, message).help(help));
    }
    let text = format!("the link's rate is {rate}, the {what} of {}", class.handle);
    notes.reading(class.line, text);
    Ok(rate)
}

/// The one class at the top, if the classes below it share all of the link: then the plan needs no
/// class for it.
fn the_link(setup: &Setup, top: &[usize], link: Rate, notes: &mut Notes) -> Option<usize> {
    let [only] = top else { return None };
    let class = &setup.classes[*only];
    let limit = class.curves.upper_limit;
    let limits = limit.is_some_and(|limit| limit.linear().is_none_or(|limit| limit < link));
    if class.is_leaf || limits {
        return None;
    }
    notes.reading(class.line, format!("{} is the link itself, so it is no class", class.handle));
    Some(*only)
}

/// The curves that are written: real-time ones on leaves only, limits only where they limit.
fn curves(
    setup: &Setup,
    discipline: Discipline,
    link: Rate,
    whole: Option<usize>,
    notes: &mut Notes,
) -> Vec<Curves> {
    // The least rate that limits each class from above.
    let mut limits: Vec<Rate> = Vec::with_capacity(setup.classes.len());
    let mut all = Vec::with_capacity(setup.classes.len());
    for (at, class) in setup.classes.iter().enumerate() {
        let mut curves = class.curves;
        if !class.is_leaf {
            let Curves { real_time, link_share, .. } = curves;
            if matches!(discipline, Discipline::Hfsc { .. })
                && real_time != link_share
                && real_time.is_some()
                && whole != Some(at)
            {
                let text = match link_share {
                    Some(_) => "its `rt` is left out, as Linux does: it has classes below it",
                    None => "its `rt` becomes a share, as in Linux: it has classes below it",
                };
                notes.reading(class.line, format!("{}: {text}", class.handle));
            }
            curves.link_share = link_share.or(real_time);
            curves.real_time = None;
        }
        let above = class.parent.map_or(link, |parent| limits[parent]);
        let own = curves.upper_limit.and_then(|limit| limit.linear());
        if own.is_some_and(|own| own >= above) {
            curves.upper_limit = None;
        }
        limits.push(own.map_or(above, |own| own.min(above)));
        all.push(curves);
    }
    all
}

fn default_class(setup: &Setup, root: &Root, notes: &mut Notes) -> Option<usize> {
    let (default, fate) = match root.discipline {
        Discipline::Hfsc { default } => (default, "drops"),
        Discipline::Htb { default, .. } => (default, "sends unshaped"),
        Discipline::Qfq | Discipline::Drr => (None, "drops"),
        Discipline::Prio(prio) => return setup.find(prio.default_band() + 1),
        Discipline::FqCodel(_) | Discipline::Fifo => return Some(0),
    };
    let default = default.filter(|minor| *minor != 0);
    let minor = default.and_then(|minor| u16::try_from(minor).ok());
    let class =
        minor.and_then(|minor| setup.find(minor)).filter(|class| setup.classes[*class].is_leaf);
    if class.is_none() {
        let why = match default {
            None => "there is no default class".into(),
            Some(minor) => format!("the default class {minor:x} is none that has packets"),
        };
        let text = format!("{why}: what no filter takes, which Linux {fate}, is left out");
        notes.not_mapped(root.line, text);
    }
    class
}

/// Each class by the comment on its line, or else by its number.
fn names(setup: &Setup) -> Vec<String> {
    let mut taken = HashSet::new();
    let name = |class: &Class| {
        let number = class.handle.to_string().replace(':', "-");
        let called = setup.contract.name(class.handle).filter(|name| !taken.contains(name));
        let comment =
            class.comment.as_deref().and_then(name_in).filter(|name| !taken.contains(name));
        let mut name = called.or(comment).unwrap_or(number);
        while !taken.insert(name.clone()) {
            name.push('-');
        }
        name
    };
    setup.classes.iter().map(name).collect()
}

/// The name that a comment begins with: up to three words before a sign.
fn name_in(comment: &str) -> Option<String> {
    let head = comment.split([':', ';', ',', '.', '(', '=', '–', '—']).next().unwrap_or_default();
    let head = head.split(" - ").next().unwrap_or_default();
    let words: Vec<&str> = head.split_whitespace().collect();
    let part = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let name = words.join("-");
    let fits =
        (1..=3).contains(&words.len()) && name.chars().count() <= 32 && name.chars().all(part);
    fits.then_some(name)
}

/// Gives each queue its limit, and tells what of them is not kept.
fn queues(setup: &mut Setup, root: &Root, notes: &mut Notes) {
    let own = QueueLimit::Packets(setup.queue_length);
    let mut unsaid = false;
    let of_classes = setup.classes.iter_mut().filter(|class| class.is_leaf);
    let of_classes = of_classes
        .map(|class| &mut class.queue.get_or_insert_with(|| (class.line, Queue::limited(None))).1);
    let all: Vec<&mut Queue> = match root.discipline {
        Discipline::FqCodel(_) => Vec::new(),
        Discipline::Fifo => setup.queue.iter_mut().map(|(_, queue)| queue).collect(),
        Discipline::Hfsc { .. }
        | Discipline::Htb { .. }
        | Discipline::Prio(_)
        | Discipline::Qfq
        | Discipline::Drr => of_classes.collect(),
    };
    for queue in all.into_iter().filter(|queue| queue.limit.is_none()) {
        queue.limit = Some(own);
        unsaid = true;
    }
    if unsaid {
        let line = root.line;
        let text = format!(
            "queues without a limit of their own hold {} packets, the interface's txqueuelen",
            setup.queue_length
        );
        notes.reading(line, text);
    }
    for class in &setup.classes {
        match &class.queue {
            Some((line, _)) if !class.is_leaf => {
                let text = format!("the qdisc of {}, which has classes below it", class.handle);
                notes.not_mapped(*line, text);
            }
            Some(_) if class.below.is_some() => {}
            Some((line, queue)) => {
                if let Some(lost) = &queue.lost {
                    notes.not_mapped(*line, format!("{}: {lost}", class.handle));
                }
            }
            None => {}
        }
    }
}

/// A size in `b`, or in a larger unit where that is a whole number.
fn size(bytes: Bytes) -> String {
    match (bytes.0 % 1000, bytes.0 % 1024) {
        (0, _) => bytes.to_string(),
        (_, 0) => format!("{}KiB", bytes.0 >> 10),
        _ => format!("{}b", bytes.0),
    }
}

/// A text as a value of TOML. It has no control characters.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A name as a key of TOML.
fn key(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if name.chars().all(plain) { name.to_string() } else { quoted(name) }
}
