//! Beside a list that is searched from end to end, and beside the theorems.

use proptest::prelude::*;
use std::collections::HashMap;
use std::vec::Vec;

use super::*;

const BUDGET: Budget =
    Budget { bytes: Bytes(u64::MAX), rate: Some(Rate(8_000_000_000)), in_flight: Bytes(0) };

/// The rules of the queue, word by word. At a byte a nanosecond.
#[derive(Clone, Default)]
struct Model {
    waiting: Vec<(u64, Datagram)>,
    arrived: u64,
    /// `V` by level, and `F` by level and stream, of levels with datagrams without deadline.
    virtual_time: HashMap<u32, u64>,
    finish: HashMap<(u32, u64), u64>,
    /// `S` of what waits next.
    start: HashMap<(u32, u64), u64>,
}

impl Model {
    fn push(&mut self, datagram: Datagram) -> u64 {
        self.waiting.push((self.arrived, datagram));
        self.arrived += 1;
        if datagram.deadline.is_none() {
            let Rank { level, stream, .. } = datagram.rank;
            let virtual_time = self.virtual_time.get(&level).copied().unwrap_or(0);
            let finish = self.finish.get(&(level, stream)).copied().unwrap_or(0);
            self.start.entry((level, stream)).or_insert(finish.max(virtual_time));
        }
        self.arrived - 1
    }

    fn remove(&mut self, arrival: u64) -> Option<Datagram> {
        let at = self.waiting.iter().position(|(other, _)| *other == arrival)?;
        let (_, datagram) = self.waiting.remove(at);
        let Rank { level, stream, .. } = datagram.rank;
        let shared = |of: &dyn Fn(&Rank) -> bool| {
            self.waiting.iter().any(|(_, other)| other.deadline.is_none() && of(&other.rank))
        };
        if datagram.deadline.is_none()
            && !shared(&|rank| (rank.level, rank.stream) == (level, stream))
        {
            if let Some(start) = self.start.remove(&(level, stream)) {
                self.finish.insert((level, stream), start);
            }
            if !shared(&|rank| rank.level == level) {
                self.virtual_time.remove(&level);
                self.finish.retain(|(other, _), _| *other != level);
            }
        }
        Some(datagram)
    }

    fn expire(&mut self, now: u64) -> Vec<u64> {
        let expired =
            self.waiting.iter().filter(|(_, one)| one.expires.is_some_and(|at| at.0 <= now));
        let expired: Vec<u64> = expired.map(|(arrival, _)| *arrival).collect();
        for arrival in &expired {
            self.remove(*arrival);
        }
        expired
    }

    fn next(&self) -> Option<(u64, Datagram)> {
        let level = self.waiting.iter().map(|(_, one)| one.rank.level).min()?;
        let of_level = || self.waiting.iter().filter(move |(_, one)| one.rank.level == level);
        let due = of_level().filter(|(_, one)| one.deadline.is_some());
        if let Some(first) = due.min_by_key(|(arrival, one)| (one.deadline, *arrival)) {
            return Some(*first);
        }
        let (_, stream) = of_level()
            .map(|(_, one)| (self.start[&(level, one.rank.stream)], one.rank.stream))
            .min()?;
        let own = of_level().filter(|(_, one)| one.rank.stream == stream);
        own.min_by_key(|(arrival, one)| (one.rank.order, *arrival)).copied()
    }

    /// What is sent, and what is handed back before.
    fn pop(&mut self, now: u64, budget: u64, in_flight: u64) -> (Option<(u64, u64)>, Vec<u64>) {
        let mut back = self.expire(now);
        while let Some((arrival, datagram)) = self.next() {
            let arrives = now + in_flight + u64::from(datagram.length);
            if datagram.expires.is_some_and(|expires| arrives > expires.0) {
                self.remove(arrival);
                back.push(arrival);
            } else if u64::from(datagram.length) > budget {
                break;
            } else {
                if datagram.deadline.is_none() {
                    let Rank { level, stream, .. } = datagram.rank;
                    let start = self.start.get_mut(&(level, stream)).unwrap();
                    self.virtual_time.insert(level, *start);
                    *start += u64::from(datagram.length);
                }
                self.remove(arrival);
                return (Some((arrival, arrives)), back);
            }
        }
        (None, back)
    }

