//! Routers take reservations along paths.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::Value;

use super::network::{PLAN as FRAMED, Routers};
use crate::datagrams::uninterrupted;
use crate::folder::{CommandResult, Folder};

/// From `a` and `c` through both routers to `b`.
const PLAN: &str = "version = 1
link = { rate = '10mbit', min-packet = '64b', max-packet = '1538b' }
scheduler = { kind = 'edf', best-effort = 'background' }
[class.voice]
deadline = '12ms'
end-to-end = '60ms'
arrival = { bucket = '300b', rate = '100kbit', packet = '300b' }
match = 'udp dport 4000'
[class.rest]
[network]
left = { between = ['a', 'r1'], regulate = true }
near = { between = ['c', 'r1'], regulate = true }
core = { between = ['r1', 'r2'], regulate = true }
right = { between = ['r2', 'b'], regulate = true }
[[source]]
class = 'voice'
model = 'constant'
rate = '100kbit'
packet = '300b'
path = ['a', 'r1', 'r2', 'b']
";

const CALL: [&str; 8] =
    ["--match", "udp dport 5000", "--bucket", "600b", "--rate", "200kbit", "--packet", "300b"];
const PROMISED: Duration = Duration::from_millis(60);

fn start(folder: &Folder) -> Option<Routers> {
    Routers::start(folder, &["--reservations", "promised"])
}

fn ask(folder: &Folder, words: &[&str]) -> CommandResult {
    folder.laxity(&[words, &["--control", "laxity/r1-r2.sock"]].concat())
}

fn reserve(folder: &Folder, name: &str, more: &[&str]) -> CommandResult {
    ask(folder, &[&["reserve", name], &CALL[..], more].concat())
}

fn status(folder: &Folder) -> Value {
    ask(folder, &["status", "--json"]).json(0)
}

/// What is known of a class, if there is one.
fn class(status: &Value, name: &str) -> Option<Value> {
    let classes = status["ways"][0]["classes"].as_array().unwrap();
    classes.iter().find(|class| class["name"] == name).cloned()
}

/// Waits until a class is in the plan no longer.
fn leaves(folder: &Folder, name: &str) {
    let begun = Instant::now();
    while class(&status(folder), name).is_some() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it stays in the plan");
        thread::sleep(Duration::from_millis(50));
    }
}

/// How much later than it asked for this process ran at most, while something is done.
fn lateness_during(something: impl FnOnce()) -> Duration {
    let (is_over, late) = (AtomicBool::new(false), AtomicU64::new(0));
    let watch = || {
        while !is_over.load(Relaxed) {
            let (begun, pause) = (Instant::now(), Duration::from_millis(1));
            thread::sleep(pause);
            let over = begun.elapsed().saturating_sub(pause).as_nanos();
            late.fetch_max(u64::try_from(over).unwrap(), Relaxed);
        }
    };
    thread::scope(|scope| {
        scope.spawn(watch);
        something();
        is_over.store(true, Relaxed);
    });
    Duration::from_nanos(late.into_inner())
}

