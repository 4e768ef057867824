//! Commands of nft, and the tables that it reads (nft(8)).

use laxity_plan::matching::{Numbers, Side, Version};

use super::iptables::{alternatives, code_point, nets, others, protocol, service_port, with_mask};
use super::rules::{Action, Condition, Netfilter, Rule};
use crate::error::plain;
use crate::notes::NotMapped;
use crate::packets::{Field, PORTS, Packets, with_all};
use crate::setup::Handle;

/// What packets pass on their way out, as nft calls it.
const HOOKS: [&str; 4] = ["prerouting", "forward", "output", "postrouting"];

/// Where a rule stands: the versions of IP that its table is for, and the table and chain.
#[derive(Clone)]
struct Place {
    versions: Vec<Version>,
    table: String,
    chain: String,
}

/// Takes the commands of a text; the reasons why some do not count.
pub(super) fn read(netfilter: &mut Netfilter, text: &str, line: usize) -> Vec<String> {
    let tokens = tokens(text);
    let mut reader = Reader { netfilter, tokens: &tokens, at: 0, line, lost: Vec::new() };
    while reader.at < tokens.len() {
        reader.command();
    }
    reader.lost
}

/// Words and signs; the end of a line is a `;`.
fn tokens(text: &str) -> Vec<String> {
    let mut all = Vec::new();
    for line in text.lines() {
        let mut rest = line;
        while let Some(first) = rest.trim_start().chars().next() {
            rest = rest.trim_start();
            let length = match first {
                '#' => break,
                '{' | '}' | ',' | ';' => 1,
                '"' => rest[1..].find('"').map_or(rest.len(), |end| end + 2),
                _ => {
                    let ends = |c: char| c.is_whitespace() || "{},;\"".contains(c);
                    rest.find(ends).unwrap_or(rest.len())
                }
            };
            all.push(rest[..length].trim_matches('"').to_string());
            rest = &rest[length..];
        }
        all.push(";".into());
    }
    all
}

struct Reader<'a, 't> {
    netfilter: &'a mut Netfilter,
    tokens: &'t [String],
    at: usize,
    line: usize,
    lost: Vec<String>,
}

