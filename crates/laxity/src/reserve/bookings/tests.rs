//! Bookings beside a walk over every moment.

use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;

use super::*;

/// A link that holds a sum of amounts, and is the longer occupied the more of it is promised.
struct Sum(u64);

impl Admission<u64> for Sum {
    type Error = u64;

    fn test(&mut self, contracts: &[&u64]) -> Result<Option<Nanos>, u64> {
        let sum = contracts.iter().copied().sum();
        if sum > self.0 { Err(sum) } else { Ok(Some(Nanos(sum / 2))) }
    }
}

#[derive(Clone, Debug)]
enum Request {
    Enter { name: u8, amount: u64, ahead: u64, lasts: Option<u64>, held: Option<u64> },
    Commit(u8),
    Renew(u8, Option<u64>),
    Change(u8, u64),
    Release(u8),
}

fn requests() -> impl Strategy<Value = Vec<(u64, Request)>> {
    let name = || 0..8u8;
    let some = |most| prop::option::of(1..most);
    let ahead = prop_oneof![2 => Just(0u64), 1 => 1..60u64];
    let enter = (name(), 1..7u64, ahead, some(40u64), some(20u64)).prop_map(
        |(name, amount, ahead, lasts, held)| Request::Enter { name, amount, ahead, lasts, held },
    );
    let request = prop_oneof![
        5 => enter,
        1 => name().prop_map(Request::Commit),
        2 => (name(), some(60)).prop_map(|(name, until)| Request::Renew(name, until)),
        2 => (name(), 1..7u64).prop_map(|(name, amount)| Request::Change(name, amount)),
        2 => name().prop_map(Request::Release),
    ];
    prop::collection::vec((0..12u64, request), 1..40)
}

/// What occupies the link at a time.
fn occupied<K: Ord + Clone>(bookings: &Bookings<K, u64>, at: Nanos) -> u64 {
    let occupying = bookings.iter().filter(|(_, one)| one.from <= at && one.occupies(at));
    occupying.map(|(_, one)| one.contract).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    /// At no moment from now on is more promised than fits, and whatever was refused would have
    /// been too much at the moment that is told.
    #[test]
    fn what_is_promised_fits_at_every_moment(requests in requests()) {
        let (mut bookings, mut now) = (Bookings::<u8, u64>::default(), Nanos(0));
        for (step, request) in requests {
            now += Nanos(step);
            let leaving = |bookings: &Bookings<u8, u64>| -> Vec<(u8, Nanos)> {
                let ended = |one: &Booking<u64>| one.until.filter(|until| *until <= now);
                let ended = |(name, one): (&u8, &Booking<u64>)| Some((*name, ended(one)?));
                bookings.iter().filter_map(ended).collect()
            };
            for (name, until) in leaving(&bookings) {
                let free = bookings.get(&name).unwrap().free_at().unwrap();
                prop_assert!(free >= until);
            }
            bookings.expire(now);
            let before: Vec<_> = bookings.iter().map(|(name, one)| (*name, one.clone())).collect();
            let answer = match request {
                Request::Enter { name, amount, ahead, lasts, held } => {
                    let from = now + Nanos(ahead);
                    let until = lasts.map(|lasts| from + Nanos(lasts));
                    let by = held.map(|held| now + Nanos(held));
                    let period = Period { from, until };
                    bookings.request(now, name, amount, period, by, &mut Sum(12))
                }
                Request::Commit(name) => bookings.commit(now, &name),
                Request::Renew(name, until) => {
                    bookings.renew(now, &name, until.map(|until| now + Nanos(until)), &mut Sum(12))
                }
                Request::Change(name, amount) => {
                    bookings.change(now, [&name, &(name + 8)], amount, &mut Sum(12))
                }
                Request::Release(name) => bookings.release(now, &name),
            };
            if let Err(refusal) = answer {
                let after: Vec<_> = bookings.iter().map(|(name, one)| (*name, one.clone())).collect();
                prop_assert_eq!(before, after);
                if let Refusal::NoRoom { at, why } = refusal {
                    prop_assert!(at >= now && why > 12);
                }
            }
            for at in 0..250 {
                prop_assert!(occupied(&bookings, now + Nanos(at)) <= 12, "at {at} after {now}");
            }
        }
    }
}

fn name(name: &str) -> String {
    name.into()
}

const FOR_EVER: Period = Period { from: Nanos(0), until: None };

