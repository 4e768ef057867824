//! Reservations on a link between two hosts in namespaces of the test's own.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{SocketAddr, UdpSocket};
use std::path::Path;
use std::process::Command;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

use super::link::{Link, SetAtEnd};
use crate::folder::{CommandResult, Folder};

/// Best effort has no deadlines, so that what is granted begins at once.
const PLAN: &str = "version = 1
link.rate = '20mbit'
scheduler = { kind = 'edf', best-effort = 'background' }
[class.call]
deadline = '10ms'
arrival = { bucket = '3kB', rate = '2mbit', packet = '300b' }
match = 'udp dport 5000'
police = 'demote'
[class.rest]
";

const CALL: [&str; 8] =
    ["--deadline", "8ms", "--bucket", "600b", "--rate", "200kbit", "--packet", "300b"];

fn start(folder: &Folder) -> Option<Link> {
    Link::start(folder, &["--control", "control.sock", "--reservations", "promised"])
}

fn ask(folder: &Folder, words: &[&str]) -> CommandResult {
    folder.laxity(&[words, &["--control", "control.sock"]].concat())
}

fn reserve(folder: &Folder, name: &str, port: u16, more: &[&str]) -> CommandResult {
    let matching = format!("udp dport {port}");
    ask(folder, &[&["reserve", name, "--match", &matching], &CALL[..], more].concat())
}

/// The names of the reservations in a state.
fn reserved(folder: &Folder, state: &str) -> BTreeSet<String> {
    let listed: Value =
        serde_json::from_str(&ask(folder, &["reservations", "--json"]).printed(0)).unwrap();
    let all = listed["reservations"].as_array().unwrap();
    let all = all.iter().filter(|one| one["state"] == state);
    all.map(|one| one["name"].as_str().unwrap().to_string()).collect()
}

fn names(names: &[&str]) -> BTreeSet<String> {
    names.iter().copied().map(String::from).collect()
}

/// What a class has sent.
fn sent(folder: &Folder, class: &str) -> Option<u64> {
    let status = ask(folder, &["status", "--json"]).printed(0);
    let status: Value = serde_json::from_str(&status).unwrap();
    let classes = status["ways"][0]["classes"].as_array().unwrap();
    classes.iter().find(|one| one["name"] == class)?["sent"].as_u64()
}

#[test]
fn a_class_comes_and_goes_while_packets_pass() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    link.pass(0, 5000, 10);
    let granted = reserve(&folder, "extra", 6000, &[]).printed(0);
    assert!(granted.contains("`extra` is granted: no packet takes longer than"), "{granted}");
    link.pass(0, 6000, 20);
    link.pass(0, 5000, 10);
    assert_eq!((sent(&folder, "extra"), sent(&folder, "call")), (Some(20), Some(20)));

    let again = reserve(&folder, "extra", 6001, &[]).printed(1);
    assert!(again.contains("there is a reservation `extra` already"), "{again}");
    let greedy = ["reserve", "greedy", "--deadline", "1ms", "--bucket", "30kB", "--rate", "1mbit"];
    let refused = ask(&folder, &greedy).printed(1);
    assert!(
        refused.contains("It is refused: ") && refused.contains("This would fit: a deadline of"),
        "{refused}"
    );
    let senseless = ask(&folder, &["reserve", "odd", "--set", "dealine=5ms"]);
    assert_eq!(senseless.code, Some(2));
    assert!(senseless.stderr.contains("dealine"), "{}", senseless.stderr);
    assert_eq!(reserved(&folder, "active"), names(&["extra"]));

    ask(&folder, &["release", "extra"]).printed(0);
    link.pass(0, 6000, 5);
    leaves(&folder, "extra");
    assert_eq!(reserved(&folder, "leaving"), names(&[]));
    assert!(sent(&folder, "rest") >= Some(5));
    ask(&folder, &["release", "extra"]).printed(1);
    let printed = link.end();
    assert_eq!(printed.matches("Every packet kept its bound").count(), 1, "{printed}");
}

