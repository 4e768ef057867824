//! The book beside the admission test of whole plans.

use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::sample::Index;

use super::*;
use crate::Proof;

const MS: u64 = 1_000_000;

fn plan(scheduler: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = '10mbit', max-packet = '1500b' }}\nscheduler = {{ {scheduler} }}\n\
         [class.voice]\ndeadline = '20ms'\nweight = 1\nmatch = 'udp dport 4000'\n\
         arrival = {{ bucket = '600b', rate = '100kbit', packet = '200b' }}\n[class.rest]\n"
    )
}

fn book(scheduler: &str) -> Book {
    Book::new(&plan(scheduler), "plan.toml", Path::new("")).unwrap()
}

fn call(name: &str, keys: &str, period: Period) -> Request {
    Request {
        name: name.into(),
        keys: keys.parse().unwrap(),
        path: Vec::new(),
        period,
        commit_by: None,
    }
}

const NOW: Period = Period { from: Nanos(0), until: None };
const CALL: &str = "deadline = '10ms'\nmatch = 'udp dport 5000'\n\
                    arrival = { bucket = '10kB', rate = '2mbit', packet = '1kB' }\n";

/// The names of the classes at a time, those of them that take packets marked.
fn classes(book: &Book, now: u64) -> Vec<String> {
    let (plan, _) = book.plan(Nanos(now)).unwrap();
    let name = |class: &Class| {
        let takes = class
            .matching
            .as_ref()
            .is_some_and(|matching| !matching.to_string().contains("tcp and udp"));
        format!("{}{}", class.name, if takes { "!" } else { "" })
    };
    plan.classes.iter().map(name).collect()
}

#[test]
fn a_class_comes_and_goes() {
    let mut book = book("kind = 'edf'");
    let granted = book.request(Nanos(5), call("a", CALL, NOW)).unwrap();
    assert!(granted.bound_ns.unwrap() <= 10 * MS);
    assert_eq!(granted.until_ns, None);
    let begin = book.next_change(Nanos(5)).unwrap();
    assert_eq!(granted.from_ns, begin.0);
    let name = |book: &Book, now: u64| book.plan(Nanos(now)).unwrap().0.scheduler.name();
    assert_eq!(classes(&book, begin.0 - 1), ["voice!", "rest"]);
    assert_eq!(name(&book, begin.0 - 1), "edf/background");
    assert_eq!(classes(&book, begin.0), ["a!", "voice!", "rest"]);
    assert_eq!(name(&book, begin.0), "edf/exact");
    let end = begin + Nanos(MS);
    book.release(end, "a").unwrap();
    assert_eq!(classes(&book, end.0), ["a", "voice!", "rest"]);
    let (settling, text) = book.plan(end).unwrap();
    assert_eq!(settling.scheduler.name(), "edf/background");
    assert_eq!(
        Plan::parse(&text, "plan.toml", Path::new("")).unwrap().scheduler,
        settling.scheduler
    );
    let free = book.next_change(end).unwrap();
    assert!(free > Nanos(11 * MS) && free < Nanos(100 * MS), "{free}");
    assert_eq!(classes(&book, free.0), ["voice!", "rest"]);
    assert_eq!(book.plan(free).unwrap().0.scheduler.name(), "edf/exact");
    assert_eq!(book.expire(free), ["a"]);
    assert_eq!(book.next_change(free), None);
}

/// Those who come later take no promise away. Under static priority a class that goes before
/// another makes the bound of that one longer.
#[test]
fn what_is_promised_holds_whoever_comes() {
    let text = plan("kind = 'priority'");
    let text = text.replace("weight = 1", "level = 3").replace("20ms", "200ms");
    let mut book = Book::new(&text, "plan.toml", Path::new("")).unwrap();
    let keys = |level: u8, port: u16| {
        let keys = CALL.replace("10ms", "100ms").replace("5000", &port.to_string());
        format!("level = {level}\n{keys}")
    };
    let first = book.request(Nanos(0), call("a", &keys(2, 5000), NOW)).unwrap();
    let bound = |book: &Book| {
        let (plan, _) = book.plan(Nanos(0)).unwrap();
        let class = plan.class("a").unwrap();
        plan.bounds()[class.index()].unwrap().0
    };
    let alone = bound(&book);
    book.request(Nanos(0), call("b", &keys(1, 5001), NOW)).unwrap();
    assert!(alone < bound(&book));
    assert!(first.bound_ns.unwrap() >= bound(&book));
}

