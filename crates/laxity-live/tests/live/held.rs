//! An interface that carries less than the plan says.

use std::net::{SocketAddr, UdpSocket};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_linux::frames::{Backend, Side};
use laxity_live::status::WayStatus;
use laxity_live::{Way, WayMeasurement};

use crate::hosts::{A, B, Hosts, plan};
use crate::traffic::{scheduled, start};

const COUNT: usize = 400;

/// Sends full datagrams at half of the plan's rate, each with its time, and a call between every
/// ten. Tells how long each full one took.
fn times(hosts: &Hosts) -> Vec<Duration> {
    let address = SocketAddr::new(B, 6000);
    let receiver = hosts.b.run(|| UdpSocket::bind(address).expect("a socket")).expect("entered");
    receiver.set_read_timeout(Some(Duration::from_secs(10))).expect("a time");
    let sender = hosts.a.run(|| UdpSocket::bind(SocketAddr::new(A, 0)).expect("a socket"));
    let sender = sender.expect("entered");
    let begun = Instant::now();
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..COUNT {
                let mut datagram = [0; 1000];
                datagram[..16].copy_from_slice(&begun.elapsed().as_nanos().to_be_bytes());
                sender.send_to(&datagram, address).expect("sent");
                if number % 10 == 9 {
                    sender.send_to(&[7; 100], SocketAddr::new(B, 5000)).expect("sent");
                    thread::sleep(Duration::from_millis(8));
                }
            }
        });
        let took = (0..COUNT).map(|_| {
            let mut datagram = [0; 1000];
            receiver.recv(&mut datagram).expect("it is only slow");
            let sent = u128::from_be_bytes(datagram[..16].try_into().expect("sixteen"));
            begun.elapsed().saturating_sub(Duration::from_nanos(sent as u64))
        });
        took.collect()
    })
}

fn measure(hosts: &Hosts, backend: impl Backend + Send + 'static) -> (Vec<Duration>, WayStatus) {
    let plan = plan("edf");
    let (forwarding, mut recorder) = start(backend, [scheduled(&plan), Way::Plain]);
    let took = times(hosts);
    let counts = forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut measured = WayMeasurement::new(plan.promises());
    recorder.read(|report| measured.add(&report.event.event));
    measured.held = counts.interfaces[Side::B.index()].held;
    (took, WayStatus::new("out", &plan, &measured))
}

#[test]
fn nobody_says_that_bounds_were_kept_where_frames_waited_behind_the_link() {
    let Some(hosts) = Hosts::new() else { return };
    let (_, way) = measure(&hosts, hosts.ring());
    assert!(way.held_ns.is_some_and(|held| held < 500_000_000), "some were looked at: {way:?}");

    let tbf = "qdisc add dev b root tbf rate 2mbit burst 5kb limit 2mb";
    let tc = || Command::new("tc").args(tbf.split_whitespace()).output();
    let shaped = hosts.between.run(tc).expect("entered");
    if !shaped.as_ref().is_ok_and(|output| output.status.success()) {
        return eprintln!("SKIPPED: `tc {tbf}` is not to be had: {shaped:?}");
    }
    let ring = measure(&hosts, hosts.ring());
    for (took, way) in [ring, measure(&hosts, hosts.mmsg())] {
        let slowest = took.iter().max().copied().expect("some");
        let mean = took.iter().sum::<Duration>().div_f64(took.len() as f64);
        // A second and more, unless the sender itself is slow.
        assert!(slowest > Duration::from_millis(400), "{slowest:?}");
        let delay = way.classes[1].delay_ns.as_ref().expect("all were sent");
        println!("{slowest:?} {mean:?} {:?} {:?} {:?}", delay.max, delay.mean, way.late);
        // A frame takes 4 ms, and some wait in the interface's own queue.
        for (shown, real) in [(delay.max as f64, slowest), (delay.mean, mean)] {
            let (shown, real) = (shown / 1e9, real.as_secs_f64());
            assert!((shown - real).abs() < 0.04 + real / 20.0, "{shown} for {real} s");
        }
        let late = way.late.as_ref().map_or(0, |late| late.max);
        assert!(late > 3_000_000, "the link was late for the interface's sake: {late} ns");
        assert_eq!(way.broken, 0, "as far as the link is concerned");
        assert!(way.classes[0].bound_misses > 0, "calls wait for it, too: {way:?}");
        assert!(way.held_up && !way.verdict(None, None).is_kept());
    }
}
