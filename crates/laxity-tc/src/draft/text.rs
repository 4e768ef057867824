//! The text of a plan.

use std::fmt::Write as _;

use laxity::units::Bytes;
use laxity_plan::model::QueueLimit;

use super::Draft;
use crate::curves::Curves;
use crate::error::plain;
use crate::notes::{Note, NoteKind};
use crate::queue::{Early, Queue};
use crate::setup::Discipline;
use crate::{below, size_table};

/// The longest frame of Ethernet: a class of drr whose quantum is less sends one after several turns.
const PACKET: u32 = 1514;

impl Draft {
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
            let quanta = self.setup.classes.iter().filter_map(|class| class.weight);
            let least = quanta.min().filter(|_| self.discipline == Discipline::Drr)?;
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
            Discipline::Hfsc { .. } | Discipline::Htb { .. } if self.holds => "wf2q",
            Discipline::FqCodel(fq_codel) => return fq_codel.toml().map(|key| key + "\n").concat(),
            other => kind(*other),
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
        if let Some(weight) = &self.weights[at] {
            let _ = writeln!(text, "weight = {weight}");
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
        if let Some(discipline) = class.holds {
            let _ = writeln!(text, "scheduler = {{ kind = \"{}\" }}", kind(discipline));
        }
        if let Some(matching) = &self.arranged.matches[at] {
            let _ = writeln!(text, "match = {}", quoted(&matching.to_string()));
        }
        if let Some(fq_codel) = below::flows(class).filter(|_| self.holds) {
            let _ = writeln!(text, "scheduler = {{ {} }}", fq_codel.toml().join(", "));
            return;
        }
        let queue = class.queue.as_ref().filter(|_| class.is_leaf);
        if let Some(queue) = queue.and_then(|(_, queue)| queue_words(queue)) {
            let _ = writeln!(text, "queue = {{ {queue} }}");
        }
    }
}

/// What a plan calls a discipline.
fn kind(discipline: Discipline) -> &'static str {
    match discipline {
        Discipline::Hfsc { .. } | Discipline::Htb { .. } => "hfsc",
        Discipline::Prio(_) => "priority",
        Discipline::Qfq => "qfq",
        Discipline::Drr => "drr",
        Discipline::Fifo => "fifo",
        Discipline::FqCodel(_) => "fq-codel",
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
