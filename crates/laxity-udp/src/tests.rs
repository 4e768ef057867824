//! Sinks over the loopback interface.

mod errors;
mod loopback;
mod receiver;

use std::net::{SocketAddr, UdpSocket};

use laxity::packet::Packet;
use laxity::scheduler::{Criterion, Dispatch, DropReason};
use laxity::units::Nanos;
use laxity_engine::Sink;

use crate::{Datagram, Departure, Loss, Observer, UdpSettings, UdpSink};

/// Keeps all that it hears.
#[derive(Debug, Default)]
struct Recorder {
    sent: Vec<u64>,
    lost: Vec<(u64, Loss)>,
    departed: Vec<Departure>,
}

impl Observer<Vec<u8>> for Recorder {
    fn sent(&mut self, packet: Packet, _: Datagram<Vec<u8>>) {
        self.sent.push(packet.handle);
    }

    fn lost(&mut self, packet: Packet, _: Datagram<Vec<u8>>, loss: Loss) {
        self.lost.push((packet.handle, loss));
    }

    fn dropped(&mut self, _: Packet, _: DropReason, _: Datagram<Vec<u8>>) {}

    fn departed(&mut self, departure: Departure) {
        self.departed.push(departure);
    }
}

type RecordingSink = UdpSink<Vec<u8>, Recorder>;

/// A sink that sends by a socket of this address.
fn sink(from: &str, settings: UdpSettings) -> RecordingSink {
    let socket = UdpSocket::bind(from).expect("bound");
    let sink = UdpSink::new([socket], settings).expect("it takes the settings");
    let mut sink = sink.with_observer(Recorder::default());
    sink.start(std::time::Instant::now());
    sink
}

/// Sends a datagram at the next flush, whose number is its handle and its first bytes.
fn send(sink: &mut RecordingSink, number: u64, length: usize, to: SocketAddr) {
    let mut bytes = vec![0; length];
    bytes[..8].copy_from_slice(&number.to_ne_bytes());
    send_datagram(sink, number, Datagram::new(bytes, to), Packet::default());
}

fn send_datagram(
    sink: &mut RecordingSink,
    number: u64,
    datagram: Datagram<Vec<u8>>,
    packet: Packet,
) {
    let packet = Packet { handle: number, length: datagram.bytes.len() as u32, ..packet };
    let dispatch = Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder };
    sink.sent(dispatch, Nanos::ZERO, datagram);
}
