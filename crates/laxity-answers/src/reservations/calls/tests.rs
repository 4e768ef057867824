//! Calls beside the book of a live link, and beside Erlang's formula.

use std::path::Path;

use laxity::units::{Bytes, Nanos};
use laxity_plan::edit::ClassKeys;

use super::*;
use crate::reservations::{Request, RequestError};

const S: u64 = 1_000_000_000;
const KEYS: &str =
    "deadline = '50ms'\narrival = { bucket = '600b', rate = '200kbit', packet = '300b' }\n";

fn plan(scheduler: &str, keys: &str, requests: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = '2mbit', max-packet = '1500b' }}\nscheduler = {{ {scheduler} }}\n\
         [class.call]\n{keys}[class.film]\n{keys}[class.rest]\n{requests}"
    )
}

fn parsed(text: &str) -> Plan {
    Plan::parse(text, "plan.toml", Path::new("")).unwrap()
}

const CALLS: &str = "[[request]]\nclass = 'call'\nevery = { exponential = '2s' }\n\
                     holding = { exponential = '20s' }\n";
const FILMS: &str =
    "[[request]]\nclass = 'film'\nevery = { exponential = '5s' }\nholding = '30s'\n";

/// Every answer is that of the book, which reads whole plans, asked at the same times.
#[test]
fn answers_are_those_of_the_book() {
    let weighted = format!("weight = 3\n{KEYS}");
    for (scheduler, keys) in [
        ("kind = 'edf'", KEYS),
        ("kind = 'wf2q'", &weighted),
        ("kind = 'drr'", &weighted),
        ("kind = 'priority'", &format!("level = 1\n{KEYS}")),
    ] {
        let text = plan(scheduler, keys, &format!("{CALLS}{FILMS}"));
        let calls = Calls::draw(&parsed(&text), Nanos(200 * S), 3).unwrap();
        let without = text.replace(&format!("[class.call]\n{keys}[class.film]\n{keys}"), "");
        let without = without.replace(CALLS, "").replace(FILMS, "");
        let mut book = Book::new(&without, "plan.toml", Path::new("")).unwrap();
        let mut ends = BinaryHeap::new();
        let mut granted = calls.granted.iter().enumerate().peekable();
        let mut callers = Callers::new(&parsed(&text), 3).unwrap();
        let mut refused = 0;
        while let Some(now) = callers.next().filter(|now| now.0 < 200 * S) {
            while let Some(&Reverse((end, call))) = ends.peek()
                && end <= now
            {
                ends.pop();
                book.expire(end);
                book.release(end, &format!("{call}")).unwrap();
            }
            book.expire(now);
            let (request, holding) = callers.ask(now).unwrap();
            let keys: ClassKeys = format!("match = 'udp'\n{keys}").parse().unwrap();
            let period = Period { from: now, until: None };
            let name = format!("{}", granted.peek().map_or(calls.granted.len(), |(call, _)| *call));
            let asked = Request { name, keys, path: Vec::new(), period, commit_by: None };
            match book.request(now, asked) {
                Ok(of_book) => {
                    let (call, one) = granted.next().expect("granted here, too");
                    assert_eq!(of_book.bound_ns.map(Nanos), one.bound);
                    assert_eq!(one.call.request, request);
                    assert_eq!(of_book.from_ns, one.call.from.0);
                    assert_eq!(scheduler.contains("edf"), one.call.from > now);
                    let end = one.call.from.saturating_add(holding);
                    ends.push(Reverse((end, call)));
                }
                Err(RequestError::NoRoom(_)) => refused += 1,
                other => panic!("{scheduler} at {now}: {other:?}"),
            }
        }
        assert!(granted.next().is_none() && refused > 0 && calls.granted.len() > 2, "{scheduler}");
        let least = calls.requests.iter().map(|one| one.offered - one.granted).sum::<u64>();
        assert_eq!(least, refused, "{scheduler}");
    }
}

