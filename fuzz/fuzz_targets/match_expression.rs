//! Match expressions. What is accepted prints as text that reads back equal.
#![no_main]

use laxity_plan::matching::{Headers, Match};

libfuzzer_sys::fuzz_target!(|text: &str| {
    match text.parse::<Match>() {
        Ok(expression) => {
            let printed = expression.to_string();
            assert_eq!(printed.parse::<Match>(), Ok(expression.clone()), "{printed}");
            expression.matches(&Headers::default());
        }
        Err(error) => {
            assert!(text.get(error.span.clone()).is_some(), "{error}");
            assert!(error.to_string().len() < 2000, "{error}");
        }
    }
});