#[test]
fn a_contract_changes_and_what_is_queued_keeps_its_own() {
    let mut book = book("kind = 'edf'");
    book.request(Nanos(0), call("a", CALL, NOW)).unwrap();
    let slower = "deadline = '50ms'\nmatch = 'udp dport 5000'\n\
                  arrival = { bucket = '5kB', rate = '3mbit', packet = '1kB' }\n";
    let changed = book.change(Nanos(5 * MS), "a", slower.parse().unwrap()).unwrap();
    assert!(changed.bound_ns.unwrap() <= 50 * MS && changed.name == "a");
    let begin = changed.from_ns;
    assert_eq!(classes(&book, begin - 1), ["a!", "voice!", "rest"]);
    assert_eq!(classes(&book, begin), ["a", "a#1!", "voice!", "rest"]);
    let again = book.change(Nanos(begin - 1), "a", slower.parse().unwrap());
    assert!(matches!(again, Err(RequestError::Pending)));
    let free = book.next_change(Nanos(begin)).unwrap();
    assert_eq!(book.expire(free), ["a"]);
    assert_eq!(classes(&book, free.0), ["a#1!", "voice!", "rest"]);
    let again = book.request(free, call("a", CALL, NOW));
    assert!(matches!(again, Err(RequestError::Exists(_))));
    assert!(matches!(book.change(free, "b", CALL.parse().unwrap()), Err(RequestError::Unknown(_))));
    let other_plan = plan("kind = 'edf'").replace("[class.rest]", "[class.a]\n[class.rest]");
    assert!(book.change_plan(free, &other_plan).is_err(), "after a start it is `a` again");
    let too_much = CALL.replace("10kB", "40kB").parse().unwrap();
    assert!(matches!(book.change(free, "a", too_much), Err(RequestError::NoRoom(_))));
    // It is given up before it has changed: nothing of it is left.
    book.change(free, "a", CALL.parse().unwrap()).unwrap();
    book.release(free, "a").unwrap();
    assert_eq!(classes(&book, free.0), ["a#1", "voice!", "rest"]);
    let mut last = free;
    while let Some(next) = book.next_change(last) {
        last = next;
    }
    assert!(book.expire(last).len() == 2 && classes(&book, last.0) == ["voice!", "rest"]);
}

#[test]
fn what_does_not_fit_is_refused_with_what_would() {
    let mut book = book("kind = 'edf'");
    book.request(Nanos(0), call("a", CALL, NOW)).unwrap();
    let Err(RequestError::NoRoom(no_room)) = book.request(Nanos(7), call("b", CALL, NOW)) else {
        panic!("two bursts of 8 ms are too much for 10 ms");
    };
    assert!(no_room.at_ns > 7, "it would begin when the link was clear");
    assert!(!no_room.reasons.is_empty());
    let deadline = no_room.offer.deadline_ns.unwrap();
    let with = |deadline: u64| CALL.replace("'10ms'", &format!("'{deadline}ns'"));
    assert!(book.clone().request(Nanos(7), call("b", &with(deadline - 1), NOW)).is_err());
    book.request(Nanos(7), call("b", &with(deadline), NOW)).unwrap();
}

/// Under every discipline that proves, each part of an offer fits, and a little more does not.
#[test]
fn an_offer_fits_and_hardly_more_does() {
    let part = |keys: &str, from: &str, to: String| keys.replace(from, &to);
    for (scheduler, share) in [
        ("edf", ""),
        ("wfq", "weight = 1\n"),
        ("wf2q", "weight = 1\n"),
        ("drr", "weight = 1\n"),
        ("qfq", "weight = 1\n"),
        ("priority", "level = 1\n"),
        ("priority", ""),
        ("hfsc", ""),
    ] {
        let text = plan(&format!("kind = '{scheduler}'"));
        let text = match scheduler {
            "edf" => text.replace("weight = 1\n", ""),
            "priority" if !share.is_empty() => text.replace("weight = 1", "level = 0"),
            "priority" | "hfsc" => text.replace("weight = 1\n", ""),
            _ => text,
        };
        let book = Book::new(&text, "plan.toml", Path::new("")).unwrap();
        let keys = format!(
            "deadline = '12ms'\n{share}match = 'udp dport 5000'\n\
             arrival = {{ bucket = '40kB', rate = '3mbit', packet = '1kB' }}\n"
        );
        let fits = |keys: String| book.clone().request(Nanos(0), call("b", &keys, NOW)).is_ok();
        let Err(RequestError::NoRoom(no_room)) =
            book.clone().request(Nanos(0), call("b", &keys, NOW))
        else {
            panic!("{scheduler}: 40 kB take 32 ms")
        };
        let Offer { deadline_ns, bucket_bytes, .. } = no_room.offer;
        let deadline = deadline_ns.expect(scheduler);
        let less = if share.is_empty() && scheduler != "edf" {
            deadline - deadline / 50
        } else {
            deadline - 1
        };
        assert!(fits(part(&keys, "12ms", format!("{deadline}ns"))), "{scheduler}: {deadline}");
        assert!(!fits(part(&keys, "12ms", format!("{less}ns"))), "{scheduler}: {deadline}");
        let bucket = bucket_bytes.expect(scheduler);
        assert!(fits(part(&keys, "40kB", format!("{bucket}b"))), "{scheduler}: {bucket}");
        let more = bucket + bucket / 50 + 1;
        assert!(!fits(part(&keys, "40kB", format!("{more}b"))), "{scheduler}: {more}");
    }
}

