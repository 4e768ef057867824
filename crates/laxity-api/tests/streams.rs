//! Streams are admitted exactly if `check` admits the plan with them.

use std::path::Path;

use laxity::units::Nanos;
use laxity_api::exchange::cnc::{FailureCode, Requests, Status};
use laxity_api::{CheckResult, Plan, StreamsResult, admit_streams, check};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;
use serde_json::{Value, json};

const NETWORK: &str = "
[class.rest]
[network.one]
between = ['a', 'm']
[network.two]
between = ['m', 'n']
[network.three]
between = ['n', 'b']
[network.four]
between = ['n', 'c']
";

/// Disciplines that prove something of a class with an arrival curve and a latency.
const DISCIPLINES: [&str; 4] = [
    "kind = 'fifo'",
    "kind = 'drr'",
    "kind = 'wfq'",
    "kind = 'tdp', frame = '250us', frames = 32, guard = '124us'",
];

fn plan(discipline: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = '100mbit', max-packet = '1538b', overhead = 'ethernet' }}\n\
         scheduler = {{ {discipline} }}\n{NETWORK}"
    )
}

/// A stream from a node to others.
fn stream(number: usize, rank: u8, from: &str, to: &[&str], traffic: [u32; 4]) -> Value {
    let [interval_us, frames, size, latency] = traffic;
    let listener = |(index, node): (usize, &&str)| json!({ "index": index, "end-station-interfaces": [{ "mac-address": node }] });
    json!({
        "stream-id": format!("00-00-5E-00-53-{number:02X}:00-01"),
        "talker": {
            "stream-rank": { "rank": rank },
            "end-station-interfaces": [{ "mac-address": from }],
            "traffic-specification": {
                "interval": { "numerator": interval_us, "denominator": 1_000_000 },
                "max-frames-per-interval": frames, "max-frame-size": size,
            },
            "user-to-network-requirements": { "max-latency": latency },
        },
        "listener": to.iter().enumerate().map(listener).collect::<Vec<_>>(),
    })
}

fn admit(text: &str, streams: &[Value]) -> StreamsResult {
    let document = json!({ "ieee802-dot1q-cnc-config:cnc-config": { "domain": [
        { "domain-id": "d", "cuc": [{ "cuc-id": "c", "stream": streams }] }] } });
    let plan = Plan::parse(text, "plan", Path::new("")).unwrap();
    let requests = Requests::read(&document.to_string(), &plan).unwrap();
    admit_streams(&plan, text, Path::new(""), requests).unwrap()
}

fn bounds(text: &str) -> (Option<bool>, Vec<(String, Option<u64>)>) {
    let checked = check(&Plan::parse(text, "plan", Path::new("")).unwrap()).unwrap();
    let bounds = match &checked {
        CheckResult::Network(proof) => {
            proof.paths.iter().map(|it| (it.class.clone(), it.bound_ns)).collect()
        }
        CheckResult::Frames(proof) => {
            proof.classes.iter().map(|it| (it.class.clone(), it.bound_ns)).collect()
        }
        CheckResult::Link(_) => unreachable!("it is a network"),
    };
    (checked.admitted(), bounds)
}

