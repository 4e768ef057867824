//! Traffic as trains of packets, which can be moved, stretched and made to meet.

use laxity::police::TokenBucket;
use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use rand::RngExt;
use rand::seq::{IndexedRandom, IteratorRandom};

use crate::Generator;
use crate::arrival::{Allowance, Arrival, BYTE, FIRST};
use crate::contract::{Conduct, Contract, MOST_ROGUES};

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

/// What is known of those who send when traffic is drawn.
#[derive(Clone, Debug)]
pub struct Scene {
    /// The class of each feed, a way from a sender to a receiver, by name; `None` for names that
    /// nothing has.
    pub feeds: Vec<Option<usize>>,
    /// What classes keep to, by number.
    pub contracts: Vec<Contract>,
    /// Times that mean something here, in ns: of packets on links, deadlines, bounds, buckets. At
    /// least one.
    pub times: Vec<u64>,
    /// By when everything that harms has begun, in ns.
    pub horizon: u64,
    /// The most packets of a train.
    pub longest_train: u32,
    /// The most trains at once, at most 256.
    pub most_trains: usize,
}

/// The times that mean something to classes of a plan: deadlines, and how long buckets and packets
/// take at their rates.
pub fn times_of(plan: &Plan, contracts: &[Contract]) -> Vec<u64> {
    let mut times = Vec::new();
    for (class, contract) in plan.classes.iter().zip(contracts) {
        times.extend(class.relative_deadline().map(|due| due.0));
        if let Conduct::Keeps(lines) = &contract.conduct {
            let fills = |bytes: u64, rate: u64| bytes.saturating_mul(BYTE) / rate;
            let of = |line: &TokenBucket| {
                let packet = u64::from(contract.longest);
                [fills(line.bucket.0, line.rate.0), fills(packet, line.rate.0)]
            };
            times.extend(lines.iter().flat_map(of));
        }
    }
    if let SchedulerSpec::Tdp(spec) = plan.scheduler {
        times.push(spec.time.frame.0);
        times.push(spec.time.frame.0 * u64::from(spec.time.frames));
    }
    times
}

impl Scene {
    /// The names of all feeds.
    fn names(&self) -> impl Iterator<Item = u16> {
        (0..).zip(&self.feeds).filter_map(|(name, class)| class.map(|_| name))
    }

    /// Draws classes that break their contracts, never the target. They must not harm others.
    pub fn rogues(&self, draw: &mut Generator, target: usize) -> u64 {
        let contracts = &self.contracts;
        let harms_nobody = |contract: &Contract| contract.isolated;
        if !contracts.iter().any(harms_nobody) || draw.random_range(0..2u32) == 0 {
            return 0;
        }
        let mut rogues = 0;
        for (class, contract) in contracts.iter().enumerate().take(MOST_ROGUES) {
            let may = class != target && contract.isolated;
            if may && draw.random_range(0..2u32) == 0 {
                rogues |= 1 << class;
            }
        }
        rogues
    }

    pub(crate) fn time(&self, draw: &mut Generator) -> u64 {
        *self.times.choose(draw).expect("at least a nanosecond")
    }

    fn class(&self, feed: u16) -> usize {
        self.feeds[usize::from(feed)].expect("a name of a feed")
    }

    fn is_free(&self, feed: u16, rogues: u64) -> bool {
        let class = self.class(feed);
        rogues >> class & 1 == 1 || matches!(self.contracts[class].conduct, Conduct::Free)
    }

