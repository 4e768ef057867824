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

/// A ring of four links of two ways, in frames of 250 bytes, ten to a cycle.
const FRAMED: &str = "version = 1
link = { rate = '10mbit', max-packet = '100b' }
scheduler = { kind = 'tdp', frame = '200us', frames = 10, spare = 1 }
[class.own]
gap = '500us'
arrival = { bucket = '100b', rate = '1600kbit', packet = '100b' }
[class.rest]
[network]
ab = { between = ['a', 'b'] }
bd = { between = ['b', 'd'] }
ac = { between = ['a', 'c'] }
cd = { between = ['c', 'd'] }
[[source]]
class = 'own'
model = 'constant'
rate = '1600kbit'
packet = '100b'
path = ['a', 'b', 'd']
";

fn framed_keys(gap: u64, more: &str) -> String {
    format!(
        "gap = '{gap}us'\n{more}\n\
         arrival = {{ bucket = '100b', rate = '{}bit', packet = '100b' }}\n",
        800_000_000u64.div_ceil(gap)
    )
}

/// The frames of all classes under a plan, by name.
fn frames(plan: &Plan) -> Vec<(String, Vec<(laxity_plan::model::LinkId, u32)>)> {
    let framing = laxity_plan::tdp::Framing::new(plan.framed_network().unwrap());
    let leaves = plan.leaves().filter(|(_, class)| class.wants_frames());
    leaves.map(|(id, class)| (class.name.clone(), framing.first_frames(id).unwrap())).collect()
}

#[test]
fn newcomers_get_frames_and_move_nobody() {
    let mut book = Book::new(FRAMED, "plan.toml", Path::new("")).unwrap();
    let (plan, _) = book.plan(Nanos(0)).unwrap();
    let own = frames(&plan);
    let alone = Plan::parse(FRAMED, "plan.toml", Path::new("")).unwrap();
    assert_eq!(frames(&alone), own);
    let granted = request(&mut book, "call", &framed_keys(1000, ""), &["a", "d"]).unwrap();
    // The ends alone: of two paths of two links the first by name.
    assert_eq!(granted.path, ["a", "b", "d"]);
    let (plan, text) = book.plan(Nanos(0)).unwrap();
    assert!(check(&text));
    let now = frames(&plan);
    assert_eq!(now[1..], own[..]);
    let told: Vec<_> = granted.frames.iter().map(|at| (&*at.link, at.frame)).collect();
    let [(_, first), (_, second)] = now[0].1[..] else { panic!("{now:?}") };
    assert_eq!(told, [("ab", first), ("bd", second)]);
    // Its frames are felt until its last packet has come.
    book.release(Nanos(MS), "call").unwrap();
    let free = book.next_change(Nanos(MS)).unwrap();
    let framing = plan.network_plan().unwrap().analysis().framing.unwrap();
    let longest = framing.bounds().into_values().map(|bound| bound.unwrap().delay()).max().unwrap();
    assert_eq!(free, Nanos(MS) + longest);
}

#[test]
fn full_frames_are_refused_with_what_would_fit() {
    let mut book = Book::new(FRAMED, "plan.toml", Path::new("")).unwrap();
    // A packet in two of each frame's places is of the plan's own class in four frames of ten.
    for number in 0..2 {
        request(&mut book, &format!("call{number}"), &framed_keys(400, ""), &["a", "b", "d"])
            .unwrap();
    }
    let refuse =
        |book: &mut Book, keys: &str, path: &[&str]| match request(book, "more", keys, path) {
            Err(RequestError::NoRoom(refused)) => refused,
            other => panic!("{other:?}"),
        };
    let refused = refuse(&mut book, &framed_keys(400, ""), &["a", "b", "d"]);
    assert!(matches!(refused.reasons[0].finding, Finding::Unbounded { .. }), "{refused:?}");
    assert_eq!(refused.reasons[0].class.as_deref(), Some("more"));
    assert_eq!(refused.offer.path.as_deref(), Some(&["a", "c", "d"].map(String::from)[..]));
    let granted = request(&mut book, "around", &framed_keys(400, ""), &["a", "c", "d"]).unwrap();
    let mine = granted.frames.iter().map(|at| format!("{} = {}", at.link, at.frame));
    let mine = format!("frame-at = {{ {} }}", mine.collect::<Vec<_>>().join(", "));
    // Who asks for frames of others is offered its own: two packets fit into one.
    request(&mut book, "beside", &framed_keys(2000, &mine), &["a", "c", "d"]).unwrap();
    let refused = refuse(&mut book, &framed_keys(2000, &mine), &["a", "c", "d"]);
    let offered = refused.offer.frames.iter().map(|at| format!("{} = {}", at.link, at.frame));
    let offered = format!("frame-at = {{ {} }}", offered.collect::<Vec<_>>().join(", "));
    assert_ne!(offered, mine);
    let granted =
        request(&mut book, "more", &framed_keys(2000, &offered), &["a", "c", "d"]).unwrap();
    assert_eq!(granted.frames, refused.offer.frames);
}

