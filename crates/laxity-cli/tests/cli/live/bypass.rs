//! Frames go on when the process that forwards is killed or hangs.

use std::io::{BufRead, BufReader};
use std::net::UdpSocket;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::bypass;
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

use super::PLAN;
use super::link::{Running, SetAtEnd, hosts, wait_for};
use crate::folder::Folder;

const LIVE: [&str; 7] = ["live", "plan.toml", "--in", "a", "--out", "b", "--bypass"];
/// How long a process forwards before the next misfortune.
const WORKS: Duration = Duration::from_millis(200);
/// How long nothing is forwarded then, without a bypass: longer than is accepted.
const AWAY: Duration = Duration::from_millis(600);

/// The longest time without frames, beside what others hold the kernel's lock.
const MOST: Duration = Duration::from_millis(200);

/// How often it is tried: a hundred times with `LAXITY_WHOLE=1` in the environment.
fn rounds() -> usize {
    if std::env::var_os("LAXITY_WHOLE").is_some() { 100 } else { 4 }
}

fn start(folder: &Folder, between: &Namespace) -> Running {
    let mut command = folder.command(&LIVE);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::new(between.run(|| command.spawn().unwrap()).unwrap());
    let mut said = BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut said, "forwarding between a and b");
    thread::spawn(move || said.lines().map_while(Result::ok).for_each(|line| println!("{line}")));
    running
}

/// What measures is to wait for no other work of the machine, if it may.
fn on_time() {
    let _as_it_is = laxity_linux::priority::real_time(60);
}

/// The longest time between two datagrams of one host that come to the other, until it is over.
fn longest_gap(hosts: &[Namespace; 2], is_over: &AtomicBool) -> Duration {
    let [sender, receiver] = ["10.0.0.1:5000", "10.0.0.2:5000"]
        .map(|address| address.parse::<std::net::SocketAddr>().unwrap());
    let out = hosts[0].run(|| UdpSocket::bind(sender).unwrap()).unwrap();
    let came = hosts[1].run(|| UdpSocket::bind(receiver).unwrap()).unwrap();
    came.set_read_timeout(Some(Duration::from_millis(1))).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            on_time();
            while !is_over.load(Ordering::Relaxed) {
                // Nobody hears of a neighbour whose answers are lost.
                let _ = out.send_to(&[7; 100], receiver);
                thread::sleep(Duration::from_millis(2));
            }
        });
        on_time();
        let (mut last, mut longest) = (None, Duration::ZERO);
        while !is_over.load(Ordering::Relaxed) {
            if came.recv(&mut [0; 200]).is_ok() {
                let now = Instant::now();
                longest = longest.max(last.map_or(Duration::ZERO, |last| now - last));
                last = Some(now);
            }
        }
        longest.max(last.expect("datagrams come").elapsed())
    })
}

/// How long the kernel keeps who changes an interface waiting at most, until it is over: others may
/// hold its lock, as when namespaces go.
fn longest_wait(elsewhere: &Namespace, is_over: &AtomicBool) -> Duration {
    let wait = || {
        on_time();
        let lo = Interface::named("lo").unwrap().index;
        let mut longest = Duration::ZERO;
        while !is_over.load(Ordering::Relaxed) {
            let since = Instant::now();
            Interface::switch(lo, true).unwrap();
            longest = longest.max(since.elapsed());
            thread::sleep(Duration::from_millis(1));
        }
        longest
    };
    elsewhere.run(wait).unwrap()
}

#[test]
fn a_kill_leaves_no_gap() {
    outlasts("killed", |running, folder, between| {
        running.signal("-KILL");
        running.0.wait().unwrap();
        thread::sleep(AWAY);
        *running = start(folder, between);
    });
}

/// A process that goes on has the bridge taken away, and forwards from then on.
#[test]
fn a_hang_leaves_no_gap() {
    outlasts("stopped", |running, _, _| {
        running.signal("-STOP");
        thread::sleep(AWAY);
        running.signal("-CONT");
    });
}

/// Waits until the kernel has noted of the interfaces that they are up, which may take a second:
/// until then a bridge lets nothing through.
fn wait_for_state(between: &Namespace) {
    let shown = || {
        let shown = Command::new("ip").args(["-oneline", "link", "show", "up"]).output().unwrap();
        String::from_utf8(shown.stdout).unwrap()
    };
    let since = Instant::now();
    while between.run(shown).unwrap().matches(" state UP ").count() < 2 {
        assert!(since.elapsed() < Duration::from_secs(10));
        thread::sleep(Duration::from_millis(10));
    }
}

