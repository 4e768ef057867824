//! Transmit times, under the disciplines that listen to them: in User-mode Linux, because few
//! machines have both.
#![cfg(target_os = "linux")]

#[path = "../../laxity-cli/tests/kernel/uml.rs"]
#[allow(dead_code, unreachable_pub)]
mod uml;

use std::net::UdpSocket;
use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use laxity::packet::Packet;
use laxity::scheduler::{Criterion, Dispatch};
use laxity::units::Nanos;
use laxity_engine::Sink;
use laxity_linux::namespace::Namespace;
use laxity_udp::{Datagram, Departure, Observer, TransmitTime, UdpSettings, UdpSink};

const LIMIT: Duration = Duration::from_secs(60);

/// Hands on what has left.
struct Departures(Sender<Departure>);

impl Observer<[u8; 100]> for Departures {
    fn departed(&mut self, departure: Departure) {
        self.0.send(departure).expect("the test listens");
    }
}

/// A host whose interface has a discipline, and a sink there; or why not.
struct Host {
    sink: UdpSink<[u8; 100], Departures>,
    departures: Receiver<Departure>,
    started: Instant,
    other_end: UdpSocket,
    _cable: [Namespace; 2],
}

impl Host {
    fn with(discipline: &str, transmit_time: TransmitTime) -> Host {
        let ends = [1, 2].map(|_| Namespace::new().expect("a namespace"));
        let [here, there] = &ends;
        here.veth("a", there, "b").expect("a cable");
        for (end, name, last) in [(here, "a", 1), (there, "b", 2)] {
            end.address(name, [10, 0, 0, last].into(), 24).expect("an address");
        }
        let other_end = there.run(|| UdpSocket::bind("10.0.0.2:0")).expect("entered");
        let socket = here.run(|| UdpSocket::bind("10.0.0.1:0")).expect("entered").expect("bound");
        let other_end = other_end.expect("bound");
        // The hosts know each other before there is a discipline that drops what has no time.
        socket.send_to(&[0], other_end.local_addr().expect("bound")).expect("sent");
        other_end.recv(&mut [0]).expect("it comes");
        let command = format!("qdisc replace dev a root {discipline}");
        let run = || Command::new("tc").args(command.split(' ')).status();
        assert!(here.run(run).expect("entered").expect("tc runs").success(), "{command}");
        let settings = UdpSettings { transmit_time, departures: true, ..UdpSettings::default() };
        let (departed, departures) = channel();
        let sink = UdpSink::new([socket], settings).expect("it takes the settings");
        let mut sink = sink.with_observer(Departures(departed));
        let started = Instant::now();
        sink.start(started);
        Host { sink, departures, started, other_end, _cable: ends }
    }

    fn now(&self) -> Nanos {
        Nanos(self.started.elapsed().as_nanos() as u64)
    }

    /// Hands datagrams with these starts to the kernel at once; returns how late each has left, in
    /// microseconds.
    fn lateness(&mut self, starts: impl Iterator<Item = Nanos>) -> Vec<i64> {
        let to = self.other_end.local_addr().expect("bound");
        for (handle, start) in (0..).zip(starts) {
            let packet = Packet { length: 128, handle, ..Packet::default() };
            let dispatch = Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder };
            self.sink.sent(dispatch, start, Datagram::new([0; 100], to));
        }
        self.sink.flush();
        assert_eq!(self.sink.statistics().calls, 1);
        std::thread::sleep(Duration::from_millis(200));
        self.sink.read_reports();
        let departures = self.departures.try_iter();
        departures.map(|one| (one.left.0 as i64 - one.planned.0 as i64) / 1_000).collect()
    }
}

/// Twenty datagrams a millisecond apart, from a time ahead on.
fn starts(host: &Host) -> impl Iterator<Item = Nanos> + use<> {
    let begin = host.now() + Nanos(20_000_000);
    (0..20).map(move |place| begin + Nanos(place * 1_000_000))
}

#[test]
fn datagrams_leave_at_their_planned_starts_under_fq() {
    uml::inside("datagrams_leave_at_their_planned_starts_under_fq", LIMIT, || {
        let mut host = Host::with("fq", TransmitTime::Fq);
        let planned = starts(&host);
        let late = host.lateness(planned);
        println!("late by [µs]: {late:?}");
        assert_eq!(late.len(), 20);
        assert!(late.iter().all(|&late: &i64| (-50..15_000).contains(&late)), "{late:?}");
        // Without times they leave at once, ahead of the plan.
        let mut host = Host::with("fq", TransmitTime::Off);
        let planned = starts(&host);
        let early = host.lateness(planned);
        assert!(early.iter().all(|&late| late < -5_000), "{early:?}");
    });
}

#[test]
fn datagrams_leave_at_their_planned_starts_under_etf_or_are_counted() {
    uml::inside("datagrams_leave_at_their_planned_starts_under_etf_or_are_counted", LIMIT, || {
        let mut host = Host::with("etf clockid CLOCK_TAI delta 2000000", TransmitTime::Etf);
        let planned = starts(&host);
        let late = host.lateness(planned);
        println!("late by [µs]: {late:?}");
        assert!(late.len() + host.sink.statistics().missed as usize == 20);
        assert!(late.iter().all(|&late| (-2_500..15_000).contains(&late)), "{late:?}");
        // What is late when it comes is dropped, and said so.
        let missed = host.sink.statistics().missed;
        let mut host = Host::with("etf clockid CLOCK_TAI delta 2000000", TransmitTime::Etf);
        let past = host.now();
        assert!(host.lateness([past].into_iter()).is_empty());
        assert_eq!(host.sink.statistics().missed, 1);
        println!("{missed} of the others have missed their time");
    });
}
