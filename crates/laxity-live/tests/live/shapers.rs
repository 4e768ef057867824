//! Shapers of the kernel's between the hosts, watched.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::Duration;

use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Mmsg, Options};
use laxity_live::Way;
use laxity_live::status::ClassStatus;
use laxity_live::status::Status;
use laxity_live::watch::Behind;
use laxity_plan::Plan;

use crate::hosts::{B, Hosts, plan};
use crate::traffic::{datagrams, scheduled, start};
use crate::watched::{SPOKEN, agree, crowd, lost, outside, unseen};
use crate::watcher::{TIMEOUT, watch};

/// Hosts with a bridge of the kernel's between them, and these queueing disciplines where it sends
/// to `b`. None where that is not to be had, and then it says so.
fn bridged(commands: &[&str]) -> Option<Hosts> {
    let hosts = Hosts::new()?;
    hosts.between.bridge("bridge", &["a", "b"]).expect("a bridge");
    // It begins to forward when it hears that there are cables, which it may take a second to.
    let is_forwarding = (0..50).any(|_| datagrams(&hosts.a, &hosts.b, 7000, 1) == 1);
    assert!(is_forwarding);
    for command in commands {
        let tc = || Command::new("tc").args(command.split_whitespace()).output();
        match hosts.between.run(tc).expect("entered") {
            Ok(output) if output.status.success() => {}
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr).into_owned();
                eprintln!("SKIPPED: this kernel does not take `tc {command}`: {said}");
                return None;
            }
            Err(error) => {
                eprintln!("SKIPPED: tc cannot be run: {error}");
                return None;
            }
        }
    }
    Some(hosts)
}

const TBF: &str = "qdisc add dev b root tbf rate 20mbit burst 10kb limit 400kb";

const HTB: [&str; 6] = [
    "qdisc add dev b root handle 1: htb default 20",
    "class add dev b parent 1: classid 1:1 htb rate 20mbit",
    "class add dev b parent 1:1 classid 1:10 htb rate 4mbit ceil 20mbit prio 0",
    "class add dev b parent 1:1 classid 1:20 htb rate 16mbit ceil 20mbit prio 1",
    "qdisc add dev b parent 1:20 bfifo limit 400kb",
    "filter add dev b parent 1: protocol ip u32 match ip dport 5000 0xffff flowid 1:10",
];

#[test]
fn stamps_say_the_same_of_tbf() {
    let Some(hosts) = bridged(&[TBF]) else { return };
    let (watched, stamps) = crowd(&hosts, Behind::Sent);
    agree(&watched, &stamps, [2_000, 6_000]);
    let [call, rest] = &watched.ways[0].classes[..] else { panic!("two classes") };
    assert!(lost(rest) > 0 && call.bound_misses > 0, "calls wait behind everything: {call:?}");
    // Frames count with what Ethernet adds here, and without there.
    let beyond = outside(&watched).busiest_bps / 20e6;
    assert!((0.95..1.1).contains(&beyond), "{beyond}");
}

#[test]
fn stamps_say_the_same_of_htb() {
    let Some(hosts) = bridged(&HTB) else { return };
    let (watched, stamps) = crowd(&hosts, Behind::Sent);
    agree(&watched, &stamps, [2_000, 6_000]);
    let [call, rest] = &watched.ways[0].classes[..] else { panic!("two classes") };
    let p50 = |of: &ClassStatus| of.delay_ns.as_ref().expect("some left").p50;
    assert!(lost(call) == 0 && lost(rest) > 0 && p50(call) * 10 < p50(rest));
}

/// Who sends is on a port of its own, which takes no more than some packets at once.
#[test]
fn what_is_lost_is_counted_to_the_packet() {
    let Some(hosts) = bridged(&["qdisc add dev b root tbf rate 500kbit burst 5kb limit 3kb"])
    else {
        return;
    };
    let watching = watch(&hosts, &plan("fifo"), Behind::Sent);
    let came = datagrams(&hosts.a, &hosts.b, 5000, 400) as u64;
    thread::sleep(TIMEOUT + Duration::from_millis(500));
    let watched = watching.finish();
    let call = &watched.ways[0].classes[0];
    assert!(came < 400, "some are lost");
    assert_eq!((call.arrived, call.sent, lost(call)), (400, came, 400 - came));
    assert!(outside(&watched).unpaired <= SPOKEN && unseen(&watched) == 0, "{watched:?}");
}

/// Sends `bytes` bytes over TCP.
fn bulk(hosts: &Hosts, bytes: usize) {
    let address = SocketAddr::new(B, 6000);
    let listener = hosts.b.run(|| TcpListener::bind(address).expect("a socket")).expect("entered");
    let connect = || TcpStream::connect(address).expect("connected");
    let mut stream = hosts.a.run(connect).expect("entered");
    thread::scope(|scope| {
        scope.spawn(|| {
            let (mut stream, _) = listener.accept().expect("a connection");
            let mut all = Vec::new();
            assert_eq!(stream.read_to_end(&mut all).expect("read"), bytes);
        });
        // Not all alike, as bytes of files are not.
        let sent: Vec<u8> = (0..bytes as u32).map(|at| ((at * 31) >> 3) as u8).collect();
        stream.write_all(&sent).expect("written");
        drop(stream);
    });
}

