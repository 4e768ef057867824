//! Reservations along paths beside the proof of whole networks.

use std::path::Path;

use laxity::reserve::bookings::Period;
use proptest::prelude::*;

use super::*;
use crate::reservations::{Book, Granted, Request};

const MS: u64 = 1_000_000;
const NOW: Period = Period { from: Nanos(0), until: None };

/// Two ways from a to d, over b or over c, and one from d to e.
fn plan(scheduler: &str, regulate: bool) -> String {
    let link = |name: &str, ends: [&str; 2]| {
        format!("[network.{name}]\nbetween = {ends:?}\nregulate = {regulate}\n")
    };
    format!(
        "version = 1\nlink = {{ rate = '10mbit', delay = '1ms', max-packet = '1000b' }}\n\
         scheduler = {{ {scheduler} }}\n[class.rest]\n{}{}{}{}{}",
        link("ab", ["a", "b"]),
        link("bd", ["b", "d"]),
        link("ac", ["a", "c"]),
        link("cd", ["c", "d"]),
        link("de", ["d", "e"]),
    )
}

fn film(within: u64, rate: u64) -> String {
    format!(
        "end-to-end = '{within}us'\n\
         arrival = {{ bucket = '4kB', rate = '{rate}kbit', packet = '1000b' }}\n"
    )
}

fn request(
    book: &mut Book,
    name: &str,
    keys: &str,
    path: &[&str],
) -> Result<Granted, RequestError> {
    let path = path.iter().map(|node| (*node).to_string()).collect();
    let (name, keys) = (name.to_string(), keys.parse().unwrap());
    book.request(Nanos(0), Request { name, keys, path, period: NOW, commit_by: None })
}

fn book(scheduler: &str, regulate: bool) -> Book {
    Book::new(&plan(scheduler, regulate), "plan.toml", Path::new("")).unwrap()
}

/// What `check` says of a plan.
fn check(text: &str) -> bool {
    let plan = Plan::parse(text, "plan.toml", Path::new("")).unwrap();
    let analysis = plan.network_plan().unwrap().analysis();
    match &analysis.framing {
        Some(framing) => admitted(&FramesProof::new(framing).reasons) == Some(true),
        None => NetworkProof::new(&analysis).admitted() == Some(true),
    }
}

#[test]
fn a_delay_is_split_over_the_links_of_a_path() {
    let mut book = book("kind = 'edf'", true);
    let granted = request(&mut book, "film", &film(20_000, 1000), &["a", "b", "d", "e"]).unwrap();
    assert_eq!(granted.bound_ns, Some(20 * MS));
    let begins = Nanos(granted.from_ns);
    let (plan, text) = book.plan(begins).unwrap();
    let film = &plan.classes[0];
    let over: u64 = film.deadline_over.iter().map(|(_, Nanos(deadline))| deadline).sum();
    assert_eq!((film.deadline_over.len(), over), (3, 17 * MS));
    assert!(check(&text));
    // It is felt until its last packet is gone, and its queue with it.
    let ends = Nanos(begins.0 + MS);
    book.release(ends, "film").unwrap();
    let free = book.next_change(ends).unwrap().saturating_sub(ends);
    assert!(free.0 > 17 * MS && free.0 < 100 * MS, "{free}");
}

#[test]
fn two_ends_get_the_fastest_path_and_a_full_one_is_offered_another() {
    let mut book = book("kind = 'edf'", true);
    let (big, small) = (film(30_000, 8000), film(20_000, 3000));
    let path = |book: &Book, name: &str| {
        let mut reservations = book.reservations();
        let (_, booking) = reservations.find(|(other, _)| *other == name).unwrap();
        booking.contract().path().to_vec()
    };
    request(&mut book, "first", &big, &["a", "b", "d"]).unwrap();
    request(&mut book, "second", &small, &["a", "d"]).unwrap();
    assert_eq!(path(&book, "second"), ["a", "c", "d"]);
    let Err(RequestError::NoRoom(refused)) = request(&mut book, "third", &small, &["a", "b", "d"])
    else {
        panic!("8 and 3 Mbit/s on a link of 10");
    };
    assert_eq!(refused.offer.path.unwrap(), ["a", "c", "d"]);
    assert_eq!(refused.offer.deadline_ns, None);
    let rate = refused.offer.rate_bps.unwrap();
    assert!(rate > 1_900_000 && rate < 2_000_000, "{rate}");
    assert!(matches!(refused.reasons[0].finding, Finding::EndlessInterval));
    let smaller = film(20_000, rate / 1000);
    request(&mut book, "third", &smaller, &["a", "b", "d"]).unwrap();
}

