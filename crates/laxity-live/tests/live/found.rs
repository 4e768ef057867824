//! A rate that is found before a shaper of the kernel's whose rate changes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::frames::Side;
use laxity_live::{Bridge, Forwarding, FoundRate, Options, Way};
use laxity_plan::Plan;

use crate::hosts::{B, Hosts};
use crate::traffic::scheduled;

/// Between 1 and 40 Mbit/s, with these reflectors.
fn plan(reflectors: &str) -> Plan {
    let text = format!(
        "version = 1
        [link]
        overhead = 'ethernet'
        rate = {{ from = '1mbit', to = '40mbit', delay = '30ms', reflectors = [{reflectors}] }}
        [scheduler]
        kind = 'edf'
        [class.probes]
        deadline = '40ms'
        arrival = {{ bucket = '1kB', rate = '100kbit', packet = '130b' }}
        match = 'icmp'
        [class.rest]
        queue = {{ kind = 'droptail', limit = 300 }}"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

/// Has the kernel send at another rate behind the bridge; whether it does.
fn shape(hosts: &Hosts, verb: &str, rate: &str) -> bool {
    let tbf = format!("qdisc {verb} dev b root tbf rate {rate} burst 10kb limit 4mb");
    let tc = || Command::new("tc").args(tbf.split_whitespace()).output();
    let output = hosts.between.run(tc).expect("entered");
    let is_shaped = output.as_ref().is_ok_and(|output| output.status.success());
    if !is_shaped {
        eprintln!("SKIPPED: `tc {tbf}` is not to be had: {output:?}");
    }
    is_shaped
}

/// The middle of the rates that are seen within a time.
fn usual(found: &FoundRate, time: Duration) -> f64 {
    let (begun, mut rates) = (Instant::now(), Vec::new());
    while begun.elapsed() < time {
        thread::sleep(Duration::from_millis(10));
        rates.push(found.rate().0);
    }
    rates.sort_unstable();
    rates[rates.len() / 2] as f64 / 1e6
}

/// Whether threads wake up so late that probes tell nothing of queues; then it says so.
fn is_busy() -> bool {
    let late = |_| {
        let begun = Instant::now();
        thread::sleep(Duration::from_millis(1));
        begun.elapsed()
    };
    let mut late: Vec<_> = (0..200).map(late).collect();
    late.sort_unstable();
    let most = late[late.len() * 95 / 100];
    let is_busy = most > Duration::from_millis(6);
    if is_busy {
        eprintln!("SKIPPED: this machine is too busy: a sleep of 1 ms takes {most:?} at p95");
    }
    is_busy
}

/// Rates that are found before 8, 3 and 12 Mbit/s while a host sends by TCP all the time.
fn find(reflectors: &str) -> Option<Vec<f64>> {
    let hosts = Hosts::new()?;
    if is_busy() || !shape(&hosts, "add", "8mbit") {
        return None;
    }
    let mut bridge = Bridge::new(hosts.mmsg(), [scheduled(&plan(reflectors)), Way::Plain]);
    let found = hosts.a.run(|| bridge.find_rate(Side::A, 77)).expect("entered");
    let found = found.expect("sockets for echoes").expect("a rate to find");
    let options = Options { priority: None, ..Options::default() };
    let (forwarding, mut recorder) = Forwarding::start(bridge, options).expect("a thread");
    let listener = hosts.b.run(|| TcpListener::bind(SocketAddr::new(B, 5001)).expect("a socket"));
    let listener = listener.expect("entered");
    let is_over = AtomicBool::new(false);
    let rates = thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("somebody comes");
            let mut bytes = vec![0; 1 << 16];
            while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
        });
        scope.spawn(|| {
            let connect = || TcpStream::connect(SocketAddr::new(B, 5001)).expect("it listens");
            let mut stream = hosts.a.run(connect).expect("entered");
            while !is_over.load(Ordering::Relaxed) {
                stream.write_all(&[7; 1 << 14]).expect("it is read");
            }
        });
        let mut rates = Vec::new();
        for rate in ["8mbit", "3mbit", "12mbit"] {
            assert!(shape(&hosts, "change", rate));
            thread::sleep(Duration::from_millis(2500));
            rates.push(usual(&found, Duration::from_millis(1500)));
        }
        is_over.store(true, Ordering::Relaxed);
        rates
    });
    assert!(found.answers() > 50, "{}", found.answers());
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut changes = 0;
    recorder.read(|report| {
        if let Event::Rate { rate, .. } = report.event.event {
            assert!((1_000_000..=40_000_000).contains(&rate.0));
            changes += 1;
        }
    });
    assert!(changes > 10, "{changes}");
    Some(rates)
}

/// The machine may stall, so that only the order of magnitude is asked for.
fn are_near(found: &[f64]) {
    for (found, real) in found.iter().zip([8.0, 3.0, 12.0]) {
        assert!((real * 0.6..real * 1.5).contains(found), "{found} Mbit/s, not {real}");
    }
}

#[test]
fn echoes_find_the_rate_of_a_shaper_behind() {
    if let Some(rates) = find("'10.0.0.2'") {
        are_near(&rates);
    }
}

#[test]
fn time_stamps_of_tcp_find_it_without_a_probe() {
    if let Some(rates) = find("") {
        are_near(&rates);
    }
}
