//! A plan in the making: drawn, pushed to the edge, simplified, and written as the TOML that is
//! read.

use std::fmt::Write;

/// A plan as numbers that can be changed one by one.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Draft {
    /// Of the link, in bits a second.
    pub rate: u64,
    /// The longest packet of any class, in bytes.
    pub max_packet: u64,
    /// The keys of `[scheduler]`, such as `kind = "edf"`.
    pub scheduler: String,
    /// The classes.
    pub classes: Vec<ClassDraft>,
    /// The links of a network; none for a single link.
    pub links: Vec<LinkDraft>,
    /// The ways through the network.
    pub paths: Vec<PathDraft>,
    /// Tables that are never changed.
    pub other: String,
}

/// `[class.cN]`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ClassDraft {
    /// N, which it keeps when others are taken out.
    pub name: u16,
    /// The name of the class that it is part of.
    pub parent: Option<u16>,
    /// In ns.
    pub deadline: Option<u64>,
    /// In ns, of a network.
    pub end_to_end: Option<u64>,
    /// Its contract.
    pub arrival: Option<ArrivalDraft>,
    /// In millionths.
    pub weight: Option<u64>,
    /// `level`.
    pub level: Option<u32>,
    /// `dscp`, as a number.
    pub dscp: Option<u64>,
    /// `curve`.
    pub curve: Option<CurveDraft>,
    /// `real-time`.
    pub real_time: Option<CurveDraft>,
    /// `link-share`.
    pub link_share: Option<CurveDraft>,
    /// `upper-limit`, in bits a second.
    pub upper_limit: Option<u64>,
    /// The keys of the scheduler that it holds.
    pub inside: Option<String>,
    /// Streams of windows.
    pub streams: Option<StreamsDraft>,
    /// What becomes of packets beyond its contract.
    pub police: Option<Police>,
}

/// `police`, and whether the class has a queue with a limit.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Police {
    /// Whether such packets are demoted, and not dropped.
    pub demotes: bool,
    /// Whether the class's queue has a limit, below which all stays that keeps to the contract.
    pub has_queue: bool,
}

/// `arrival = { … }`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ArrivalDraft {
    /// In bytes.
    pub bucket: u64,
    /// In bits a second.
    pub rate: u64,
    /// The class's longest packet in bytes.
    pub packet: u64,
    /// Its shortest one, if it is not the link's.
    pub shortest: Option<u64>,
    /// In bits a second.
    pub peak: Option<u64>,
}

/// A service curve of two pieces.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CurveDraft {
    /// Bits a second at first: none, or at least `m2`.
    pub m1: u64,
    /// For so long, in ns.
    pub d: u64,
    /// Bits a second from then on.
    pub m2: u64,
}

/// `count`, `gap` and `loss`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct StreamsDraft {
    /// How many alike.
    pub count: u64,
    /// In ns.
    pub gap: u64,
    /// Packets of a window that may be lost.
    pub lost: u64,
    /// Packets of a window.
    pub of: u64,
}

/// `[network.lN]`.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkDraft {
    /// The nodes.
    pub between: [u16; 2],
    /// In bits a second.
    pub rate: u64,
    /// Propagation in ns.
    pub delay: u64,
    /// By how much longer packets may be under way, in ns, in order.
    pub jitter: u64,
    /// Whether what comes over it is held to its arrival curves again.
    pub regulate: bool,
    /// The keys of its scheduler; none for that of the plan.
    pub scheduler: String,
}

/// A class's way through a network.
#[derive(Clone, Debug, PartialEq)]
pub struct PathDraft {
    /// Which it keeps when others are taken out.
    pub name: u16,
    /// The class, by name.
    pub class: u16,
    /// The nodes on the way.
    pub nodes: Vec<u16>,
}

impl ClassDraft {
    /// A class of nothing but a name.
    pub fn named(name: usize) -> ClassDraft {
        ClassDraft { name: name as u16, ..ClassDraft::default() }
    }
}

impl CurveDraft {
    /// The same rate always.
    pub fn line(rate: u64) -> CurveDraft {
        CurveDraft { m1: rate, d: 0, m2: rate }
    }

    fn text(&self) -> String {
        let CurveDraft { m1, d, m2 } = self;
        if *d == 0 || m1 == m2 {
            format!("\"{m2}bit\"")
        } else {
            format!("{{ m1 = \"{m1}bit\", d = \"{d}ns\", m2 = \"{m2}bit\" }}")
        }
    }
}

impl Draft {
    /// The class of a name.
    pub fn class(&self, name: u16) -> Option<&ClassDraft> {
        self.classes.iter().find(|class| class.name == name)
    }

    /// The plan in TOML. In a network every path has a source; only the source's path counts.
    pub fn text(&self) -> String {
        let source = |text: &mut String, path: &PathDraft| {
            let packet = self.longest(path.class);
            self.source(text, path, packet, "rate = \"1bit\"");
        };
        self.text_with(|text| self.paths.iter().for_each(|path| source(text, path)))
    }

