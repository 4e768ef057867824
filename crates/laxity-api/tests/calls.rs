//! Calls come and go at the edge of what a link carries, with bursts at every begin and end beside
//! a flood: no packet is later than promised.

use std::fmt::Write as _;
use std::path::Path;

use laxity_api::{Plan, Traffic, run_calls, to_the_end};
use proptest::prelude::*;

/// A link's disciplines, and what a class of a call has beside its contract.
const DISCIPLINES: [(&str, &str); 13] = [
    ("kind = 'edf'", ""),
    ("kind = 'edf', best-effort-order = 'fifo'", ""),
    ("kind = 'edf', best-effort = 'two-line'", ""),
    ("kind = 'edf', best-effort = 'total-bandwidth', best-effort-order = 'fifo'", ""),
    ("kind = 'edf', best-effort = 'background'", ""),
    ("kind = 'priority'", "level = LEVEL\n"),
    ("kind = 'wf2q'", "weight = WEIGHT\n"),
    ("kind = 'wfq'", "weight = WEIGHT\n"),
    ("kind = 'qfq'", "weight = WEIGHT\n"),
    ("kind = 'drr'", "weight = WEIGHT\n"),
    ("kind = 'hfsc'", ""),
    ("kind = 'cake', diffserv = 'diffserv4', rtt = '1000s'", "dscp = 'ef'\n"),
    (
        "kind = 'cake', diffserv = 'diffserv4', rtt = '1000s', isolation = 'flowblind'",
        "dscp = 'ef'\n",
    ),
];

/// Calls of one kind.
#[derive(Clone, Debug)]
struct Calls {
    deadline_us: u64,
    packet: u64,
    burst: u64,
    rate_kbit: u64,
    every_ms: u64,
    holding_ms: u64,
    weight: u32,
}

fn calls() -> impl Strategy<Value = Calls> {
    (3_000..60_000u64, 100..1_000u64, 1..8u64, 50..2_000u64, 4..60u64, 20..600u64, 1..9u32)
        .prop_map(|(deadline_us, packet, packets, rate_kbit, every_ms, holding_ms, weight)| Calls {
            deadline_us,
            packet,
            burst: packets * packet,
            rate_kbit,
            every_ms,
            holding_ms,
            weight,
        })
}

fn plan(discipline: usize, [flood, window]: [u64; 2], requests: &[Calls]) -> String {
    let (scheduler, keys) = DISCIPLINES[discipline];
    let mut text = format!(
        "version = 1\nlink = {{ rate = '8mbit', max-packet = '1000b' }}\nscheduler = {{ {scheduler} }}\n"
    );
    for (number, calls) in requests.iter().enumerate() {
        let Calls { deadline_us, packet, burst, rate_kbit, every_ms, holding_ms, weight } = calls;
        let keys = keys.replace("LEVEL", &number.to_string());
        let keys = keys.replace("WEIGHT", &weight.to_string());
        let _ = write!(
            text,
            "[class.c{number}]\n{keys}deadline = '{deadline_us}us'\n\
             arrival = {{ bucket = '{burst}b', rate = '{rate_kbit}kbit', packet = '{packet}b' }}\n\
             [[request]]\nclass = 'c{number}'\nevery = {{ exponential = '{every_ms}ms' }}\n\
             holding = {{ exponential = '{holding_ms}ms' }}\n\
             [[source]]\nclass = 'c{number}'\nmodel = 'greedy'\npacket = '{packet}b'\n\
             burst = {{ exponential = '40ms' }}\nspacing = {{ exponential = '10ms' }}\n"
        );
    }
    let bulk = if scheduler.contains("cake") { "dscp = 'cs1'\n" } else { "" };
    text + &format!(
        "[class.rest]\n{bulk}[[source]]\nclass = 'rest'\nmodel = 'backlogged'\nwindow = {window}\n\
         packet = '{flood}b'\n"
    )
}

fn run(text: &str, seed: u32) -> Result<laxity_api::CallsSummary, laxity_api::Error> {
    let plan = Plan::parse(text, "plan.toml", Path::new("")).unwrap();
    let traffic = Traffic {
        duration: Some(laxity::units::Nanos(3_000_000_000)),
        seed: Some(seed.into()),
        ..Traffic::default()
    };
    run_calls(&plan, &traffic, &mut to_the_end)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]
    #[test]
    fn no_packet_is_later_than_promised(
        discipline in 0..DISCIPLINES.len(),
        flood in (60..=1000u64, 1..50u64),
        requests in prop::collection::vec(calls(), 1..4),
        seed in any::<u32>(),
    ) {
        let text = plan(discipline, flood.into(), &requests);
        match run(&text, seed) {
            Ok(of) => prop_assert!(of.kept, "{text}\n{:#?}", of.requests),
            // Some plans are refused even without a call.
            Err(error) => prop_assert!(error.to_string().contains("even without"), "{error}"),
        }
    }
}

/// Calls come and go under every discipline. Where promised packets go before all others, none is
/// excused.
#[test]
fn calls_are_granted_under_every_discipline() {
    let calls = Calls {
        deadline_us: 30_000,
        packet: 200,
        burst: 400,
        rate_kbit: 200,
        every_ms: 20,
        holding_ms: 200,
        weight: 1,
    };
    for (number, (scheduler, _)) in DISCIPLINES.iter().enumerate() {
        let of = run(&plan(number, [1000, 3], std::slice::from_ref(&calls)), 1).unwrap();
        let [request] = &of.requests[..] else { panic!("one request") };
        assert!(of.kept && request.granted > 0 && request.sent.packets > 30, "{scheduler}");
        let has_no_excuse = scheduler.contains("edf") || scheduler.contains("priority");
        assert!(!has_no_excuse || request.sent.excused == 0, "{scheduler}: {request:#?}");
    }
}
