//! When datagrams are handed back that may not leave.

use std::error::Error;
use std::net::UdpSocket;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use laxity::deadline_queue::DeadlineQueue;
use laxity::packet::Packet;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_engine::{Deadlines, Engine, Pace, Settings, Terms};
use laxity_udp::{Datagram, Observer, UdpSettings, UdpSink};

/// Tells of each datagram when it was handed back.
struct Watcher(Sender<(Instant, Terms)>);

impl Observer<[u8; 10]> for Watcher {
    fn dropped(&mut self, _: Packet, _: DropReason, datagram: Datagram<[u8; 10]>) {
        self.0.send((Instant::now(), datagram.terms)).expect("the example listens");
    }
}

/// How long each datagram was to live, and by how much later it came back.
pub fn errors() -> Result<Vec<(Nanos, Nanos)>, Box<dyn Error>> {
    let (watcher, came) = channel();
    let socket = UdpSocket::bind("127.0.0.1:0")?;
    let to = socket.local_addr()?;
    let sink = UdpSink::new([socket], UdpSettings::default())?.with_observer(Watcher(watcher));
    let queue = Deadlines::new(DeadlineQueue::new(10));
    let settings = Settings { pace: Pace::Hold, ..Settings::default() };
    let engine = Engine::start(queue, sink, settings)?;
    let mut producer = engine.handle().producer()?;
    let (started, now) = (engine.handle().started(), engine.handle().now());
    for lives in [90_000_000, 10_000_000].map(Nanos) {
        let terms = Terms { expires: Some(now + lives), ..Terms::default() };
        let packet = Packet { length: 10, ..Packet::default() };
        producer.try_send(packet, Datagram { terms, ..Datagram::new([0; 10], to) })?;
    }
    drop(producer);
    drop(engine.shutdown()?);
    let errors = came.iter().map(|(at, terms)| {
        let expires = terms.expires.unwrap_or(Nanos::MAX);
        let came = Nanos((at - started).as_nanos() as u64);
        (expires.saturating_sub(now), came.saturating_sub(expires))
    });
    Ok(errors.collect())
}