    /// The plan in TOML, and what else is written.
    pub fn text_with(&self, sources: impl FnOnce(&mut String)) -> String {
        let mut text = String::from("version = 1\n\n");
        let Draft { rate, max_packet, scheduler, .. } = self;
        let _ = writeln!(text, "[link]\nrate = \"{rate}bit\"\nmax-packet = \"{max_packet}b\"");
        let _ = writeln!(text, "min-packet = \"{}b\"", max_packet.min(&40));
        let _ = writeln!(text, "\n[scheduler]\n{}", scheduler.replace(", ", "\n"));
        self.classes.iter().for_each(|class| class.write(&mut text));
        for (number, link) in self.links.iter().enumerate() {
            let LinkDraft { between: [from, to], rate, delay, jitter, regulate, scheduler } = link;
            let _ = writeln!(
                text,
                "\n[network.l{number}]\nbetween = [\"n{from}\", \"n{to}\"]\nrate = \"{rate}bit\"\n\
                 delay = \"{delay}ns\""
            );
            if *jitter > 0 {
                let _ = writeln!(text, "jitter = {{ uniform = [\"0s\", \"{jitter}ns\"] }}");
            }
            if *regulate {
                text += "regulate = true\n";
            }
            if !scheduler.is_empty() {
                let _ = writeln!(text, "scheduler = {{ {scheduler} }}");
            }
        }
        text += &self.other;
        sources(&mut text);
        text
    }

    /// Writes a source that sends at a constant rate along a path.
    pub fn source(&self, text: &mut String, path: &PathDraft, packet: u64, keys: &str) {
        let nodes: Vec<_> = path.nodes.iter().map(|node| format!("n{node}")).collect();
        let _ = writeln!(
            text,
            "\n[[source]]\nclass = \"c{}\"\nmodel = \"constant\"\ncount = 1\npacket = \"{packet}b\"\n{keys}\n\
             path = {nodes:?}",
            path.class
        );
    }

    /// The longest packet of a class.
    pub fn longest(&self, class: u16) -> u64 {
        let own = self.class(class).and_then(|class| Some(class.arrival?.packet));
        own.unwrap_or(self.max_packet)
    }
}

impl ClassDraft {
    fn write(&self, text: &mut String) {
        let _ = writeln!(text, "\n[class.c{}]", self.name);
        let mut key = |name: &str, value: Option<String>| {
            if let Some(value) = value {
                let _ = writeln!(text, "{name} = {value}");
            }
        };
        let time = |time: u64| format!("\"{time}ns\"");
        key("parent", self.parent.map(|parent| format!("\"c{parent}\"")));
        key("deadline", self.deadline.map(time));
        key("end-to-end", self.end_to_end.map(time));
        key("arrival", self.arrival.map(|arrival| arrival.text()));
        key("weight", self.weight.map(|weight| format!("{}", weight as f64 / 1e6)));
        key("level", self.level.map(|level| level.to_string()));
        key("dscp", self.dscp.map(|dscp| dscp.to_string()));
        key("curve", self.curve.map(|curve| curve.text()));
        key("real-time", self.real_time.map(|curve| curve.text()));
        key("link-share", self.link_share.map(|curve| curve.text()));
        key("upper-limit", self.upper_limit.map(|rate| format!("\"{rate}bit\"")));
        key("scheduler", self.inside.as_ref().map(|inside| format!("{{ {inside} }}")));
        if let Some((Police { demotes, has_queue }, arrival)) = self.police.zip(self.arrival) {
            key("police", Some(format!("\"{}\"", if demotes { "demote" } else { "drop" })));
            let most = self.deadline.or(self.end_to_end).unwrap_or(1_000_000_000);
            let later = u128::from(arrival.rate) * u128::from(most) / 8_000_000_000;
            let room = arrival.bucket + 2 * arrival.packet + later as u64;
            let queue = format!("{{ kind = \"droptail\", limit = \"{room}b\" }}");
            key("queue", has_queue.then_some(queue));
        }
        if let Some(StreamsDraft { count, gap, lost, of }) = self.streams {
            key("count", Some(count.to_string()));
            key("gap", Some(time(gap)));
            key("loss", Some(format!("\"{lost}/{of}\"")));
        }
    }
}

impl ArrivalDraft {
    /// As a plan has it.
    pub(crate) fn text(&self) -> String {
        let ArrivalDraft { bucket, rate, packet, shortest, peak } = self;
        let peak = peak.map_or(String::new(), |peak| format!(", peak = \"{peak}bit\""));
        let packet = match shortest {
            Some(shortest) => format!("{{ at-least = \"{shortest}b\", at-most = \"{packet}b\" }}"),
            None => format!("\"{packet}b\""),
        };
        format!("{{ bucket = \"{bucket}b\", rate = \"{rate}bit\", packet = {packet}{peak} }}")
    }
}
