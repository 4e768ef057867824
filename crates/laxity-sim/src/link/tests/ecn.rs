//! What recorded packets say of congestion, under queues that listen.

use std::io::Cursor;

use laxity::packet::Ecn;
use laxity_plan::model::{Hops, Recording};

use super::*;
use crate::record::Fate;
use crate::source::tests::testing::{pcap, udp};
use crate::source::{Feed, read_recording};

pub(super) const MS: u64 = 1_000_000;

const PLAN: &str = r#"
    scheduler.kind = "dualpi2"
    [class.calls]
    match = "udp dport 5001"
    [class.rest]
    match = "any"
"#;

pub(super) fn recording() -> Recording {
    Recording { file: "in".into(), path: Hops::default(), filter: None, sort: false }
}

/// The fates of packets that come to a link of 8 Mbit/s at twice its rate for 2 s. Their DS fields
/// cycle through `fields`.
fn fates(fields: &[u8], file: impl Fn(&[(u64, u8)]) -> Vec<u8>) -> Vec<Record> {
    let plan = plan(PLAN);
    let sent: Vec<(u64, u8)> =
        (0..4000).map(|number| (number * MS / 2, fields[number as usize % fields.len()])).collect();
    let arrivals = read_recording(Cursor::new(file(&sent)), &recording(), &plan, None).unwrap();
    let run = Run { plan: &plan, duration: None, seed: 1, feeds: vec![Feed::new(arrivals)] };
    let mut records = Records::default();
    run.simulate(&mut records, &mut crate::to_the_end).unwrap();
    records.0
}

fn captured(sent: &[(u64, u8)]) -> Vec<u8> {
    let frames: Vec<_> = sent
        .iter()
        .map(|(time, ds)| {
            let mut frame = udp(5000, 5001);
            frame[15] = *ds;
            (*time, frame)
        })
        .collect();
    let rows: Vec<(u64, u32, &[u8])> =
        frames.iter().map(|(time, frame)| (*time, 1000, &frame[..])).collect();
    pcap(1, &rows)
}

fn written(sent: &[(u64, u8)]) -> Vec<u8> {
    let rows = sent.iter().map(|(time, ds)| format!("{time},calls,1000,{}\n", ds & 3));
    format!("time_ns,class,length,ecn\n{}", rows.collect::<String>()).into_bytes()
}

/// How many were sent with a mark and without, and how many dropped.
fn counts(records: &[Record]) -> [usize; 3] {
    let is_sent = |record: &&Record| matches!(record.fate, Fate::Sent { .. });
    let sent = records.iter().filter(is_sent);
    let marked = sent.clone().filter(|sent| sent.packet.ecn == Ecn::Experienced).count();
    [marked, sent.count() - marked, records.len()]
}

/// The code points beside the two bits are no matter.
#[test]
fn datagrams_that_say_so_are_marked_and_others_never() {
    for file in [captured, written] {
        let [of_l4s, classic, capable] = [0b01, 0xb8, 0b10].map(|ds| fates(&[ds], file));
        let [marked, ..] = counts(&of_l4s);
        assert!(marked > 1000, "{:?}", counts(&of_l4s));
        assert!(of_l4s.iter().all(|one| one.packet.ecn != Ecn::NotCapable));
        assert_eq!(counts(&classic)[0], 0);
        // Classic packets that are capable are marked later and less.
        let [fewer, ..] = counts(&capable);
        assert!(0 < fewer && fewer < marked, "{fewer} of {marked}");
    }
}

/// L4S packets have a queue of their own and go first.
#[test]
fn datagrams_of_l4s_wait_in_a_queue_of_their_own() {
    let records = fates(&[0b01, 0, 0, 0], captured);
    let mean = |is_l4s: bool| {
        let delays: Vec<u64> = records
            .iter()
            .filter(|record| (record.packet.ecn != Ecn::NotCapable) == is_l4s)
            .filter_map(|record| match record.fate {
                Fate::Sent { departure, .. } => Some((departure - record.packet.arrival).0),
                _ => None,
            })
            .collect();
        delays.iter().sum::<u64>() / delays.len() as u64
    };
    assert!(mean(true) * 4 < mean(false), "{} {}", mean(true), mean(false));
}

/// What a CSV may not say.
#[test]
fn four_values_are_all_of_ecn() {
    let plan = plan(PLAN);
    let file = b"time_ns,class,length,ecn\n0,calls,1000,4\n";
    let error =
        read_recording(&file[..], &recording(), &plan, None).unwrap().next_arrival().unwrap_err();
    assert!(error.to_string().starts_with("in:2: `4` is not a value of ecn: write"), "{error}");
}