#[test]
fn what_is_released_is_free_when_it_is_no_longer_felt() {
    let mut bookings = Bookings::default();
    let mut sum = Sum(10);
    bookings.request(Nanos(0), name("a"), 8, FOR_EVER, None, &mut sum).unwrap();
    bookings.release::<()>(Nanos(100), &name("a")).unwrap();
    let refused = bookings.request(Nanos(103), name("b"), 8, FOR_EVER, None, &mut sum);
    assert_eq!(refused, Err(Refusal::NoRoom { at: Nanos(103), why: 16 }));
    assert_eq!(bookings.next_change(Nanos(100)), Some(Nanos(104)));
    bookings.request(Nanos(104), name("b"), 8, FOR_EVER, None, &mut sum).unwrap();
    assert_eq!(bookings.expire(Nanos(104)), ["a"]);
}

#[test]
fn what_is_changed_is_promised_twice_until_the_old_contract_is_no_longer_felt() {
    let mut bookings = Bookings::default();
    let mut sum = Sum(10);
    let [a, b] = [name("a"), name("b")];
    bookings.request(Nanos(0), a.clone(), 4, FOR_EVER, None, &mut sum).unwrap();
    let change = bookings.change(Nanos(100), [&a, &b], 7, &mut sum);
    assert_eq!(change, Err(Refusal::NoRoom { at: Nanos(100), why: 11 }));
    bookings.change(Nanos(100), [&a, &b], 6, &mut sum).unwrap();
    assert_eq!(bookings.get(&a).unwrap().state(Nanos(100)), Some(State::Leaving));
    let [held, free] = [104, 105].map(|at| occupied(&bookings, Nanos(at)));
    assert_eq!((held, free), (10, 6), "the sum of 10 takes 5 to clear");
    assert_eq!(bookings.change(Nanos(101), [&a, &b], 1, &mut sum), Err(Refusal::Unknown));
}

#[test]
fn one_may_begin_where_another_ends_and_not_sooner() {
    let mut bookings = Bookings::default();
    let mut sum = Sum(10);
    let evening = |from, until| Period { from: Nanos(from), until: Some(Nanos(until)) };
    bookings.request(Nanos(0), name("news"), 8, evening(20, 22), None, &mut sum).unwrap();
    let mut ask = |name: &str, period| {
        bookings.clone().request(Nanos(0), name.into(), 6, period, None, &mut sum).is_ok()
    };
    assert!(ask("film", evening(26, 30)) && !ask("film", evening(25, 30)), "it takes 4 to clear");
    assert!(ask("film", evening(0, 16)) && !ask("film", evening(0, 18)));
    assert!(!ask("film", FOR_EVER));
    let renewed = bookings.renew(Nanos(21), &name("news"), None, &mut sum);
    assert_eq!(renewed, Ok(()));
}

#[test]
fn what_is_not_committed_in_time_ends() {
    let mut bookings = Bookings::default();
    let mut sum = Sum(10);
    let by = |by| Some(Nanos(by));
    bookings.request(Nanos(0), name("a"), 4, FOR_EVER, by(10), &mut sum).unwrap();
    bookings.request(Nanos(0), name("b"), 4, FOR_EVER, by(10), &mut sum).unwrap();
    bookings.commit::<()>(Nanos(9), &name("a")).unwrap();
    assert_eq!(bookings.commit::<()>(Nanos(10), &name("b")), Err(Refusal::Unknown));
    assert!(bookings.expire(Nanos(11)).is_empty());
    assert_eq!(bookings.get(&name("b")).unwrap().state(Nanos(11)), Some(State::Leaving));
    assert_eq!(bookings.expire(Nanos(14)), ["b"]);
    assert_eq!(bookings.get(&name("a")).unwrap().state(Nanos(14)), Some(State::Active));
}

#[test]
fn what_is_not_there_is_said() {
    let mut bookings = Bookings::<String, u64>::default();
    assert_eq!(bookings.release::<()>(Nanos(0), &name("a")), Err(Refusal::Unknown));
    let over = Period { from: Nanos(0), until: Some(Nanos(5)) };
    let asked = bookings.request(Nanos(5), name("a"), 1, over, None, &mut Sum(1));
    assert_eq!(asked, Err(Refusal::Empty));
    bookings.request(Nanos(0), name("a"), 1, FOR_EVER, None, &mut Sum(1)).unwrap();
    let again = bookings.request(Nanos(0), name("a"), 1, FOR_EVER, None, &mut Sum(1));
    assert_eq!(again, Err(Refusal::Exists));
}
