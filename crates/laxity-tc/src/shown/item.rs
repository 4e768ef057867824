//! One thing that `tc` shows, and the command that sets it up.

use crate::error::Span;
use crate::netlink::Sort;
use crate::words::cake;
use crate::words::command::{Command, Word};

/// The name of an interface that is not shown.
const UNNAMED: &str = "the-interface";

/// Options of disciplines that have no classes, and of `mq` and `netem`.
const QUEUE_OPTIONS: &str = "limit flows quantum min max probability tupdate alpha beta target \
    interval ce_threshold memory_limit drop_batch bandwidth ewma rate delay";

/// One qdisc, class or filter.
#[derive(Debug)]
pub(super) struct ShownItem {
    pub sort: Sort,
    pub kind: String,
    /// The number of the class or qdisc.
    pub handle: String,
    pub parent: Option<String>,
    pub device: Option<String>,
    /// What stands behind, in the words of the command that sets it up.
    pub options: Vec<String>,
    /// What a filter has before its kind.
    pub before: Vec<String>,
    /// The item is the head of a table of u32 filters.
    pub is_table: bool,
    pub span: Span,
    pub line: usize,
}

impl ShownItem {
    /// An item that has only a kind.
    pub(super) fn new(sort: Sort, kind: String, span: Span, line: usize) -> ShownItem {
        let (handle, parent, device) = (String::new(), None, None);
        let (options, before, is_table) = (Vec::new(), Vec::new(), false);
        ShownItem { sort, kind, handle, parent, device, options, before, is_table, span, line }
    }

    /// Whether this class was added. Linux itself sets up classes such as `hfsc 1:` and those of
    /// other qdiscs.
    pub(super) fn is_added_class(&self) -> bool {
        ["hfsc", "htb", "qfq", "drr"].contains(&self.kind.as_str()) && !self.handle.ends_with(':')
    }

    /// Adds options.
    pub(super) fn say(&mut self, words: &[&str]) {
        self.options.extend(words.iter().map(ToString::to_string));
    }

    /// The command that sets this up.
    pub(super) fn command(&self) -> Command {
        let mut words =
            vec![self.sort.name(), "add", "dev", self.device.as_deref().unwrap_or(UNNAMED)];
        match &self.parent {
            Some(parent) => words.extend(["parent", parent]),
            None => words.push("root"),
        }
        let name = if self.sort == Sort::Class { "classid" } else { "handle" };
        if self.sort != Sort::Filter && self.handle != "0:" {
            words.extend([name, &self.handle]);
        }
        words.extend(self.before.iter().map(String::as_str));
        words.push(&self.kind);
        words.extend(self.options.iter().map(String::as_str));
        self.words(&words)
    }

    /// The command that sets up the qdisc of this class.
    pub(super) fn root(&self) -> Command {
        let major = self.handle.split(':').next().unwrap_or_default();
        let device = self.device.as_deref().unwrap_or(UNNAMED);
        let handle = format!("{major}:");
        self.words(&["qdisc", "add", "dev", device, "root", "handle", &handle, &self.kind])
    }

    fn words(&self, words: &[&str]) -> Command {
        let words = words.iter().map(|text| Word::new(*text, &self.span)).collect();
        Command { words, line: self.line, called: None, comment: None }
    }

    /// Takes the table that a filter of u32 is in. `value` gives what is shown behind a word.
    /// `true` if the filter is itself a table.
    pub(super) fn take_table(&mut self, value: impl Fn(&str) -> Option<String>) -> bool {
        let handle = value("fh").unwrap_or_default();
        let table = handle.split(':').next().unwrap_or_default();
        let is_high = u32::from_str_radix(table, 16).is_ok_and(|number| number >= 0x800);
        // Each priority has a table of its own, which needs no command.
        let is_own = !table.is_empty() && !is_high;
        if let (Some(parts), true) = (value("divisor"), is_own) {
            self.before.extend(["handle".into(), handle]);
            self.options = vec!["divisor".into(), parts];
            return true;
        }
        if let (Some(part), true) = (value("bkt"), is_own) {
            self.options.extend(["ht".into(), format!("{table}:{part}:")]);
        }
        false
    }

    /// The options of this qdisc or class as they are given, among the words that are shown of it.
    pub(super) fn given(&self, words: &[&str]) -> Vec<String> {
        let pairs = |names: &[&str]| {
            let mut kept = Vec::new();
            for (at, word) in words.iter().enumerate() {
                if names.contains(word)
                    && let Some(value) = words.get(at + 1)
                {
                    kept.extend([word.to_string(), limit(value)]);
                }
            }
            kept
        };
        match (self.sort, self.kind.as_str()) {
            (Sort::Qdisc, "hfsc") => pairs(&["default"]),
            (Sort::Qdisc, "htb") => pairs(&["default", "r2q"]),
            (Sort::Qdisc, "prio") => {
                let is_of_map = |word: &&&str| {
                    ["bands", "priomap"].contains(word) || word.bytes().all(|b| b.is_ascii_digit())
                };
                words.iter().take_while(is_of_map).map(ToString::to_string).collect()
            }
            (Sort::Qdisc, "cake") => cake::shown(words),
            (Sort::Class, "hfsc") => words.iter().map(ToString::to_string).collect(),
            (Sort::Class, "htb") => pairs(&["prio", "quantum", "rate", "ceil"]),
            (Sort::Qdisc, "tbf") => pairs(&["rate", "burst", "limit", "lat"]),
            (Sort::Class, "drr") => pairs(&["quantum"]),
            (Sort::Class, "qfq") => pairs(&["weight", "maxpkt"]),
            (_, kind) => {
                let mut all = pairs(&QUEUE_OPTIONS.split(' ').collect::<Vec<_>>());
                let ecn = words.contains(&"ecn");
                match (ecn, kind) {
                    (true, _) => all.push("ecn".into()),
                    (false, "fq_codel") => all.push("noecn".into()),
                    _ => {}
                }
                all
            }
        }
    }
}

/// `limit 50p` is shown for `limit 50`.
fn limit(value: &str) -> String {
    let packets = value.strip_suffix('p');
    packets.filter(|digits| digits.bytes().all(|b| b.is_ascii_digit())).unwrap_or(value).into()
}
