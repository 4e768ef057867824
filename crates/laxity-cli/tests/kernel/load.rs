//! A curve that changes under full load.

use std::net::UdpSocket;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity_kernel::status::KernelStatus;
use laxity_report::chart::{Along, Axis, Chart, Dash, Mark, Marker, Series, Style, Unit};

use crate::lab::{plan, route, says};
use crate::uml::inside_alone;

const LIMIT: Duration = Duration::from_secs(120);

/// Names a file that a figure of what was measured is drawn into.
const FIGURE: &str = "LAXITY_KERNEL_FIGURE";
/// How long each plan stays.
const PHASE: Duration = Duration::from_millis(1_500);

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
    inside_alone("load::a_curve_changes_and_no_packet_is_lost", LIMIT, || {
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
        let sampler = thread::spawn({
            let ends = ends.clone();
            move || sampled(start, &ends)
        });
        // When each plan was asked for, and from when to when it was there.
        let mut phases = Vec::new();
        for next in [0, 1, 0] {
            let asked = start.elapsed().as_secs_f64();
            if start.elapsed() > PHASE {
                let said = says(0, &["apply", &plans[next], "--dev", "left"]);
                assert!(
                    said.contains('~') && !said.contains('+') && !said.contains("loses"),
                    "{said}"
                );
            }
            let since = start.elapsed().as_secs_f64();
            thread::sleep(PHASE);
            phases.push((asked, since..start.elapsed().as_secs_f64(), next));
        }
        ends.store(true, Ordering::Relaxed);
        let shares = sampler.join().unwrap();
        let sent: Vec<u64> = senders.into_iter().map(|sender| sender.join().unwrap()).collect();
        thread::sleep(Duration::from_millis(500));
        let status = KernelStatus::new("left", None).unwrap();
        for (class, sent) in status.classes.iter().zip(sent) {
            assert_eq!((class.counts.dropped, class.counts.queued), (0, 0), "{class:?}");
            assert_eq!(class.counts.packets, sent, "{class:?}");
        }
        if let Some(file) = std::env::var_os(FIGURE) {
            std::fs::write(file, figure(&shares, &phases)).expect("the figure is written");
        }
        // It is the new curve that counts, and then the old one again.
        for (_, there, plan) in phases {
            // What was sent before is in the first rates.
            let settled = there.start + 0.3..there.end;
            let some = shares.iter().filter(|(at, ..)| settled.contains(at));
            let sum = some.fold((0.0, 0.0), |sum, it| (sum.0 + it.1, sum.1 + it.2));
            let (is, share) = (sum.0 / (sum.0 + sum.1), [0.75, 0.25][plan]);
            assert!((is - share).abs() < 0.05, "at {settled:?}: {is} instead of {share}");
        }
    });
}

/// The rates of both classes, in bit/s, every 100 ms until it ends.
fn sampled(start: Instant, ends: &AtomicBool) -> Vec<(f64, f64, f64)> {
    let mut before: Option<(KernelStatus, Instant)> = None;
    let mut shares = Vec::new();
    while !ends.load(Ordering::Relaxed) {
        let now = Instant::now();
        let earlier = before.as_ref().map(|(status, then)| (status, (now - *then).as_secs_f64()));
        let status = KernelStatus::new("left", earlier).unwrap();
        if let [Some(a), Some(b)] = [0, 1].map(|class: usize| status.classes[class].rate_bps) {
            shares.push(((now - start).as_secs_f64(), a, b));
        }
        before = Some((status, now));
        thread::sleep(Duration::from_millis(100));
    }
    shares
}

/// What each class was sent at over time, with the moments at which curves changed.
fn figure(shares: &[(f64, f64, f64)], phases: &[(f64, Range<f64>, usize)]) -> String {
    let series = |name: &str, subject, value: fn(&(f64, f64, f64)) -> f64| Series {
        name: name.into(),
        mark: Mark::Line,
        style: Style::new(subject),
        points: shares.iter().map(|share| (share.0 - 0.05, value(share))).collect(),
    };
    let applied = |(at, _, plan): &(f64, Range<f64>, usize)| Marker {
        along: Along::Y,
        at: *at,
        label: ["curves of 6 and 2 Mbit/s", "curves of 2 and 6 Mbit/s"][*plan].into(),
        meaning: "laxity apply".into(),
        style: Style::default().dashed(Dash::Dashed),
    };
    let link = Marker {
        along: Along::X,
        at: 8e6,
        label: "link 8 Mbit/s".into(),
        meaning: String::new(),
        style: Style::default().dashed(Dash::Dotted),
    };
    let chart = Chart {
        title: "Two curves change places under full load; no packet is lost".into(),
        x: Axis::linear("Time", Unit::Time),
        y: Axis::linear("Sent by the kernel", Unit::Rate),
        series: vec![series("class a", 0, |share| share.1), series("class b", 1, |share| share.2)],
        markers: phases[1..].iter().map(applied).chain([link]).collect(),
    };
    chart.svg()
}
