//! Scripts for tc. What is imported is a plan that reads back; what is refused is refused at a
//! place in the script, in a message of bounded length.
#![no_main]

use std::path::Path;

use laxity_plan::Plan;
use laxity_tc::{Options, import};

libfuzzer_sys::fuzz_target!(|text: &str| {
    for link_rate in [None, "10mbit".parse().ok()] {
        let options = Options { link_rate, ..Options::default() };
        match import(text, "in", &options) {
            Ok(import) => {
                assert!(Plan::parse(&import.plan, "out", Path::new("")).is_ok());
                let lines = text.lines().count();
                assert!(import.notes.iter().all(|note| note.line <= lines), "{:?}", import.notes);
                assert!(import.notes.iter().all(|note| note.text.len() < 2000));
            }
            Err(error) => {
                assert!(!error.message().starts_with("no plan came"), "{error}");
                assert!(
                    error.span().is_none_or(|span| error.text().get(span).is_some()),
                    "{error}"
                );
                assert!(error.to_string().len() < 2000, "{error}");
            }
        }
    }
});