impl<'t> Reader<'_, 't> {
    fn peek(&self) -> &'t str {
        self.tokens.get(self.at).map_or("", String::as_str)
    }

    fn next(&mut self) -> &'t str {
        let token = self.peek();
        self.at = (self.at + 1).min(self.tokens.len());
        token
    }

    fn command(&mut self) {
        match self.next() {
            ";" | "}" => {}
            "table" => {
                let place = self.table();
                if self.peek() == "{" {
                    self.at += 1;
                    self.block(&place);
                }
            }
            verb @ ("add" | "insert" | "create" | "flush") => match (verb, self.next()) {
                ("flush", _) => {
                    self.netfilter.chains.clear();
                    self.skip();
                }
                (_, "chain") => {
                    let table = self.table();
                    self.named_chain(&table);
                }
                (_, "rule") => {
                    let place = self.table();
                    let place = Place { chain: self.next().to_string(), ..place };
                    let rule = self.statement();
                    self.rule(&place, rule, verb == "insert");
                }
                _ => self.skip(),
            },
            _ => self.skip(),
        }
    }

    /// Family and name of a table.
    fn table(&mut self) -> Place {
        let versions = match self.peek() {
            "ip" => vec![Version::V4],
            "ip6" => vec![Version::V6],
            "inet" => vec![Version::V4, Version::V6],
            "arp" | "bridge" | "netdev" => Vec::new(),
            _ => {
                let (table, chain) = (self.next().to_string(), String::new());
                return Place { versions: vec![Version::V4], table, chain };
            }
        };
        self.at += 1;
        Place { versions, table: self.next().to_string(), chain: String::new() }
    }

    /// The chains of a table.
    fn block(&mut self, table: &Place) {
        loop {
            match self.next() {
                "" | "}" => return,
                "chain" => self.named_chain(table),
                ";" => {}
                _ => self.skip(),
            }
        }
    }

    /// The name of a chain, and what is in it.
    fn named_chain(&mut self, table: &Place) {
        let place = Place { chain: self.next().to_string(), ..table.clone() };
        if self.peek() == "{" {
            self.at += 1;
            self.chain(&place);
        }
    }

    /// What a chain is for, and its rules.
    fn chain(&mut self, place: &Place) {
        loop {
            match self.peek() {
                "" | "}" => {
                    self.next();
                    return;
                }
                ";" => self.at += 1,
                "policy" => self.skip(),
                "type" => {
                    let words = self.statement();
                    let hook = words.iter().position(|word| word == "hook");
                    if let Some(hook) = hook.and_then(|hook| words.get(hook + 1)) {
                        let chain = format!("{} {}", place.table, place.chain);
                        self.netfilter.hooks.insert(chain, hook.to_uppercase());
                    }
                }
                _ => {
                    let rule = self.statement();
                    self.rule(place, rule, false);
                }
            }
        }
    }

    /// Passes over what is left of a statement.
    fn skip(&mut self) {
        self.statement();
    }

    /// The words up to the end of a statement; signs within braces belong to it.
    fn statement(&mut self) -> &'t [String] {
        let start = self.at;
        let mut depth = 0usize;
        loop {
            match self.peek() {
                "" => break,
                ";" | "}" if depth == 0 => break,
                "{" => depth += 1,
                "}" => depth -= 1,
                _ => {}
            }
            self.at += 1;
        }
        &self.tokens[start..self.at]
    }

    fn rule(&mut self, place: &Place, words: &[String], first: bool) {
        let told =
            || plain(&words.iter().take(8).map(String::as_str).collect::<Vec<_>>().join(" "));
        if let Err(NotMapped(why)) = self.read_rule(place, words, first) {
            self.lost.push(format!("`nft … {}`: {why}", told()));
        }
    }

    fn read_rule(&mut self, place: &Place, words: &[String], first: bool) -> Result<(), NotMapped> {
        let mut asked = RuleMatch { packets: vec![Packets::default()], mark: None, out: None };
        let mut actions = Vec::new();
        let mut left: Vec<&str> = words.iter().map(String::as_str).collect();
        left.reverse();
        let key = |name: &str| format!("{} {name}", place.table);
        while let Some(word) = left.pop() {
            match word {
                "counter" => {
                    while matches!(left.last(), Some(&"packets") | Some(&"bytes")) {
                        left.pop();
                        left.pop();
                    }
                }
                "comment" | "handle" | "position" | "index" => {
                    left.pop();
                }
                "accept" => actions.push(Action::Accept),
                "return" => actions.push(Action::Return),
                "jump" => {
                    let chain = left.pop().unwrap_or_default();
                    actions.push(Action::Call(key(chain)));
                }
                _ => actions.extend(asked.take(word, &mut left)?),
            }
        }
        let looks_at_set = asked.mark.is_some()
            || asked.packets.iter().any(|packets| packets.asks_for(Field::Dscp));
        if actions.len() > 1 && looks_at_set {
            return Err("it does several things by what one of them sets".into());
        }
        let own = key(&place.chain);
        let hook = self.netfilter.hooks.get(&own).cloned();
        let by_name = HOOKS.contains(&place.chain.to_lowercase().as_str());
        let chain = hook.unwrap_or_else(|| if by_name { place.chain.to_uppercase() } else { own });
        if first {
            actions.reverse();
        }
        for action in actions {
            let RuleMatch { packets, mark, out } = asked.clone();
            let rule = Rule { packets, mark, out, action, line: self.line };
            for version in &place.versions {
                if !self.netfilter.add(*version, &chain, first.then_some(1), rule.clone()) {
                    return Err("it is one of too many rules".into());
                }
            }
        }
        Ok(())
    }
}

/// What a rule asks for so far.
#[derive(Clone)]
struct RuleMatch {
    packets: Vec<Packets>,
    mark: Option<Condition>,
    out: Option<String>,
}

