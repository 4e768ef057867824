//! A link that two threads serve.

use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::interface::Interface;
use laxity_linux::packet::{Tap, TappedFrame, Way};

use super::PLAN;
use super::link::Link;
use crate::folder::Folder;

const RATE: u64 = 40_000_000;

fn plan() -> String {
    PLAN.replace("link.rate = '20mbit'", "link = { rate = '40mbit', threads = 2 }")
}

/// Sends datagrams of 1400 bytes to port 6000 from this many ports of the first host, half as fast
/// again as the link is, and small ones to port 5000, for this long.
fn flood(link: &Link, flows: u16, duration: Duration) {
    let socket = |port| {
        let from = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 1), port));
        link.hosts[0].run(|| UdpSocket::bind(from).unwrap()).unwrap()
    };
    let sockets: Vec<_> = (0..flows).map(|flow| socket(20_000 + flow)).collect();
    let call = socket(5000);
    let to = |port| SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), port));
    let begin = Instant::now();
    let mut sent = 0;
    while begin.elapsed() < duration {
        let due = begin.elapsed().as_micros() as u64 * (RATE * 3 / 2 / 8) / 1_000_000 / 1_442;
        for number in sent..due {
            // Nobody listens there, and who does not hear of it goes on.
            let _ = sockets[number as usize % sockets.len()].send_to(&[7; 1400], to(6000));
            if number % 50 == 0 {
                let _ = call.send_to(&[7; 200], to(5000));
            }
        }
        sent = due;
        thread::sleep(Duration::from_millis(2));
    }
}

/// What came to the second host: when, in ns, and how many bytes, of datagrams to port 6000.
fn arriving(link: &Link, flows: u16, duration: Duration) -> Vec<(u64, u64)> {
    let host = &link.hosts[1];
    let eth = host.run(|| Interface::named("eth").unwrap()).unwrap();
    let mut tap = host.run(|| Tap::open(&eth, Way::In, 16 << 20).unwrap()).unwrap();
    // What is sent to a port without a receiver would be answered.
    let at = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 6000));
    let _receiver = host.run(|| UdpSocket::bind(at).unwrap()).unwrap();
    let mut came = Vec::new();
    let mut note = |frame: TappedFrame<'_>| {
        came.push((frame.at.0, frame.bytes.len() as u64));
    };
    thread::scope(|scope| {
        let flood = scope.spawn(|| flood(link, flows, duration));
        while !flood.is_finished() || tap.look(&mut note).unwrap() > 0 {
            while tap.look(&mut note).unwrap() > 0 {}
            thread::sleep(Duration::from_millis(2));
        }
    });
    came.retain(|(_, length)| *length > 1_000);
    came
}

/// Bits a second from the first to the last of these.
fn rate(came: &[(u64, u64)]) -> f64 {
    let time = came.last().unwrap().0 - came[0].0;
    came[1..].iter().map(|(_, length)| length * 8).sum::<u64>() as f64 / (time as f64 / 1e9)
}

/// The most bits a second in any 100 ms.
fn highest_rate(came: &[(u64, u64)]) -> f64 {
    const WINDOW: u64 = 100_000_000;
    let (mut first, mut bytes, mut most) = (0, 0, 0);
    for (time, length) in came {
        bytes += length;
        while time - came[first].0 > WINDOW {
            bytes -= came[first].1;
            first += 1;
        }
        most = most.max(bytes);
    }
    most as f64 * 8.0 / (WINDOW as f64 / 1e9)
}

#[test]
fn two_threads_fill_the_link_and_never_more() {
    let folder = Folder::with_plan(&plan());
    let Some(link) = Link::start(&folder, &["--priority", "50"]) else { return };
    let names = link.running.of_threads("Name:");
    assert_eq!(names.iter().filter(|name| *name == "forwarding").count(), 2, "{names:?}");
    link.pass(0, 6001, 1);
    for flows in [16, 1] {
        let fills = |_| {
            let came = arriving(&link, flows, Duration::from_millis(1_500));
            let (rate, highest) = (rate(&came) / RATE as f64, highest_rate(&came) / RATE as f64);
            println!("{flows} flows: {rate:.4} of the link, at most {highest:.4} in 100 ms");
            // A catch-up of 1 ms, and a packet of each thread.
            assert!(highest <= 1.018, "{flows} flows: {highest}");
            rate > if flows == 1 { 0.95 } else { 0.99 }
        };
        // A machine that stalls for longer than a catch-up leaves the link idle.
        assert!((0..5).any(fills), "{flows} flows never fill the link");
    }
    let printed = link.end();
    assert!(printed.contains("call"), "{printed}");
}

#[test]
fn two_threads_follow_another_plan() {
    let folder = Folder::with_plan(&plan());
    let Some(mut link) = Link::start(&folder, &[]) else { return };
    link.pass(0, 5000, 3);
    std::fs::write(folder.path("plan.toml"), plan().replace("rest", "others")).unwrap();
    thread::scope(|scope| {
        let flood = scope.spawn(|| flood(&link, 16, Duration::from_millis(600)));
        thread::sleep(Duration::from_millis(300));
        link.running.signal("-HUP");
        flood.join().unwrap();
    });
    link.says("the plan is reloaded");
    link.pass(0, 5000, 3);
    std::fs::write(folder.path("plan.toml"), PLAN).unwrap();
    link.running.signal("-HUP");
    link.says("the plan is not reloaded: the plan has other `threads`");
    let printed = link.end();
    assert!(printed.contains("rest") && printed.contains("others"), "{printed}");
}

#[test]
fn what_several_threads_cannot_do_is_refused() {
    let folder = Folder::with_plan(&plan());
    let live = |more: &[&str]| {
        let arguments = [&["live", "plan.toml", "--in", "lo", "--out", "lo"], more].concat();
        let ended = folder.laxity(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        ended.stderr
    };
    assert!(live(&["--ledger", "ledgers"]).contains("leave it out, or `threads`"));
}
