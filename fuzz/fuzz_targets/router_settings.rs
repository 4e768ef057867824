//! Settings of routers: UCI files and command lines of cake. Rules that are read are matches.
#![no_main]

use laxity_api::household::{Tool, read_router};
use laxity_plan::matching::Match;

libfuzzer_sys::fuzz_target!(|text: &str| {
    for tool in Tool::ALL {
        match read_router(tool, text, "settings") {
            Ok(router) => {
                for rule in &router.rules {
                    assert!(rule.matching.parse::<Match>().is_ok(), "{}", rule.matching);
                }
            }
            Err(error) => assert!(error.to_string().len() < 2000 + 2 * text.len(), "{error}"),
        }
    }
});
