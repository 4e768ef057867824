//! Policies as plans.

use std::fmt::Write as _;

use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::model::CakeSpec;
use laxity_plan::written::{self, key, quoted};

use super::config::Node;
use super::matches::matching;
use super::queue::{flows, number, queue, rate};
use super::{Options, Policy};
use crate::Error;
use crate::error::shown;

/// The policies that are read.
const READ: &str = "shaper, shaper-hfsc, priority-queue, round-robin, fq-codel, fair-queue, cake, rate-control, drop-tail";

/// The text of a policy's plan.
pub(super) fn text(
    root: &Node,
    policy: &Policy<'_>,
    options: &Options,
    notes: &mut Vec<String>,
) -> Result<String, Error> {
    let Policy { kind, name, node } = *policy;
    let own = match options.link_rate {
        Some(given) => Some(given),
        None => rate(node, &["bandwidth"], None)?,
    };
    let Some(link) = own else {
        let message = format!(
            "the {kind} policy `{}` does not say the rate of the link: give --link-rate",
            shown(name)
        );
        return Err(Error::at(node.line, message));
    };
    let one =
        |scheduler: String| Ok(head(name, link, &scheduler) + "\n[class.all]\nmatch = \"any\"\n");
    let classes = Classes { root, node, link };
    match kind {
        "shaper" => classes.shaper(name, notes),
        "shaper-hfsc" => classes.hfsc(name, notes),
        "priority-queue" => classes.priority(name, notes),
        "round-robin" => classes.round_robin(name, notes),
        "fq-codel" => one(flows(node)?),
        "fair-queue" => {
            notes.push(format!(
                "{}: fair-queue: flows take turns, each with controlled delay, as under fq-codel",
                node.line
            ));
            one("kind = \"fq-codel\"".into())
        }
        "cake" => one(cake(node, notes)?),
        "rate-control" => {
            let limit = rate_control_limit(node, link)?;
            one(format!(
                "kind = \"fifo\"\nqueue = {{ kind = \"droptail\", limit = \"{}b\" }}",
                limit.0
            ))
        }
        "drop-tail" => {
            let limit = number(node, &["queue-limit"], 1)?.unwrap_or(1000);
            one(format!("kind = \"fifo\"\nqueue = {{ kind = \"droptail\", limit = {limit} }}"))
        }
        other => Err(Error::at(
            node.line,
            format!("a policy `{}` is not read: accepted are {READ}", shown(other)),
        )),
    }
}

/// What stands before the classes. The keys of the scheduler are lines.
fn head(name: &str, link: Rate, scheduler: &str) -> String {
    let title: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    format!(
        "version = 1\ntitle = {}\n\n[link]\nrate = \"{link}\"\n\n[scheduler]\n{scheduler}\n",
        quoted(&title)
    )
}

/// The keys of cake. Everything is one class, so one tin: what VyOS marks has no class here.
fn cake(node: &Node, notes: &mut Vec<String>) -> Result<String, Error> {
    let mut cake = CakeSpec::USUAL;
    cake.settings.diffserv = Diffserv::Besteffort;
    notes.push(format!("{}: cake: code points are not sorted into tins", node.line));
    if let Some(milliseconds) = number(node, &["rtt"], 1)? {
        cake.settings.rtt = Nanos(milliseconds.saturating_mul(1_000_000));
    }
    if let Some((word, line)) = node.value(&["flow-isolation"]) {
        let known = ISOLATION.iter().find(|(known, _)| *known == word);
        cake.settings.isolation = known.map(|(_, isolation)| *isolation).ok_or_else(|| {
            let accepted = ISOLATION.map(|(known, _)| known).join(", ");
            Error::at(line, format!("`flow-isolation {}`: accepted are {accepted}", shown(word)))
        })?;
    }
    if let Some(nat) = node.at(&["flow-isolation-nat"]) {
        let instead = "hosts are told by the addresses that packets have where the plan runs";
        notes.push(format!("{}: flow-isolation-nat: {instead}", nat.line));
    }
    Ok(written::cake(&cake).join("\n"))
}

/// The words of VyOS for what takes turns.
const ISOLATION: [(&str, Isolation); 8] = [
    ("blind", Isolation::Flowblind),
    ("src-host", Isolation::Srchost),
    ("dst-host", Isolation::Dsthost),
    ("host", Isolation::Hosts),
    ("flow", Isolation::Flows),
    ("dual-src-host", Isolation::DualSrchost),
    ("dual-dst-host", Isolation::DualDsthost),
    ("triple-isolate", Isolation::TripleIsolate),
];

/// What a token bucket holds back: its latency at its rate, and its burst.
fn rate_control_limit(node: &Node, link: Rate) -> Result<Bytes, Error> {
    let latency = number(node, &["latency"], 1)?.unwrap_or(50);
    let burst = 15_000;
    let bytes = u128::from(link.0) * u128::from(latency) / 8000 + burst;
    Ok(Bytes(u64::try_from(bytes).unwrap_or(u64::MAX).min(Bytes::LIMIT.0)))
}

/// The classes of a policy.
struct Classes<'a> {
    root: &'a Node,
    node: &'a Node,
    link: Rate,
}

/// A class: its name in the plan, and whether it is for packets of no other.
struct Class<'a> {
    name: String,
    is_default: bool,
    node: &'a Node,
}

