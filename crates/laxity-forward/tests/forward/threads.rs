//! A link that several threads serve: their rates never sum to more, and bounds count their shares.

use std::collections::VecDeque;
use std::path::Path;

use laxity::link::Link;
use laxity::packet::Ecn;
use laxity::units::{Bytes, Nanos};
use laxity_engine::RateShare;
use laxity_forward::{Event, Forwarder, Frame, SentPacket, Settings};
use laxity_plan::Plan;
use laxity_plan::model::ThreadsSpec;
use laxity_search::Generator;
use laxity_search::discipline::Discipline;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::theorem::{Case, case, promising};
use crate::world::{Caller, headers, name_of};

/// A thread with its scheduler, what arrives there, and when it is next awake.
struct Thread {
    forwarder: Forwarder,
    arrivals: VecDeque<(u64, u16, u16, u32)>,
    wake: Option<u64>,
    caller: Caller,
}

impl Thread {
    fn new(plan: &Plan, share: RateShare, catch_up: Nanos, latest: u64) -> Thread {
        let settings = Settings { catch_up, ..Settings::default() };
        let forwarder = Forwarder::new(plan.clone(), settings).expect("a plan of a link");
        let forwarder = forwarder.sharing(share);
        Thread { forwarder, arrivals: VecDeque::new(), wake: None, caller: Caller::new(latest) }
    }

    fn next(&self) -> Option<u64> {
        let arrival = self.arrivals.front().map(|(time, ..)| *time);
        self.wake.into_iter().chain(arrival).min()
    }

    /// Takes in what arrives now, and sends what may be sent if it is awake.
    fn turn(&mut self, now: u64, draw: &mut Generator) {
        while let Some((_, name, flow, length)) = self.arrivals.pop_front_if(|next| next.0 <= now) {
            let (headers, ecn) = (headers(name, flow), Ecn::NotCapable);
            let frame = Frame { headers, ecn, length, ..Frame::default() };
            self.caller.arrive(&mut self.forwarder, Nanos(now), frame);
        }
        if self.wake.is_none_or(|wake| wake <= now) {
            self.poll(now, draw);
        }
    }

    fn poll(&mut self, now: u64, draw: &mut Generator) {
        let events = &mut self.caller.events;
        let wake = self.forwarder.poll(Nanos(now), &mut |event| events.push(*event));
        self.wake = wake.map(|wake| wake.0.max(now) + self.caller.lateness(draw));
    }

    fn sent(&self) -> impl Iterator<Item = SentPacket> {
        self.caller.events.iter().filter_map(|event| match event {
            Event::Sent(sent) => Some(*sent),
            _ => None,
        })
    }
}

/// Lets all threads send everything. Those that are never late know at once when there is rate.
fn run(threads: &mut [Thread], draw: &mut Generator) {
    loop {
        let next = |(place, thread): (usize, &Thread)| Some((thread.next()?, place));
        let Some((now, place)) = threads.iter().enumerate().filter_map(next).min() else { return };
        threads[place].turn(now, draw);
        // What one gives back another one may wait for.
        for _ in 0..threads.len() {
            for thread in threads.iter_mut().filter(|thread| thread.caller.latest == 0) {
                if thread.wake.is_some() {
                    thread.poll(now, draw);
                }
            }
        }
    }
}

/// A packet on the one real link behind all threads.
struct OnTheLink {
    thread: usize,
    sent: SentPacket,
    departure: Nanos,
    /// How long what other threads had handed over before takes, that they count as not sent yet.
    ahead: Nanos,
}

/// All packets in the order in which they were handed over, which is that of the link.
fn on_the_link(plan: &Plan, threads: &[Thread]) -> Vec<OnTheLink> {
    let sent = threads.iter().enumerate();
    let mut sent: Vec<_> =
        sent.flat_map(|(place, thread)| thread.sent().map(move |sent| (place, sent))).collect();
    sent.sort_by_key(|(_, sent)| sent.start);
    let rate = plan.link.whole_rate();
    let mut link = Link::new(rate);
    let mut counted = vec![Vec::<SentPacket>::new(); threads.len()];
    let mut on_it = |(thread, sent): (usize, SentPacket)| {
        counted.iter_mut().for_each(|of| of.retain(|other| other.departure > sent.start));
        let others = counted.iter().enumerate().filter(|(other, _)| *other != thread);
        let others = others.flat_map(|(_, of)| of).map(|other| u64::from(other.packet.length));
        let ahead = rate.time_for(Bytes(others.sum()));
        counted[thread].push(sent);
        let departure = link.transmit(link.free_at().max(sent.start), sent.packet.length);
        OnTheLink { thread, sent, departure, ahead }
    };
    sent.into_iter().map(&mut on_it).collect()
}

