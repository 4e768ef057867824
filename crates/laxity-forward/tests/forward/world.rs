//! Random plans of every discipline, and a caller that is late.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::port::Books;
use laxity::units::{Nanos, Rate};
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Refusal, Sink};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::matching::{Headers, IpHeaders, Ports};
use laxity_search::Generator;
use laxity_search::discipline::Discipline;
use laxity_search::draft::Draft;
use laxity_search::plans;
use rand::RngExt;

/// The sorts of plans of one link.
pub(crate) fn disciplines() -> Vec<Discipline> {
    let is_of_a_link = |discipline: &Discipline| match discipline {
        Discipline::Kind(kind) => !kind.room().is_of_networks,
        Discipline::Nested => true,
        Discipline::Network | Discipline::Reservations => false,
    };
    Discipline::all().filter(is_of_a_link).collect()
}

/// A plan of one link.
pub(crate) fn on_a_link(discipline: Discipline, draw: &mut Generator) -> Draft {
    let drawing = match discipline {
        Discipline::Kind(kind) => plans::drawing(kind),
        Discipline::Nested | Discipline::Network | Discipline::Reservations => None,
    };
    match drawing {
        Some(drawing) => drawing(draw),
        None => discipline.draw(draw).expect("plans of a link are drafts"),
    }
}

/// Disciplines without a proof, in several configurations, for classes with nothing but contracts.
const OTHERS: [&str; 4] = [
    "kind = \"fq-codel\", limit = 40, target = \"1ms\", interval = \"10ms\"",
    "kind = \"fq-codel\", limit = \"30kB\"",
    "kind = \"dualpi2\", limit = 40, target = \"1ms\", update = \"2ms\", alpha = 5, beta = 50",
    "kind = \"cake\", rtt = \"100s\"",
];

const QUEUES: [&str; 9] = [
    "kind = \"droptail\"\nlimit = 8",
    "kind = \"droptail\"\nlimit = \"9kB\"",
    "kind = \"droptail\"\nlimit = 8\nmark = 2",
    "kind = \"red\"\nlimit = 30\nmin = 3\nmax = 12\nweight = 0.1",
    "kind = \"red\"\nlimit = 30\nmin = 3\nmax = 12\nweight = 0.1\necn = true",
    "kind = \"choke\"\nlimit = 30\nmin = 2\nmax = 12\nweight = 0.2",
    "kind = \"codel\"\nlimit = 50\ntarget = \"1ms\"\ninterval = \"10ms\"",
    "kind = \"codel\"\nlimit = 50\ntarget = \"1ms\"\ninterval = \"10ms\"\necn = true",
    "kind = \"codel\"\nlimit = \"40kB\"",
];

/// A plan under any discipline, with queue managements and police.
pub(crate) fn any_plan(draw: &mut Generator) -> Drawn {
    loop {
        let disciplines = disciplines();
        let discipline = disciplines[draw.random_range(0..disciplines.len())];
        let mut draft = on_a_link(discipline, draw);
        if discipline == Discipline::Kind(Kind::Fifo) && draw.random_range(0..4u32) > 0 {
            draft.scheduler = OTHERS[draw.random_range(0..OTHERS.len())].to_string();
        }
        let polices = ["count", "demote", "drop"].map(|police| format!("police = \"{police}\"\n"));
        let mut text = draft.text();
        if draw.random_range(0..3u32) == 0 {
            text += "\n[scheduler.queue]\n";
            text += QUEUES[draw.random_range(0..QUEUES.len())];
        }
        for class in draft.classes.iter().filter(|class| class.arrival.is_some()) {
            let police = &polices[draw.random_range(0..3usize)];
            text = with_keys(&text, class.name, police);
        }
        for class in &draft.classes {
            if draw.random_range(0..3u32) == 0 {
                let queue = QUEUES[draw.random_range(0..QUEUES.len())];
                text += &format!("\n[class.c{}.queue]\n{queue}\n", class.name);
            }
        }
        if let Some(drawn) = matched(&draft, &text) {
            return drawn;
        }
    }
}