#[test]
fn a_stream_is_admitted_exactly_if_the_plan_with_it_is() {
    for discipline in DISCIPLINES {
        let (mut ready, mut failed) = (0, 0);
        for seed in 0..4 {
            let mut draw = Pcg64::seed_from_u64(seed);
            let streams: Vec<Value> = (0..14)
                .map(|number| {
                    let from = ["a", "m"][draw.random_range(0..2)];
                    let to: &[&str] = [&["b"][..], &["c"], &["b", "c"]][draw.random_range(0..3)];
                    let interval = [1000, 2000, 4000][draw.random_range(0..3)];
                    let latency = [0, 3_000_000, 8_000_000][draw.random_range(0..3)];
                    let size = draw.random_range(100..1496);
                    let traffic = [interval, draw.random_range(1..4), size, latency];
                    stream(number, draw.random_range(0..2), from, to, traffic)
                })
                .collect();
            let text = plan(discipline);
            let result = admit(&text, &streams);
            // The same, one plan after the other.
            let base = Plan::parse(&text, "plan", Path::new("")).unwrap();
            let mut accepted = text;
            let mut order: Vec<_> = result.requests.streams.iter().zip(&result.statuses).collect();
            order.sort_by_key(|(stream, _)| stream.rank);
            for (stream, status) in order {
                for (number, status) in status.listeners.iter().enumerate() {
                    let asked = stream.listeners[number].latency;
                    let with = accepted.clone() + &stream.text(number, asked, &base);
                    let (admitted, bounds) = bounds(&with);
                    let class = stream.class(number);
                    let bound = bounds.iter().find(|(name, _)| *name == class).unwrap().1;
                    let fits = admitted == Some(true) && bound.is_some();
                    assert_eq!(status.is_ok(), fits, "{discipline}, {seed}, {class}: {bounds:?}");
                    if let Err(failure) = status {
                        let is_late =
                            asked.zip(bound).is_some_and(|(Nanos(asked), bound)| bound > asked);
                        let late = FailureCode::LatencyExceeded;
                        assert_eq!(*failure == late, is_late);
                        failed += 1;
                        continue;
                    }
                    ready += 1;
                    let promised = asked.or(bound.map(Nanos));
                    accepted += &stream.text(number, promised, &base);
                }
            }
            assert_eq!(result.text, accepted);
            let (admitted, bounds) = bounds(&accepted);
            assert_eq!(admitted, Some(true));
            for (stream, status) in result.requests.streams.iter().zip(&result.statuses) {
                for (number, status) in status.listeners.iter().enumerate() {
                    let class = stream.class(number);
                    let bound = bounds.iter().find(|(name, _)| *name == class);
                    let bound = bound.map(|(_, bound)| Nanos(bound.unwrap()));
                    assert_eq!(status.ok(), bound, "what is answered is what is proved");
                }
            }
        }
        assert!(ready > 10 && failed > 10, "{discipline}: {ready} ready, {failed} failed");
    }
}

#[test]
fn what_a_network_cannot_do_has_its_code() {
    let text = plan(DISCIPLINES[0]);
    let calm = [4000, 1, 200, 0];
    let mut trees = stream(0, 0, "a", &["b"], calm);
    trees["talker"]["user-to-network-requirements"]["num-seamless-trees"] = 2.into();
    let long = stream(1, 0, "a", &["b"], [4000, 1, 1501, 0]);
    let first = stream(2, 1, "a", &["b"], calm);
    let urgent = stream(3, 1, "a", &["b"], [4000, 1, 200, 1000]);
    let lonely = stream(4, 1, "a", &[], calm);
    let same = stream(2, 0, "m", &["c"], calm);
    let result = admit(&text, &[trees, long, first, urgent, lonely, same]);
    let codes: Vec<_> = result.statuses.iter().map(Status::failure).collect();
    use FailureCode::*;
    let expected = [
        Some(InsufficientResources),
        Some(FrameTooLarge),
        // The other one has the higher rank.
        Some(StreamIdInUse),
        Some(LatencyExceeded),
        None,
        None,
    ];
    assert_eq!(codes, expected);
    assert!(!result.is_ready());
}

/// Without a wish a stream is promised the latency that is found first: who comes later may not
/// raise it.
#[test]
fn the_first_latency_is_kept() {
    let text = plan(DISCIPLINES[0]);
    let first = stream(0, 0, "a", &["b"], [4000, 1, 200, 0]);
    let alone = admit(&text, std::slice::from_ref(&first));
    let other = stream(1, 0, "a", &["b"], [4000, 1, 1000, 0]);
    let both = admit(&text, &[first, other]);
    assert_eq!(both.statuses[0], alone.statuses[0]);
    assert_eq!(both.statuses[1].failure(), Some(FailureCode::InsufficientBandwidth));
}