impl RuleMatch {
    /// Takes a condition, or what is set.
    fn take(&mut self, word: &str, left: &mut Vec<&str>) -> Result<Option<Action>, NotMapped> {
        let unread = |word: &str, what: &str| {
            NotMapped(format!("`{} {}` is not followed", plain(word), plain(what)))
        };
        let what = match word {
            "ip" | "ip6" | "tcp" | "udp" | "sctp" | "th" | "meta" => left.pop().unwrap_or_default(),
            "oifname" | "oif" | "mark" | "priority" => word,
            _ => return Err(unread(word, left.last().copied().unwrap_or_default())),
        };
        if left.last() == Some(&"set") {
            left.pop();
            let action = setting(what, left.pop().unwrap_or_default());
            return action.map(Some).ok_or_else(|| unread(word, what));
        }
        let values = values(left);
        let wrong = || unread(word, what);
        let version = if word == "ip" { Version::V4 } else { Version::V6 };
        match (word, what, &values.all[..]) {
            ("oifname" | "oif", _, [device]) | ("meta", "oifname" | "oif", [device])
                if !values.negated =>
            {
                self.out = Some(device.replace('*', "+"));
            }
            ("mark", _, [mark]) | ("meta", "mark", [mark]) => {
                let (value, mask) = with_mask(mark, u32::MAX).ok_or_else(wrong)?;
                self.mark = Some(Condition { value: value & mask, mask, negated: values.negated });
            }
            ("ip" | "ip6", "saddr" | "daddr", [_, ..]) if !values.negated => {
                let side = if what == "saddr" { Side::Source } else { Side::Destination };
                let nets = nets(&values.all.join(","), version)?;
                self.packets = alternatives(&self.packets, nets.len(), |packets, at| {
                    packets.within(side, nets[at])
                });
            }
            ("ip" | "ip6", "dscp" | "ecn" | "protocol" | "nexthdr", _) | ("meta", "l4proto", _) => {
                let number = |text: &str| match what {
                    "dscp" => code_point(text),
                    "ecn" => laxity_plan::matching::ecn(text),
                    _ => protocol(text).and_then(|numbers| Some(numbers.ranges().first()?.0)),
                };
                let (field, most) = match what {
                    "dscp" => (Field::Dscp, 63),
                    "ecn" => (Field::Ecn, 3),
                    _ => (Field::Protocol, 255),
                };
                let numbers = values.numbers(&number, most).ok_or_else(wrong)?;
                with_all(&mut self.packets, field, &numbers);
                if word != "meta" {
                    for packets in &mut self.packets {
                        packets.require_version(version);
                    }
                }
            }
            ("tcp" | "udp" | "sctp" | "th", "sport" | "dport", _) => {
                let numbers = values.numbers(&service_port, u16::MAX).ok_or_else(wrong)?;
                with_all(&mut self.packets, PORTS[usize::from(what == "dport")], &numbers);
                if let Some(over) = protocol(word) {
                    with_all(&mut self.packets, Field::Protocol, &over);
                }
            }
            _ => return Err(wrong()),
        }
        Ok(None)
    }
}

/// What a condition compares with.
struct Values {
    negated: bool,
    all: Vec<String>,
}

impl Values {
    /// The values as numbers up to the greatest, or all others if they are negated.
    fn numbers(&self, number: &dyn Fn(&str) -> Option<u16>, most: u16) -> Option<Numbers> {
        let range = |text: &String| match text.split_once('-') {
            Some((from, to)) if number(text).is_none() => number(from).zip(number(to)),
            _ => number(text).map(|number| (number, number)),
        };
        let ranges = self.all.iter().map(range).collect::<Option<Vec<_>>>()?;
        let fits = !ranges.is_empty() && ranges.iter().all(|(from, to)| from <= to && *to <= most);
        let numbers = fits.then(|| Numbers::new(ranges))?;
        Some(if self.negated { others(&numbers, most) } else { numbers })
    }
}

/// What `mark set`, `priority set` or `dscp set` does.
fn setting(what: &str, value: &str) -> Option<Action> {
    match what {
        "mark" => with_mask(value, u32::MAX)
            .map(|(mark, _)| Action::Mark { cleared: u32::MAX, turned: mark }),
        "priority" => Handle::parse(value).map(Action::Class),
        "dscp" => code_point(value).map(|point| Action::Dscp(point as u8)),
        _ => None,
    }
}

fn values(left: &mut Vec<&str>) -> Values {
    let negated = left.last() == Some(&"!=");
    if negated || left.last() == Some(&"==") {
        left.pop();
    }
    let mut all = Vec::new();
    match left.pop() {
        Some("{") => {
            while let Some(word) = left.pop().filter(|word| *word != "}") {
                if ![",", ";"].contains(&word) {
                    all.push(word.to_string());
                }
            }
        }
        word => all.extend(word.map(str::to_string)),
    }
    Values { negated, all }
}
