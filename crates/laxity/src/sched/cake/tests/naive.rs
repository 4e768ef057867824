//! CAKE as it is described, in lists that are searched from end to end.

use std::collections::VecDeque;
use std::vec::Vec;

use rand_pcg::Pcg32;
use rand_pcg::rand_core::Rng;

use crate::aqm::Limit;
use crate::packet::{HostId, Hosts, Packet};
use crate::sched::cake::{AckFilter, CakeClass, CakeSettings, Diffserv, Isolation};
use crate::scheduler::DropReason;

/// The handles of packets that are dropped, with reasons.
pub(super) type Drops = Vec<(u64, DropReason)>;

/// The places of a set, as the hash of a key says them: of flows, of senders or of receivers.
pub(super) type Ways<'a> = &'a dyn Fn(usize, u64) -> Vec<usize>;

pub(super) struct Naive {
    settings: CakeSettings,
    classes: Vec<CakeClass>,
    pub tins: Vec<NaiveTin>,
    next: i128,
    failsafe: i128,
    random: Pcg32,
}

pub(super) struct NaiveTin {
    rate: u64,
    pub flows: Vec<NaiveFlow>,
    new: VecDeque<usize>,
    old: VecDeque<usize>,
    decaying: VecDeque<usize>,
    hosts: [Vec<Option<u32>>; 2],
    next: i128,
}

#[derive(Default)]
pub(super) struct NaiveFlow {
    key: Option<u64>,
    pub packets: VecDeque<Packet>,
    deficit: i64,
    /// Whether it counts as one of those that take turns.
    bulk: bool,
    hosts: [Option<usize>; 2],
    count: u64,
    root: u64,
    next_drop: i128,
    last_step: Option<i128>,
    probability: u64,
    dropping: bool,
}

/// 1 / sqrt(count), by Newton's method as Linux has it.
fn root(count: u64, before: u64) -> u64 {
    let step = |count: u64, x: u64| {
        let three = 3 * (1u64 << 32);
        ((three.wrapping_sub(count * ((x * x) >> 32)) / 4).wrapping_mul(x) >> 31) & 0xffff_ffff
    };
    if count >= 16 {
        return step(count, before);
    }
    (1..=count).fold(0xffff_ffff, |x, count| (0..4).fold(x, |x, _| step(count, x)))
}

impl NaiveTin {
    /// The time for this number of bytes.
    fn time(&self, bytes: u32) -> i128 {
        time(self.rate, bytes)
    }

    fn lists(&mut self) -> [&mut VecDeque<usize>; 3] {
        [&mut self.new, &mut self.old, &mut self.decaying]
    }

    fn leave_lists(&mut self, queue: usize) {
        for list in self.lists() {
            list.retain(|one| *one != queue);
        }
    }

    fn is_listed(&self, queue: usize) -> bool {
        [&self.new, &self.old, &self.decaying].iter().any(|list| list.contains(&queue))
    }

    /// How many flows in turns a host has.
    fn load(&self, side: usize, place: usize) -> i64 {
        let counts = |flow: &&NaiveFlow| flow.bulk && flow.hosts[side] == Some(place);
        self.flows.iter().filter(counts).count() as i64
    }

    fn credit(&self, queue: usize) -> i64 {
        let loads = (0..2).filter_map(|side| Some(self.load(side, self.flows[queue].hosts[side]?)));
        let quantum = (self.rate / 4096).clamp(300, 1514) as i64;
        quantum * 65_536 / loads.max().unwrap_or(1).max(1)
    }
}

fn time(rate: u64, bytes: u32) -> i128 {
    let (mut unit, mut shift) = ((1_000_000_000u128 << 34) / u128::from(rate.max(64)), 34);
    while unit >= 1 << 34 {
        unit /= 2;
        shift -= 1;
    }
    ((u128::from(bytes) * unit) >> shift) as i128
}

