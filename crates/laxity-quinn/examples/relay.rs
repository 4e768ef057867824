//! A relay that passes on objects of two tracks as Media over QUIC has them: by priority, group and
//! object, and not after their delivery timeout. The link behind it carries less than comes.
//!
//! ```text
//! cargo run --release -p laxity-quinn --example relay
//! ```

#[path = "../tests/lab/lab.rs"]
mod lab;

use std::time::{Duration, Instant};

use bytes::{Buf, BufMut, Bytes, BytesMut};
use lab::{Bottleneck, Result, connect};
use laxity::deadline_queue::{GroupOrder, Rank};
use laxity_quinn::{Datagrams, Outgoing, transport};
use quinn::{Connection, TransportConfig};

const BOTTLENECK: Bottleneck = Bottleneck { rate: 2_000_000, queue: Duration::from_millis(50) };
const TIMEOUT: Duration = Duration::from_millis(400);
/// Objects of a group of video, one every 10 ms: 2.4 Mbit/s. Audio has one every 20 ms.
const GROUP: u64 = 50;

/// An object of a track, as it is on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Object {
    track: u8,
    group: u64,
    object: u64,
    /// Since the begin, in ns.
    published: u64,
}

impl Object {
    fn write(self, length: usize) -> Bytes {
        let mut bytes = BytesMut::with_capacity(length);
        bytes.put_u8(self.track);
        for number in [self.group, self.object, self.published] {
            bytes.put_u64(number);
        }
        bytes.resize(length, 0);
        bytes.freeze()
    }

    fn read(bytes: &Bytes) -> Option<Object> {
        let mut rest = bytes.get(..25)?;
        let track = rest.get_u8();
        let [group, object, published] = [(); 3].map(|()| rest.get_u64());
        Some(Object { track, group, object, published })
    }
}

/// How the relay passes objects on.
#[derive(Clone, Copy, Debug)]
enum Order {
    /// As they come.
    Arrival,
    /// By rank, with the timeout.
    Groups(GroupOrder),
}

/// Publishes for some time through a relay. Returns how many objects of each track were published,
/// and what came, each with its delay.
async fn relayed(order: Order, lasts: Duration) -> Result<([u64; 2], Vec<(Object, Duration)>)> {
    let (publisher, relay_in) = connect(TransportConfig::default(), None).await?;
    let config = match order {
        Order::Arrival => TransportConfig::default(),
        Order::Groups(_) => transport(),
    };
    let (relay_out, subscriber) = connect(config, Some(BOTTLENECK)).await?;
    let began = Instant::now();
    let relay = tokio::spawn(relay(relay_in, relay_out.clone(), order));
    let receiver = tokio::spawn(async move {
        let mut came = Vec::new();
        while let Ok(datagram) = subscriber.read_datagram().await {
            if let Some(object) = Object::read(&datagram) {
                came.push((
                    object,
                    began.elapsed().saturating_sub(Duration::from_nanos(object.published)),
                ));
            }
        }
        came
    });
    let (mut published, mut tick) = ([0; 2], tokio::time::interval(Duration::from_millis(10)));
    for number in 0u64.. {
        tick.tick().await;
        if began.elapsed() > lasts {
            break;
        }
        let published_at = began.elapsed().as_nanos() as u64;
        let object =
            |track, group, object| Object { track, group, object, published: published_at };
        let mut send = |object: Object, length| {
            published[usize::from(object.track)] += 1;
            publisher.send_datagram(object.write(length))
        };
        if number.is_multiple_of(2) {
            send(object(0, number / 2, 0), 200)?;
        }
        for part in 0..3 {
            send(object(1, number / GROUP, number % GROUP * 3 + part), 1000)?;
        }
    }
    tokio::time::sleep(2 * lasts).await;
    publisher.close(0u32.into(), b"done");
    relay_out.close(0u32.into(), b"done");
    relay.await??;
    Ok((published, receiver.await?))
}

/// Passes on all objects that come.
async fn relay(from: Connection, to: Connection, order: Order) -> Result<()> {
    let datagrams = Datagrams::new(to.clone(), 10_000, |_| {});
    while let Ok(bytes) = from.read_datagram().await {
        let Some(Object { track, group, object, .. }) = Object::read(&bytes) else { continue };
        let Order::Groups(group_order) = order else {
            to.send_datagram(bytes)?;
            continue;
        };
        // The subscriber likes both alike; the publisher puts audio first.
        let rank = Rank::moq([128, track], track.into(), group_order, group, object);
        let expires = Some(Instant::now() + TIMEOUT);
        datagrams.send(Outgoing { bytes, rank, deadline: None, expires })?;
    }
    Ok(())
}

/// How many groups of video were overtaken: something of a later group came before their last.
fn overtaken(came: &[(Object, Duration)]) -> usize {
    let video = || came.iter().map(|(object, _)| object).filter(|object| object.track == 1);
    let last = video().map(|object| object.group).max().unwrap_or(0);
    let is_overtaken = |group: &u64| {
        let first_later = video().position(|object| object.group > *group);
        let last_own = video().enumerate().filter(|(_, object)| object.group == *group).last();
        first_later.zip(last_own).is_some_and(|(later, (own, _))| own > later)
    };
    (0..=last).filter(is_overtaken).count()
}

const ORDERS: [(&str, Order); 3] = [
    ("as they come", Order::Arrival),
    ("ascending", Order::Groups(GroupOrder::Ascending)),
    ("descending", Order::Groups(GroupOrder::Descending)),
];

#[tokio::main]
async fn main() -> Result<()> {
    println!(
        "2.4 Mbit/s of video in groups of 0.5 s, and audio, over 2 Mbit/s for 5 s; timeout 400 ms\n"
    );
    println!(
        "{:<14} {:>11} {:>13} {:>12} {:>17}",
        "order", "audio came", "video came", "longest", "groups overtaken"
    );
    for (name, order) in ORDERS {
        let (published, came) = relayed(order, Duration::from_secs(5)).await?;
        let part = |track: u8| {
            let own = came.iter().filter(|(object, _)| object.track == track).count();
            100.0 * own as f64 / published[usize::from(track)] as f64
        };
        let longest = came.iter().map(|(_, delay)| *delay).max().unwrap_or_default();
        println!(
            "{name:<14} {:>10.1}% {:>12.1}% {:>9.0} ms {:>17}",
            part(0),
            part(1),
            longest.as_secs_f64() * 1e3,
            overtaken(&came)
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn late_groups_are_dropped_and_no_later_one_comes_first() {
        let lasts = Duration::from_secs(3);
        let (_, came) = relayed(Order::Arrival, lasts).await.unwrap();
        let longest =
            |came: &[(Object, Duration)]| came.iter().map(|(_, delay)| *delay).max().unwrap();
        let allowed = TIMEOUT + BOTTLENECK.queue + Duration::from_millis(100);
        assert!(longest(&came) > allowed, "{:?}", longest(&came));
        let (published, came) = relayed(ORDERS[1].1, lasts).await.unwrap();
        assert!(longest(&came) < allowed, "{:?}", longest(&came));
        assert_eq!(overtaken(&came), 0);
        let audio = came.iter().filter(|(object, _)| object.track == 0).count() as f64;
        assert!(audio > 0.9 * published[0] as f64, "{audio} of {published:?}");
    }

    #[test]
    fn what_is_written_is_read() {
        let object = Object { track: 1, group: 2, object: 3, published: 4 };
        assert_eq!(Object::read(&object.write(100)), Some(object));
        assert_eq!(Object::read(&Bytes::from_static(&[0; 24])), None);
    }
}