/// Waits until a class is in the plan no longer.
fn leaves(folder: &Folder, class: &str) {
    let begun = Instant::now();
    while sent(folder, class).is_some() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it stays in the plan");
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_contract_changes_while_packets_pass() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    reserve(&folder, "extra", 6000, &[]).printed(0);
    link.pass(0, 6000, 10);
    let change = |name: &str, bucket: &str| {
        let keys = ["--match", "udp dport 6001", "--deadline", "20ms", "--bucket", bucket];
        let more = ["--rate", "400kbit", "--packet", "300b", "--change"];
        ask(&folder, &[&["reserve", name], &keys[..], &more].concat())
    };
    let changed = change("extra", "900b").printed(0);
    assert!(changed.contains("`extra` is changed: no packet takes longer than"), "{changed}");
    link.pass(0, 6001, 10);
    assert_eq!(sent(&folder, "extra#1"), Some(10));
    leaves(&folder, "extra");
    assert_eq!(reserved(&folder, "active"), names(&["extra"]));

    let refused = change("extra", "90kB").printed(1);
    assert!(refused.contains("It is refused: "), "{refused}");
    // Only a host knows marks: a plan with them cannot be followed here.
    let marked = ["reserve", "extra", "--match", "mark 7", "--change"];
    let unfollowed = ask(&folder, &[&marked[..], &CALL].concat());
    assert_eq!(unfollowed.code, Some(3), "{}{}", unfollowed.stdout, unfollowed.stderr);
    assert_eq!(reserved(&folder, "active"), names(&["extra"]));
    let unknown = change("other", "900b").printed(1);
    assert!(unknown.contains("there is no reservation `other`"), "{unknown}");
    link.pass(0, 6001, 10);
    assert_eq!(sent(&folder, "extra#1"), Some(20));
    let printed = link.end();
    assert_eq!(printed.matches("Every packet kept its bound").count(), 1, "{printed}");
    // What it was is not promised any more after a start.
    let Some(link) = start(&folder) else { return };
    let listed = ask(&folder, &["reservations"]).printed(0);
    assert!(listed.contains("400kbit") && !listed.contains("200kbit"), "{listed}");
    link.end();
}

#[test]
fn what_is_held_ends_unless_it_is_committed() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    for name in ["kept", "lost"] {
        let held = reserve(&folder, name, 6000, &["--hold", "1s"]).printed(0);
        assert!(held.contains("is held: no packet takes longer"), "{held}");
    }
    reserve(&folder, "later", 6002, &["--in", "60min", "--for", "10min"]).printed(0);
    ask(&folder, &["reserve", "kept", "--commit"]).printed(0);
    assert_eq!(reserved(&folder, "held"), names(&["lost"]));
    thread::sleep(Duration::from_millis(1500));
    assert_eq!(reserved(&folder, "active"), names(&["kept"]));
    assert_eq!(reserved(&folder, "ahead"), names(&["later"]));
    ask(&folder, &["reserve", "lost", "--commit"]).printed(1);
    ask(&folder, &["reserve", "kept", "--renew", "--for", "10min"]).printed(0);
    let listed = ask(&folder, &["reservations"]).printed(0);
    assert!(
        listed.contains("kept") && listed.contains("active") && listed.contains("ahead"),
        "{listed}"
    );
    link.end();
}

#[test]
fn without_a_file_none_are_taken() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = Link::start(&folder, &["--control", "control.sock"]) else { return };
    let refused = reserve(&folder, "extra", 6000, &[]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("--reservations"), "{}", refused.stderr);
    link.end();
}