/// A reservation holds beside twice as much traffic as the links carry, is gone when it is
/// released, and may come again.
#[test]
fn what_is_promised_along_a_path_is_kept_beside_a_flood() {
    let folder = Folder::with_plan(PLAN);
    let Some(routers) = start(&folder) else { return };
    // Addresses are known from here on.
    routers.pass(0, 1, 6001, 1);
    routers.pass(2, 1, 6002, 1);
    let along = ["--path", "a,r1,r2,b", "--end-to-end", "60ms"];
    let granted = reserve(&folder, "call", &along).printed(0);
    assert!(granted.contains("`call` is granted: no packet takes longer than"), "{granted}");
    assert!(granted.contains("Path: a → r1 → r2 → b; deadlines: "), "{granted}");

    let (sender, receiver, to) = routers.sockets(0, 1, 5000);
    receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let (flood, _sink, sink) = routers.sockets(2, 1, 7000);
    let is_over = AtomicBool::new(false);
    let late = lateness_during(|| {
        thread::scope(|scope| {
            scope.spawn(|| {
                while !is_over.load(Relaxed) {
                    let _ = flood.send_to(&[7; 1400], sink);
                    let _ = flood.send_to(&[7; 1400], sink);
                    thread::sleep(Duration::from_millis(1));
                }
            });
            thread::sleep(Duration::from_millis(300));
            for _ in 0..100 {
                sender.send_to(&[7; 200], to).unwrap();
                thread::sleep(Duration::from_millis(15));
            }
            is_over.store(true, Relaxed);
        });
    });
    (0..100).for_each(|_| {
        uninterrupted(|| receiver.recv(&mut [0; 300])).unwrap();
    });
    let measured = status(&folder);
    let [call, rest] = ["call", "rest"].map(|name| class(&measured, name).unwrap());
    assert_eq!(
        (call["sent"].as_u64(), call["deadline_ns"].as_u64()),
        (Some(100), Some(60_000_000))
    );
    let [longest, of_the_flood] = [&call, &rest]
        .map(|class| Duration::from_nanos(class["delay_ns"]["max"].as_u64().unwrap()));
    // Each of the routers may be that late.
    assert!(longest <= PROMISED + 2 * late, "{longest:?}, {late:?} late: {measured}");
    assert!(of_the_flood > 2 * PROMISED, "{of_the_flood:?} is no flood");
    let promised = &measured["promised"];
    assert_eq!(
        (&promised["stages"]["active"], &promised["promised_bps"]),
        (&1.into(), &300_000.into())
    );

    drop((sender, receiver));
    ask(&folder, &["release", "call"]).printed(0);
    leaves(&folder, "call");
    routers.pass(0, 1, 5000, 1);
    // The ends alone, from elsewhere.
    let granted = reserve(&folder, "call", &["--path", "c,b", "--end-to-end", "60ms"]).printed(0);
    assert!(granted.contains("Path: c → r1 → r2 → b"), "{granted}");
    routers.pass(2, 1, 5000, 10);
    let status = status(&folder);
    let call = class(&status, "call").unwrap();
    assert_eq!(call["sent"].as_u64(), Some(10), "{status}");
    routers.end();
}

#[test]
fn what_was_granted_is_there_after_a_start() {
    let folder = Folder::with_plan(PLAN);
    let Some(routers) = start(&folder) else { return };
    let along = ["--path", "a,r1,r2,b", "--end-to-end", "60ms"];
    reserve(&folder, "call", &along).printed(0);
    let held = reserve(&folder, "held", &[&along[..], &["--hold", "60min"]].concat()).printed(0);
    assert!(held.contains("`held` is held"), "{held}");
    let before = ask(&folder, &["reservations", "--json"]).json(0);
    routers.end();
    let Some(routers) = start(&folder) else { return };
    let after = ask(&folder, &["reservations", "--json"]).json(0);
    assert_eq!(before["reservations"], after["reservations"]);
    let listed = ask(&folder, &["reservations"]).printed(0);
    assert!(listed.contains("path") && listed.contains("a,r1,r2,b"), "{listed}");
    ask(&folder, &["reserve", "held", "--commit"]).printed(0);
    routers.pass(0, 1, 5000, 10);
    assert_eq!(class(&status(&folder), "call").unwrap()["sent"].as_u64(), Some(10));
    // Links are those of all routers. What is of this host alone may change, beside reservations.
    for (from, to, code) in [("10mbit", "9mbit", 1), ("version = 1", "version = 1\ntitle = 'x'", 0)]
    {
        std::fs::write(folder.path("plan.toml"), PLAN.replace(from, to)).unwrap();
        let reload = ask(&folder, &["reload"]);
        assert_eq!(reload.code, Some(code), "{}{}", reload.stdout, reload.stderr);
        routers.pass(0, 1, 5000, 1);
    }
    assert_eq!(class(&status(&folder), "call").unwrap()["sent"].as_u64(), Some(1));
    let again = reserve(&folder, "more", &along).printed(0);
    assert!(again.contains("granted"), "{again}");
    routers.end();
}

