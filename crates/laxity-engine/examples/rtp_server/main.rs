//! A media server in small: hundreds of RTP streams over UDP on the loopback interface, on a link
//! that is too slow for all of them, under DWCS and under FIFO.

mod receiver;
mod rtp;

use std::error::Error;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::{Duration, Instant};

use clap::Parser;
use laxity::aqm::{DropTail, Limit};
use laxity::packet::{ClassId, FlowId, Packet};
use laxity::sched::dwcs::{Late, Stream, Streams};
use laxity::sched::{Dwcs, Fifo};
use laxity::scheduler::{Dispatch, DropReason, Scheduler};
use laxity::units::{Nanos, Rate};
use laxity::window::{Counts, Loss};
use laxity_engine::{Engine, Pace, Producer, Settings, Sink};
use receiver::Receiver;
use rtp::Header;

/// Stream RTP audio through an engine on a link that is too slow for it, under DWCS and then FIFO.
///
/// A packet every 20 ms in each stream, in four classes that bear different losses. Under DWCS a
/// packet that cannot start within 20 ms is dropped in favour of streams that bear less; FIFO
/// queues as many packets as the link sends in 20 ms. Receivers see losses as gaps in the sequence
/// numbers, and lateness as timestamps that are older than the play-out delay; both count as lost
/// in the windows.
#[derive(Parser)]
#[command(max_term_width = 100)]
struct Arguments {
    /// Streams of each of the four classes.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(1..=500))]
    streams: u32,
    /// Seconds for which each scheduler runs.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=60))]
    seconds: u32,
    /// The offered load in percent of the link.
    #[arg(long, default_value_t = 120, value_parser = clap::value_parser!(u32).range(10..=1000))]
    load: u32,
    /// The play-out delay in ms; the scheduler needs 20, the rest is for the machine.
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u32).range(20..=1000))]
    playout: u32,
    /// Threads that send.
    #[arg(long, default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=16))]
    producers: u32,
}

/// Packets that each class bears losing of how many.
const TOLERANCES: [(u32, u32); 4] = [(1, 20), (1, 8), (1, 4), (1, 2)];
const CLASSES: u32 = TOLERANCES.len() as u32;

const GAP: Duration = Duration::from_millis(20);
const SAMPLES_PER_SECOND: f64 = 8_000.0;
const SAMPLES_PER_PACKET: u32 = 160;
/// A byte a sample behind the header.
const DATAGRAM: usize = rtp::LENGTH + SAMPLES_PER_PACKET as usize;
/// With the headers of UDP and IPv4.
const LENGTH_ON_LINK: u32 = DATAGRAM as u32 + 28;

type Datagram = [u8; DATAGRAM];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    let rate = arguments.link();
    println!(
        "{} streams on a link of {rate}, offered {} % of it, {} s each\n",
        CLASSES * arguments.streams,
        arguments.load,
        arguments.seconds
    );
    println!(
        "{:9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>9} {:>10} {:>11}",
        "scheduler",
        "tolerance",
        "offered",
        "sent",
        "received",
        "lost",
        "late",
        "violations",
        "longest run"
    );
    run("dwcs", dwcs(&arguments), &arguments)?;
    run("fifo", fifo(&arguments), &arguments)
}

impl Arguments {
    /// What each stream sends.
    fn packets(&self) -> u64 {
        u64::from(self.seconds) * 1_000 / GAP.as_millis() as u64
    }

    /// What all streams send in a gap.
    fn packets_in_a_gap(&self) -> u64 {
        u64::from(CLASSES * self.streams)
    }

    fn link(&self) -> Rate {
        let bits_in_a_gap = self.packets_in_a_gap() * u64::from(LENGTH_ON_LINK) * 8;
        Rate(bits_in_a_gap * 1_000 / GAP.as_millis() as u64 * 100 / u64::from(self.load))
    }

    fn tolerances(&self) -> [Loss; TOLERANCES.len()] {
        TOLERANCES.map(|(lost, of)| Loss::new(lost, of).expect("a tolerance"))
    }
}

fn dwcs(arguments: &Arguments) -> Dwcs {
    let streams = |loss| Streams {
        stream: Stream { gap: Some(Nanos(GAP.as_nanos() as u64)), loss, late: Late::Drop },
        count: arguments.streams,
    };
    let dwcs = Dwcs::new(Default::default(), &arguments.tolerances().map(streams));
    dwcs.expect("streams with a gap, as many as were asked for")
}

fn fifo(arguments: &Arguments) -> DropTail<Fifo> {
    let sent_in_a_gap = arguments.packets_in_a_gap() * 100 / u64::from(arguments.load);
    let limit = Limit::Packets((sent_in_a_gap / u64::from(CLASSES)).max(1));
    DropTail::new(Fifo::new(), vec![limit; TOLERANCES.len()])
}

