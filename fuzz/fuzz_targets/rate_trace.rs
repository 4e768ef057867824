//! Rates over time: traces of Mahimahi and CSV. A link sends at any rates that are read.
#![no_main]

use std::sync::Arc;

use laxity::link::Link;
use laxity::units::{Nanos, Rate};
use laxity_plan::rate_trace;

libfuzzer_sys::fuzz_target!(|text: &str| match rate_trace::parse(text) {
    Ok(trace) => {
        let rate = trace.peak();
        assert!(rate > Rate(0));
        trace.latency(rate);
        let mut link = Link::varying(Arc::new(trace), rate);
        let mut now = Nanos::ZERO;
        for length in [40, 1500, 1_000_000] {
            let departure = link.transmit(now, length);
            assert!(departure >= now);
            now = departure;
        }
    }
    Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
});