impl Classes<'_> {
    /// The classes by their number, then the default.
    fn each(&self) -> Vec<Class<'_>> {
        let mut numbered: Vec<(u64, Class<'_>)> = Vec::new();
        for (number, node) in self.node.all(&["class"]) {
            let name = format!("class-{number}");
            numbered.push((
                number.parse().unwrap_or(u64::MAX),
                Class { name, is_default: false, node },
            ));
        }
        numbered.sort_by_key(|(number, _)| *number);
        let default = self.node.at(&["default"]);
        let default = default.map(|node| Class { name: "default".into(), is_default: true, node });
        numbered.into_iter().map(|(_, class)| class).chain(default).collect()
    }

    /// A policy with these keys for each class.
    fn text(
        &self,
        name: &str,
        scheduler: &str,
        notes: &mut Vec<String>,
        keys: impl Fn(&Class<'_>, &mut Vec<String>) -> Result<String, Error>,
    ) -> Result<String, Error> {
        let classes = self.each();
        if classes.is_empty() {
            return Err(Error::at(self.node.line, "this policy has no classes and no default"));
        }
        let mut text = head(name, self.link, &format!("kind = \"{scheduler}\""));
        for class in classes {
            let description = class.node.value(&["description"]);
            let comment =
                description.map(|(words, _)| format!(" # {}", shown(words))).unwrap_or_default();
            let _ =
                write!(text, "\n[class.{}]{comment}\n{}", key(&class.name), keys(&class, notes)?);
            let matching = if class.is_default {
                Some("any".into())
            } else {
                matching(self.root, class.node, notes)
            };
            match matching {
                Some(matching) => _ = writeln!(text, "match = {}", quoted(&matching)),
                None => notes.push(format!(
                    "{}: {}: no filter that is kept: write its `match`",
                    class.node.line, class.name
                )),
            }
            for (word, node) in class.node.all(&[]).filter(|(word, _)| LOST.contains(word)) {
                let value = node.value(&[]).map_or("", |(value, _)| value);
                notes.push(format!(
                    "{}: {}: {word} {}: not kept",
                    node.line,
                    class.name,
                    shown(value)
                ));
            }
        }
        Ok(text)
    }

    /// Guarantees and limits, as classes of htb have them.
    fn shaper(&self, name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
        self.text(name, "hfsc", notes, |class, notes| {
            let rate = |word| rate(class.node, &[word], Some(self.link));
            let Some(bandwidth) = rate("bandwidth")? else {
                let message =
                    format!("{} has no `bandwidth`: write one such as 20% or 2mbit", class.name);
                return Err(Error::at(class.node.line, message));
            };
            let ceiling = rate("ceiling")?.unwrap_or(bandwidth).max(bandwidth);
            let mut keys = format!("curve = \"{bandwidth}\"\n");
            if ceiling < self.link {
                let _ = writeln!(keys, "upper-limit = \"{ceiling}\"");
            }
            Ok(keys + &format!("queue = {}\n", queue(class.node, &class.name, notes)?))
        })
    }

    /// Service curves.
    fn hfsc(&self, name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
        self.text(name, "hfsc", notes, |class, _| {
            let mut keys = String::new();
            for (word, key) in [
                ("realtime", "real-time"),
                ("linkshare", "link-share"),
                ("upperlimit", "upper-limit"),
            ] {
                if let Some(curve) = self.curve(class.node, word)? {
                    let _ = writeln!(keys, "{key} = {curve}");
                }
            }
            if keys.is_empty() {
                let message =
                    format!("{} has no curve: write `realtime` or `linkshare`", class.name);
                return Err(Error::at(class.node.line, message));
            }
            Ok(keys)
        })
    }

    /// A curve as a plan writes it. One that gets steeper is flat at first.
    fn curve(&self, class: &Node, word: &str) -> Result<Option<String>, Error> {
        let part = |name| rate(class, &[word, name], Some(self.link));
        let Some(m2) = part("m2")? else { return Ok(None) };
        let (m1, d) = (part("m1")?, number(class, &[word, "d"], 1)?);
        Ok(Some(match (m1, d) {
            (Some(m1), Some(d)) if m1 > m2 => {
                format!("{{ m1 = \"{m1}\", d = \"{d}ms\", m2 = \"{m2}\" }}")
            }
            (Some(m1), Some(d)) if m1 < m2 => {
                let flat = u128::from(d) * 1_000_000 * u128::from(m2.0 - m1.0) / u128::from(m2.0);
                let flat = Nanos(u64::try_from(flat).unwrap_or(u64::MAX).max(1));
                format!("{{ m1 = \"0bit\", d = \"{flat}\", m2 = \"{m2}\" }}")
            }
            _ => format!("\"{m2}\""),
        }))
    }

    /// A class with a lower number goes first, and the default last.
    fn priority(&self, name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
        self.text(name, "priority", notes, |class, notes| {
            let number =
                class.name.strip_prefix("class-").and_then(|number| number.parse::<u8>().ok());
            let level = if class.is_default { 255 } else { number.unwrap_or(254) };
            Ok(format!("level = {level}\nqueue = {}\n", queue(class.node, &class.name, notes)?))
        })
    }

    /// Turns of a quantum each.
    fn round_robin(&self, name: &str, notes: &mut Vec<String>) -> Result<String, Error> {
        self.text(name, "drr", notes, |class, notes| {
            let quantum = number(class.node, &["quantum"], 1)?.unwrap_or(1514);
            // Weights go to 4000: kilobytes, in thousandths.
            let weight = format!("{}.{:03}", quantum / 1000, quantum % 1000);
            Ok(format!("weight = {weight}\nqueue = {}\n", queue(class.node, &class.name, notes)?))
        })
    }
}

/// Settings of classes that no plan keeps.
const LOST: [&str; 4] = ["priority", "burst", "set-dscp", "redirect"];
