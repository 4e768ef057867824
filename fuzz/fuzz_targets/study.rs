//! Studies of a plan beside them. Every combination of a study is a plan or an error.
#![no_main]

use laxity_api::Error;
use laxity_api::sweep::Study;
use laxity_fuzz::{EXAMPLES, read_error};

libfuzzer_sys::fuzz_target!(|text: &str| {
    // Another `plan` is refused, so that no other file is read.
    let text = format!("plan = \"home-uplink.toml\"\n{text}");
    let study = match Study::parse(&text, "in", EXAMPLES.as_ref()) {
        Ok(study) => study,
        Err(Error::Plan(error)) => return read_error(&error),
        Err(error) => return assert!(error.to_string().len() < 2000, "{error}"),
    };
    for point in study.space.points().take(3) {
        if let Err(error) = study.plan_at(&point) {
            assert!(error.to_string().len() < 2000 + 2 * text.len(), "{error}");
        }
    }
});
