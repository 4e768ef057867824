//! A host whose own packets are taken at one of its interfaces.

use std::net::UdpSocket;
use std::process::Command;

use laxity_linux::frames::{Backend, Side};
use laxity_linux::host_link::{self, Hooks, HostLink};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::Options;

use crate::laboratory::{Tap, bridged, eventually, namespace_for_taps};
use crate::traffic::exchange;

/// A host with the interface `wan`, and another host behind it.
fn hosts() -> Option<[Namespace; 2]> {
    let here = namespace_for_taps()?;
    let there = Namespace::new().expect("another");
    here.veth("wan", &there, "eth").expect("a cable");
    for (host, name, last) in [(&here, "wan", 1), (&there, "eth", 2)] {
        host.address(name, [10, 0, 0, last].into(), 24).expect("an address");
        let address = [0xfd00, 0, 0, 0, 0, 0, 0, u16::from(last)];
        host.address(name, address.into(), 64).expect("an address");
    }
    Some([here, there])
}

fn interface(within: &Namespace, name: &str) -> Interface {
    within.run(|| Interface::named(name)).expect("entered").expect("it is there")
}

fn names(within: &Namespace) -> Vec<String> {
    let all = within.run(Interface::all).expect("entered").expect("listed");
    all.into_iter().map(|interface| interface.name).collect()
}

/// As the kernel has it, and as on one before 6.6.
const WITHOUT_TCX: [bool; 2] = [false, true];

/// Another process of this test is the guardian.
#[test]
#[ignore = "is started by others"]
fn is_a_guardian() {
    host_link::guard().expect("started by another process");
}

