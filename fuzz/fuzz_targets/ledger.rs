//! Ledgers of live links, read and repeated.
#![no_main]

use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    match laxity_api::repeat(Cursor::new(bytes)) {
        Ok(repeated) => {
            let gone = repeated.sent + repeated.dropped;
            assert!(gone <= repeated.arrived && repeated.arrived <= bytes.len() as u64);
        }
        Err(error) => assert!(error.to_string().len() < 10_000, "{error}"),
    }
});
