//! Answers of the deadline queue through the library are those of the queue in Rust.

use std::fmt::Write;

use laxity::deadline_queue::{Budget, Datagram, DeadlineQueue, Rank, Reason, Ticket};
use laxity::units::{Bytes, Nanos, Rate};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::program::{Program, Tools};

/// The most datagrams that wait.
const LIMIT: usize = 40;

/// A call of the queue.
enum Call {
    Push(Datagram),
    Pop(Budget),
    Withdraw(usize),
    Forecast(Datagram, Budget),
    Expire,
}

fn datagram(random: &mut Pcg64, now: u64) -> Datagram {
    let order: u64 = random.random_range(0..6);
    let mut time = |share, most: u64| {
        random.random_bool(share).then(|| Nanos(now + random.random_range(1..most)))
    };
    let (deadline, expires) = (time(0.4, 40_000_000), time(0.7, 60_000_000));
    let rank = Rank {
        level: random.random_range(0..3),
        stream: random.random_range(0..4),
        order: u128::from(order / 2) << 64 | u128::from(order),
    };
    Datagram { handle: 0, length: random.random_range(1..=1500), rank, deadline, expires }
}

fn budget(random: &mut Pcg64) -> Budget {
    let rate = random.random_bool(0.9).then(|| Rate(random.random_range(1_000_000..9_000_000)));
    let in_flight = Bytes(random.random_range(0..4000));
    Budget { bytes: Bytes(random.random_range(500..4000)), rate, in_flight }
}

/// Calls at times.
fn calls(seed: u64) -> Vec<(u64, Call)> {
    let mut random = Pcg64::seed_from_u64(seed);
    let (mut now, mut pushed) = (1, 0);
    let mut call = |_| {
        now += random.random_range(0..700_000);
        let call = match random.random_range(0..12) {
            0..6 => {
                pushed += 1;
                Call::Push(datagram(&mut random, now))
            }
            6..9 => Call::Pop(budget(&mut random)),
            9 if pushed > 0 => Call::Withdraw(random.random_range(0..pushed)),
            10 => Call::Forecast(datagram(&mut random, now), budget(&mut random)),
            _ => Call::Expire,
        };
        (now, call)
    };
    (0..2000).map(&mut call).collect()
}

/// A call as `replay_datagrams.c` reads it.
fn line((now, call): &(u64, Call)) -> String {
    let datagram = |datagram: &Datagram| {
        let Datagram { length, rank: Rank { level, stream, order }, deadline, expires, .. } =
            *datagram;
        let time = |time: Option<Nanos>| time.map_or(0, |Nanos(time)| time);
        let (order, deadline, expires) = (order as u64, time(deadline), time(expires));
        format!("{length} {level} {stream} {order} {deadline} {expires}")
    };
    let budget = |Budget { bytes, rate, in_flight }: &Budget| {
        format!("{} {} {}", bytes.0, rate.map_or(0, |Rate(rate)| rate), in_flight.0)
    };
    match call {
        Call::Push(pushed) => format!("p {now} {}\n", datagram(pushed)),
        Call::Pop(with) => format!("s {now} {}\n", budget(with)),
        Call::Withdraw(number) => format!("w {now} {number}\n"),
        Call::Forecast(asked, with) => format!("f {now} {} {}\n", datagram(asked), budget(with)),
        Call::Expire => format!("e {now}\n"),
    }
}

/// What the queue in Rust answers, in the words of `replay_datagrams.c`.
fn expected(calls: &[(u64, Call)]) -> String {
    let mut queue = DeadlineQueue::new(LIMIT);
    let mut tickets: Vec<Option<Ticket>> = Vec::new();
    let mut written = String::new();
    let mut unsent: Vec<(Datagram, Reason)> = Vec::new();
    for (now, call) in calls {
        let time = Nanos(*now);
        let mut answers = Vec::new();
        match call {
            Call::Push(datagram) => {
                let handle = tickets.len() as u64;
                tickets.push(queue.push(Datagram { handle, ..*datagram }).ok());
                answers.push(match tickets.last() {
                    Some(Some(_)) => format!("push {handle} {now}"),
                    _ => "push full".into(),
                });
            }
            Call::Pop(budget) => {
                let sent = queue.pop(time, *budget, &mut |one, why| unsent.push((one, why)));
                answers.push(sent.map_or("sent none".into(), |sent| {
                    format!("sent {} {}", sent.datagram.handle, sent.arrives.0)
                }));
            }
            Call::Withdraw(number) => {
                let taken = tickets[*number].take().and_then(|ticket| queue.withdraw(ticket));
                answers.push(taken.map_or("withdrawn none".into(), |taken| {
                    let deadline = taken.deadline.unwrap_or(Nanos::MAX).0;
                    format!("withdrawn {} {deadline}", taken.handle)
                }));
            }
            Call::Forecast(datagram, budget) => {
                let arrives = queue.forecast(time, datagram, *budget);
                answers.push(match arrives {
                    Some(Nanos(arrives)) => format!("forecast 0 {arrives}"),
                    None => "forecast none".into(),
                });
                let will_arrive = u32::from(queue.will_arrive(time, datagram, *budget));
                answers.push(format!("will arrive {will_arrive} 0"));
            }
            Call::Expire => {
                queue.expire(time, &mut |one, why| unsent.push((one, why)));
                answers.push(match queue.next_expiry() {
                    Some(Nanos(expiry)) => format!("next expiry 0 {expiry}"),
                    None => "next expiry none".into(),
                });
                answers.push(format!("backlog {} {}", queue.len(), queue.bytes().0));
            }
        }
        for (datagram, why) in unsent.drain(..) {
            let why = if why == Reason::Expired { "expired" } else { "too late" };
            writeln!(written, "unsent {} {why}", datagram.handle).unwrap();
        }
        for answer in answers {
            writeln!(written, "{answer}").unwrap();
        }
    }
    written
}

#[test]
fn answers_through_the_library_are_those_of_the_queue() {
    let program = Program::compile("replay_datagrams.c", Tools::Sanitizers, &[]);
    let mut all = String::new();
    for seed in 1..=20 {
        let calls = calls(seed);
        let input: String = calls.iter().map(line).collect();
        let answers = program.run(&[&LIMIT.to_string()], &input);
        let expected = expected(&calls);
        let differs = answers.lines().zip(expected.lines()).find(|(a, b)| a != b);
        assert!(answers == expected, "seed {seed}: {differs:?}");
        all += &answers;
    }
    // Every kind of answer was among them.
    for (answer, least) in [
        ("push full", 20),
        ("sent none", 100),
        ("expired", 1000),
        ("too late", 200),
        ("withdrawn none", 100),
        ("forecast none", 20),
        ("will arrive 1", 500),
        ("next expiry none", 5),
    ] {
        let count = all.matches(answer).count();
        assert!(count >= least, "{count} times {answer}");
    }
}