impl Naive {
    pub(super) fn new(settings: CakeSettings, classes: Vec<CakeClass>, seed: u64) -> Self {
        let rate = settings.rate.0 / 8;
        let tin = |rate| NaiveTin {
            rate,
            flows: (0..settings.queues).map(|_| NaiveFlow::default()).collect(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            decaying: VecDeque::new(),
            hosts: [std::vec![None; settings.queues], std::vec![None; settings.queues]],
            next: 0,
        };
        let rates = match settings.diffserv {
            Diffserv::Besteffort => std::vec![rate],
            Diffserv::Diffserv3 => std::vec![rate, rate / 16, rate / 4],
            Diffserv::Diffserv4 => std::vec![rate, rate / 16, rate / 2, rate / 4],
            Diffserv::Diffserv8 | Diffserv::Precedence => {
                let next = |rate: &u64| Some((u128::from(*rate) * 7 / 8) as u64);
                std::iter::successors(Some(rate), next).take(8).collect()
            }
        };
        Naive {
            settings,
            classes,
            tins: rates.into_iter().map(tin).collect(),
            next: 0,
            failsafe: 0,
            random: Pcg32::new(seed, 0),
        }
    }

    pub(super) fn packets(&self) -> impl Iterator<Item = &Packet> {
        self.tins.iter().flat_map(|tin| &tin.flows).flat_map(|flow| &flow.packets)
    }

    fn bytes(&self) -> u64 {
        self.packets().map(|packet| u64::from(packet.length)).sum()
    }

    fn is_isolated(&self) -> [bool; 2] {
        let triple = self.settings.isolation == Isolation::TripleIsolate;
        [
            triple || self.settings.isolation == Isolation::DualSrchost,
            triple || self.settings.isolation == Isolation::DualDsthost,
        ]
    }

    pub(super) fn enqueue(&mut self, now: u64, packet: Packet, ways: Ways<'_>, drops: &mut Drops) {
        let class = &self.classes[packet.class.index()];
        let hosts = class.hosts.iter().find(|(end, _)| packet.flow.0 < end.0);
        let hosts = hosts.map_or(Hosts::UNKNOWN, |(_, hosts)| *hosts);
        let number = self.settings.diffserv.tin(class.dscp);
        let key = self.settings.isolation.key(&packet, hosts);
        let (idle, isolated) = (self.packets().count() == 0, self.is_isolated());
        let tin = &mut self.tins[number];
        let queue = find_queue(tin, key, hosts, isolated, ways);
        let now = i128::from(now);
        if tin.flows.iter().all(|flow| flow.packets.is_empty()) {
            tin.next = tin.next.max(now);
        }
        if idle && self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
        tin.flows[queue].packets.push_back(packet);
        let filtered = filter(tin, &packet, self.settings.ack_filter);
        if tin.decaying.contains(&queue) || !tin.is_listed(queue) {
            tin.leave_lists(queue);
            tin.new.push_back(queue);
            tin.flows[queue].deficit = tin.credit(queue);
        } else if tin.old.contains(&queue) {
            tin.flows[queue].bulk = true;
        }
        if let Some(ack) = filtered {
            if self.settings.ingress {
                self.charge(now, number, ack.length, false);
            }
            drops.push((ack.handle, DropReason::AckFilter));
        }
        while self.exceeds_limit() {
            let most = |flow: &NaiveFlow| {
                flow.packets.iter().map(|packet| u64::from(packet.length)).sum::<u64>()
            };
            let all = self.tins.iter().map(|tin| tin.flows.iter().map(most).max().unwrap());
            let largest = all.max().unwrap();
            let at = self.tins.iter().enumerate().find_map(|(number, tin)| {
                Some((number, tin.flows.iter().position(|flow| most(flow) == largest)?))
            });
            let (number, queue) = at.unwrap();
            let target = self.target(number);
            let flow = &mut self.tins[number].flows[queue];
            let dropped = flow.packets.pop_front().unwrap();
            if flow.last_step.is_none_or(|last| now - last > target) {
                flow.probability = (flow.probability + (1 << 24)).min(0xffff_ffff);
                flow.last_step = Some(now);
            }
            (flow.dropping, flow.next_drop, flow.count) = (true, now, flow.count.max(1));
            if self.settings.ingress {
                self.charge(now, number, dropped.length, false);
            }
            drops.push((dropped.handle, DropReason::QueueFull));
        }
    }

    fn exceeds_limit(&self) -> bool {
        match self.settings.limit {
            Limit::None => false,
            Limit::Packets(limit) => self.packets().count() as u64 > limit,
            Limit::Bytes(limit) => self.bytes() > limit,
        }
    }

    fn target(&self, tin: usize) -> i128 {
        let usual = i128::from((self.settings.rtt.0 / 20).max(1));
        usual.max(self.tins[tin].time(self.settings.max_packet) * 3 / 2)
    }

    fn interval(&self, tin: usize) -> i128 {
        let usual = i128::from((self.settings.rtt.0 / 20).max(1));
        let target = self.target(tin);
        (i128::from(self.settings.rtt.0) + target - usual).max(2 * target)
    }

    fn charge(&mut self, now: i128, tin: usize, length: u32, is_sent: bool) {
        let whole = time(self.settings.rate.0 / 8, length);
        let tin = &mut self.tins[tin];
        let own = tin.time(length);
        if tin.next < now {
            tin.next += own;
        } else if tin.next < now + own {
            tin.next = now + own;
        }
        self.next += whole;
        if is_sent {
            self.failsafe += whole + whole / 2;
        }
    }

    pub(super) fn dequeue(&mut self, now: u64, drops: &mut Drops) -> Option<Packet> {
        let now = i128::from(now);
        let mut first = true;
        'begin: loop {
            if self.packets().count() == 0 {
                return None;
            }
            if self.settings.shapes && self.next > now && self.failsafe > now {
                return None;
            }
            let mut best = None;
            for (number, tin) in self.tins.iter().enumerate() {
                let wait = tin.next - now;
                if tin.new.is_empty() && tin.old.is_empty() {
                    continue;
                }
                if wait <= 0 || best.is_none_or(|(least, _)| wait <= least) {
                    best = Some((wait, number));
                }
            }
            let (_, number) = best?;
            loop {
                let tin = &mut self.tins[number];
                let looks_back = core::mem::take(&mut first) && !tin.decaying.is_empty();
                let front = if looks_back {
                    tin.decaying.front()
                } else {
                    tin.new.front().or(tin.old.front()).or(tin.decaying.front())
                };
                let Some(&queue) = front else { continue 'begin };
                if tin.flows[queue].deficit <= 0 {
                    if tin.new.contains(&queue) {
                        tin.flows[queue].bulk = !tin.flows[queue].packets.is_empty();
                    }
                    tin.flows[queue].deficit += tin.credit(queue);
                    tin.leave_lists(queue);
                    tin.old.push_back(queue);
                    continue;
                }
                match self.take(now, number, queue, drops) {
                    Taken::Sent(packet) => return Some(packet),
                    Taken::Empty => continue 'begin,
                    Taken::Dropped => {}
                }
            }
        }
    }

    /// A queue's turn, until it sends.
    fn take(&mut self, now: i128, number: usize, queue: usize, drops: &mut Drops) -> Taken {
        let ingress = self.settings.ingress;
        loop {
            let Some(mut packet) = self.tins[number].flows[queue].packets.pop_front() else {
                self.run_empty(now, number, queue);
                return Taken::Empty;
            };
            let is_dropped = self.judge(now, number, queue, &mut packet);
            if !is_dropped || self.tins[number].flows[queue].packets.is_empty() {
                self.charge(now, number, packet.length, true);
                self.tins[number].flows[queue].deficit -= i64::from(packet.length) * 65_536;
                return Taken::Sent(packet);
            }
            drops.push((packet.handle, DropReason::Cobalt));
            if ingress {
                self.charge(now, number, packet.length, false);
                self.tins[number].flows[queue].deficit -= i64::from(packet.length) * 65_536;
                return Taken::Dropped;
            }
        }
    }

    fn run_empty(&mut self, now: i128, number: usize, queue: usize) {
        let (target, interval) = (self.target(number), self.interval(number));
        let tin = &mut self.tins[number];
        tin.leave_lists(queue);
        let flow = &mut tin.flows[queue];
        flow.bulk = false;
        if flow.probability > 0 && flow.last_step.is_none_or(|last| now - last > target) {
            flow.probability = flow.probability.saturating_sub(1 << 20);
            flow.last_step = Some(now);
        }
        flow.dropping = false;
        if flow.count > 0 && now >= flow.next_drop {
            flow.step(-1, interval);
        }
        if flow.probability > 0 || flow.count > 0 || now < flow.next_drop {
            tin.decaying.push_back(queue);
        }
    }

    /// Whether COBALT drops a packet; it may mark it instead.
    fn judge(&mut self, now: i128, number: usize, queue: usize, packet: &mut Packet) -> bool {
        let (target, interval) = (self.target(number), self.interval(number));
        let tin = &mut self.tins[number];
        let own = tin.time(self.settings.max_packet);
        let bulk = tin.flows.iter().filter(|flow| flow.bulk).count() as i128;
        let turns = if self.settings.ingress { 2 * bulk } else { 0 };
        let waited = now - i128::from(packet.arrival.0);
        let over = waited > target && waited > own * turns && waited > own * 4;
        let flow = &mut tin.flows[queue];
        let mut ahead = now - flow.next_drop;
        let mut due = flow.count > 0 && ahead >= 0;
        let mut drop = false;
        if over {
            if !flow.dropping {
                flow.next_drop = now + ((interval * i128::from(flow.root)) >> 32);
            }
            flow.count = flow.count.max(1);
        }
        flow.dropping = over;
        if due && over {
            drop = !packet.mark();
            flow.step(1, interval);
            ahead = now - flow.next_drop;
        } else {
            while due {
                flow.step(-1, interval);
                ahead = now - flow.next_drop;
                due = flow.count > 0 && ahead >= 0;
            }
        }
        if flow.probability > 0 {
            drop |= u64::from(self.random.next_u32()) < flow.probability;
        }
        if flow.count == 0 {
            flow.next_drop = now + interval;
        } else if ahead > 0 && !drop {
            flow.next_drop = now;
        }
        drop
    }

    pub(super) fn withdraw(&mut self, handle: u64) {
        for flow in self.tins.iter_mut().flat_map(|tin| &mut tin.flows) {
            flow.packets.retain(|packet| packet.handle != handle);
        }
    }
}

/// Takes out the first acknowledgement that a packet makes superfluous, if there are as many as the
/// filter asks for.
fn filter(tin: &mut NaiveTin, packet: &Packet, filter: AckFilter) -> Option<Packet> {
    let least = match filter {
        AckFilter::Off => return None,
        AckFilter::On => 2,
        AckFilter::Aggressive => 1,
    };
    let numbers: Vec<u16> = packet.ack.superfluous().collect();
    let is_superfluous = |other: &&Packet| {
        let is_same_flow = (other.class, other.flow) == (packet.class, packet.flow);
        is_same_flow && other.ack.number().is_some_and(|number| numbers.contains(&number))
    };
    let queued = tin.flows.iter().flat_map(|flow| &flow.packets);
    let mut superfluous: Vec<Packet> = queued.filter(is_superfluous).copied().collect();
    superfluous.sort_by_key(|packet| packet.handle);
    let first = *superfluous.first().filter(|_| superfluous.len() >= least)?;
    for flow in &mut tin.flows {
        flow.packets.retain(|packet| packet.handle != first.handle);
    }
    Some(first)
}

enum Taken {
    Sent(Packet),
    Dropped,
    Empty,
}

impl NaiveFlow {
    fn step(&mut self, by: i64, interval: i128) {
        self.count = self.count.saturating_add_signed(by);
        self.root = root(self.count, self.root);
        self.next_drop += (interval * i128::from(self.root)) >> 32;
    }
}

/// The queue of a flow, which is counted for its hosts from now on if it was idle or is another's.
fn find_queue(
    tin: &mut NaiveTin,
    key: u64,
    hosts: Hosts,
    isolated: [bool; 2],
    ways: Ways<'_>,
) -> usize {
    let set = ways(0, key);
    if let Some(&own) = set.iter().find(|queue| tin.flows[**queue].key == Some(key))
        && tin.is_listed(own)
    {
        return own;
    }
    let own = set.iter().find(|queue| tin.flows[**queue].key == Some(key));
    let free = set.iter().find(|queue| !tin.is_listed(**queue));
    let queue = *own.or(free).unwrap_or(&set[0]);
    tin.flows[queue].key = Some(key);
    for (side, host) in [hosts.source, hosts.destination].into_iter().enumerate() {
        // It counts no more for the host that it had on this side, and as before on the other.
        tin.flows[queue].hosts[side] = None;
        if !isolated[side] || host == HostId::UNKNOWN {
            continue;
        }
        let set = ways(1 + side, host.0.into());
        let own = set.iter().find(|place| tin.hosts[side][**place] == Some(host.0));
        let free = set.iter().find(|place| tin.load(side, **place) == 0);
        let place = *own.or(free).unwrap_or(&set[0]);
        tin.hosts[side][place] = Some(host.0);
        tin.flows[queue].hosts[side] = Some(place);
    }
    queue
}
