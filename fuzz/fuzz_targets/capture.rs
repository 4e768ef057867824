//! Captures, pcap and pcapng: all of their frames, and those that a filter leaves.
#![no_main]

use std::sync::LazyLock;

use laxity_plan::matching::Match;

static FILTER: LazyLock<Match> =
    LazyLock::new(|| "udp and not vlan 7".parse().expect("the filter is sound"));

libfuzzer_sys::fuzz_target!(|file: &[u8]| {
    laxity_fuzz::read(file, None);
    laxity_fuzz::read(file, Some(&FILTER));
});
