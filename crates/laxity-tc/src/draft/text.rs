//! The text of a plan.

use std::fmt::Write as _;

use super::{Draft, below};
use crate::assembly::{Discipline, Node};
use crate::error::plain;
use crate::notes::{Note, NoteKind};
use crate::toml::{self, Curves, key, quoted};
use crate::words::class::PACKET;

impl Draft {
    /// The plan, with notes at its head.
    pub(crate) fn text(&self, name: &str, notes: &[Note]) -> String {
        let mut text = head(name, notes);
        // A class of drr whose quantum is shorter than a packet sends one after several turns.
        let packet = || {
            let quanta = self.setup.classes.iter().filter_map(Node::weight);
            let least = quanta.min().filter(|_| self.root.discipline == Discipline::Drr)?;
            Some(format!("max-packet = \"{}b\"\n", least.max(PACKET)))
        };
        let contract = self.setup.contract.link().or_else(packet).unwrap_or_default();
        let unshaped = self.setup.unshaped.as_ref().map(|what| format!(": {what}"));
        let title = format!("Imported from {}{}", plain(name), unshaped.unwrap_or_default());
        let overhead = toml::overhead_value(&self.root.overhead);
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
        let kind = match &self.root.discipline {
            Discipline::Hfsc { .. } | Discipline::Htb { .. } if self.holds => "wf2q",
            Discipline::FqCodel(flows) => return toml::flows(flows).map(|key| key + "\n").concat(),
            other => kind(*other),
        };
        format!("kind = \"{kind}\"\n")
    }

    /// The queue that all share, where there is but one.
    fn shared_queue(&self) -> String {
        let queue = self.setup.queue.as_ref().filter(|_| self.root.discipline == Discipline::Fifo);
        let words = queue.and_then(|(_, queue)| queue.keys());
        words.map_or(String::new(), |words| format!("queue = {{ {words} }}\n"))
    }

    /// The level of a band of prio, from 0.
    fn level(&self, at: usize) -> Option<u16> {
        let node = &self.setup.classes[at];
        let above = node.parent.map(|parent| self.setup.classes[parent].holds);
        let discipline = above.unwrap_or(Some(self.root.discipline));
        let is_band = matches!(discipline, Some(Discipline::Prio(_)));
        node.class.handle.minor().checked_sub(1).filter(|_| is_band)
    }

    fn class(&self, at: usize, text: &mut String) {
        let class = &self.setup.classes[at];
        let header = format!("[class.{}]", key(&self.names[at]));
        let _ = write!(text, "\n{header:<30} # {}\n", class.class.handle);
        if let Some(parent) = class.parent.filter(|parent| Some(*parent) != self.whole) {
            let _ = writeln!(text, "parent = {}", quoted(&self.names[parent]));
        }
        if let Some(weight) = &self.weights[at] {
            let _ = writeln!(text, "weight = {weight}");
        }
        text.push_str(&self.setup.contract.class(class.class.handle));
        if let Some(level) = self.level(at) {
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
        if let Some(flows) = below::flows(class).filter(|_| self.holds) {
            let _ = writeln!(text, "scheduler = {{ {} }}", toml::flows(flows).join(", "));
            return;
        }
        let queue = class.queue.as_ref().filter(|_| class.is_leaf);
        if let Some(queue) = queue.and_then(|(_, queue)| queue.keys()) {
            let _ = writeln!(text, "queue = {{ {queue} }}");
        }
    }
}

/// Where a plan comes from, and what became of that.
pub(super) fn head(name: &str, notes: &[Note]) -> String {
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
    text
}

/// The name of a discipline in a plan.
fn kind(discipline: Discipline) -> &'static str {
    match discipline {
        Discipline::Hfsc { .. } | Discipline::Htb { .. } => "hfsc",
        Discipline::Prio(_) => "priority",
        Discipline::Qfq => "qfq",
        Discipline::Drr => "drr",
        Discipline::Fifo => "fifo",
        Discipline::FqCodel(_) => "fq-codel",
        Discipline::Cake(_) => "cake",
    }
}