/// Checks that every segment that left had arrived, no matter what cut it, and that TCP sends lost
/// ones again.
fn of_bulk(watched: &Status, bytes: u64) {
    let rest = &watched.ways[0].classes[1];
    assert!(outside(watched).unpaired <= SPOKEN && unseen(watched) == 0, "{watched:?}");
    let pending = rest.watched.expect("it is watched").pending;
    assert_eq!(rest.arrived, rest.sent + lost(rest) + pending);
    assert!(rest.bytes_sent >= bytes && rest.sent >= bytes / 1_448, "{rest:?}");
}

const BYTES: usize = 4_000_000;

#[test]
fn segments_are_paired_that_tbf_cut() {
    let Some(hosts) = bridged(&[TBF]) else { return };
    let watching = watch(&hosts, &plan("fifo"), Behind::Sent);
    bulk(&hosts, BYTES);
    thread::sleep(TIMEOUT / 5);
    of_bulk(&watching.finish(), BYTES as u64);
}

#[test]
fn segments_are_paired_that_nobody_cut() {
    let Some(hosts) = bridged(&[]) else { return };
    let watching = watch(&hosts, &plan("fifo"), Behind::Sent);
    bulk(&hosts, BYTES);
    of_bulk(&watching.finish(), BYTES as u64);
}

#[test]
fn segments_are_paired_that_the_forwarder_cut() {
    let Some(hosts) = Hosts::new() else { return };
    let plan = plan("fifo");
    let (forwarding, _recorder) = start(hosts.ring(), [scheduled(&plan), Way::Plain]);
    let watching = watch(&hosts, &plan, Behind::Sent);
    bulk(&hosts, BYTES);
    thread::sleep(TIMEOUT / 5);
    of_bulk(&watching.finish(), BYTES as u64);
    forwarding.drain(laxity::units::Nanos(5_000_000_000)).expect("it forwarded to the end");
}

/// Frames as they are, at a host's end of the cable.
fn write(hosts: &Hosts, frames: &[Vec<u8>]) {
    let ends = || ["eth", "lo"].map(|name| Interface::named(name).expect("it is there"));
    let [eth, lo] = hosts.a.run(ends).expect("entered");
    let open = || Mmsg::open([&eth, &lo], &Options::default());
    let mut backend = hosts.a.run(open).expect("entered").expect("sockets");
    for frame in frames {
        let handle = backend.pool_mut().add(Side::A, frame.len()).expect("room");
        backend.pool_mut().bytes_mut(handle).copy_from_slice(frame);
        backend.send(Side::A, handle);
        assert_eq!(backend.flush(Side::A).expect("sent"), 0);
    }
}

/// A frame to everyone, of no protocol that anyone answers.
fn frame(tag: &[u8], number: u8) -> Vec<u8> {
    [&[0xff; 6][..], &[2, 0, 0, 0, 0, 9], tag, &[0x88, 0xb5], &[number; 60]].concat()
}

fn of_vlans() -> Plan {
    let text = "version = 1\nlink.rate = '20mbit'\nscheduler.kind = 'fifo'
        class.tagged.match = 'vlan 7'\nclass.rest = {}";
    Plan::parse(text, "plan.toml", Path::new("")).expect("a plan")
}

const TAG: [u8; 4] = [0x81, 0, 0, 7];

#[test]
fn frames_of_vlans_and_frames_alike_are_paired() {
    let Some(hosts) = bridged(&[]) else { return };
    let watching = watch(&hosts, &of_vlans(), Behind::Sent);
    let mut frames: Vec<_> = (0..50).map(|number| frame(&TAG, number)).collect();
    frames.extend([(); 20].map(|()| frame(&[], 200)));
    write(&hosts, &frames);
    thread::sleep(TIMEOUT / 5);
    let watched = watching.finish();
    let [tagged, rest] = &watched.ways[0].classes[..] else { panic!("two classes") };
    assert_eq!((tagged.arrived, tagged.sent), (50, 50));
    assert!(rest.sent == rest.arrived && rest.sent >= 20 && outside(&watched).unpaired <= SPOKEN);
}

/// The cables lead to mirror ports here, on which all frames arrive.
#[test]
fn two_mirror_ports_show_what_is_in_between() {
    let Some(hosts) = Hosts::new() else { return };
    let watching = watch(&hosts, &of_vlans(), Behind::Arriving);
    let frames: Vec<_> = (0..50).map(|number| frame(&TAG, number)).collect();
    write(&hosts, &frames);
    thread::sleep(Duration::from_millis(30));
    let swapped = Hosts { a: hosts.b.clone(), b: hosts.a.clone(), between: hosts.between.clone() };
    write(&swapped, &frames);
    thread::sleep(TIMEOUT / 5);
    let watched = watching.finish();
    let tagged = &watched.ways[0].classes[0];
    assert_eq!((tagged.arrived, tagged.sent), (50, 50), "{watched:?}");
    assert!(tagged.delay_ns.as_ref().expect("some left").min >= 20_000_000);
}
