//! Traffic as trains of packets, which can be moved, stretched and made to meet.

use rand::RngExt;
use rand::seq::IndexedRandom;

use crate::Generator;
use laxity_plan::model::SchedulerSpec;

use crate::arrival::{Allowance, Arrival, BYTE, FIRST};
use crate::subject::{Conduct, Subject};

/// Trains of packets, each sent as soon as its class's contract allows.
#[derive(Clone, Debug)]
pub struct Traffic {
    trains: Vec<Train>,
    /// Which of two packets that arrive at one instant comes first: feeds, by rank.
    ranks: Vec<u8>,
    /// How long the link idles before; `None` until all buckets are full.
    pause: Option<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Train {
    feed: u16,
    flow: u16,
    /// In ns from the beginning of the run.
    start: u64,
    count: u32,
    /// Of every packet, or every other one.
    lengths: [u32; 2],
    /// Between packets, in ns; none for as fast as the contract allows.
    spacing: u64,
}

/// What is known of a subject when traffic for it is drawn.
pub struct Scene<'a> {
    subject: &'a Subject,
    /// The classes of which something is proved, by number.
    pub judged: Vec<usize>,
    /// Whether schedulers are built anew for every run.
    pub begins_anew: bool,
    /// The names of feeds.
    feeds: Vec<u16>,
    /// Times that mean something here, in ns: of packets on links, deadlines, bounds, buckets.
    times: Vec<u64>,
    /// By when everything that harms has begun.
    horizon: u64,
}

/// The most packets of a train.
const LONGEST_TRAIN: u32 = 200;
/// The most trains at once.
const MOST_TRAINS: usize = 16;

