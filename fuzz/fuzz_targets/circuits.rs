//! A provider's network and circuits, of LibreQoS: the text has both, with a line of `---` between
//! them. What is read makes plans, and guarantees nobody more than the minimum.
#![no_main]

use laxity_api::exchange::libreqos::{LinkRates, import};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let (network, devices) = text.split_once("\n---\n").unwrap_or((text, ""));
    match import(network, devices, LinkRates::default()) {
        Ok(imported) => {
            for circuit in &imported.circuits {
                for grant in [circuit.down, circuit.up] {
                    assert!(grant.guaranteed_bps <= grant.minimum_bps.min(grant.maximum_bps));
                }
            }
        }
        Err((_, errors)) => {
            assert!(!errors.is_empty());
            for error in errors {
                assert!(error.to_string().len() < 2000, "{error}");
            }
        }
    }
});