    fn length(&self, feed: u16, draw: &mut Generator) -> u32 {
        let contract = &self.contracts[self.class(feed)];
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
        let conduct = &scene.contracts[scene.class(feed)].conduct;
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
    /// Traffic of a kind that is known to do harm: bursts that meet at one instant, a long packet
    /// just begun, floods of what is promised nothing; or anything at all.
    pub fn draw(scene: &Scene, draw: &mut Generator, target: usize, rogues: u64) -> Traffic {
        let mut trains = Vec::new();
        let meet = scene.horizon / 2;
        let together = draw.random_range(0..4u32) > 0;
        for feed in scene.names() {
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
            if let Conduct::InStep { streams, .. } = scene.contracts[scene.class(feed)].conduct {
                let aligned = |flow: u32| Train { flow: flow as u16, ..train };
                trains.pop();
                trains.extend((0..streams.min(scene.longest_train)).map(aligned));
            }
        }
        if trains.is_empty() {
            let first = scene.names().next().expect("somebody sends");
            trains.push(Train::draw(scene, draw, first));
        }
        let ranks = vec![0; scene.feeds.len()];
        let mut traffic = Traffic { trains, ranks, pause: None };
        traffic.shuffle(draw);
        traffic
    }

    /// Everybody sends all that the contract allows from one instant on.
    pub fn greedy(scene: &Scene, draw: &mut Generator) -> Traffic {
        let meet = scene.horizon / 2;
        let train = |feed: u16| Train {
            start: meet,
            count: match draw.random_range(0..2u32) {
                0 => scene.contracts[scene.class(feed)].burst(),
                _ => scene.longest_train.min(1 << draw.random_range(1..12u32)),
            },
            spacing: 0,
            ..Train::draw(scene, draw, feed)
        };
        let mut trains: Vec<_> = scene.names().map(train).collect();
        trains.truncate(scene.most_trains);
        let mut traffic = Traffic { trains, ranks: vec![0; scene.feeds.len()], pause: None };
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
                *count = (*count + draw.random_range(1..=4)).min(scene.longest_train);
            }
            8 => {
                let count = &mut self.trains[at].count;
                *count = count.saturating_sub(draw.random_range(1..=4)).max(1);
            }
            9 => {
                let count = &mut self.trains[at].count;
                let twice = draw.random_range(0..2u32) == 0;
                *count =
                    if twice { 2 * *count } else { count.div_ceil(2) }.min(scene.longest_train);
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
            14 if self.trains.len() < scene.most_trains => self.trains.push(self.trains[at]),
            15 if self.trains.len() < scene.most_trains => {
                let feed = scene.names().choose(draw).expect("somebody sends");
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

    /// How many trains there are.
    pub(crate) fn trains(&self) -> usize {
        self.trains.len()
    }

    /// The feed of a train, by name.
    pub(crate) fn feed(&self, train: usize) -> usize {
        self.trains[train].feed.into()
    }

    /// When a train begins, in ns.
    pub(crate) fn start(&self, train: usize) -> u64 {
        self.trains[train].start
    }

    /// All that a feed sends is its burst, at this time.
    pub(crate) fn burst(&mut self, scene: &Scene, feed: usize, start: u64) {
        self.trains.retain(|train| usize::from(train.feed) != feed);
        let Contract { longest, .. } = scene.contracts[scene.class(feed as u16)];
        self.trains.push(Train {
            feed: feed as u16,
            flow: 0,
            start,
            count: scene.contracts[scene.class(feed as u16)].burst(),
            lengths: [longest; 2],
            spacing: 0,
        });
    }

    /// Has a train begin so much later, in ns, or earlier.
    pub(crate) fn delay(&mut self, train: usize, by: i64) {
        let start = &mut self.trains[train].start;
        *start = start.saturating_add_signed(by);
    }

    /// How many packets there are.
    pub(crate) fn packets(&self) -> u64 {
        self.trains.iter().map(|train| u64::from(train.count)).sum()
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
    /// The ledger before any packet. `rogues` are the classes that keep to no contract, a bit each.
    pub fn new(scene: &Scene, rogues: u64) -> Ledger {
        let allowance = |(class, contract): (usize, &Contract)| {
            let free = class < 64 && rogues >> class & 1 == 1;
            Allowance::new(if free { &Conduct::Free } else { &contract.conduct })
        };
        Ledger {
            allowances: scene.contracts.iter().enumerate().map(allowance).collect(),
            classes: scene.feeds.iter().map(|class| class.unwrap_or_default()).collect(),
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
            // Streams in step have allowances of their own, all else of a class shares one.
            let in_step = self.allowances[class(train)].is_in_step();
            let key = (class(train), train.flow);
            let is_other =
                |other: &Train| class(other) == key.0 && (!in_step || other.flow == key.1);
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