impl<'a> Scene<'a> {
    /// Of a subject.
    pub fn of(subject: &'a Subject) -> Scene<'a> {
        let feeds = subject.names();
        let class = |feed: &u16| subject.feed(*feed).expect("a name of a feed").class;
        let is_judged = |class: &usize| {
            let bound = |output: &crate::subject::Output| output.bounds[*class].is_some();
            let in_step = matches!(subject.contracts[*class].conduct, Conduct::InStep { .. });
            let is_bounded = subject.outputs.iter().any(bound) || subject.is_promised(*class);
            is_bounded || subject.keeps_windows && in_step
        };
        let mut judged: Vec<_> = feeds.iter().map(class).filter(is_judged).collect();
        judged.sort_unstable();
        judged.dedup();
        let mut times = vec![1];
        for output in &subject.outputs {
            let rate = output.rate;
            let lengths = subject.contracts.iter().map(|contract| contract.longest);
            times.extend(lengths.map(|length| (u64::from(length) * BYTE).div_ceil(rate)));
            times.extend(output.bounds.iter().flatten());
            times.push(output.delay);
        }
        for (class, contract) in subject.plan.classes.iter().zip(&subject.contracts) {
            times.extend(class.relative_deadline().map(|due| due.0));
            if let Conduct::Keeps(lines) = &contract.conduct {
                let fills = |bytes: u64, rate: u64| bytes.saturating_mul(BYTE) / rate;
                let of = |line: &laxity::police::TokenBucket| {
                    let packet = u64::from(contract.longest);
                    [fills(line.bucket.0, line.rate.0), fills(packet, line.rate.0)]
                };
                times.extend(lines.iter().flat_map(of));
            }
        }
        times.extend(subject.feeds.iter().flatten().filter_map(|feed| feed.bound));
        if let SchedulerSpec::Tdp(spec) = subject.plan.scheduler {
            times.push(spec.time.frame.0);
            times.push(spec.time.frame.0 * u64::from(spec.time.frames));
        }
        times.sort_unstable();
        times.dedup();
        let at_outputs = subject.outputs.iter().flat_map(|output| output.bounds.iter().flatten());
        let over_paths = subject.feeds.iter().flatten().filter_map(|feed| feed.bound.as_ref());
        let bounds = at_outputs.chain(over_paths);
        let gaps = subject.plan.classes.iter().filter_map(|class| class.gap);
        let longest = bounds.copied().chain(gaps.map(|gap| 4 * gap.0)).max().unwrap_or(1);
        Scene {
            subject,
            judged,
            begins_anew: subject.keeps_windows || subject.is_framed(),
            feeds,
            times,
            horizon: 2 * longest.min(100_000_000_000),
        }
    }

    /// Classes that break their contracts, which is to harm nobody else; never the target.
    pub fn rogues(&self, draw: &mut Generator, target: usize) -> u64 {
        let contracts = &self.subject.contracts;
        let isolated = contracts[target].isolated;
        if !isolated || draw.random_range(0..2u32) == 0 {
            return 0;
        }
        let mut rogues = 0;
        for (class, contract) in contracts.iter().enumerate().take(64) {
            let may = class != target && contract.isolated;
            if may && draw.random_range(0..2u32) == 0 {
                rogues |= 1 << class;
            }
        }
        rogues
    }

    fn time(&self, draw: &mut Generator) -> u64 {
        *self.times.choose(draw).expect("at least a nanosecond")
    }

    fn class(&self, feed: u16) -> usize {
        self.subject.feed(feed).expect("a name of a feed").class
    }

    fn is_free(&self, feed: u16, rogues: u64) -> bool {
        let class = self.class(feed);
        rogues >> class & 1 == 1 || matches!(self.subject.contracts[class].conduct, Conduct::Free)
    }

    fn length(&self, feed: u16, draw: &mut Generator) -> u32 {
        let contract = &self.subject.contracts[self.class(feed)];
        let (shortest, longest) = (contract.shortest.min(contract.longest), contract.longest);
        match draw.random_range(0..8u32) {
            0 => draw.random_range(shortest..=longest),
            1 => longest.saturating_sub(1).max(shortest),
            2 => draw.random_range(shortest..=longest.min(shortest + 64)),
            _ => longest,
        }
    }
}

impl Train {
    fn draw(scene: &Scene, draw: &mut Generator, feed: u16) -> Train {
        let length = scene.length(feed, draw);
        let other = if draw.random_range(0..4u32) == 0 { scene.length(feed, draw) } else { length };
        let conduct = &scene.subject.contracts[scene.class(feed)].conduct;
        let (flow, spacing) = match conduct {
            Conduct::InStep { streams, gap } => (draw.random_range(0..*streams) as u16, *gap),
            _ => (0, 0),
        };
        let most = 1 << draw.random_range(1..7u32);
        Train {
            feed,
            flow,
            start: draw.random_range(0..=scene.horizon),
            count: 1 + draw.random_range(0..most),
            lengths: [length, other],
            spacing: if draw.random_range(0..5u32) == 0 { scene.time(draw) } else { spacing },
        }
    }
}

impl Traffic {
    /// Traffic of a kind that is known to do harm: bursts that meet at one instant, a long packet just
    /// begun, floods of what is promised nothing; or anything at all.
    pub fn draw(scene: &Scene, draw: &mut Generator, target: usize, rogues: u64) -> Traffic {
        let mut trains = Vec::new();
        let meet = scene.horizon / 2;
        let together = draw.random_range(0..4u32) > 0;
        for &feed in &scene.feeds {
            let free = scene.is_free(feed, rogues);
            let is_target = scene.class(feed) == target;
            if !is_target && draw.random_range(0..6u32) == 0 {
                continue;
            }
            let mut train = Train::draw(scene, draw, feed);
            let earlier = |draw: &mut Generator| meet.saturating_sub(scene.time(draw));
            if together && !free {
                train.start = meet;
                train.count = 1 + draw.random_range(0..60);
            }
            if free {
                train.start = match draw.random_range(0..4u32) {
                    0 => meet - 1,
                    1 => meet,
                    _ => earlier(draw),
                };
                train.count = if draw.random_range(0..2u32) == 0 { 1 } else { train.count };
            }
            trains.push(train);
            if let Conduct::InStep { streams, .. } =
                scene.subject.contracts[scene.class(feed)].conduct
            {
                let aligned = |flow: u32| Train { flow: flow as u16, ..train };
                trains.pop();
                trains.extend((0..streams.min(LONGEST_TRAIN)).map(aligned));
            }
        }
        if trains.is_empty() {
            trains.push(Train::draw(scene, draw, scene.feeds[0]));
        }
        let ranks = vec![0; scene.subject.feeds.len()];
        let mut traffic = Traffic { trains, ranks, pause: None };
        traffic.shuffle(draw);
        traffic
    }

    fn shuffle(&mut self, draw: &mut Generator) {
        self.ranks.fill_with(|| draw.random_range(0..=255u32) as u8);
    }

