//! The headers of frames and packets, whole or cut short.
#![no_main]

use laxity_plan::matching::Headers;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let frame = Headers::from_ethernet(bytes);
    assert!(frame.vlan.is_none_or(|vlan| vlan < 4096));
    for headers in [frame, Headers::from_ip(bytes)] {
        if let Some(ip) = headers.ip {
            assert!(ip.dscp < 64 && ip.source.is_ipv4() == ip.destination.is_ipv4());
        }
        assert!(headers.ports.is_none() || headers.ip.is_some());
    }
});
