//! A server whose audio and video go over a link that carries two thirds of them: first through
//! quinn's own queue of datagrams, then through the deadline queue.
//!
//! ```text
//! cargo run --release -p laxity-quinn --example server
//! ```

#[path = "../tests/lab/lab.rs"]
mod lab;

use std::time::{Duration, Instant};

use lab::{Bottleneck, Result, connect};
use laxity::deadline_queue::Rank;
use laxity_quinn::{Datagrams, Outgoing, transport};
use quinn::{Connection, TransportConfig};

const BOTTLENECK: Bottleneck = Bottleneck { rate: 2_000_000, queue: Duration::from_millis(50) };
/// How long a frame of video is of use. Audio is for twice as long.
const LIVES: Duration = Duration::from_millis(150);
const AUDIO: u8 = 0;
const VIDEO: u8 = 1;

/// What came of a stream.
#[derive(Debug)]
struct Stream {
    sent: u64,
    /// Those that came.
    delays: Vec<Duration>,
}

impl Stream {
    /// The part of what was sent that came in this time.
    fn within(&self, time: Duration) -> f64 {
        self.delays.iter().filter(|delay| **delay <= time).count() as f64 / self.sent as f64
    }
}

/// Sends for some time, and returns what came of audio and video.
async fn stream(lasts: Duration, by_deadline: bool) -> Result<[Stream; 2]> {
    let config = if by_deadline { transport() } else { TransportConfig::default() };
    let (server, client) = connect(config, Some(BOTTLENECK)).await?;
    let began = Instant::now();
    let receiver = tokio::spawn(async move {
        let mut delays = [Vec::new(), Vec::new()];
        while let Ok(datagram) = client.read_datagram().await {
            let sent =
                datagram.get(1..9).and_then(|time| Some(u64::from_be_bytes(time.try_into().ok()?)));
            if let Some(sent) = sent {
                let delay = began.elapsed().saturating_sub(Duration::from_nanos(sent));
                delays[usize::from(datagram[0] == VIDEO)].push(delay);
            }
        }
        delays
    });
    let datagrams = by_deadline.then(|| Datagrams::new(server.clone(), 10_000, |_| {}));
    let (mut sent, mut tick) = ([0; 2], tokio::time::interval(Duration::from_millis(5)));
    for number in 0u64.. {
        tick.tick().await;
        if began.elapsed() > lasts {
            break;
        }
        // Audio every 20 ms, 12 datagrams of video every 33 ms.
        let audio = number.is_multiple_of(4).then_some((AUDIO, 200));
        let video = (number * 5 / 33 != (number + 1) * 5 / 33).then_some([(VIDEO, 1000); 12]);
        for (kind, length) in audio.into_iter().chain(video.into_iter().flatten()) {
            let now = Instant::now();
            let mut bytes = vec![kind; length];
            bytes[1..9].copy_from_slice(&(began.elapsed().as_nanos() as u64).to_be_bytes());
            sent[usize::from(kind)] += 1;
            give(&server, datagrams.as_ref(), kind, bytes, now)?;
        }
    }
    // What is in quinn's queue still comes.
    tokio::time::sleep(3 * lasts).await;
    server.close(0u32.into(), b"done");
    let [audio, video] = receiver.await?;
    let [of_audio, of_video] = sent;
    Ok([Stream { sent: of_audio, delays: audio }, Stream { sent: of_video, delays: video }])
}

fn give(
    connection: &Connection,
    datagrams: Option<&Datagrams>,
    kind: u8,
    bytes: Vec<u8>,
    now: Instant,
) -> Result<()> {
    let Some(datagrams) = datagrams else {
        return Ok(connection.send_datagram(bytes.into())?);
    };
    let (lives, deadline) = match kind {
        AUDIO => (2 * LIVES, Some(now + Duration::from_millis(20))),
        _ => (LIVES, None),
    };
    let rank = Rank::default();
    datagrams.send(Outgoing { bytes: bytes.into(), rank, deadline, expires: Some(now + lives) })?;
    Ok(())
}

/// The delay that a part of all does not exceed.
fn quantile(delays: &mut [Duration], part: f64) -> Duration {
    delays.sort_unstable();
    let at = (delays.len() as f64 * part) as usize;
    delays.get(at.min(delays.len().saturating_sub(1))).copied().unwrap_or_default()
}

#[tokio::main]
async fn main() -> Result<()> {
    println!("3 Mbit/s of audio and video over 2 Mbit/s for 3 s; video lives 150 ms\n");
    println!(
        "{:<16} {:>10} {:>10} {:>14} {:>12}",
        "datagrams by", "audio p50", "audio p99", "video in time", "video late"
    );
    for (name, by_deadline) in [("quinn's queue", false), ("deadline", true)] {
        let [mut audio, video] = stream(Duration::from_secs(3), by_deadline).await?;
        let ms = |delay: Duration| format!("{:.1} ms", delay.as_secs_f64() * 1e3);
        // The queue of the link and its travel come on top.
        let in_time = video.within(LIVES + BOTTLENECK.queue);
        let late = video.within(Duration::MAX) - in_time;
        println!(
            "{name:<16} {:>10} {:>10} {:>13.1}% {:>11.1}%",
            ms(quantile(&mut audio.delays, 0.5)),
            ms(quantile(&mut audio.delays, 0.99)),
            100.0 * in_time,
            100.0 * late,
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(flavor = "multi_thread")]
    async fn audio_is_early_and_nothing_comes_late() {
        let lasts = Duration::from_secs(2);
        let [mut fifo, _] = stream(lasts, false).await.unwrap();
        let [mut audio, video] = stream(lasts, true).await.unwrap();
        // A third of two seconds waits in the end, and audio behind it.
        let [fifo, audio] = [&mut fifo, &mut audio].map(|of| quantile(&mut of.delays, 0.9));
        assert!(fifo > Duration::from_millis(300), "{fifo:?}");
        assert!(audio < Duration::from_millis(150), "{audio:?}");
        let late = Duration::from_millis(100);
        let in_time = video.within(LIVES + BOTTLENECK.queue + late);
        assert!(in_time > 0.3, "{in_time}");
        assert_eq!(video.within(Duration::MAX), in_time);
    }
}