/// Random requests are granted exactly if the whole plan with them is admitted.
#[test]
fn the_answer_is_that_of_the_test_of_the_whole_plan() {
    let folder = Folder::with_plan(PLAN);
    let Some(routers) = start(&folder) else { return };
    let draw = &mut Pcg64::seed_from_u64(7);
    let (mut plan, mut answers) = (PLAN.to_string(), [0, 0]);
    for number in 0..12 {
        let from = ["a", "c"][draw.random_range(0..2)];
        let (deadline, rate) = (draw.random_range(2..15), draw.random_range(200..3_000));
        let name = format!("flow{number}");
        let [within, end, rate] = [
            format!("{deadline}ms"),
            format!("{}ms", 4 * deadline + draw.random_range(0..5)),
            format!("{rate}kbit"),
        ];
        let path = format!("{from},r1,r2,b");
        let keys =
            ["--deadline", &within, "--end-to-end", &end, "--bucket", "4kB", "--rate", &rate];
        let more = ["--packet", "1500b", "--path", &path, "--match", "udp dport 9"];
        let answer = ask(&folder, &[&["reserve", &name], &keys[..], &more].concat());
        let with = format!(
            "{plan}[class.{name}]\ndeadline = '{within}'\nend-to-end = '{end}'\nmatch = 'udp dport 9'\n\
             arrival = {{ bucket = '4kB', rate = '{rate}', packet = '1500b' }}\n\
             [[source]]\nclass = '{name}'\nmodel = 'constant'\nrate = '{rate}'\npacket = '1500b'\n\
             path = ['{from}', 'r1', 'r2', 'b']\n"
        );
        std::fs::write(folder.path("with.toml"), &with).unwrap();
        let checked = folder.laxity(&["check", "with.toml"]);
        assert_eq!(answer.code, checked.code, "{}{}{with}", answer.stdout, checked.stdout);
        answers[usize::from(answer.code == Some(0))] += 1;
        if answer.code == Some(0) {
            plan = with;
        }
    }
    assert!(answers.iter().all(|count| *count > 0), "{answers:?}");
    routers.end();
}

/// A newcomer gets frames beside those of the plan, the calls of both are in theirs, and it has
/// the same ones after a start.
#[test]
fn time_frames_are_reserved_while_others_keep_theirs() {
    let folder = Folder::with_plan(FRAMED);
    let Some(routers) = start(&folder) else { return };
    routers.pass(0, 1, 6001, 1);
    let call = ["--match", "udp dport 5001", "--bucket", "150b", "--rate", "600kbit"];
    let more = ["--packet", "150b", "--path", "a,r1,r2,b", "--end-to-end", "60ms"];
    let reserve = |name: &str| ask(&folder, &[&["reserve", name], &call[..], &more].concat());
    let granted = reserve("more").printed(0);
    assert!(granted.contains("Path: a → r1 → r2 → b; first frames: "), "{granted}");
    let senders = [5000, 5001].map(|port| routers.sockets(0, 1, port));
    let (flood, _sink, sink) = routers.sockets(2, 1, 7000);
    let late = lateness_during(|| {
        for _ in 0..200 {
            for (sender, _, to) in &senders {
                sender.send_to(&[7; 100], *to).unwrap();
            }
            flood.send_to(&[7; 1400], sink).unwrap();
            thread::sleep(Duration::from_millis(3));
        }
    });
    for (_, receiver, _) in &senders {
        receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        for _ in 0..200 {
            uninterrupted(|| receiver.recv(&mut [0; 300])).unwrap();
        }
    }
    let measured = status(&folder);
    for name in ["call", "more"] {
        let class = class(&measured, name).unwrap();
        let longest = Duration::from_nanos(class["delay_ns"]["max"].as_u64().unwrap());
        assert_eq!(class["sent"].as_u64(), Some(200), "{measured}");
        assert!(longest <= PROMISED + 2 * late, "{longest:?}, {late:?} late: {measured}");
    }
    drop(senders);
    let before = ask(&folder, &["reservations", "--json"]).json(0);
    assert!(before["reservations"][0]["keys"].as_str().unwrap().contains("frame-at"), "{before}");
    // A plan of this host alone may change beside what is reserved.
    std::fs::write(folder.path("plan.toml"), format!("title = 'x'\n{FRAMED}")).unwrap();
    assert_eq!(ask(&folder, &["reload"]).code, Some(0));
    routers.end();
    let Some(routers) = start(&folder) else { return };
    let after = ask(&folder, &["reservations", "--json"]).json(0);
    assert_eq!(before["reservations"], after["reservations"]);
    ask(&folder, &["release", "more"]).printed(0);
    leaves(&folder, "more");
    assert!(reserve("more").printed(0).contains("is granted"));
    routers.end();
}