    fn forecast(&self, now: u64, datagram: Datagram) -> Option<u64> {
        let mut copy = self.clone();
        let own = copy.push(datagram);
        let mut in_flight = 0;
        while let (Some((arrival, arrives)), _) = copy.pop(now, u64::MAX, in_flight) {
            if arrival == own {
                return Some(arrives);
            }
            in_flight = arrives - now;
        }
        None
    }
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Push(Datagram),
    Pop { later: u64, budget: u64, in_flight: u64 },
    Expire { later: u64 },
    Withdraw(usize),
    Forecast(Datagram),
}

/// Datagrams whose deadlines and expiries are near, so that many are late, too late or expired.
/// Times are from now on.
fn datagram() -> impl Strategy<Value = Datagram> {
    let time = || prop::option::of((0..400u64).prop_map(Nanos));
    let rank = (0..3u32, 0..3u64, 0..4u128).prop_map(|(level, stream, order)| Rank {
        level,
        stream,
        order,
    });
    (1..60u32, rank, time(), time()).prop_map(|(length, rank, deadline, expires)| Datagram {
        handle: 0,
        length,
        rank,
        deadline,
        expires,
    })
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => datagram().prop_map(Step::Push),
        4 => (0..80u64, 20..90u64, 0..50u64)
            .prop_map(|(later, budget, in_flight)| Step::Pop { later, budget, in_flight }),
        1 => (0..80u64).prop_map(|later| Step::Expire { later }),
        1 => any::<usize>().prop_map(Step::Withdraw),
        2 => datagram().prop_map(Step::Forecast),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn the_rules_are_kept(steps in prop::collection::vec(step(), 1..200)) {
        let (mut queue, mut model) = (DeadlineQueue::new(usize::MAX), Model::default());
        let (mut tickets, mut now) = (Vec::new(), 0);
        for step in steps {
            let from_now = |datagram: Datagram| Datagram {
                deadline: datagram.deadline.map(|due| due + Nanos(now)),
                expires: datagram.expires.map(|expires| expires + Nanos(now)),
                handle: model.arrived,
                ..datagram
            };
            let mut back = Vec::new();
            let mut handed_back = |datagram: Datagram, why: Reason| back.push((datagram.handle, why));
            match step {
                Step::Push(datagram) => {
                    let datagram = from_now(datagram);
                    let arrival = model.push(datagram);
                    tickets.push((arrival, queue.push(datagram).unwrap()));
                }
                Step::Pop { later, budget: bytes, in_flight } => {
                    now += later;
                    let (expected, mut expected_back) = model.pop(now, bytes, in_flight);
                    let budget = Budget { bytes: Bytes(bytes), in_flight: Bytes(in_flight), ..BUDGET };
                    let sent = queue.pop(Nanos(now), budget, &mut handed_back);
                    let sent = sent.map(|sent| (sent.datagram.handle, sent.arrives.0));
                    prop_assert_eq!(sent, expected);
                    let mut back: Vec<u64> = back.iter().map(|(handle, _)| *handle).collect();
                    back.sort_unstable();
                    expected_back.sort_unstable();
                    prop_assert_eq!(back, expected_back);
                }
                Step::Expire { later } => {
                    now += later;
                    queue.expire(Nanos(now), &mut handed_back);
                    back.sort_unstable_by_key(|(handle, _)| *handle);
                    let expected = model.expire(now).into_iter().map(|one| (one, Reason::Expired));
                    prop_assert_eq!(back, expected.collect::<Vec<_>>());
                }
                Step::Withdraw(_) if tickets.is_empty() => {}
                Step::Withdraw(pick) => {
                    let (arrival, ticket) = tickets.swap_remove(pick % tickets.len());
                    prop_assert_eq!(queue.withdraw(ticket), model.remove(arrival));
                }
                Step::Forecast(datagram) => {
                    let datagram = from_now(datagram);
                    let forecast = queue.forecast(Nanos(now), &datagram, BUDGET);
                    prop_assert_eq!(forecast.map(|Nanos(at)| at), model.forecast(now, datagram));
                    let will_arrive = forecast.is_some_and(|at| datagram.deadline.is_none_or(|due| at <= due));
                    prop_assert_eq!(queue.will_arrive(Nanos(now), &datagram, BUDGET), will_arrive);
                }
            }
            prop_assert_eq!(queue.len(), model.waiting.len());
            let bytes = model.waiting.iter().map(|(_, one)| u64::from(one.length)).sum();
            prop_assert_eq!(queue.bytes(), Bytes(bytes));
            let expiry = model.waiting.iter().filter_map(|(_, one)| one.expires).min();
            prop_assert_eq!(queue.next_expiry(), expiry);
        }
        prop_assert!(queue.shares.is_small(&queue.tree));
    }

    /// Goyal, Vin, Cheng 1996, theorem 1, for each time in which two streams have datagrams.
    #[test]
    fn streams_share_alike(
        lengths in prop::collection::vec((1..1500u32, 1..1500u32), 2..100),
        others in prop::collection::vec((2..5u64, 1..1500u32, any::<bool>()), 0..50),
    ) {
        let mut queue = DeadlineQueue::new(usize::MAX);
        let mut push = |stream: u64, length: u32, deadline: Option<Nanos>| {
            let rank = Rank { stream, ..Rank::default() };
            queue.push(Datagram { handle: stream, length, rank, deadline, expires: None }).unwrap();
        };
        for (first, second) in &lengths {
            push(0, *first, None);
            push(1, *second, None);
        }
        for (stream, length, is_due) in &others {
            push(*stream, *length, is_due.then_some(Nanos(7)));
        }
        let longest = |of: fn(&(u32, u32)) -> u32| i64::from(lengths.iter().map(of).max().unwrap());
        let allowed = longest(|pair| pair.0) + longest(|pair| pair.1);
        let (mut waiting, mut ahead, mut least, mut most) = ([lengths.len(); 2], 0i64, 0i64, 0i64);
        while let Some(sent) = queue.pop(Nanos(0), BUDGET, &mut |_, _| unreachable!()) {
            let (stream, length) = (sent.datagram.handle as usize, i64::from(sent.datagram.length));
            if stream > 1 {
                continue;
            }
            ahead += if stream == 0 { length } else { -length };
            (least, most) = (least.min(ahead), most.max(ahead));
            prop_assert!(most - least <= allowed);
            waiting[stream] -= 1;
            if waiting[stream] == 0 {
                break;
            }
        }
    }

    /// A stream that has one datagram after another, and never two, has no more than another one.
    #[test]
    fn who_pauses_gains_nothing(rounds in 1..200usize, length in 1..1500u32) {
        let mut queue = DeadlineQueue::new(usize::MAX);
        let datagram = |stream| Datagram {
            handle: stream,
            length,
            rank: Rank { stream, ..Rank::default() },
            ..Datagram::default()
        };
        for _ in 0..rounds {
            queue.push(datagram(1)).unwrap();
        }
        queue.push(datagram(0)).unwrap();
        let mut sent = [0usize; 2];
        for _ in 0..rounds {
            let one = queue.pop(Nanos(0), BUDGET, &mut |_, _| {}).unwrap().datagram.handle;
            sent[one as usize] += 1;
            if one == 0 {
                queue.push(datagram(0)).unwrap();
            }
        }
        prop_assert!(sent[0].abs_diff(sent[1]) <= 1, "{sent:?}");
    }

    /// If every datagram was asked about before it came, and came only if all would arrive in time,
    /// all do (Liu, Layland 1973, theorem 7, for a finite set).
    #[test]
    fn what_will_arrive_does(datagrams in prop::collection::vec((1..60u32, 0..3000u64), 1..60)) {
        let mut queue = DeadlineQueue::new(usize::MAX);
        let mut all: Vec<(u64, u64)> = Vec::new();
        for (length, due) in datagrams {
            let mut with = all.clone();
            with.push((due, length.into()));
            with.sort_unstable();
            let mut at = 0;
            let fits = with.iter().all(|(due, length)| { at += length; at <= *due });
            let datagram = Datagram { length, deadline: Some(Nanos(due)), expires: Some(Nanos(due)), ..Datagram::default() };
            if fits {
                prop_assert!(queue.will_arrive(Nanos(0), &datagram, BUDGET));
                queue.push(datagram).unwrap();
                all = with;
            }
        }
        let (mut budget, mut sent) = (BUDGET, 0);
        while let Some(one) = queue.pop(Nanos(0), budget, &mut |_, _| panic!("in time")) {
            prop_assert!(Some(one.arrives) <= one.datagram.deadline);
            budget.in_flight.0 += u64::from(one.datagram.length);
            sent += 1;
        }
        prop_assert_eq!(sent, all.len());
    }
}