/// A plan under any discipline, whose link is most often emulated.
pub(crate) fn emulated_plan(draw: &mut Generator) -> Drawn {
    let drawn = any_plan(draw);
    let packet = drawn.plan.link.rate.time_for(drawn.plan.link.max_packet).0;
    let time = |draw: &mut Generator| draw.random_range(1..=20 * packet);
    let mut keys = Vec::new();
    if draw.random_range(0..2u32) == 0 {
        keys.push(format!("delay = \"{}ns\"", time(draw)));
    }
    if draw.random_range(0..2u32) == 0 {
        let run = draw.random_range(2..5u32);
        keys.push(format!("loss = {{ share = 0.{}, run = {run} }}", draw.random_range(1..5u32)));
    }
    if draw.random_range(0..2u32) == 0 {
        keys.push(format!("jitter = {{ exponential = \"{}ns\" }}", time(draw)));
    }
    if draw.random_range(0..2u32) == 0 {
        keys.push(format!("reorder = {{ share = 0.3, by = \"{}ns\" }}", time(draw)));
    }
    if draw.random_range(0..2u32) == 0 {
        keys.push("duplicate = { share = 0.2 }".to_string());
    }
    let mut files = BTreeMap::new();
    if draw.random_range(0..2u32) == 0 {
        keys.push("rate-trace = \"rates.csv\"".to_string());
        files.insert("link.rate-trace".to_string(), trace(&drawn.plan, draw));
    }
    let keys = keys.join("\n");
    let text = drawn.text.replacen("[link]\n", &format!("[link]\n{keys}\n"), 1);
    let plan = Plan::parse_with(&text, "drawn.toml", &files, &[]).expect("a wire is one of any");
    Drawn { plan, text }
}

/// Rates around that of a plan, now and then none.
fn trace(plan: &Plan, draw: &mut Generator) -> String {
    let mut text = "time,rate\n".to_string();
    let packet = plan.link.rate.time_for(plan.link.max_packet).0;
    let (mut time, pieces) = (0, draw.random_range(1..30u32));
    for piece in 1..=pieces {
        let is_off = piece < pieces && draw.random_range(0..4u32) == 0;
        let rate = if is_off { 0 } else { draw.random_range(1..=2 * plan.link.rate.0) };
        text += &format!("{time}ns,{rate}bit\n");
        time += draw.random_range(1..=10 * packet);
    }
    text
}

/// The same plan, half the time with a rate that is found: up to four times as high.
pub(crate) fn maybe_found(drawn: Drawn, draw: &mut Generator) -> Drawn {
    let Rate(from) = drawn.plan.link.rate;
    let written = format!("rate = \"{from}bit\"");
    assert!(drawn.text.contains(&written), "{}", drawn.text);
    if draw.random() {
        return drawn;
    }
    let table = format!("rate = {{ from = \"{from}bit\", to = \"{}bit\" }}", 4 * from);
    let text = drawn.text.replacen(&written, &table, 1);
    let plan = Plan::parse(&text, "drawn.toml", Path::new(".")).expect("another rate");
    Drawn { plan, text }
}

/// A plan and its text.
#[derive(Clone)]
pub(crate) struct Drawn {
    pub plan: Plan,
    pub text: String,
}

/// The plan of a text, in which the leaves have each a `match` of their own: the port of their
/// name.
pub(crate) fn matched(draft: &Draft, text: &str) -> Option<Drawn> {
    let parse = |text: &str| Plan::parse(text, "drawn.toml", Path::new("."));
    let plan = parse(text).ok()?;
    let mut text = text.to_string();
    let leaf = |name| plan.class(&format!("c{name}")).is_some_and(|id| is_leaf(&plan, id));
    let leaves: Vec<u16> =
        draft.classes.iter().map(|class| class.name).filter(|name| leaf(*name)).collect();
    let (last, others) = leaves.split_last()?;
    for name in others {
        text = with_keys(&text, *name, &format!("match = \"udp dport {name}\"\n"));
    }
    let text = with_keys(&text, *last, "match = \"any\"\n");
    let plan = parse(&text).expect("a match changes nothing else");
    Some(Drawn { plan, text })
}