/// Calls that come and go beside a flood. Each is granted exactly if `laxity check` admits the plan
/// with it, and no packet of one that is granted takes longer than its bound. Simulated as they
/// came, the same ones are granted. With `LAXITY_WHOLE` these are 300 calls within a minute.
#[test]
fn calls_beside_a_flood() {
    let folder = Folder::with_plan(PLAN);
    let Some(link) = start(&folder) else { return };
    let (calls, every) =
        if is_whole() { (300, Duration::from_millis(200)) } else { (48, Duration::ZERO) };
    let mut draw = Pcg64::seed_from_u64(11);
    let (ports, is_over) = (RwLock::new(Vec::<u16>::new()), AtomicBool::new(false));
    let socket = |port: u16| {
        let at = SocketAddr::from(([10, 0, 0, 1], port));
        link.hosts[0].run(|| UdpSocket::bind(at).unwrap()).unwrap()
    };
    let (flood, talk) = (socket(7000), socket(7001));
    let mut asked = BTreeMap::new();
    thread::scope(|scope| {
        let _over = SetAtEnd(&is_over);
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                // 30 Mbit/s into 20.
                let sent = (0..4).map(|_| flood.send_to(&[0; 1400], "10.0.0.2:7000"));
                sent.for_each(drop);
                thread::sleep(Duration::from_micros(1400));
            }
        });
        scope.spawn(|| {
            while !is_over.load(Relaxed) {
                // Two packets at once in 40 ms: 102 kbit/s of 200.
                for port in ports.read().unwrap().iter() {
                    let to = SocketAddr::from(([10, 0, 0, 2], *port));
                    (0..2).for_each(|_| drop(talk.send_to(&[0; 200], to)));
                }
                thread::sleep(Duration::from_millis(40));
            }
        });
        let (mut granted, begun) = (BTreeMap::new(), Instant::now());
        let (mut refused, mut in_vain) = (0, 0);
        for number in 0..calls {
            thread::sleep((every * number.into()).saturating_sub(begun.elapsed()));
            let (name, port) = (format!("call-{number:03}"), 5100 + number);
            // A link that is full is asked three times, and then some calls end.
            if in_vain == 3 {
                in_vain = 0;
                for _ in 0..draw.random_range(1..5) {
                    let ends = draw.random_range(0..granted.len());
                    let name: String = granted.keys().nth(ends).cloned().unwrap();
                    let port = granted.remove(&name);
                    ports.write().unwrap().retain(|other| Some(*other) != port);
                    let ends = begun.elapsed();
                    asked.entry(name.clone()).and_modify(|call: &mut AskedCall| call.ends = ends);
                    ask(&folder, &["release", &name]).printed(0);
                }
                let released = Instant::now();
                while !reserved(&folder, "leaving").is_empty() {
                    assert!(released.elapsed() < Duration::from_secs(20), "they are still felt");
                    thread::sleep(Duration::from_millis(20));
                }
            }
            granted.insert(name.clone(), port);
            let expected = check(&folder, &granted);
            let at = begun.elapsed();
            let ended = reserve(&folder, &name, port, &[]);
            assert_eq!(ended.code, expected, "{name}: {}{}", ended.stdout, ended.stderr);
            let is_granted = expected == Some(0);
            let ends = Duration::from_secs(3600);
            asked.insert(name.clone(), AskedCall { at, ends, is_granted });
            if expected == Some(0) {
                ports.write().unwrap().push(port);
            } else {
                granted.remove(&name);
                refused += 1;
                in_vain += 1;
            }
        }
        assert!(refused > 2 && granted.len() > 10, "{refused} refused, {} granted", granted.len());
        thread::sleep(Duration::from_millis(500));
    });
    let printed = link.end();
    assert!(printed.contains("Every packet kept its bound"), "{printed}");
    assert_eq!(simulated(&folder, &asked), asked);
}

/// A call, in times from the begin of all, and what it is answered.
#[derive(Clone, Copy, Debug, PartialEq)]
struct AskedCall {
    at: Duration,
    ends: Duration,
    is_granted: bool,
}

/// The calls as the simulator answers them that come and end at the same times, beside a flood.
fn simulated(folder: &Folder, asked: &BTreeMap<String, AskedCall>) -> BTreeMap<String, AskedCall> {
    let line =
        |call: &AskedCall| format!("{},{}\n", call.at.as_nanos(), (call.ends - call.at).as_nanos());
    let calls: String = asked.values().map(line).collect();
    std::fs::write(folder.path("calls.csv"), format!("at_ns,holding_ns\n{calls}")).unwrap();
    let last = asked.values().last().unwrap().at.as_nanos() + 1_000_000_000;
    let source = |class: &str, packet: &str, rate: &str| {
        format!(
            "[[source]]\nclass = '{class}'\nmodel = 'constant'\npacket = '{packet}'\nrate = '{rate}'\n"
        )
    };
    let talk = source("booked", "300b", "60kbit").repeat(2);
    let flood = source("rest", "1442b", "30mbit");
    let plan = format!(
        "{PLAN}[class.booked]\ndeadline = '8ms'\n\
         arrival = {{ bucket = '600b', rate = '200kbit', packet = '300b' }}\n\
         [[request]]\nclass = 'booked'\ncalls = 'calls.csv'\n\
         {talk}{flood}[run]\nduration = '{last}ns'\n"
    );
    std::fs::write(folder.path("replay.toml"), plan).unwrap();
    let summary = folder.laxity(&["run", "replay.toml", "--out", "out", "--json"]).json(0);
    assert!(summary["kept"].as_bool().unwrap(), "{summary}");
    let answered = folder.text("out/calls.csv");
    let answered = answered.lines().skip(1).map(|line| line.contains(",granted,"));
    assert_eq!(answered.clone().count(), asked.len());
    let calls = asked.iter().zip(answered);
    calls
        .map(|((name, call), is_granted)| (name.clone(), AskedCall { is_granted, ..*call }))
        .collect()
}

