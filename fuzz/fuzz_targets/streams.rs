//! Streams by IEEE 802.1Qcc. What is read is a plan's classes and sources, and can be answered.
#![no_main]

use std::path::Path;
use std::sync::LazyLock;

use laxity_api::Plan;
use laxity_api::exchange::cnc::{FailureCode, Requests, Status};

const PLAN: &str = "version = 1
link = { rate = '100mbit', max-packet = '9kB' }
scheduler.kind = 'fifo'
[class.rest]
[network.one]
between = ['s1', 's2']
[network.two]
between = ['s2', 's3']
";

static NETWORK: LazyLock<Plan> =
    LazyLock::new(|| Plan::parse(PLAN, "plan", Path::new("")).expect("a plan"));

libfuzzer_sys::fuzz_target!(|text: &str| match Requests::read(text, &NETWORK) {
    Ok(requests) => {
        let statuses: Vec<Status> = requests
            .streams
            .iter()
            .map(|stream| {
                let failed = Err(FailureCode::InsufficientBandwidth);
                Status { listeners: vec![failed; stream.listeners.len()] }
            })
            .collect();
        let answer = requests.answer(&statuses).to_string();
        let again = Requests::read(&answer, &NETWORK).expect("it was answered");
        assert_eq!(again.streams, requests.streams);
    }
    Err(error) => assert!(error.to_string().len() < 4000, "{error}"),
});
