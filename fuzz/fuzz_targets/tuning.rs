//! What is sought in a plan. What is read begins at values of its keys that make a plan.
#![no_main]

use std::path::PathBuf;

use laxity_api::Error;
use laxity_api::sweep::{Space, Study};
use laxity_api::tune::Tuning;
use laxity_fuzz::{HOME_UPLINK, read_error};

libfuzzer_sys::fuzz_target!(|text: &str| {
    let study = |seeds, duration| {
        let (plan, folder) = (PathBuf::from("plan.toml"), PathBuf::new());
        Study::new(plan, folder, HOME_UPLINK, Space::default(), seeds, duration)
    };
    match Tuning::from_text(text, study, Vec::new()) {
        Ok(tuning) => {
            let start = tuning.start();
            assert_eq!(start.len(), tuning.keys().count());
            let made = tuning.plan_at(&start);
            assert!(made.is_ok(), "it was checked with these values");
        }
        Err(Error::Plan(error)) => read_error(&error),
        Err(error) => assert!(error.to_string().len() < 2000 + 2 * text.len(), "{error}"),
    }
});