#[test]
fn a_network_without_any_promise_has_a_book() {
    let sends = "[[source]]\nclass = 'rest'\nmodel = 'poisson'\nrate = '1mbit'\n\
                 packet = '500b'\npath = ['a', 'b']\n";
    let text = plan("kind = 'edf'", true) + sends;
    let mut book = Book::new(&text, "plan.toml", Path::new("")).unwrap();
    request(&mut book, "film", &film(20_000, 1000), &["a", "b", "d"]).unwrap();
}

#[test]
fn what_is_no_path_is_refused_with_the_reason() {
    let mut book = book("kind = 'edf'", true);
    for (path, said) in [
        (&[][..], "has a path"),
        (&["a"], "has a path"),
        (&["a", "x"], "no link joins a node `x`"),
        (&["a", "b", "e"], "no link from `b` to `e`"),
        (&["a", "b", "a", "b"], "no link twice"),
    ] {
        let refused = request(&mut book, "film", &film(20_000, 100), path).unwrap_err();
        assert!(refused.to_string().contains(said), "{path:?}: {refused}");
    }
    let on_link =
        "version = 1\nlink = { rate = '1mbit' }\nscheduler = { kind = 'edf' }\n[class.a]\n";
    let mut link = Book::new(on_link, "plan.toml", Path::new("")).unwrap();
    let refused = request(&mut link, "film", &film(20_000, 100), &["a", "b"]).unwrap_err();
    assert!(refused.to_string().contains("end-to-end"), "{refused}");
}

/// Other disciplines share or order a class at every output by its keys. The answer is that of the
/// proof.
#[test]
fn every_discipline_grants_what_is_proved() {
    for (scheduler, keys) in [
        ("kind = 'wf2q'", "curve = '2mbit'\n"),
        ("kind = 'hfsc'", "curve = '2mbit'\n"),
        ("kind = 'wfq'", "weight = 3\n"),
        ("kind = 'priority'", "level = 1\n"),
        ("kind = 'fifo'", ""),
        ("kind = 'edf'", "deadline = '9ms'\n"),
        ("kind = 'tdp', frame = '2ms', frames = 5", "gap = '10ms'\n"),
    ] {
        let mut book = book(scheduler, false);
        let mut granted = 0;
        for number in 0..20 {
            let path = [&["a", "b", "d"], &["b", "d", "e"]][number % 2];
            let keys = keys.to_string() + &film(40_000, 900);
            match request(&mut book, &format!("film-{number}"), &keys, path) {
                Ok(promise) => {
                    assert_eq!(promise.bound_ns, Some(40 * MS));
                    let (_, text) = book.plan(Nanos(promise.from_ns)).unwrap();
                    assert!(check(&text), "{scheduler}");
                    granted += 1;
                }
                Err(RequestError::NoRoom(_)) => {}
                Err(other) => panic!("{scheduler}: {other}"),
            }
        }
        assert!((1..20).contains(&granted), "{scheduler}: {granted}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, ..ProptestConfig::default() })]

    /// What is granted along paths is admitted by the proof of the whole network. What is refused
    /// is granted with the delay that is offered, and not with a nanosecond less.
    #[test]
    fn answers_are_those_of_the_whole_network(
        requests in prop::collection::vec(
            (4_000..30_000u64, 200..3000u64, 0..4usize), 2..9,
        ),
        edge in -1..=1i64,
    ) {
        let paths: [&[&str]; 4] =
            [&["a", "b", "d"], &["a", "c", "d", "e"], &["b", "d", "e"], &["e", "d", "c"]];
        let mut book = book("kind = 'edf'", true);
        for (number, (within, rate, path)) in requests.into_iter().enumerate() {
            let name = format!("film-{number}");
            let keys = film(within, rate);
            match request(&mut book, &name, &keys, paths[path]) {
                Ok(granted) => {
                    prop_assert_eq!(granted.bound_ns, Some(within * 1000));
                    let (_, text) = book.plan(Nanos(granted.from_ns)).unwrap();
                    prop_assert!(check(&text), "{text}");
                }
                Err(RequestError::NoRoom(refused)) => {
                    let Some(shortest) = refused.offer.deadline_ns else { continue };
                    prop_assert!(shortest > within * 1000);
                    let asked = shortest.saturating_add_signed(edge);
                    let keys = keys.replace(&format!("{within}us"), &format!("{asked}ns"));
                    let again = request(&mut book, &name, &keys, paths[path]);
                    prop_assert_eq!(again.is_ok(), edge >= 0);
                }
                Err(other) => return Err(TestCaseError::fail(other.to_string())),
            }
        }
        let (_, text) = book.plan(Nanos(1000 * MS)).unwrap();
        let is_empty = book.reservations().next().is_none();
        prop_assert!(is_empty || check(&text), "{text}");
    }
}
