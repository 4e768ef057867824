//! Plans. What is refused is refused at a place in the text, in a message of bounded length.
#![no_main]

use std::path::Path;

use laxity_plan::Plan;

libfuzzer_sys::fuzz_target!(|text: &str| {
    if let Err(error) = Plan::parse(text, "in", Path::new("")) {
        assert!(error.span().is_none_or(|span| error.text().get(span).is_some()), "{error}");
        assert!(error.to_string().len() < 2000, "{error}");
        let _ = (error.line_column(), error.help());
    }
});
