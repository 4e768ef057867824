//! Datagrams over a connection on the loopback interface.

#[path = "lab/lab.rs"]
mod lab;

use std::sync::mpsc;
use std::time::{Duration, Instant};

use lab::{Bottleneck, connect};
use laxity::deadline_queue::QueueFull;
use laxity_quinn::{Datagrams, Outgoing, Unsent, Why, transport};

/// Datagrams that live for 10 and for 90 ms wait in one queue behind some that the link carries
/// in seconds.
#[tokio::test(flavor = "multi_thread")]
async fn each_expires_at_its_time() {
    let bottleneck = Bottleneck { rate: 50_000, queue: Duration::from_secs(60) };
    let (sends, _receives) = connect(transport(), Some(bottleneck)).await.unwrap();
    let (back, handed_back) = mpsc::channel();
    let datagrams = Datagrams::new(sends, 1000, move |unsent: Unsent| {
        back.send((unsent, Instant::now())).unwrap()
    });
    for _ in 0..100 {
        datagrams.send(Outgoing { bytes: vec![0; 1000].into(), ..Outgoing::default() }).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(100)).await;
    let now = Instant::now();
    let lives = |number: u8| Duration::from_millis(if number % 2 == 1 { 10 } else { 90 });
    for number in 1..=20 {
        let expires = Some(now + lives(number));
        let outgoing = Outgoing { bytes: vec![number; 500].into(), expires, ..Outgoing::default() };
        assert!(!datagrams.will_arrive(&outgoing));
        datagrams.send(outgoing).unwrap();
    }
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut early = 0;
    for number in (1..=19).step_by(2).chain((2..=20).step_by(2)) {
        let (unsent, at) = handed_back.try_recv().unwrap();
        assert_eq!((unsent.bytes[0], unsent.why), (number, Why::Expired));
        let late = at.checked_duration_since(now + lives(number)).unwrap();
        early += u32::from(late < Duration::from_millis(10));
    }
    // The timer of the runtime is good for a millisecond; a busy machine is late now and then.
    assert!(early > 10, "{early} of 20 within 10 ms");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_sent_comes_back() {
    let (sends, receives) = connect(transport(), None).await.unwrap();
    let (back, handed_back) = mpsc::channel();
    let datagrams = Datagrams::new(sends, 2, move |unsent| back.send(unsent).unwrap());
    let outgoing =
        |length: usize| Outgoing { bytes: vec![7; length].into(), ..Outgoing::default() };
    datagrams.send(outgoing(5000)).unwrap();
    datagrams.send(outgoing(100)).unwrap();
    assert_eq!(receives.read_datagram().await.unwrap(), [7; 100][..]);
    let unsent = handed_back.recv_timeout(Duration::from_secs(10)).unwrap();
    assert_eq!((unsent.bytes.len(), unsent.why), (5000, Why::Refused));
}

#[tokio::test]
async fn a_full_queue_refuses_and_what_waits_can_be_withdrawn() {
    let (sends, _receives) = connect(transport(), None).await.unwrap();
    let datagrams = Datagrams::new(sends, 2, |_| {});
    // Nothing is sent before this task waits for something.
    let outgoing =
        |length: usize| Outgoing { bytes: vec![7; length].into(), ..Outgoing::default() };
    let tickets = [10, 20].map(|length| datagrams.send(outgoing(length)).unwrap());
    assert_eq!(datagrams.send(outgoing(30)), Err(QueueFull));
    assert_eq!(datagrams.withdraw(tickets[1]).map(|bytes| bytes.len()), Some(20));
    assert_eq!(datagrams.withdraw(tickets[1]), None);
    assert_eq!(datagrams.waiting(), 1);
}
