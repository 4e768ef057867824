//! A media server that takes as many clients as its link can carry in time, and no more: clients
//! come until one is refused, that one takes what fits, and gets all of it when another one leaves.
//! Beside them a download uses what is left.

mod receiver;

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity::admit::edf::RealTime;
use laxity::packet::{ClassId, Packet};
use laxity::police::TokenBucket;
use laxity::reserve::edf::Refusal;
use laxity::reserve::streams::{EdfStreams, Link, Unpromised};
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::{Bytes, Nanos, Rate};
use laxity_engine::{Engine, Pace, Producer, Settings, Sink, StreamError, Streams};
use receiver::{Header, Received, Receiver};

/// The uplink. The machine may be 10 ms late, which the proof counts with.
const LINK: Link =
    Link { rate: Rate(4_000_000), latency: Nanos(10_000_000), max_packet: Bytes(LENGTH as u64) };
/// A packet on the link, with the headers of UDP and IPv4.
const LENGTH: u32 = 1_028;
const DATAGRAM: usize = LENGTH as usize - 28;
/// The download, in whose class everything is that is promised nothing.
const DOWNLOAD: ClassId = ClassId(0);
/// More than fit.
const CLIENTS: usize = 16;
/// The rate of a client in bits a second.
const FULL: u64 = 480_000;

type Datagram = [u8; DATAGRAM];
type Client = laxity_engine::Stream<EdfStreams, Datagram>;

fn main() -> Result<(), Box<dyn Error>> {
    let report = serve(Duration::from_millis(1_500))?;
    println!("\n{} clients were granted at first.\n", report.granted);
    println!("client   sent  received  longest [ms]  promised [ms]");
    let promise = video(0).deadline;
    for (client, (sent, received)) in report.sent.iter().zip(&report.received).enumerate() {
        println!(
            "{client:6} {sent:6} {:9} {:13.3} {:14.3}",
            received.packets,
            received.longest.as_secs_f64() * 1e3,
            promise.as_millis_f64()
        );
    }
    println!(
        "\nThe thread was at most {} late, and the proof counts with {}.",
        report.late, LINK.latency
    );
    Ok(())
}

/// What a client asks for: a packet in time, and twice as much at once at most.
fn video(rate: u64) -> RealTime {
    RealTime {
        deadline: Nanos(60_000_000),
        arrival: vec![TokenBucket { bucket: Bytes(2 * u64::from(LENGTH)), rate: Rate(rate) }],
        packet: Bytes(LENGTH.into()),
    }
}

/// What has happened.
struct Report {
    /// How many clients were granted before one was refused.
    granted: usize,
    /// Packets by client.
    sent: Vec<u64>,
    received: Vec<Received>,
    /// The most by which the scheduler's thread was late.
    late: Nanos,
}

/// Serves clients, for this long in each of two phases.
fn serve(phase: Duration) -> Result<Report, Box<dyn Error>> {
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let settings =
        Settings { pace: Pace::Link(LINK.rate), burst: 1, backlog: 64, ..Settings::default() };
    let begin = Instant::now();
    let receiver = Receiver::start(CLIENTS, begin)?;
    let sink = Network { socket, receiver: receiver.address };
    let engine = Engine::start(EdfStreams::new(LINK, Unpromised::Exact), sink, settings)?;
    let handle = engine.handle().clone();
    let streams = Streams::new(&handle)?;
    let (is_over, has_left) = (AtomicBool::new(false), AtomicBool::new(false));

    let (granted, sent) = thread::scope(|scope| -> Result<_, Box<dyn Error>> {
        let _end = EndOnReturn([&is_over, &has_left]);
        let producer = handle.producer()?;
        scope.spawn(|| download(producer, &is_over));
        let mut clients = Vec::new();
        let refusal =
            loop {
                let mut producer = handle.producer()?;
                match streams.admit(&producer, &video(FULL)) {
                    Ok(stream) => {
                        let number = clients.len();
                        let is_over = if number == 0 { &has_left } else { &is_over };
                        clients.push(scope.spawn(move || {
                            send(&mut producer, &stream, number, FULL, begin, is_over)
                        }));
                    }
                    Err(StreamError::Refused(refusal)) => break refusal,
                    Err(StreamError::Stopped(stopped)) => return Err(stopped.into()),
                }
            };
        let granted = clients.len();
        let Refusal::NoRoom(offers) = refusal else { return Err(refusal.into()) };
        println!(
            "{granted} clients of {} are granted. One more is refused: {refusal}.",
            Rate(FULL)
        );
        let rate = offers.rate.ok_or("nothing fits")?;
        println!("It takes the rate that fits, {rate}.");
        let mut producer = handle.producer()?;
        let mut stream = streams.admit(&producer, &video(rate.0))?;
        let (left, over) = (&has_left, &is_over);
        clients.push(scope.spawn(move || {
            let few = send(&mut producer, &stream, granted, rate.0, begin, left);
            // Until the packets of the one that leaves are with the scheduler.
            while !over.load(Ordering::Relaxed) && stream.change(&video(FULL)).is_err() {
                thread::sleep(Duration::from_millis(1));
            }
            few + send(&mut producer, &stream, granted, FULL, begin, over)
        }));
        thread::sleep(phase);
        println!("Client 0 leaves, and client {granted} asks for {}.", Rate(FULL));
        has_left.store(true, Ordering::Relaxed);
        thread::sleep(phase);
        is_over.store(true, Ordering::Relaxed);
        let sent = clients.into_iter().map(|client| client.join().map_err(|_| "a client panicked"));
        Ok((granted, sent.collect::<Result<Vec<u64>, _>>()?))
    })?;

    let finished = engine.shutdown()?;
    let mut received = receiver.finish()?;
    received.truncate(sent.len());
    Ok(Report { granted, sent, received, late: finished.statistics.late.max() })
}

