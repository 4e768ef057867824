//! Bookings beside a walk over every moment.

use std::string::String;
use std::vec::Vec;

use proptest::prelude::*;
use proptest::test_runner::TestCaseError;

use super::*;

/// A link that holds a sum of amounts, and is the longer occupied the more of it is promised.
struct Sum(u64);

/// The same where newcomers wait.
struct Waiting(Sum);

impl Admission<u64> for Waiting {
    type Error = u64;

    fn test(&mut self, contracts: &[&u64]) -> Result<Option<Nanos>, u64> {
        Ok(Some(settling(self.0.test(contracts).map(|_| contracts.iter().copied().sum())?)))
    }

    fn waits(&self) -> bool {
        true
    }
}

/// How long it takes until a sum is gone once, where newcomers wait.
fn settling(sum: u64) -> Nanos {
    Nanos(1 + sum / 2)
}

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

/// Carries out one request.
fn carry_out<A: Admission<u64, Error = u64>>(
    bookings: &mut Bookings<u8, u64>,
    now: Nanos,
    request: &Request,
    sum: &mut A,
) -> Result<(), Refusal<u64>> {
    match *request {
        Request::Enter { name, amount, ahead, lasts, held } => {
            let from = now + Nanos(ahead);
            let until = lasts.map(|lasts| from + Nanos(lasts));
            let by = held.map(|held| now + Nanos(held));
            bookings.request(now, name, amount, Period { from, until }, by, sum)
        }
        Request::Commit(name) => bookings.commit(now, &name),
        Request::Renew(name, until) => {
            bookings.renew(now, &name, until.map(|until| now + Nanos(until)), sum)
        }
        Request::Change(name, amount) => bookings.change(now, [&name, &(name + 8)], amount, sum),
        Request::Release(name) => bookings.release(now, &name),
    }
}

