//! A curve that changes under full load.

use std::net::UdpSocket;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_kernel::status::KernelStatus;

use crate::lab::{plan, route, says};
use crate::uml::inside;

const LIMIT: Duration = Duration::from_secs(120);

/// Two classes that share 8 Mbit/s.
fn of(first: u32) -> String {
    let second = 8 - first;
    format!(
        "version = 1\n[link]\nrate = \"8mbit\"\nmax-packet = \"1514b\"\n[scheduler]\nkind = \"hfsc\"\n\
         [class.a]\nmatch = \"udp dport 4000\"\ncurve = \"{first}mbit\"\n\
         [class.b]\nmatch = \"udp dport 4001\"\ncurve = \"{second}mbit\"\n"
    )
}

#[test]
fn a_curve_changes_and_no_packet_is_lost() {
    inside("load::a_curve_changes_and_no_packet_is_lost", LIMIT, || {
        route();
        let plans = [plan("one.toml", &of(6)), plan("two.toml", &of(2))];
        says(0, &["apply", &plans[0], "--dev", "left"]);
        // Who sends waits when so much of it does: all is sent that can be, and nothing overflows.
        std::fs::write("/proc/sys/net/core/wmem_default", "60000").unwrap();
        let ends = Arc::new(AtomicBool::new(false));
        let senders: Vec<_> = [4_000u16, 4_001]
            .map(|port| {
                let ends = ends.clone();
                thread::spawn(move || {
                    let socket = UdpSocket::bind("0.0.0.0:0").unwrap();
                    socket.connect(("10.0.2.2", port)).unwrap();
                    let mut sent = 0u64;
                    while !ends.load(Ordering::Relaxed) {
                        sent += u64::from(socket.send(&[0; 1_400]).is_ok());
                    }
                    sent
                })
            })
            .into();
        let start = Instant::now();
        let mut before: Option<(KernelStatus, Instant)> = None;
        let mut changes = [1.5, 3.0].into_iter().zip([1, 0]).peekable();
        let mut shares = Vec::new();
        while start.elapsed() < Duration::from_millis(4_500) {
            thread::sleep(Duration::from_millis(100));
            let at = start.elapsed().as_secs_f64();
            if let Some((_, next)) = changes.next_if(|(time, _)| at > *time) {
                let said = says(0, &["apply", &plans[next], "--dev", "left"]);
                assert!(
                    said.contains('~') && !said.contains('+') && !said.contains("loses"),
                    "{said}"
                );
            }
            let now = Instant::now();
            let earlier =
                before.as_ref().map(|(status, then)| (status, (now - *then).as_secs_f64()));
            let status = KernelStatus::of("left", earlier).unwrap();
            if let [Some(a), Some(b)] = [0, 1].map(|class: usize| status.classes[class].rate_bps) {
                println!("series {at:.2} {:.3} {:.3}", a / 1e6, b / 1e6);
                shares.push((at, a, b));
            }
            before = Some((status, now));
        }
        ends.store(true, Ordering::Relaxed);
        let sent: Vec<u64> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
        thread::sleep(Duration::from_millis(500));
        let status = KernelStatus::of("left", None).unwrap();
        for (class, sent) in status.classes.iter().zip(sent) {
            assert_eq!((class.counts.dropped, class.counts.queued), (0, 0), "{class:?}");
            assert_eq!(class.counts.packets, sent, "{class:?}");
        }
        // It is the new curve that counts, and then the old one again.
        let mean = |from: f64, to: f64| {
            let some: Vec<_> = shares.iter().filter(|(at, ..)| (from..to).contains(at)).collect();
            let sum = some.iter().fold((0.0, 0.0), |sum, it| (sum.0 + it.1, sum.1 + it.2));
            sum.0 / (sum.0 + sum.1)
        };
        for (from, to, share) in [(0.5, 1.5, 0.75), (2.0, 3.0, 0.25), (3.5, 4.5, 0.75)] {
            let is = mean(from, to);
            assert!((is - share).abs() < 0.05, "from {from} to {to}: {is} instead of {share}");
        }
    });
}