/// Another plan in which a class takes what was promised gets other frames for it, and what was
/// promised stays where it is.
#[test]
fn another_plan_goes_around_what_is_promised() {
    let mut book = Book::new(FRAMED, "plan.toml", Path::new("")).unwrap();
    let first = frames(&book.plan(Nanos(0)).unwrap().0)[0].1[0].1;
    // The class has no packets in the frame behind its first one. As two streams it would.
    let [ab, bd] = [first + 1, first + 3].map(|frame| frame % 10);
    let at = format!("frame-at = {{ ab = {ab}, bd = {bd} }}");
    for name in ["call", "other"] {
        request(&mut book, name, &framed_keys(2000, &at), &["a", "b", "d"]).unwrap();
    }
    let twice = FRAMED.replace("gap = '500us'", "gap = '500us'\ncount = 2");
    let alone = frames(&Plan::parse(&twice, "plan.toml", Path::new("")).unwrap());
    let called = |book: &Book| {
        let (plan, text) = book.plan(Nanos(0)).unwrap();
        assert!(check(&text));
        frames(&plan)
    };
    let before = called(&book);
    assert_eq!(before[2].1[0].1, first);
    book.change_plan(Nanos(0), &twice).unwrap();
    let after = called(&book);
    assert_eq!(before[..2], after[..2]);
    assert_ne!(after[2..], alone[..]);
    // As well after a start, from what was noted.
    let booked: Vec<Request> = book
        .reservations()
        .map(|(name, booking)| Request {
            name: name.clone(),
            keys: booking.contract().keys().clone(),
            path: booking.contract().path().to_vec(),
            period: NOW,
            commit_by: None,
        })
        .collect();
    let mut again = Book::new(&twice, "plan.toml", Path::new("")).unwrap();
    again.restore(Nanos(0), booked).unwrap();
    assert_eq!(called(&again), after);
    // When it has left, a plan that is read again moves nobody back.
    again.release(Nanos(1), "call").unwrap();
    again.release(Nanos(1), "other").unwrap();
    again.expire(again.next_change(Nanos(1)).unwrap());
    again.change_plan(Nanos(0), &format!("title = 'again'\n{twice}")).unwrap();
    assert_eq!(called(&again), after[2..]);
}

/// Two contracts of a time without frames get different ones.
#[test]
fn what_has_no_frames_yet_gets_some_beside_the_others() {
    let mut book = Book::new(FRAMED, "plan.toml", Path::new("")).unwrap();
    let request = |name: &str| Request {
        name: name.to_string(),
        keys: framed_keys(400, "").parse().unwrap(),
        path: ["a", "c", "d"].map(String::from).to_vec(),
        period: NOW,
        commit_by: None,
    };
    let all: Vec<Request> = ["one", "two", "three", "four"].map(request).into();
    book.restore(Nanos(0), all).unwrap();
    let (plan, text) = book.plan(Nanos(0)).unwrap();
    assert!(check(&text), "{text}");
    assert_eq!(frames(&plan).len(), 5);
    let fifo = FRAMED
        .replace("{ kind = 'tdp', frame = '200us', frames = 10, spare = 1 }", "{ kind = 'fifo' }");
    let fifo = fifo.replace("gap = '500us'", "end-to-end = '1s'");
    let mut book = Book::new(&fifo, "plan.toml", Path::new("")).unwrap();
    let keys = framed_keys(400, "end-to-end = '1s'").replace("gap = '400us'\n", "");
    let path = ["a", "c", "d"].map(String::from).to_vec();
    let (name, keys) = ("one".to_string(), keys.parse().unwrap());
    book.request(Nanos(0), Request { name, keys, path, period: NOW, commit_by: None }).unwrap();
    let refused = book.change_plan(Nanos(0), FRAMED).unwrap_err();
    assert!(refused.to_string().contains("no time frames"), "{refused}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 30, ..ProptestConfig::default() })]

    /// Whatever comes and goes in time frames, every plan is admitted, a class that stays keeps its
    /// frames, and what is refused has no room where the whole plan is tested with all others in
    /// their frames.
    #[test]
    fn frames_stay_where_they_are(
        steps in prop::collection::vec((0..4u64, 300..3000u64, 0..3usize, 0..3 * MS), 1..25),
        exact: bool,
    ) {
        let paths: [&[&str]; 3] = [&["a", "b", "d"], &["a", "c", "d"], &["b", "d", "c"]];
        let assignment = if exact { "exact" } else { "quick" };
        let text = FRAMED.replace("spare = 1", &format!("spare = 1, assignment = '{assignment}'"));
        let mut book = Book::new(&text, "plan.toml", Path::new("")).unwrap();
        let mut last = frames(&book.plan(Nanos(0)).unwrap().0);
        let mut now = Nanos(0);
        for (number, (what, gap, path, wait)) in steps.into_iter().enumerate() {
            now += Nanos(wait);
            book.expire(now);
            let names: Vec<String> = book.reservations().map(|(name, _)| name.clone()).collect();
            if what == 0 && !names.is_empty() {
                // One that leaves is there no more to be released.
                let _: Result<(), RequestError> = book.release(now, &names[number % names.len()]);
            } else {
                let path: Vec<String> = paths[path].iter().map(|node| (*node).to_string()).collect();
                let (name, keys) = (format!("n{number}"), framed_keys(gap, ""));
                let with = Request {
                    name, keys: keys.parse().unwrap(), path, period: NOW, commit_by: None,
                };
                let (_, before) = book.plan(now).unwrap();
                let whole = format!("[class.whole]\n{keys}[class.own]");
                let source = format!(
                    "[[source]]\nclass = 'whole'\nmodel = 'greedy'\npacket = '100b'\nburst = '1s'\n\
                     spacing = '0s'\npath = {:?}\n", with.path
                );
                let whole = before.replacen("[class.own]", &whole, 1) + &source;
                let is_granted = match book.request(now, with) {
                    Ok(_) => true,
                    Err(RequestError::NoRoom(_)) => false,
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                };
                prop_assert_eq!(is_granted, check(&whole), "{}", whole);
            }
            let (plan, text) = book.plan(now).unwrap();
            prop_assert!(check(&text), "{text}");
            let next = frames(&plan);
            for (name, frames) in &next {
                let before = last.iter().find(|(other, _)| other == name);
                prop_assert!(before.is_none_or(|(_, before)| before == frames), "{name}");
            }
            last = next;
        }
    }
}