/// Has a misfortune befall a process that forwards, again and again, and makes sure that frames
/// come all the time.
#[track_caller]
fn outlasts(what: &str, misfortune: impl Fn(&mut Running, &Folder, &Namespace)) {
    let folder = Folder::with_plan(PLAN);
    let Some((between, hosts)) = hosts() else { return };
    wait_for_state(&between);
    // What was just built is read from a disk when it runs for the first time.
    drop(start(&folder, &between));
    let (is_over, elsewhere) = (AtomicBool::new(false), Namespace::new().unwrap());
    let mut running = start(&folder, &between);
    let rounds = rounds();
    thread::scope(|scope| {
        let gap = scope.spawn(|| longest_gap(&hosts, &is_over));
        let wait = scope.spawn(|| longest_wait(&elsewhere, &is_over));
        let ends = SetAtEnd(&is_over);
        for _ in 0..rounds {
            thread::sleep(WORKS);
            misfortune(&mut running, &folder, &between);
        }
        drop(ends);
        let (gap, wait) = (gap.join().unwrap(), wait.join().unwrap());
        println!(
            "{what} {rounds} times: at most {gap:?} without frames; others held the kernel's lock for up to {wait:?}"
        );
        assert!(gap <= MOST + wait, "{gap:?} without frames, beside a lock for {wait:?}");
    });
}

/// Waits until the kernel bridges the interfaces in a namespace, or does not.
#[track_caller]
fn comes_to(between: &Namespace, wanted: bool) {
    let since = Instant::now();
    let is_bridged = || {
        let all = between.run(Interface::all).unwrap().unwrap();
        let bridge = all.iter().find(|it| bypass::is_bypass(&it.name)).map(|it| it.index);
        bridge.is_some()
            && ["a", "b"].iter().all(|name| {
                let port = all.iter().find(|it| it.name == *name);
                port.is_some_and(|port| port.controller == bridge)
            })
    };
    while is_bridged() != wanted {
        assert!(since.elapsed() < Duration::from_secs(10), "bridged: {}", !wanted);
        thread::sleep(Duration::from_millis(10));
    }
}

/// A process that forwards has no bridge beside it; one that hangs or has ended has.
#[test]
fn the_bridge_is_there_while_nothing_is_forwarded() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    let mut running = start(&folder, &between);
    comes_to(&between, false);
    running.signal("-STOP");
    comes_to(&between, true);
    running.signal("-CONT");
    comes_to(&between, false);
    running.signal("-TERM");
    running.0.wait().unwrap();
    comes_to(&between, true);
    drop(start(&folder, &between));
    comes_to(&between, true);
}

/// The second process of a process that was killed may be late, and interfaces may be gone or
/// belong to something else for a while.
#[test]
fn what_others_do_to_the_bridge_is_mended() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    let running = start(&folder, &between);
    comes_to(&between, false);
    between.run(|| bypass::raise(["a", "b"])).unwrap().unwrap();
    comes_to(&between, false);
    running.signal("-STOP");
    comes_to(&between, true);
    // The bridge of another pair, which is in the way.
    let lower = || between.run(|| bypass::lower(["a", "b"])).unwrap().unwrap();
    let since = Instant::now();
    while between.run(|| bypass::raise(["b", "a"])).unwrap().is_err() {
        assert!(since.elapsed() < Duration::from_secs(10));
        lower();
    }
    thread::sleep(Duration::from_millis(1500));
    lower();
    comes_to(&between, true);
}

/// The second process has no privilege but the one that it needs, and says if it lacks it.
#[test]
fn the_second_process_may_bridge_and_no_more() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    let running = start(&folder, &between);
    let process = running.0.id();
    let children = std::fs::read_to_string(format!("/proc/{process}/task/{process}/children"));
    let children = children.unwrap();
    let status = std::fs::read_to_string(format!("/proc/{}/status", children.trim())).unwrap();
    let has = |line: &str| status.lines().any(|it| it.split_whitespace().eq(line.split(' ')));
    assert!(has("CapEff: 0000000000001000") && has("Seccomp: 2"), "{status}");
    drop(running);
    comes_to(&between, true);
    let refused = || {
        laxity_linux::sandbox::drop_capabilities().unwrap();
        folder.command(&LIVE).output().unwrap()
    };
    let refused = between.run(refused).unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains("it needs CAP_NET_ADMIN"), "{said}");
    assert!(said.contains("cannot start the bypass"), "{said}");
}