/// The same plan for a link of this many threads. Each can count on the rate that the link had.
fn with_threads(case: &Case, threads: u64) -> Plan {
    let rate = case.plan.link.rate.0;
    let written = format!("rate = \"{rate}bit\"\n");
    assert!(case.text.contains(&written), "{}", case.text);
    let shared = format!("rate = \"{}bit\"\nthreads = {threads}\n", rate * threads);
    let text = case.text.replacen(&written, &shared, 1);
    Plan::parse(&text, "drawn.toml", Path::new(".")).expect("a link that is shared")
}

/// Floods that come and go, beyond any contract.
fn floods(plan: &Plan, end: u64, draw: &mut Generator) -> VecDeque<(u64, u16, u16, u32)> {
    let packet = plan.link.rate.time_for(plan.link.max_packet).0;
    let leaves: Vec<_> = plan.leaves().map(|(id, _)| name_of(plan, id.index())).collect();
    let mut time = draw.random_range(0..=4 * packet);
    let mut arrivals = VecDeque::new();
    while time < end && arrivals.len() < 400 {
        for flow in 0..draw.random_range(1..12u16) {
            let name = leaves[draw.random_range(0..leaves.len())];
            let length = draw.random_range(1..=plan.link.max_packet.0 as u32);
            arrivals.push_back((time, name, flow, length));
        }
        let pause = [packet, 8 * packet][draw.random_range(0..2usize)];
        time += draw.random_range(1..=pause);
    }
    arrivals
}

/// Packets with a bound, and those that the lateness of threads made later.
#[derive(Debug, Default)]
struct Judged {
    packets: u64,
    beyond_alone: u64,
}

fn judge(seed: u64, discipline: Discipline, latest: u64, judged: &mut Judged) {
    let mut draw = Generator::seed_from_u64(seed);
    let draw = &mut draw;
    let Some(case) = case(discipline, draw) else { return };
    if case.plan.classes.iter().any(|class| class.curves.upper_limit.is_some()) {
        return;
    }
    let count = draw.random_range(2..=4u64);
    let plan = with_threads(&case, count);
    let catch_up = Nanos([0, 300_000, 1_000_000][draw.random_range(0..3usize)]);
    let shares = RateShare::of_link(plan.link.whole_rate(), count as u16);
    let shares = shares.into_iter();
    let mut threads: Vec<_> =
        shares.map(|share| Thread::new(&plan, share, catch_up, latest)).collect();
    let end = case.arrivals.last().map_or(0, |(time, ..)| *time);
    threads[0].arrivals = case.arrivals.iter().copied().collect();
    for other in &mut threads[1..] {
        other.arrivals = floods(&plan, end, draw);
    }
    run(&mut threads, draw);
    let (bounds, whole) = (plan.bounds(), case.plan.bounds());
    let packets = plan.link.whole_rate().time_for(Bytes((count - 1) * plan.link.max_packet.0));
    for OnTheLink { thread, sent, departure, ahead } in on_the_link(&plan, &threads) {
        let what = format!("{discipline:?} {seed}: {departure} behind {ahead}, {sent:?}");
        assert!(departure.0 <= sent.departure.0 + ahead.0 + 1, "{what}");
        if latest == 0 {
            assert!(sent.allowance == Nanos::ZERO && ahead <= packets, "{what}");
        }
        let class = sent.packet.class.index();
        let (0, Ok(bound)) = (thread, bounds[class]) else { continue };
        let delay = departure.saturating_sub(sent.packet.arrival);
        let late = sent.allowance.saturating_add(ahead.saturating_sub(packets));
        assert!(delay <= bound.saturating_add(late) && sent.keeps(bound), "{what}: {bound}");
        judged.packets += 1;
        judged.beyond_alone += u64::from(whole[class].is_ok_and(|alone| delay > alone));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(8))]

    /// Whatever the others send and however late all are, a packet leaves the link within its
    /// bound, what its own thread was late, and what others handed over late.
    #[test]
    fn no_packet_is_later_than_its_bound_beside_other_threads(seed: u64, late in 0..2usize) {
        for discipline in promising() {
            judge(seed, discipline, [0, 3_000_000][late], &mut Judged::default());
        }
    }
}