/// Sends the packets of a client at its rate, from when it may. Returns how many.
fn send(
    producer: &mut Producer<Datagram>,
    stream: &Client,
    client: usize,
    rate: u64,
    begin: Instant,
    is_over: &AtomicBool,
) -> u64 {
    let gap = Duration::from_nanos(Rate(rate).time_for(Bytes(LENGTH.into())).0);
    if stream.wait().is_err() {
        return 0;
    }
    let (mut due, mut sent) = (Instant::now(), 0);
    while !is_over.load(Ordering::Relaxed) {
        thread::sleep(due.saturating_duration_since(Instant::now()));
        let mut datagram = [0; DATAGRAM];
        let header = Header { client: client as u32, sent: begin.elapsed() };
        datagram[..Header::LENGTH].copy_from_slice(&header.write());
        sent += u64::from(producer.send_or_drop(stream.packet(LENGTH), datagram));
        // A client that is woken late sends at most two packets at once, as it has promised.
        due = (due + gap).max(Instant::now());
    }
    sent
}

/// Sends as much as there is room for.
fn download(mut producer: Producer<Datagram>, is_over: &AtomicBool) {
    let header = Header { client: u32::MAX, sent: Duration::ZERO };
    let mut datagram = [0; DATAGRAM];
    datagram[..Header::LENGTH].copy_from_slice(&header.write());
    let packet = Packet { class: DOWNLOAD, length: LENGTH, ..Packet::default() };
    while !is_over.load(Ordering::Relaxed) {
        if producer.try_send(packet, datagram).is_err() {
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Ends the clients whatever happens, so that none is waited for in vain.
struct EndOnReturn<'a>([&'a AtomicBool; 2]);

impl Drop for EndOnReturn<'_> {
    fn drop(&mut self) {
        self.0.iter().for_each(|is_over| is_over.store(true, Ordering::Relaxed));
    }
}

/// Sends datagrams to the receiver.
struct Network {
    socket: UdpSocket,
    receiver: SocketAddr,
}

impl Sink<Datagram> for Network {
    fn sent(&mut self, _: Dispatch, _: Nanos, datagram: Datagram) {
        // What the network loses is missing at the receiver.
        let _ = self.socket.send_to(&datagram, self.receiver);
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, _: Datagram) {
        eprintln!("a packet of {:?} is dropped: {}", packet.class, reason.name());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity::admit::edf::System;

    #[test]
    fn as_many_clients_are_granted_as_the_test_of_the_link_admits() {
        let admitted = |clients: &usize| {
            let system = System {
                rate: LINK.rate,
                latency: LINK.latency,
                max_packet: LINK.max_packet,
                real_time: vec![video(FULL); *clients],
                best_effort_packet: Some(LINK.max_packet),
            };
            system.test(&system.effective_residual_capacity()).admitted
        };
        let most = (1..CLIENTS).take_while(admitted).count();
        let report = serve(Duration::from_millis(300)).unwrap();
        assert_eq!(report.granted, most);
        assert_eq!(report.sent.len(), most + 1);
        let received: u64 = report.received.iter().map(|client| client.packets).sum();
        assert_eq!(received, report.sent.iter().sum::<u64>());
    }
}