/// Erlang's table: 10 servers and 5 erlangs lose 1.84 %, with any holding times (Erlang 1917; the
/// figure is that of every table of the formula). Within five standard deviations of the mean of
/// several seeds.
#[test]
fn blocking_is_that_of_erlang() {
    let keys =
        "deadline = '10ms'\narrival = { bucket = '300b', rate = '1500kbit', packet = '300b' }\n";
    for holding in ["{ exponential = '10s' }", "'10s'"] {
        let requests = format!(
            "[[request]]\nclass = 'call'\nevery = {{ exponential = '2s' }}\nholding = {holding}\n"
        );
        let text = plan("kind = 'edf'", keys, &requests).replace("'2mbit'", "'16mbit'");
        let plan = parsed(&text.replace(&format!("[class.film]\n{keys}"), ""));
        let mut blocked = Vec::new();
        for seed in 1..=8 {
            let calls = Calls::draw(&plan, Nanos(20_000 * S), seed).unwrap();
            let [of] = &calls.requests[..] else { panic!("one request") };
            assert_eq!((of.alone, of.erlangs.map(f64::round)), (10, Some(5.0)));
            assert!((of.erlang_b().unwrap() - 0.018_384).abs() < 1e-6);
            assert!(of.most <= 10);
            blocked.push(of.blocking().unwrap());
        }
        let mean = blocked.iter().sum::<f64>() / blocked.len() as f64;
        let variance = blocked.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 7.0;
        let deviation = (variance / 8.0).sqrt();
        assert!((mean - 0.018_384).abs() < 5.0 * deviation, "{mean} +- {deviation}");
    }
}

/// What the plan is between changes is what the bookings say, and settles for as long as they do.
#[test]
fn changes_hold_those_who_are_there() {
    let plan = parsed(&plan("kind = 'edf'", KEYS, CALLS));
    let calls = Calls::draw(&plan, Nanos(100 * S), 1).unwrap();
    assert_eq!(calls.changes[0], Change::default());
    assert!(calls.changes.is_sorted_by_key(|change| change.at));
    // Best effort is in the background until a call begins.
    for granted in &calls.granted {
        let before = calls.changes.iter().rfind(|change| change.at < granted.call.from).unwrap();
        assert!(before.is_settling, "{granted:?}");
    }
    for change in &calls.changes {
        let followed = change.plan(&plan, &calls.granted);
        assert_eq!(followed.calls.len(), change.present.len());
        assert_eq!(followed.others.iter().filter(|class| class.is_none()).count(), 1);
        let followed = followed.plan;
        assert_eq!(followed.classes.len(), 2 + change.present.len());
        let is_over = |call: usize| calls.granted[call].call.until <= change.at;
        assert!(change.is_settling || !change.calls().any(is_over));
        let begins_later = |call: usize| calls.granted[call].call.from > change.at;
        assert!(!change.calls().any(begins_later));
        let name = followed.scheduler.name();
        assert_eq!(name == "edf/background", change.is_settling, "{name}");
        assert!(followed.max_packet(&followed.classes[0]) <= Bytes(1500));
    }
}

/// The region is what the test of each pair of numbers says.
#[test]
fn a_region_holds_all_that_fit_together() {
    let plan = parsed(&plan("kind = 'edf'", KEYS, &format!("{CALLS}{FILMS}")));
    let calls = Calls::draw(&plan, Nanos(S), 1).unwrap();
    let fits = |first: u32, second: u32| admission::answer(&plan, &[first, second]).is_ok();
    assert!(calls.region.len() > 5 && calls.region.len() as u32 == calls.requests[0].alone + 1);
    for first in 0..calls.region.len() as u32 + 1 {
        for second in 0..calls.region[0] + 2 {
            let most = calls.region.get(first as usize);
            assert_eq!(fits(first, second), most.is_some_and(|most| second <= *most));
        }
    }
}

#[test]
fn what_makes_no_sense_is_said() {
    let refused = |text: &str| Plan::parse(text, "plan.toml", Path::new("")).unwrap_err();
    for (requests, says) in [
        ("[[request]]\nclass = 'cal'\nevery = '1s'\nholding = '1s'\n", "no class `cal`"),
        ("[[request]]\nclass = 'call'\nholding = '1s'\n", "every"),
        ("[[request]]\nclass = 'call'\nevery = '0s'\nholding = '1s'\n", "`every` is zero"),
        (&format!("{CALLS}{CALLS}"), "twice"),
        (&format!("{CALLS}{FILMS}{}", CALLS.replace("call", "rest")), "every class"),
    ] {
        let error = refused(&plan("kind = 'edf'", KEYS, requests));
        assert!(format!("{error:?}").contains(says), "{requests}: {error:?}");
    }
    let none = Calls::draw(&parsed(&plan("kind = 'edf'", KEYS, "")), Nanos(S), 1);
    assert!(matches!(none, Err(CallsError::None)));
    let often = CALLS.replace("2s", "1us");
    let many = Calls::draw(&parsed(&plan("kind = 'edf'", KEYS, &often)), Nanos(2 * S), 1);
    assert!(matches!(many, Err(CallsError::TooMany)));
}