/// None where programs cannot be attached, and then it says so.
fn open(within: &Namespace, name: &str, arriving: bool, without_tcx: bool) -> Option<HostLink> {
    let interface = interface(within, name);
    let mut guardian = Command::new(std::env::current_exe().expect("its path"));
    guardian.args(["--ignored", "--exact", "host_link::is_a_guardian", "--nocapture"]);
    let hooks = Hooks { guardian, without_tcx };
    let open = || HostLink::open(&interface, arriving, &Options::default(), &[], hooks);
    match within.run(open).expect("entered") {
        Ok(mut link) => {
            link.take_hold().expect("attached");
            Some(link)
        }
        Err(error) if error.is_permission() => {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn what_a_host_sends_and_receives_is_taken_and_arrives_as_it_is() {
    for without_tcx in WITHOUT_TCX {
        let Some([here, there]) = hosts() else { return };
        let Some(mut link) = open(&here, "wan", true, without_tcx) else { return };
        assert_eq!(names(&here), ["lo", "wan", "laxity0", "laxity1"]);
        // An address of IPv6 is tried out at first, by frames that pass here.
        bridged(&mut link, || {
            for (host, address) in [(&here, "[fd00::1]:0"), (&there, "[fd00::2]:0")] {
                let is_bound = || host.run(|| UdpSocket::bind(address).is_ok()).expect("entered");
                eventually("a host has its address", is_bound);
            }
        });
        for (client, server, at) in [
            (&here, &there, "10.0.0.2:7000"),
            (&there, &here, "10.0.0.1:7000"),
            (&here, &there, "[fd00::2]:7001"),
            (&there, &here, "[fd00::1]:7001"),
        ] {
            let (forwarded, ()) = bridged(&mut link, || exchange(client, server, at));
            assert!(forwarded.undone > 0, "checksums are left to do: {forwarded:?}");
            assert!(forwarded.longest > 20_000, "segments are left to cut: {forwarded:?}");
        }
        for side in Side::BOTH {
            let counted = link.statistics(side).expect("counted");
            let lost = (counted.missed, counted.unreadable, counted.refused, counted.down);
            assert_eq!(lost, (0, 0, 0, 0), "{side:?}: {counted:?}");
            assert!(counted.received > 0 && counted.sent > 0);
        }
        drop(link);
        assert_eq!(names(&here), ["lo", "wan"]);
        exchange(&here, &there, "10.0.0.2:7000");
    }
}

#[test]
fn without_what_arrives_only_what_is_sent_is_taken() {
    for without_tcx in WITHOUT_TCX {
        let Some([here, there]) = hosts() else { return };
        let Some(mut link) = open(&here, "wan", false, without_tcx) else { return };
        assert_eq!(names(&here), ["lo", "wan", "laxity0"]);
        bridged(&mut link, || exchange(&here, &there, "10.0.0.2:7000"));
        let [host, wire] = Side::BOTH.map(|side| link.statistics(side).expect("counted"));
        assert!(host.received > 0 && host.sent == 0, "{host:?}");
        assert!(wire.received == 0 && wire.sent > 0, "{wire:?}");
    }
}

#[test]
fn what_is_not_taken_in_any_more_passes() {
    for without_tcx in WITHOUT_TCX {
        let Some([here, there]) = hosts() else { return };
        let Some(mut link) = open(&here, "wan", true, without_tcx) else { return };
        assert!(link.let_go());
        exchange(&here, &there, "10.0.0.2:7000");
        exchange(&there, &here, "10.0.0.1:7000");
    }
}

#[test]
fn an_interface_that_comes_back_is_taken_again() {
    for without_tcx in WITHOUT_TCX {
        let Some([here, there]) = hosts() else { return };
        let Some(mut link) = open(&here, "wan", true, without_tcx) else { return };
        here.remove("wan").expect("removed");
        here.veth("wan", &there, "eth").expect("a cable");
        here.address("wan", [10, 0, 1, 1].into(), 24).expect("an address");
        there.address("eth", [10, 0, 1, 2].into(), 24).expect("an address");
        exchange(&here, &there, "10.0.1.2:7000");
        let back = interface(&here, "wan");
        std::thread::scope(|scope| {
            let confined = scope.spawn(|| {
                laxity_linux::sandbox::drop_capabilities().expect("given up");
                link.reattach(Side::B, &back).expect("what it takes was given up before");
            });
            confined.join().expect("attached");
        });
        let (taken, ()) = bridged(&mut link, || exchange(&there, &here, "10.0.1.1:7000"));
        assert!(taken.frames > 100, "{taken:?}");
    }
}

#[test]
fn tags_and_marks_come_with_a_frame() {
    for without_tcx in WITHOUT_TCX {
        let Some(here) = namespace_for_taps() else { return };
        let wan = Tap::new(&here, "wan", 1500);
        here.address("wan", [10, 0, 0, 1].into(), 24).expect("an address");
        let Some(mut link) = open(&here, "wan", true, without_tcx) else { return };
        // A tagged frame arrives, and comes back from the pool as it was.
        let mut tagged = vec![0xff; 12];
        tagged.extend([0x81, 0x00, 0xa0, 0x07, 0x88, 0xb5]);
        tagged.extend([7; 60]);
        wan.write(&tagged);
        let mut frames = Vec::new();
        eventually("it arrives", || link.receive(Side::B, &mut frames).expect("received") > 0);
        assert_eq!(link.pool().bytes(frames[0]), tagged);
        link.release(frames.remove(0));
        // A socket's mark and priority.
        let send = || {
            let socket = UdpSocket::bind("10.0.0.1:0").expect("bound");
            set(&socket, libc::SO_MARK, 0x1234);
            set(&socket, libc::SO_PRIORITY, 6);
            socket.set_broadcast(true).expect("set");
            socket.send_to(b"marked", "10.0.0.255:7").expect("sent");
        };
        here.run(send).expect("entered");
        eventually("it is taken", || link.receive(Side::A, &mut frames).expect("received") > 0);
        let origin = link.pool().origin(frames[0]).expect("it is known");
        assert_eq!((origin.mark, origin.priority), (0x1234, 6));
        assert!(link.pool().bytes(frames[0]).ends_with(b"marked"));
        link.send(Side::B, frames.remove(0));
        assert_eq!(link.flush(Side::B).expect("sent"), 0);
        assert!(wan.read().expect("a frame").ends_with(b"marked"));
    }
}

#[test]
fn packets_without_a_header_of_the_link_get_one_and_lose_it_again() {
    for without_tcx in WITHOUT_TCX {
        let Some(here) = namespace_for_taps() else { return };
        let wan = Tap::tunnel(&here, "wan", 1500);
        here.address("wan", [10, 0, 0, 1].into(), 24).expect("an address");
        let Some(mut link) = open(&here, "wan", true, without_tcx) else { return };
        let socket = here.run(|| UdpSocket::bind("10.0.0.1:7").expect("bound")).expect("entered");
        socket.set_read_timeout(Some(std::time::Duration::from_secs(5))).expect("set");
        socket.send_to(b"sent", "10.0.0.2:7").expect("sent");
        let mut frames = Vec::new();
        eventually("it is taken", || link.receive(Side::A, &mut frames).expect("received") > 0);
        let frame = link.pool().bytes(frames[0]).to_vec();
        assert_eq!(&frame[..14], &[0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 8, 0]);
        link.send(Side::B, frames.remove(0));
        assert_eq!(link.flush(Side::B).expect("sent"), 0);
        let mut packet = wan.read().expect("a packet");
        assert_eq!((packet[0], packet.len()), (0x45, 20 + 8 + 4));
        assert!(packet.ends_with(b"sent"));

        // The answer has addresses and ports the other way round, and no checksum.
        let [from, to] = [12..16, 16..20].map(|range| packet[range].to_vec());
        packet[12..16].copy_from_slice(&to);
        packet[16..20].copy_from_slice(&from);
        packet[26..28].fill(0);
        wan.write(&packet);
        eventually("it arrives", || link.receive(Side::B, &mut frames).expect("received") > 0);
        assert_eq!(link.pool().bytes(frames[0])[12..], [&[8, 0][..], &packet].concat());
        link.send(Side::A, frames.remove(0));
        assert_eq!(link.flush(Side::A).expect("sent"), 0);
        let mut heard = [0; 10];
        let length = socket.recv(&mut heard).expect("an answer");
        assert_eq!(&heard[..length], b"sent");
    }
}

fn set(socket: &UdpSocket, option: i32, value: i32) {
    use std::os::fd::AsRawFd;
    let (value, size) = (std::ptr::from_ref(&value).cast(), size_of::<i32>() as u32);
    // SAFETY: the option takes an integer.
    let set =
        unsafe { libc::setsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, option, value, size) };
    assert_eq!(set, 0);
}
