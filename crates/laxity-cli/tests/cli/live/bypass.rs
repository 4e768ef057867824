//! Frames go on when the process that forwards is killed or hangs.

use std::io::BufReader;
use std::net::UdpSocket;
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

use super::PLAN;
use super::link::{Running, SetAtEnd, hosts, wait_for};
use crate::folder::Folder;

const LIVE: [&str; 7] = ["live", "plan.toml", "--in", "a", "--out", "b", "--bypass"];
/// The longest time without frames.
const LONGEST: Duration = Duration::from_millis(200);
/// How long a process forwards before the next misfortune.
const WORKS: Duration = Duration::from_millis(200);
/// `RestartSec` of the unit.
const RESTART: Duration = Duration::from_millis(100);

/// How often it is tried. With `LAXITY_WHOLE=1` in the environment it is a hundred times.
fn rounds() -> usize {
    if std::env::var_os("LAXITY_WHOLE").is_some() { 100 } else { 4 }
}

fn start(folder: &Folder, between: &Namespace) -> Running {
    let mut command = folder.command(&LIVE);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::new(between.run(|| command.spawn().unwrap()).unwrap());
    let mut said = BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut said, "forwarding between a and b");
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
    let folder = Folder::with_plan(PLAN);
    let Some((between, hosts)) = hosts() else { return };
    // What was just built is read from a disk when it runs for the first time.
    drop(start(&folder, &between));
    let (is_over, elsewhere) = (AtomicBool::new(false), Namespace::new().unwrap());
    let mut running = start(&folder, &between);
    thread::scope(|scope| {
        let gap = scope.spawn(|| longest_gap(&hosts, &is_over));
        let wait = scope.spawn(|| longest_wait(&elsewhere, &is_over));
        let ends = SetAtEnd(&is_over);
        for _ in 0..rounds() {
            thread::sleep(WORKS);
            running.signal("-KILL");
            running.0.wait().unwrap();
            thread::sleep(RESTART);
            running = start(&folder, &between);
        }
        drop(ends);
        let (gap, wait) = (gap.join().unwrap(), wait.join().unwrap());
        println!(
            "killed {} times: at most {gap:?} without frames; others held the kernel's lock for up to {wait:?}",
            rounds()
        );
        assert!(gap <= LONGEST + wait, "{gap:?} without frames, beside a lock for {wait:?}");
    });
}

/// A process that forwards has no bridge beside it; one that hangs or has ended has.
#[test]
fn the_bridge_is_there_while_nothing_is_forwarded() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    let bridges = || between.run(Interface::all).unwrap().unwrap();
    let has_bridge = || bridges().iter().any(|it| laxity_linux::bypass::is_bypass(&it.name));
    let comes_to = |wanted| {
        let since = Instant::now();
        while has_bridge() != wanted {
            assert!(since.elapsed() < Duration::from_secs(10), "a bridge: {}", has_bridge());
            thread::sleep(Duration::from_millis(10));
        }
    };
    let mut running = start(&folder, &between);
    comes_to(false);
    running.signal("-STOP");
    comes_to(true);
    running.signal("-CONT");
    comes_to(false);
    running.signal("-TERM");
    running.0.wait().unwrap();
    comes_to(true);
    drop(start(&folder, &between));
    comes_to(true);
}
