//! Traffic policies of VyOS. What is read is a plan.
#![no_main]

use std::path::Path;

use laxity::units::Rate;
use laxity_api::exchange::vyos::{Options, import};
use laxity_plan::Plan;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let options = Options { link_rate: Some(Rate(10_000_000)), ..Options::default() };
    match import(text, &options) {
        Ok(imported) => {
            let plan = Plan::parse(&imported.text, "plan", Path::new(""));
            assert!(plan.is_ok(), "it was read before it was given out");
        }
        Err(error) => assert!(error.to_string().len() < 2000 + 2 * text.len(), "{error}"),
    }
});
