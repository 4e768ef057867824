//! A plan with requests in the making, and how it is drawn at the edge of what fits.

use std::fmt::Write;
use std::path::Path;

use laxity::units::Nanos;
use laxity_answers::Proof;
use laxity_plan::Plan;
use laxity_plan::calls::Call;
use rand::RngExt;

use super::traffic::{Burst, conforming};
use crate::Generator;
use crate::draft::ArrivalDraft;

/// A plan with requests as numbers that can be changed one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct CallsDraft {
    /// Of the link, in bits a second.
    pub rate: u64,
    /// The longest packet of any class, in bytes.
    pub max_packet: u64,
    /// The keys of `[scheduler]`.
    pub scheduler: &'static str,
    /// Keys of the class that is promised nothing; `None` without such a class's traffic.
    pub rest: &'static str,
    /// The requests.
    pub kinds: Vec<Kind>,
    /// What is promised nothing: from the beginning of the run.
    pub flood: Vec<Burst>,
    /// How long calls come, in ns.
    pub duration: u64,
}

/// Calls of one request, and their class.
#[derive(Clone, Debug, PartialEq)]
pub struct Kind {
    /// Its name.
    pub name: u16,
    /// Further keys of the class.
    pub keys: String,
    /// In ns.
    pub deadline: u64,
    /// Its contract.
    pub arrival: ArrivalDraft,
    /// Between calls, in ns.
    pub every: u64,
    /// How long a call lasts, in ns.
    pub holding: u64,
    /// What each call sends: from its begin on.
    pub bursts: Vec<Burst>,
}

/// The disciplines, what a class of a call has beside its contract, and what the others have.
pub const DISCIPLINES: [(&str, &str, &str); 14] = [
    ("kind = 'edf'", "", ""),
    ("kind = 'edf', best-effort-order = 'fifo'", "", ""),
    ("kind = 'edf', best-effort = 'two-line', best-effort-order = 'fifo'", "", ""),
    ("kind = 'edf', best-effort = 'two-line-fast'", "", ""),
    ("kind = 'edf', best-effort = 'total-bandwidth', best-effort-order = 'fifo'", "", ""),
    ("kind = 'edf', best-effort = 'background'", "", ""),
    ("kind = 'priority'", "level = NAME\n", ""),
    ("kind = 'wf2q'", "weight = WEIGHT\n", ""),
    ("kind = 'wfq'", "weight = WEIGHT\n", ""),
    ("kind = 'qfq'", "weight = WEIGHT\n", ""),
    ("kind = 'drr'", "weight = WEIGHT\n", ""),
    ("kind = 'hfsc'", "", ""),
    ("kind = 'cake', diffserv = 'diffserv4', rtt = '1000s'", "dscp = 'ef'\n", "dscp = 'cs1'\n"),
    (
        "kind = 'cake', diffserv = 'diffserv4', rtt = '1000s', isolation = 'flowblind'",
        "dscp = 'ef'\n",
        "dscp = 'cs1'\n",
    ),
];

/// How many calls are simulated at most in a run, nearly.
const CALLS: u64 = 24;

/// Draws requests under any discipline, or this one, so that some numbers of calls just fit.
pub(super) fn draw(draw: &mut Generator, scheduler: Option<&str>) -> Option<CallsDraft> {
    let number = match scheduler {
        Some(name) => DISCIPLINES.iter().position(|(keys, ..)| *keys == name)?,
        None => draw.random_range(0..DISCIPLINES.len()),
    };
    let (scheduler, keys, rest) = DISCIPLINES[number];
    let rate = [1_000_000, 8_000_000, 9_999_991][draw.random_range(0..3)];
    let max_packet = [1_000, 1_500, 1_514][draw.random_range(0..3)];
    let counts: Vec<usize> =
        (0..draw.random_range(1..=3u32)).map(|_| draw.random_range(1..=3usize)).collect();
    let all: usize = counts.iter().sum();
    // Of low rates, what is sent is gone as late as it may be.
    let load = [3, 20, 60, 90][draw.random_range(0..4)];
    let kind = |name: u16, draw: &mut Generator| {
        let packet = if draw.random() { max_packet } else { draw.random_range(60..=max_packet) };
        let packets = draw.random_range(1..8u64);
        let share = rate * load / 100 / all as u64;
        let share = draw.random_range(share / 4..=share).max(1_000);
        let keys = keys.replace("NAME", &name.to_string());
        let bucket = packets * packet;
        let deadline = super::traffic::time(bucket + max_packet, rate);
        Kind {
            name,
            keys: keys.replace("WEIGHT", &draw.random_range(1..9u32).to_string()),
            deadline: deadline * draw.random_range(50..300u64) / 100 + 1,
            arrival: ArrivalDraft { bucket, rate: share, packet, shortest: None, peak: None },
            every: 0,
            holding: 0,
            bursts: Vec::new(),
        }
    };
    let kinds = (0..counts.len() as u16).map(|name| kind(name, draw)).collect();
    let mut draft =
        CallsDraft { rate, max_packet, scheduler, rest, kinds, flood: Vec::new(), duration: 0 };
    loosen(&mut draft, &counts)?;
    for _ in 0..draw.random_range(0..=2u32) {
        let kind = draw.random_range(0..draft.kinds.len());
        push(&mut draft, kind, &counts);
    }
    // As many come as fit, and then some.
    let longest = draft.kinds.iter().map(|kind| kind.deadline).max()?;
    for (kind, count) in draft.kinds.iter_mut().zip(&counts) {
        kind.holding = longest * draw.random_range(50..600u64) / 100 + 2;
        kind.every = kind.holding / *count as u64 + 1;
        if draw.random() {
            kind.every = draw.random_range(kind.every / 2..=kind.every) + 1;
        }
        kind.bursts = super::traffic::draw(kind.holding, draw);
    }
    let often: u64 = draft.kinds.iter().map(|kind| 1_000_000_000_000 / kind.every).sum();
    draft.duration = CALLS * 1_000_000_000_000 / often.max(1) + longest;
    draft.flood = super::traffic::draw(draft.duration, draw);
    Some(draft)
}

