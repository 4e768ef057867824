//! Arrivals CSVs.
#![no_main]

libfuzzer_sys::fuzz_target!(|file: &[u8]| laxity_fuzz::read(file, None));
