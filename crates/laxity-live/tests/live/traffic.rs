//! What hosts send through a bridge arrives.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, PreparedPlan, Settings};
use laxity_linux::frames::{Backend, Side};
use laxity_linux::namespace::Namespace;
use laxity_live::bridge::SideEvent;
use laxity_live::{Bridge, Forwarding, Options, Way, WayMeasurement};
use laxity_plan::Plan;

use crate::hosts::{A, B, Hosts, plan};

pub(crate) fn scheduled(plan: &Plan) -> Way {
    Way::Scheduled(Box::new(Forwarder::new(plan.clone(), Settings::default()).expect("a link")))
}

/// Starts a bridge without a real-time priority, which is not to be had everywhere.
pub(crate) fn start(
    backend: impl Backend + Send + 'static,
    ways: [Way; 2],
) -> (Forwarding, laxity_live::Recorder) {
    let options = Options { priority: None, ..Options::default() };
    Forwarding::start(Bridge::new(backend, ways), options).expect("a thread")
}

/// Sends `count` datagrams to a port of the other host, some at a time; returns how many arrive.
pub(crate) fn datagrams(from: &Namespace, to: &Namespace, port: u16, count: u32) -> usize {
    let address = SocketAddr::new(B, port);
    let receiver = to.run(|| UdpSocket::bind(address).expect("a socket")).expect("entered");
    receiver.set_read_timeout(Some(Duration::from_secs(2))).expect("a time");
    let sender = from.run(|| UdpSocket::bind(SocketAddr::new(A, 0)).expect("a socket"));
    let sender = sender.expect("entered");
    thread::scope(|scope| {
        scope.spawn(|| {
            for number in 0..count {
                let length = 60 + (number as usize * 37) % 180;
                sender.send_to(&vec![number as u8; length], address).expect("sent");
                if number % 8 == 7 {
                    thread::sleep(Duration::from_millis(5));
                }
            }
        });
        let mut came = 0;
        let mut datagram = [0; 2000];
        while came < count as usize && receiver.recv(&mut datagram).is_ok() {
            came += 1;
        }
        came
    })
}

/// What has happened, once the bridge is at its end.
fn events(forwarding: Forwarding, recorder: &mut laxity_live::Recorder) -> Vec<SideEvent> {
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
    let mut events = Vec::new();
    recorder.read(|report| events.push(*report.event));
    assert_eq!(recorder.lost, 0);
    events
}

#[test]
fn datagrams_come_within_their_bounds() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = plan("edf");
    let (forwarding, mut recorder) = start(hosts.ring(), [scheduled(&plan), Way::Plain]);
    assert_eq!(datagrams(&hosts.a, &hosts.b, 5000, 400), 400);
    let mut measured = WayMeasurement::new(plan.promises());
    for happened in events(forwarding, &mut recorder) {
        assert_eq!(happened.at, Side::A);
        measured.add(&happened.event);
    }
    let [call, rest] = measured.accounts() else { panic!("two classes") };
    assert_eq!((call.arrived, call.sent, call.queued), (400, 400, 0));
    assert!(rest.arrived > 0, "ARP is none of the calls");
    assert_eq!(measured.broken, 0);
}

/// A kernel hands over TCP in frames of up to 64 kB, which are cut before they are queued.
#[test]
fn bulk_arrives_as_it_was_sent() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = plan("fifo");
    let (forwarding, mut recorder) = start(hosts.mmsg(), [scheduled(&plan), Way::Plain]);
    let address = SocketAddr::new(B, 6000);
    let listener = hosts.b.run(|| TcpListener::bind(address).expect("a socket")).expect("entered");
    let sent: Vec<u8> = (0..2_000_000u32).map(|at| ((at * 31) >> 3) as u8).collect();
    let connect = || TcpStream::connect(address).expect("connected");
    let mut stream = hosts.a.run(connect).expect("entered");
    let received = thread::scope(|scope| {
        let receiver = scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut all = Vec::new();
            stream.read_to_end(&mut all).expect("read");
            all
        });
        stream.write_all(&sent).expect("written");
        drop(stream);
        receiver.join().expect("received")
    });
    assert!(received == sent, "{} of {} bytes", received.len(), sent.len());
    let longest = events(forwarding, &mut recorder).into_iter().filter_map(|happened| {
        let Event::Sent(sent) = happened.event else { return None };
        Some(sent.packet.length)
    });
    // A full frame, and what Ethernet adds.
    assert!(longest.max().is_some_and(|longest| longest <= 1538));
}

#[test]
fn a_plan_that_cannot_be_followed_changes_nothing() {
    let Some(hosts) = Hosts::new() else { return };
    let (forwarding, _recorder) = start(hosts.ring(), [scheduled(&plan("edf")), Way::Plain]);
    let udp = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\nclass.a.match = 'udp'";
    let unfit = Plan::parse(udp, "plan.toml", std::path::Path::new("")).expect("a plan");
    let Err(refused) = PreparedPlan::new(unfit, &Settings::default()) else { panic!("no class") };
    assert!(refused.to_string().contains("no class takes the frames"), "{refused}");
    let fit = PreparedPlan::new(plan("fifo"), &Settings::default()).expect("a plan of a link");
    let refused = forwarding.reload((Side::B, fit)).expect_err("no plan that way");
    assert!(refused.to_string().contains("as they come"), "{refused}");
    assert_eq!(datagrams(&hosts.a, &hosts.b, 5000, 40), 40);
    forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
}

#[test]
fn a_core_that_is_not_there_is_refused() {
    let Some(hosts) = Hosts::new() else { return };
    let bridge = Bridge::new(hosts.ring(), [Way::Plain, Way::Plain]);
    let options = Options { priority: None, core: Some(1_000_000), ..Options::default() };
    let Err(refused) = Forwarding::start(bridge, options) else { panic!("no machine has it") };
    assert!(refused.to_string().starts_with("cannot keep a thread on core 1000000: "), "{refused}");
}
