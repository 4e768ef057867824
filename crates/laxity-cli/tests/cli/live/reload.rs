//! A reload of a large plan while packets pass.

use std::net::UdpSocket;
use std::os::unix::net::UnixDatagram;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;

use super::link::{Link, SetAtEnd};
use crate::folder::Folder;
use crate::sight::get;

const CLASSES: usize = 2000;
const RELOADS: usize = 3;
/// Packets each millisecond.
const BURST: u64 = 20;
/// `WatchdogSec` of the unit, and the longest wait of a scrape by Prometheus's default.
const WATCHDOG: Duration = Duration::from_secs(5);
const SCRAPE: Duration = Duration::from_secs(10);

/// Classes on all levels that there are, each with a contract.
fn plan() -> String {
    let class = |number: usize| {
        let (level, port) = (number % 256, 5000 + number);
        format!(
            "[class.c{number}]\nlevel = {level}\nmatch = 'udp dport {port}'\n\
             arrival = {{ bucket = '2kB', rate = '20kbit', packet = '200b' }}\n"
        )
    };
    let head = "version = 1\nlink.rate = '200mbit'\nscheduler.kind = 'priority'\n\
                [class.rest]\nlevel = 255\n";
    head.to_string() + &(0..CLASSES).map(class).collect::<String>()
}

/// Sends to all classes in turn, until it is over. How many packets.
fn load(host: &Namespace, is_over: &AtomicBool) -> u64 {
    let from = host.run(|| UdpSocket::bind("10.0.0.1:4000").unwrap()).unwrap();
    let (start, mut sent) = (Instant::now(), 0_u64);
    while !is_over.load(Ordering::Relaxed) {
        while sent < BURST * u64::try_from(start.elapsed().as_millis()).unwrap() {
            let port = 5000 + u16::try_from(sent % CLASSES as u64).unwrap();
            from.send_to(&[7; 100], ("10.0.0.2", port)).unwrap();
            sent += 1;
        }
        thread::sleep(Duration::from_millis(1));
    }
    sent
}

/// How often a service spoke to its watchdog, and the longest time in which it did not, until it
/// is over.
fn longest_silence(systemd: &UnixDatagram, is_over: &AtomicBool) -> (usize, Duration) {
    systemd.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
    let (mut count, mut last, mut longest) = (0, Instant::now(), Duration::ZERO);
    while !is_over.load(Ordering::Relaxed) {
        let mut message = [0; 1000];
        let came = systemd.recv(&mut message);
        if came.is_ok_and(|length| message[..length].starts_with(b"WATCHDOG=1")) {
            (count, last) = (count + 1, Instant::now());
        }
        longest = longest.max(last.elapsed());
    }
    (count, longest)
}

/// Asks for the status until that many plans were followed after the first one. The longest time
/// that an answer took.
fn follows(between: &Namespace, count: usize) -> Duration {
    let mut slowest = Duration::ZERO;
    loop {
        let asked = Instant::now();
        let answer = get(between, "/status");
        slowest = slowest.max(asked.elapsed());
        let (head, status) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200"), "{head}");
        let status: serde_json::Value = serde_json::from_str(status).unwrap();
        if status["reloads"] == count {
            return slowest;
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// The watchdog is fed, pages are answered, and no event is lost, although nobody reads yet what
/// is printed of each plan.
#[test]
fn a_large_plan_is_reloaded_under_load() {
    let folder = Folder::with_plan(&plan());
    let systemd = UnixDatagram::bind(folder.path("notify")).unwrap();
    let more = ["--listen", "9464", "--ledger", "books"];
    let Some(link) = Link::start(&folder, &more) else { return };
    // The host makes itself known.
    link.pass(1, 4000, 1);
    let is_over = AtomicBool::new(false);
    let (sent, silence, slowest) = thread::scope(|scope| {
        let sent = scope.spawn(|| load(&link.hosts[0], &is_over));
        let silence = scope.spawn(|| longest_silence(&systemd, &is_over));
        let ends = SetAtEnd(&is_over);
        let reloads = (1..=RELOADS).map(|count| {
            thread::sleep(Duration::from_millis(500));
            link.running.signal("-HUP");
            follows(&link.between, count)
        });
        let slowest = reloads.max().unwrap();
        drop(ends);
        (sent.join().unwrap(), silence.join().unwrap(), slowest)
    });
    let (count, silence) = silence;
    assert!(count > 10, "{count} words to the watchdog");
    println!("{sent} packets: {silence:?} without a word to the watchdog, {slowest:?} for a page");
    assert!(silence < WATCHDOG && slowest < SCRAPE, "{silence:?}, {slowest:?}");
    let socket = folder.path("laxity/a-b.sock");
    let status = ["status", "--control", socket.to_str().unwrap(), "--json"];
    let status = folder.laxity(&status).json(0);
    assert_eq!(status["events_lost"], 0, "{status}");
    let printed = link.end();
    assert_eq!(printed.matches("\nc1999 ").count(), RELOADS + 1, "{printed}");
    let ledger = std::fs::read_dir(folder.path("books")).unwrap().next().unwrap().unwrap().path();
    let replayed = folder.laxity(&["replay", ledger.to_str().unwrap()]).printed(0);
    assert!(replayed.contains(&format!("under {} plans", RELOADS + 1)), "{replayed}");
    assert!(replayed.contains("sends and drops the same"), "{replayed}");
}