#[test]
fn what_is_promised_for_later_counts_from_then_on() {
    let mut book = book("kind = 'edf'");
    let hour = |from: u64, until| Period { from: Nanos(from * MS), until };
    book.request(Nanos(0), call("later", CALL, hour(1000, None))).unwrap();
    assert_eq!(classes(&book, 0), ["voice!", "rest"]);
    assert!(book.request(Nanos(0), call("now", CALL, NOW)).is_err());
    let until = |ms| Some(Nanos(ms * MS));
    assert!(book.clone().request(Nanos(0), call("now", CALL, hour(0, until(999)))).is_err());
    book.request(Nanos(0), call("now", CALL, hour(0, until(900)))).unwrap();
    assert!(book.renew(Nanos(0), "now", None).is_err());
    book.renew(Nanos(0), "now", until(950)).unwrap();
    assert_eq!(classes(&book, 949 * MS), ["now!", "voice!", "rest"]);
    assert_eq!(classes(&book, 1000 * MS), ["later!", "voice!", "rest"]);
}

#[test]
fn what_makes_no_sense_is_said() {
    let mut book = book("kind = 'edf'");
    let mut refused = |name: &str, keys: &str| {
        book.request(Nanos(0), call(name, keys, NOW)).unwrap_err().to_string()
    };
    assert!(refused("voice", CALL).contains("there is a class `voice` already"));
    assert!(refused("a", "dealine = '5ms'").contains("dealine"));
    assert!(refused("", CALL).contains("name"));
    let unproved =
        "version = 1\nlink = { rate = '10mbit' }\nscheduler = { kind = 'fq-codel' }\n[class.rest]";
    let unproved = Book::new(unproved, "plan.toml", Path::new(""));
    assert!(matches!(unproved, Err(RequestError::NoRoom(_))));
}

#[test]
fn another_plan_has_to_hold_what_is_promised() {
    let mut book = book("kind = 'edf'");
    book.request(Nanos(0), call("a", CALL, NOW)).unwrap();
    let slow = plan("kind = 'edf'").replace("10mbit", "9mbit");
    assert!(book.change_plan(Nanos(0), &slow).is_err());
    let fast = plan("kind = 'edf'").replace("10mbit", "20mbit");
    book.change_plan(Nanos(0), &fast).unwrap();
    book.request(Nanos(0), call("b", CALL, NOW)).unwrap();
}

#[test]
fn another_plan_has_to_hold_what_is_promised_for_later() {
    let mut book = book("kind = 'edf'");
    let later = Period { from: Nanos(1000 * MS), until: None };
    book.request(Nanos(0), call("a", CALL, later)).unwrap();
    let slow = plan("kind = 'edf'").replace("10mbit", "9mbit");
    assert!(book.change_plan(Nanos(0), &slow).is_err());
}

/// On a slower link what has ended is felt for longer.
#[test]
fn another_plan_changes_for_how_long_what_has_ended_is_felt() {
    let mut book = book("kind = 'edf'");
    let begin = Nanos(book.request(Nanos(0), call("a", CALL, NOW)).unwrap().from_ns);
    book.release(begin + Nanos(1), "a").unwrap();
    let free = book.next_change(begin + Nanos(1)).unwrap();
    let slower = plan("kind = 'edf'").replace("10mbit", "9600kbit");
    book.change_plan(begin + Nanos(1), &slower).unwrap();
    assert!(book.next_change(begin + Nanos(1)).unwrap() > free);
}