fn is_leaf(plan: &Plan, id: ClassId) -> bool {
    plan.classes[id.index()].is_leaf()
}

pub(crate) fn with_keys(text: &str, class: u16, keys: &str) -> String {
    let heading = format!("[class.c{class}]\n");
    text.replace(&heading, &format!("{heading}{keys}"))
}

/// Headers that belong to the class of a name, and a flow in it.
pub(crate) fn headers(name: u16, flow: u16) -> Headers {
    let address = |last: u16| IpAddr::V4((0x0a00_0000 + u32::from(last)).into());
    let ip =
        IpHeaders { source: address(flow), destination: address(1), protocol: 17, dscp: 0, ecn: 0 };
    let ports = Some(Ports { source: flow, destination: name });
    Headers { ip: Some(ip), ports, ..Headers::default() }
}

/// The name of a class as a port.
pub(crate) fn name_of(plan: &Plan, class: usize) -> u16 {
    plan.classes[class].name.trim_start_matches('c').parse().expect("a name that was drawn")
}

/// Has a forwarder follow another plan; the books of the last one, if it does.
pub(crate) fn reload(
    forwarder: &mut Forwarder,
    now: Nanos,
    plan: Plan,
    sink: Sink<'_>,
) -> Result<Books, Refusal> {
    let mut next = PreparedPlan::new(plan, forwarder.settings())?;
    forwarder.reload(now, &mut next, sink).map(|()| next.into_books())
}

/// A caller that writes down what it is told, and wakes up late.
pub(crate) struct Caller {
    pub events: Vec<Event>,
    /// Sometimes late by up to this.
    pub latest: u64,
    pub now: Nanos,
}

impl Caller {
    pub(crate) fn new(latest: u64) -> Caller {
        Caller { events: Vec::new(), latest, now: Nanos::ZERO }
    }

    /// Polls until a time, each time as late as may be.
    pub(crate) fn poll_until(
        &mut self,
        forwarder: &mut Forwarder,
        end: Nanos,
        draw: &mut Generator,
    ) {
        loop {
            let events = &mut self.events;
            let Some(wake) = forwarder.poll(self.now, &mut |event| events.push(*event)) else {
                return;
            };
            let wake = Nanos(wake.0.max(self.now.0) + self.lateness(draw));
            if wake >= end {
                return;
            }
            self.now = wake;
        }
    }

    /// Takes in a frame that arrived at `time`, unless it says when it did.
    pub(crate) fn arrive(&mut self, forwarder: &mut Forwarder, time: Nanos, frame: Frame) {
        self.now = self.now.max(time);
        let events = &mut self.events;
        forwarder.arrive(time, frame, &mut |event| events.push(*event));
    }

    pub(crate) fn drain(&mut self, mut forwarder: Forwarder, draw: &mut Generator) -> Books {
        loop {
            let events = &mut self.events;
            let Some(wake) = forwarder.poll(self.now, &mut |event| events.push(*event)) else {
                assert_eq!(forwarder.backlog().packets, 0);
                return forwarder.into_books();
            };
            self.now = Nanos(wake.0.max(self.now.0) + self.lateness(draw));
        }
    }

    pub(crate) fn lateness(&self, draw: &mut Generator) -> u64 {
        match draw.random_range(0..20u32) {
            0 => draw.random_range(0..=self.latest),
            1..8 => 0,
            _ => draw.random_range(0..=self.latest.min(100_000)),
        }
    }
}