/// Carries out requests. Checks at each that no more is promised than fits at any moment from then
/// on, and that whatever is refused is too much at the moment that is told.
fn check<A: Admission<u64, Error = u64>>(
    requests: Vec<(u64, Request)>,
    sum: &mut A,
    mut after: impl FnMut(Nanos, &Bookings<u8, u64>) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    let (mut bookings, mut now) = (Bookings::<u8, u64>::default(), Nanos(0));
    for (step, request) in requests {
        now += Nanos(step);
        for (_, one) in bookings.iter() {
            let ended = one.until.filter(|until| *until <= now);
            prop_assert!(ended.is_none_or(|until| one.free_at().unwrap() >= until));
        }
        bookings.expire(now);
        let before: Vec<_> = bookings.iter().map(|(name, one)| (*name, one.clone())).collect();
        if let Err(refusal) = carry_out(&mut bookings, now, &request, sum) {
            let after: Vec<_> = bookings.iter().map(|(name, one)| (*name, one.clone())).collect();
            prop_assert_eq!(before, after);
            if let Refusal::NoRoom { at, why } = refusal {
                prop_assert!(at >= now && why > 12);
            }
        }
        for at in 0..250 {
            prop_assert!(occupied(&bookings, now + Nanos(at)) <= 12, "at {at} after {now}");
        }
        after(now, &bookings)?;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn what_is_promised_fits_at_every_moment(requests in requests()) {
        check(requests, &mut Sum(12), |now, bookings| {
            let begins_at_once = |one: &Booking<u64>| one.opens_at().is_none();
            prop_assert!(bookings.iter().all(|(_, one)| begins_at_once(one)), "{now}");
            Ok(())
        })?;
    }

    /// Where newcomers wait, what was there when best effort went to the background has been gone
    /// from the queue once whenever one begins, and whenever best effort comes back.
    #[test]
    fn nothing_begins_before_the_link_was_clear(requests in requests()) {
        // What may be queued of each time, and until when.
        let (mut queued, mut last) = (Vec::<Nanos>::new(), Nanos(0));
        let mut background_since = None;
        let mut before = Bookings::<u8, u64>::default();
        check(requests, &mut Waiting(Sum(12)), |now, bookings| {
            for at in last.0..now.0 {
                let (at, next) = (Nanos(at), Nanos(at + 1));
                if before.is_settling(at) {
                    background_since.get_or_insert(at);
                }
                let sends = |one: &Booking<u64>, at: Nanos| {
                    matches!(one.state(at), Some(State::Active | State::Held))
                };
                let sum: u64 = before
                    .iter()
                    .filter(|(_, one)| sends(one, at))
                    .map(|(_, one)| one.contract)
                    .sum();
                queued.push(settling(sum));
                let begins =
                    before.iter().any(|(_, one)| sends(one, next) && !sends(one, at));
                let comes_back = background_since.is_some() && !before.is_settling(next);
                if begins || comes_back {
                    let since: Option<Nanos> = background_since;
                    prop_assert!(since.is_some(), "best effort is not in the background at {next}");
                    let since = since.unwrap();
                    let was_clear = queued[since.0 as usize..].iter().zip(since.0..);
                    let longest = was_clear.map(|(settling, _)| *settling).min().unwrap();
                    prop_assert!(since + longest <= next, "since {since}, begins at {next}");
                }
                if comes_back {
                    background_since = None;
                }
            }
            (last, before) = (now, bookings.clone());
            Ok(())
        })?;
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

#[test]
fn where_newcomers_wait_they_begin_when_the_link_was_clear() {
    let mut bookings = Bookings::default();
    let mut sum = Waiting(Sum(10));
    let [a, b, c] = [name("a"), name("b"), name("c")];
    let lease = Period { from: Nanos(0), until: Some(Nanos(50)) };
    bookings.request(Nanos(0), a.clone(), 6, lease, None, &mut sum).unwrap();
    let period = bookings.get(&a).unwrap().period();
    assert_eq!(period, Period { from: Nanos(1), until: Some(Nanos(51)) }, "nothing is queued");
    assert!(bookings.is_settling(Nanos(0)) && !bookings.is_settling(Nanos(1)));
    bookings.change(Nanos(20), [&a, &b], 4, &mut sum).unwrap();
    assert_eq!(bookings.get(&a).unwrap().period().until, Some(Nanos(24)));
    let state = |bookings: &Bookings<String, u64>, name, at| {
        bookings.get(name).and_then(|one: &Booking<u64>| one.state(Nanos(at)))
    };
    assert_eq!(state(&bookings, &a, 23), Some(State::Active));
    assert_eq!(state(&bookings, &b, 23), Some(State::Ahead));
    assert_eq!(state(&bookings, &a, 24), Some(State::Leaving));
    assert_eq!(state(&bookings, &b, 24), Some(State::Active));
    let pending = bookings.change(Nanos(21), [&b, &c], 1, &mut sum);
    assert_eq!(pending, Err(Refusal::Pending));
    // It is given up before it begins, and best effort still stays in the background.
    bookings.release::<()>(Nanos(22), &b).unwrap();
    assert_eq!(bookings.next_change(Nanos(22)), Some(Nanos(24)));
    assert!(bookings.is_settling(Nanos(23)));
    let later = Period { from: Nanos(100), until: None };
    bookings.request(Nanos(60), c.clone(), 2, later, None, &mut sum).unwrap();
    assert_eq!(bookings.next_change(Nanos(60)), Some(Nanos(99)));
    assert!(!bookings.is_settling(Nanos(98)) && bookings.is_settling(Nanos(99)));
}

#[test]
fn a_hold_that_has_lapsed_has_ended_before_anybody_looks() {
    let mut bookings = Bookings::default();
    let (mut sum, a) = (Sum(10), name("a"));
    bookings.request(Nanos(0), a.clone(), 4, FOR_EVER, Some(Nanos(10)), &mut sum).unwrap();
    let state = |at| bookings.get(&a).unwrap().state(Nanos(at));
    let states = [9, 10, 11, 12].map(state);
    assert_eq!(states, [Some(State::Held), Some(State::Leaving), Some(State::Leaving), None]);
}