#[test]
fn a_full_queue_takes_nothing() {
    let mut queue = DeadlineQueue::new(1);
    let ticket = queue.push(Datagram::default()).unwrap();
    assert_eq!(queue.push(Datagram::default()), Err(QueueFull));
    assert_eq!(queue.withdraw(ticket), Some(Datagram::default()));
    assert_eq!(queue.withdraw(ticket), None);
    assert!(queue.push(Datagram::default()).is_ok());
}

#[test]
fn at_the_end_of_time_nothing_breaks() {
    let mut queue = DeadlineQueue::new(10);
    let budgets = [None, Some(Rate(0)), Some(Rate(1))].map(|rate| Budget { rate, ..BUDGET });
    for expires in [None, Some(Nanos::MAX), Some(Nanos(u64::MAX - 1))] {
        let datagram = Datagram { length: u32::MAX, expires, ..Datagram::default() };
        for budget in budgets {
            queue.push(datagram).unwrap();
            queue.forecast(Nanos::MAX, &datagram, budget);
            let mut back = 0;
            let sent = queue.pop(Nanos::MAX, budget, &mut |_, _| back += 1);
            assert_eq!(usize::from(sent.is_some()) + back, 1);
            assert!(queue.is_empty());
        }
    }
}

/// Objects of two tracks in both group orders, and an urgent one of a third.
#[test]
fn objects_of_moq_go_by_priority_and_group() {
    let mut queue = DeadlineQueue::new(100);
    let orders = [GroupOrder::Ascending, GroupOrder::Descending];
    for (group, object) in [(7, 0), (6, 1), (6, 0), (7, 1)] {
        for (track, order) in orders.into_iter().enumerate() {
            let rank = Rank::moq([1, 9], track as u64, order, group, object);
            let handle = track as u64 * 100 + group * 10 + object;
            queue.push(Datagram { handle, length: 1000, rank, ..Datagram::default() }).unwrap();
        }
    }
    for (priorities, handle) in [([1, 8], 1), ([0, 200], 0), ([2, 0], 2)] {
        let rank = Rank::moq(priorities, 9, GroupOrder::Ascending, 0, 0);
        queue.push(Datagram { handle, length: 1000, rank, ..Datagram::default() }).unwrap();
    }
    let sent = std::iter::from_fn(|| queue.pop(Nanos(0), BUDGET, &mut |_, _| {}));
    let sent: Vec<u64> = sent.map(|sent| sent.datagram.handle).collect();
    assert_eq!(sent, [0, 1, 60, 170, 61, 171, 70, 160, 71, 161, 2]);
}

/// RFC 9218 section 10.
#[test]
fn responses_of_http_go_by_urgency_and_stream() {
    let mut queue = DeadlineQueue::new(100);
    for (urgency, is_incremental, stream) in
        [(3, false, 8), (3, false, 4), (3, true, 12), (1, true, 16), (9, false, 0), (7, false, 20)]
    {
        for _ in 0..2 {
            let rank = Rank::http(urgency, is_incremental, stream);
            let datagram = Datagram { handle: stream, length: 1000, rank, ..Datagram::default() };
            queue.push(datagram).unwrap();
        }
    }
    let sent = std::iter::from_fn(|| queue.pop(Nanos(0), BUDGET, &mut |_, _| {}));
    let sent: Vec<u64> = sent.map(|sent| sent.datagram.handle).collect();
    assert_eq!(sent, [16, 16, 12, 4, 12, 4, 8, 8, 0, 0, 20, 20]);
}