#[test]
fn what_ends_is_felt_from_when_the_link_follows() {
    let felt = |delay: u64| {
        let mut book = book("kind = 'edf'").followed_within(Nanos(delay));
        let begin = Nanos(book.request(Nanos(0), call("a", CALL, NOW)).unwrap().from_ns);
        let end = begin + Nanos(1);
        book.release(end, "a").unwrap();
        (begin.0, book.next_change(end).unwrap().0 - end.0)
    };
    let (begin, lasts) = felt(0);
    // The link goes to the background late, and follows the plan with the newcomer late.
    assert_eq!(felt(7 * MS), (begin + 2 * 7 * MS, lasts + 7 * MS));
}

#[test]
fn what_is_for_later_is_followed_in_time() {
    let later = Period { from: Nanos(1000 * MS), until: None };
    for scheduler in ["kind = 'edf'", "kind = 'edf', best-effort = 'background'"] {
        let mut book = book(scheduler).followed_within(Nanos(7 * MS));
        let granted = book.request(Nanos(0), call("a", CALL, later)).unwrap();
        assert_eq!(granted.from_ns, 1000 * MS);
        assert_eq!(classes(&book, 993 * MS), ["a!", "voice!", "rest"], "{scheduler}");
        let (_, booking) = book.reservations().next().unwrap();
        assert_eq!(book.begin(booking).0, 1000 * MS);
    }
}

/// Whether a plan with these classes is admitted, found without a book.
fn is_admitted(base: &str, classes: &BTreeMap<String, String>) -> bool {
    let (head, rest) = base.split_once("[class.voice]").unwrap();
    let classes: String =
        classes.iter().map(|(name, keys)| format!("[class.{name}]\n{keys}")).collect();
    let text = format!("{head}{classes}[class.voice]{rest}");
    let plan = Plan::parse(&text, "plan.toml", Path::new("")).unwrap();
    Proof::new(&plan).and_then(|proof| proof.admitted()) == Some(true)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Under every discipline that proves, an answer is that of the whole plan's test, as long as
    /// nothing leaves and nothing is promised for later.
    #[test]
    fn an_answer_is_that_of_the_whole_plan(
        scheduler in prop::sample::select(vec!["edf", "wfq", "drr", "qfq", "hfsc"]),
        requests in prop::collection::vec(
            (1..200u64, 100..3000u64, 100..1500u64, 2..60u64, any::<Index>()), 1..14),
    ) {
        let base = plan(&format!("kind = '{scheduler}'"));
        let base = match scheduler {
            "hfsc" => base.replace("weight = 1", "curve = '400kbit'"),
            "edf" => base.replace("weight = 1\n", ""),
            _ => base,
        };
        let mut book = Book::new(&base, "plan.toml", Path::new("")).unwrap();
        let mut promised = BTreeMap::new();
        for (number, (rate, bucket, packet, deadline, released)) in requests.into_iter().enumerate() {
            let share = match scheduler {
                "hfsc" => format!("curve = '{}kbit'\n", 10 * rate),
                "edf" => String::new(),
                _ => format!("weight = {rate}\n"),
            };
            let packet = packet.min(bucket);
            let keys = format!(
                "deadline = '{deadline}ms'\n{share}match = 'udp dport {number}'\n\
                 arrival = {{ bucket = '{bucket}b', rate = '{rate}kbit', packet = '{packet}b' }}\n"
            );
            let name = format!("c{number:02}");
            promised.insert(name.clone(), keys.clone());
            let expected = is_admitted(&base, &promised);
            let answer = book.request(Nanos(0), call(&name, &keys, NOW));
            prop_assert_eq!(answer.is_ok(), expected, "{:?}", answer);
            if !expected {
                promised.remove(&name);
            }
            // Nothing of it was sent.
            if number % 3 == 2 && !promised.is_empty() {
                let names: Vec<String> = promised.keys().cloned().collect();
                let gone = &names[released.index(names.len())];
                book = Book::new(&base, "plan.toml", Path::new("")).unwrap();
                promised.remove(gone);
                for (name, keys) in &promised {
                    prop_assert!(book.request(Nanos(0), call(name, keys, NOW)).is_ok());
                }
            }
        }
    }
}