/// Makes deadlines longer until these numbers of calls fit; `None` if they never do.
fn loosen(draft: &mut CallsDraft, counts: &[usize]) -> Option<()> {
    for _ in 0..24 {
        if fits(draft, counts) {
            return Some(());
        }
        for kind in &mut draft.kinds {
            kind.deadline = kind.deadline * 3 / 2 + 1;
            kind.arrival.rate = (kind.arrival.rate * 4 / 5).max(1_000);
        }
    }
    None
}

/// Makes the deadline of a kind the shortest with which these numbers of calls fit.
fn push(draft: &mut CallsDraft, kind: usize, counts: &[usize]) {
    let (mut good, mut bad) = (draft.kinds[kind].deadline, 0);
    while good - bad > 1 {
        let middle = good.midpoint(bad);
        draft.kinds[kind].deadline = middle;
        *if fits(draft, counts) { &mut good } else { &mut bad } = middle;
    }
    draft.kinds[kind].deadline = good;
}

fn fits(draft: &CallsDraft, counts: &[usize]) -> bool {
    let Some(plan) = draft.plan() else { return false };
    let call = |request| Call { request, from: Nanos::ZERO, until: Nanos::ZERO };
    let calls = counts.iter().enumerate();
    let calls: Vec<Call> =
        calls.flat_map(|(request, count)| std::iter::repeat_n(call(request), *count)).collect();
    let with_calls = plan.with_calls(&calls).plan;
    Proof::link(&with_calls).and_then(|proof| proof.admitted()) == Some(true)
}

impl CallsDraft {
    /// The plan as it is read; `None` if it makes no sense.
    pub fn plan(&self) -> Option<Plan> {
        Plan::parse(&self.head(), "searched.toml", Path::new(".")).ok()
    }

    /// The plan without sources.
    fn head(&self) -> String {
        let CallsDraft { rate, max_packet, scheduler, duration, .. } = self;
        let duration = duration.max(&1);
        let mut text = format!(
            "version = 1\nlink = {{ rate = \"{rate}bit\", max-packet = \"{max_packet}b\" }}\n\
             scheduler = {{ {scheduler} }}\nrun = {{ duration = \"{duration}ns\" }}\n"
        );
        for Kind { name, keys, deadline, arrival, every, holding, .. } in &self.kinds {
            let (every, holding) = (every.max(&1), holding.max(&1));
            let _ = write!(
                text,
                "\n[class.c{name}]\n{keys}deadline = \"{deadline}ns\"\narrival = {}\n\n\
                 [[request]]\nclass = \"c{name}\"\nevery = \"{every}ns\"\nholding = \"{holding}ns\"\n",
                arrival.text()
            );
        }
        text + "\n[class.rest]\n" + self.rest
    }

    /// The plan in TOML, with a source for all packets that come at one instant.
    pub fn text(&self) -> String {
        let mut text = self.head();
        let mut source = |class: &str, packets: Vec<(u64, u32)>| {
            for packets in packets.chunk_by(|a, b| a == b) {
                let ((time, length), count) = (packets[0], packets.len());
                let stop = time + 1;
                let _ = write!(
                    text,
                    "\n[[source]]\nclass = \"{class}\"\nmodel = \"constant\"\ncount = {count}\n\
                     packet = \"{length}b\"\nrate = \"1bit\"\nstart = \"{time}ns\"\nstop = \"{stop}ns\"\n"
                );
            }
        };
        source("rest", self.flood());
        for kind in &self.kinds {
            source(&format!("c{}", kind.name), kind.packets());
        }
        text
    }

    /// The packets that are promised nothing: times and lengths.
    pub fn flood(&self) -> Vec<(u64, u32)> {
        conforming(&self.flood, None, self.duration, self.max_packet)
    }
}

impl Kind {
    /// The packets of a call, from its begin on: times and lengths.
    pub fn packets(&self) -> Vec<(u64, u32)> {
        conforming(&self.bursts, Some(&self.arrival), self.holding, self.arrival.packet)
    }
}