    /// Changes one thing.
    pub fn change(&mut self, scene: &Scene, draw: &mut Generator, rogues: u64) {
        let at = draw.random_range(0..self.trains.len());
        let other = self.trains[draw.random_range(0..self.trains.len())];
        match draw.random_range(0..18u32) {
            0..=2 => self.shift(at, scene.time(draw), draw),
            3 => self.shift(at, draw.random_range(1..=scene.horizon / 4 + 1), draw),
            4 => self.shift(at, draw.random_range(1..=16), draw),
            5 => self.trains[at].start = other.start,
            6 => {
                self.trains[at].start = other.start;
                self.shift(at, scene.time(draw), draw);
            }
            7 => {
                let count = &mut self.trains[at].count;
                *count = (*count + draw.random_range(1..=4)).min(LONGEST_TRAIN);
            }
            8 => {
                let count = &mut self.trains[at].count;
                *count = count.saturating_sub(draw.random_range(1..=4)).max(1);
            }
            9 => {
                let count = &mut self.trains[at].count;
                let twice = draw.random_range(0..2u32) == 0;
                *count = if twice { 2 * *count } else { count.div_ceil(2) }.min(LONGEST_TRAIN);
            }
            10 => self.trains[at].lengths = [scene.length(self.trains[at].feed, draw); 2],
            11 => self.trains[at].lengths[1] = scene.length(self.trains[at].feed, draw),
            12 => {
                let greedy = draw.random_range(0..2u32) == 0;
                self.trains[at].spacing = if greedy { 0 } else { scene.time(draw) };
            }
            13 if self.trains.len() > 1 => {
                self.trains.swap_remove(at);
            }
            14 if self.trains.len() < MOST_TRAINS => self.trains.push(self.trains[at]),
            15 if self.trains.len() < MOST_TRAINS => {
                let feed = *scene.feeds.choose(draw).expect("a feed");
                let mut train = Train::draw(scene, draw, feed);
                if draw.random_range(0..2u32) == 0 {
                    train.start = other.start;
                }
                if scene.is_free(feed, rogues) && draw.random_range(0..2u32) == 0 {
                    train.count = 1;
                }
                self.trains.push(train);
            }
            16 => {
                let short = draw.random_range(0..8u32) == 0;
                self.pause = short.then(|| scene.time(draw));
            }
            _ => self.shuffle(draw),
        }
    }

    fn shift(&mut self, train: usize, by: u64, draw: &mut Generator) {
        let start = &mut self.trains[train].start;
        *start = match draw.random_range(0..2u32) {
            0 => start.saturating_add(by),
            _ => start.saturating_sub(by),
        };
    }
}

/// What classes have sent, and when nothing was left of it.
pub struct Ledger {
    /// By class number.
    allowances: Vec<Allowance>,
    /// The class of each feed, by name.
    classes: Vec<usize>,
    /// When the last run was over.
    end: u64,
    wanted: Vec<(u64, u32)>,
    /// Arrivals with what orders them.
    ranked: Vec<(u64, u8, u32, Arrival)>,
}

impl Ledger {
    /// Of classes that have sent nothing.
    pub fn new(subject: &Subject, rogues: u64) -> Ledger {
        let allowance = |(class, contract): (usize, &crate::subject::Contract)| {
            let free = rogues >> class & 1 == 1;
            Allowance::new(if free { &Conduct::Free } else { &contract.conduct })
        };
        let class =
            |feed: &Option<crate::subject::Feed>| feed.as_ref().map_or(0, |feed| feed.class);
        Ledger {
            allowances: subject.contracts.iter().enumerate().map(allowance).collect(),
            classes: subject.feeds.iter().map(class).collect(),
            end: FIRST,
            wanted: Vec::new(),
            ranked: Vec::new(),
        }
    }

    /// When the last run was over.
    pub fn end(&self) -> u64 {
        self.end
    }

    /// A run is over.
    pub fn ends(&mut self, end: u64) {
        self.end = end;
    }

    /// The arrivals of traffic, as the contracts allow them, in order.
    pub fn play(&mut self, traffic: &Traffic, arrivals: &mut Vec<Arrival>) {
        let full = self.allowances.iter().map(Allowance::fills).max().unwrap_or(0);
        let begin = self.end + traffic.pause.unwrap_or(full).max(1);
        self.ranked.clear();
        let trains = &traffic.trains;
        let class = |train: &Train| self.classes[usize::from(train.feed)];
        let mut seen = 0u64;
        for (first, train) in trains.iter().enumerate() {
            let key = (class(train), train.flow);
            let is_other = |other: &Train| (class(other), other.flow) == key;
            if trains[..first].iter().any(is_other) {
                continue;
            }
            // All trains of a class draw on one allowance, so their packets take turns.
            self.wanted.clear();
            for (number, train) in trains.iter().enumerate().filter(|(_, train)| is_other(train)) {
                for packet in 0..train.count {
                    let time = begin + train.start + u64::from(packet) * train.spacing;
                    self.wanted.push((time, number as u32 | packet << 8));
                }
            }
            self.wanted.sort_unstable();
            let allowance = &mut self.allowances[key.0];
            let mut last = 0;
            for &(time, packet) in &self.wanted {
                let Train { feed, flow, lengths, .. } = trains[packet as usize & 0xff];
                let length = lengths[(packet >> 8) as usize & 1];
                let time = allowance.grant(time.max(last), flow, length);
                last = time;
                seen += 1;
                let rank = traffic.ranks[usize::from(feed)];
                let arrival = Arrival { time, feed, flow, length };
                self.ranked.push((time, rank, seen as u32, arrival));
            }
        }
        self.ranked.sort_unstable_by_key(|&(time, rank, seen, _)| (time, rank, seen));
        arrivals.extend(self.ranked.iter().map(|&(.., arrival)| arrival));
    }
}