#[test]
fn some_packets_take_longer_than_on_a_link_of_their_own() {
    let mut judged = Judged::default();
    for seed in 0..30 {
        promising().for_each(|discipline| judge(seed, discipline, 0, &mut judged));
    }
    assert!(judged.packets > 2_000 && judged.beyond_alone > 0, "{judged:?}");
}

/// Two threads of a link at 100 Mbit/s for packets without contracts.
fn pair() -> (Plan, Vec<Thread>) {
    let text = "version = 1\nscheduler.kind = \"drr\"\nlink = { rate = \"100mbit\", threads = 2 }\n\
                [class.c1]\nmatch = \"any\"\n";
    let plan = Plan::parse(text, "pair.toml", Path::new(".")).expect("a plan");
    let shares = RateShare::of_link(plan.link.whole_rate(), 2).into_iter();
    let threads = shares.map(|share| Thread::new(&plan, share, Nanos(1_000_000), 0)).collect();
    (plan, threads)
}

fn flood(packets: u64, from: u64) -> VecDeque<(u64, u16, u16, u32)> {
    (0..packets).map(|_| (from, 1, 1, 1_250)).collect()
}

#[test]
fn a_thread_that_is_alone_has_the_whole_rate() {
    let (plan, mut threads) = pair();
    threads[0].arrivals = flood(1_000, 0);
    run(&mut threads, &mut Generator::seed_from_u64(1));
    let last = threads[0].sent().last().expect("packets").departure;
    assert_eq!(last, plan.link.whole_rate().time_for(Bytes(1_250_000)));
}

#[test]
fn threads_share_alike_at_once_and_who_is_done_leaves_the_rest() {
    let (plan, mut threads) = pair();
    threads[0].arrivals = flood(2_000, 0);
    threads[1].arrivals = flood(500, 50_000_000);
    run(&mut threads, &mut Generator::seed_from_u64(1));
    let last = |thread: &Thread| thread.sent().last().expect("packets").departure;
    // Half the rate for the shorter one, and no time without packets in all.
    let expected = Nanos(50_000_000) + plan.link.rate.time_for(Bytes(625_000));
    assert!(last(&threads[1]) - expected <= Nanos(300_000), "{}", last(&threads[1]));
    let whole = plan.link.whole_rate().time_for(Bytes(2_500 * 1_250));
    assert!(last(&threads[0]) - whole <= Nanos(500_000), "{}", last(&threads[0]));
}

#[test]
fn what_is_proved_is_the_share_and_the_time_to_get_it() {
    let plan = |link: &str| {
        let text = format!(
            "version = 1\nscheduler.kind = \"edf\"\n[link]\nmax-packet = \"1250b\"\n{link}\n\
             [class.c1]\ndeadline = \"10ms\"\narrival = {{ bucket = \"1250b\", rate = \"1mbit\" }}\n\
             [class.c2]\n"
        );
        Plan::parse(&text, "plan.toml", Path::new(".")).expect("a plan")
    };
    let alone = plan("rate = \"50mbit\"");
    let shared = plan("rate = \"100mbit\"\nthreads = 2");
    let threads = shared.link.threads.expect("two");
    assert_eq!((threads.share(), shared.link.rate), (alone.link.rate, alone.link.rate));
    // 200 us for a packet at half the rate, and 100 us for one of the other thread.
    let stall = threads.stall(shared.link.max_packet);
    assert_eq!((stall, shared.link.stall), (Nanos(300_002), Nanos(300_002)));
    let later = |bound: Nanos| bound + stall;
    assert_eq!(shared.bounds()[0], alone.bounds()[0].map(later));
    assert_eq!(ThreadsSpec { count: 3, ..threads }.share().0, 33_333_333);
}
