//! Plans. What is refused is refused at a place in the text, in a message of bounded length.
#![no_main]

use std::path::Path;

use laxity_fuzz::read_error;
use laxity_plan::Plan;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(error) = Plan::parse(text, "in", Path::new("")) {
        read_error(&error);
    }
});
