//! Real sockets on two hosts, their interfaces with all offloads, and a backend between.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::time::Duration;

use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::{Interface, Offload, set_offload};
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_linux::xdp;

use crate::laboratory::{bridged, ends, hosts, xdp};

const PATIENCE: Option<Duration> = Some(Duration::from_secs(5));

#[test]
fn conversations_pass_recvmmsg_as_they_are_and_past_the_qdisc() {
    for bypass_qdisc in [false, true] {
        let options = Options { bypass_qdisc, ..Options::default() };
        converse(1500, |ends| Mmsg::open(ends, &options).ok(), true);
    }
}

#[test]
fn conversations_pass_the_ring_with_small_and_large_slots() {
    for mtu in [1500, 9000] {
        converse(mtu, |ends| Ring::open(ends, &Options::default()).ok(), true);
    }
}

#[test]
fn conversations_pass_xdp_without_offloads() {
    for native in [false, true] {
        let options = xdp::Options { native, ..xdp::Options::default() };
        converse(1500, |ends| xdp(ends, &options), false);
    }
}

fn converse<B: Backend + Send>(
    mtu: u32,
    open: impl FnOnce([&Interface; 2]) -> Option<B> + Send,
    offloads: bool,
) {
    let Some((between, [first, second])) = hosts(mtu) else { return };
    let [a, b] = ends(&between);
    let Some(mut backend) = between.run(|| open([&a, &b])).expect("entered") else { return };
    if !offloads {
        for host in [&first, &second] {
            let off = |which| set_offload("eth", which, false).expect("it can");
            host.run(|| Offload::ALL.map(off)).expect("entered");
        }
    }
    let (forwarded, ()) = bridged(&mut backend, || exchange(&first, &second, "10.0.0.2:7000"));
    if offloads {
        assert!(forwarded.undone > 0, "checksums are left to do: {forwarded:?}");
        assert!(forwarded.longest > 20_000, "segments are left to cut: {forwarded:?}");
    }
    for side in Side::BOTH {
        let counted = backend.statistics(side).expect("counted");
        assert_eq!((counted.unreadable, counted.refused, counted.down), (0, 0, 0));
    }
}

/// Has a client and a server, at this address, exchange datagrams and a stream.
pub fn exchange(client: &Namespace, server: &Namespace, at: &str) {
    let bound = server.run(|| (TcpListener::bind(at), UdpSocket::bind(at)));
    let (tcp, udp) = bound.expect("entered");
    let (tcp, udp) = (tcp.expect("bound"), udp.expect("bound"));
    std::thread::scope(|scope| {
        scope.spawn(|| echo(&udp));
        client.run(|| talk(at)).expect("entered");
    });
    // Nobody waits for a client that does not come.
    let connect = || TcpStream::connect(at).expect("connected");
    let stream = client.run(connect).expect("entered");
    std::thread::scope(|scope| {
        scope.spawn(|| sink(&tcp));
        bulk(stream);
    });
}

const TALK: u32 = 100;

/// Datagrams, whole and in fragments, there and back. A wrong checksum would lose them.
fn talk(to: &str) {
    let any = if to.starts_with('[') { "[::]:0" } else { "0.0.0.0:0" };
    let socket = UdpSocket::bind(any).expect("bound");
    socket.set_read_timeout(PATIENCE).expect("set");
    for number in 0..TALK {
        let said: Vec<u8> = (0..1 + number * 60).map(|at| (at ^ number) as u8).collect();
        socket.send_to(&said, to).expect("sent");
        let mut heard = vec![0; 65_536];
        let length = socket.recv(&mut heard).expect("an answer");
        assert!(heard[..length] == said, "datagram {number}");
    }
}

fn echo(socket: &UdpSocket) {
    socket.set_read_timeout(PATIENCE).expect("set");
    let mut heard = vec![0; 65_536];
    for _ in 0..TALK {
        let (length, from) = socket.recv_from(&mut heard).expect("a datagram");
        socket.send_to(&heard[..length], from).expect("sent");
    }
}

const BULK: usize = 20_000_000;

fn pattern(at: usize) -> u8 {
    (at % 251) as u8
}

fn bulk(mut stream: TcpStream) {
    stream.set_write_timeout(PATIENCE).expect("set");
    stream.set_read_timeout(PATIENCE).expect("set");
    let bytes: Vec<u8> = (0..BULK).map(pattern).collect();
    stream.write_all(&bytes).expect("sent");
    let mut answer = [0];
    stream.read_exact(&mut answer).expect("all arrived");
}

fn sink(listener: &TcpListener) {
    let (mut stream, _) = listener.accept().expect("connected");
    stream.set_read_timeout(PATIENCE).expect("set");
    let mut bytes = vec![0; BULK];
    stream.read_exact(&mut bytes).expect("received");
    assert!(bytes.iter().enumerate().all(|(at, byte)| *byte == pattern(at)));
    stream.write_all(&[1]).expect("answered");
}