fn is_whole() -> bool {
    std::env::var_os("LAXITY_WHOLE").is_some()
}

/// How `laxity check` ends of a plan with these calls.
fn check(folder: &Folder, calls: &BTreeMap<String, u16>) -> Option<i32> {
    let (head, rest) = PLAN.split_once("[class.call]").unwrap();
    let call = |(name, port): (&String, &u16)| {
        format!(
            "[class.{name}]\nmatch = 'udp dport {port}'\ndeadline = '8ms'\n\
             arrival = {{ bucket = '600b', rate = '200kbit', packet = '300b' }}\n"
        )
    };
    let classes: String = calls.iter().map(call).collect();
    let plan = format!("{head}{classes}[class.call]{rest}");
    std::fs::write(folder.path("with-calls.toml"), plan).unwrap();
    folder.laxity(&["check", "with-calls.toml"]).code
}

/// What was granted before the process was killed is there afterwards, and what was released is
/// not. What nobody had an answer to may be either.
#[test]
fn kills_lose_nothing_and_bring_nothing_back() {
    let kills = if is_whole() { 1000 } else { 8 };
    let folder = Folder::with_plan(PLAN);
    let mut draw = Pcg64::seed_from_u64(4);
    let (mut promised, mut number) = (BTreeSet::<String>::new(), 0);
    for _ in 0..kills {
        let _ = std::fs::remove_file(folder.path("control.sock"));
        let Some(mut link) = start(&folder) else { return };
        assert_eq!(reserved(&folder, "active"), promised);
        let end = Duration::from_millis(draw.random_range(0..600));
        let process = link.running.0.id();
        let killer = thread::spawn(move || {
            thread::sleep(end);
            let killed = Command::new("kill").args(["-KILL", &process.to_string()]).status();
            assert!(killed.unwrap().success());
        });
        // Until nobody answers. Whether that order was carried out shows the next start.
        let doubt = loop {
            let gone = promised.iter().nth(draw.random_range(0..=promised.len())).cloned();
            let (name, ended) = match gone.filter(|_| promised.len() > 3) {
                Some(name) => (name.clone(), ask(&folder, &["release", &name])),
                None => {
                    number += 1;
                    let name = format!("call-{number}");
                    (name.clone(), reserve(&folder, &name, 6000 + number, &[]))
                }
            };
            match ended.code {
                Some(0) if promised.remove(&name) => {}
                Some(0) => drop(promised.insert(name)),
                Some(1) => {}
                _ => break name,
            }
        };
        killer.join().unwrap();
        let _ = link.running.0.wait();
        drop(link);
        settle(&folder.path("promised"), &mut promised, &doubt);
    }
}

/// Takes from the file whether an order without an answer was carried out.
fn settle(journal: &Path, promised: &mut BTreeSet<String>, doubt: &str) {
    let text = std::fs::read(journal).unwrap();
    let text = String::from_utf8_lossy(&text);
    let of_it = |line: &&str| line.contains(&format!("\"name\":\"{doubt}\""));
    let mut whole = text.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    match whole.rfind(of_it) {
        Some(line) if line.contains("\"is\":null") => drop(promised.remove(doubt)),
        Some(_) => drop(promised.insert(doubt.to_string())),
        None => drop(promised.remove(doubt)),
    }
}