/// Sends what the scheduler lets through.
struct Sender {
    socket: UdpSocket,
    /// By class.
    receivers: Vec<SocketAddr>,
    sent: [u64; TOLERANCES.len()],
}

impl Sink<Datagram> for Sender {
    fn sent(&mut self, dispatch: Dispatch, _: Nanos, datagram: Datagram) {
        let class = dispatch.packet.class.index();
        let is_sent = self.socket.send_to(&datagram, self.receivers[class]).is_ok();
        self.sent[class] += u64::from(is_sent);
    }

    fn dropped(&mut self, _: Packet, _: DropReason, _: Datagram) {}
}

fn run<S: Scheduler + Send + 'static>(
    name: &str,
    scheduler: S,
    arguments: &Arguments,
) -> Result<(), Box<dyn Error>> {
    // Time for all threads to start before the first packet is due.
    let begin = Instant::now() + Duration::from_millis(50);
    let playout = Duration::from_millis(arguments.playout.into());
    let receivers = arguments.tolerances();
    let receivers =
        receivers.iter().map(|&loss| Receiver::start(loss, arguments.streams, playout, begin));
    let receivers = receivers.collect::<Result<Vec<_>, _>>()?;
    let sender = Sender {
        socket: UdpSocket::bind("127.0.0.1:0")?,
        receivers: receivers.iter().map(|receiver| receiver.address).collect(),
        sent: [0; TOLERANCES.len()],
    };
    let settings = Settings { pace: Pace::Link(arguments.link()), burst: 1, ..Settings::default() };
    let engine = Engine::start(scheduler, sender, settings)?;
    let producers = (0..arguments.producers).map(|_| engine.handle().producer());
    let producers = producers.collect::<Result<Vec<_>, _>>()?;
    thread::scope(|scope| {
        for (first, producer) in (0..).zip(producers) {
            scope.spawn(move || stream(producer, first, arguments, begin));
        }
    });
    let finished = engine.shutdown()?;

    for (class, receiver) in receivers.into_iter().enumerate() {
        let streams = receiver.finish()?;
        let received: u64 = streams.iter().map(|stream| stream.received).sum();
        let late: u64 = streams.iter().map(|stream| stream.late).sum();
        let packets = arguments.packets();
        let counts = streams.into_iter().map(|stream| stream.finish(packets).counts());
        let Counts { packets, violations, longest_run, .. } =
            counts.reduce(together).unwrap_or_default();
        println!(
            "{name:9} {:>9} {packets:9} {:9} {received:9} {:9} {late:9} {violations:10} {longest_run:11}",
            arguments.tolerances()[class].to_string(),
            finished.sink.sent[class],
            packets - received,
        );
    }
    let latency = &finished.statistics.latency;
    println!(
        "{name:9} ring to sink: p50 {:.1} ms, p99 {:.1} ms, p99.9 {:.1} ms; full rings cost {} packets\n",
        latency.quantile(500, 1000).as_millis_f64(),
        latency.quantile(990, 1000).as_millis_f64(),
        latency.quantile(999, 1000).as_millis_f64(),
        finished.statistics.ring_dropped
    );
    Ok(())
}

/// Sends the packets of every `arguments.producers`-th stream, from `first` on, when they are due.
/// The streams take turns, spread over the gap.
fn stream(mut producer: Producer<Datagram>, first: u32, arguments: &Arguments, begin: Instant) {
    let streams = CLASSES * arguments.streams;
    for number in 0..arguments.packets() {
        for stream in (first..streams).step_by(arguments.producers as usize) {
            let due = begin + GAP * number as u32 + GAP * stream / streams;
            thread::sleep(due.saturating_duration_since(Instant::now()));
            let age = due - begin;
            let flow = stream / CLASSES;
            let header = Header {
                sequence: number as u16,
                timestamp: (age.as_secs_f64() * SAMPLES_PER_SECOND) as u32,
                ssrc: flow,
            };
            let mut datagram = [0; DATAGRAM];
            datagram[..rtp::LENGTH].copy_from_slice(&header.write());
            let packet = Packet {
                class: ClassId(stream % CLASSES),
                flow: FlowId(flow),
                length: LENGTH_ON_LINK,
                ..Packet::default()
            };
            producer.send_or_drop(packet, datagram);
        }
    }
}

fn together(one: Counts, other: Counts) -> Counts {
    Counts {
        packets: one.packets + other.packets,
        lost: one.lost + other.lost,
        windows: one.windows + other.windows,
        violations: one.violations + other.violations,
        longest_run: one.longest_run.max(other.longest_run),
    }
}
