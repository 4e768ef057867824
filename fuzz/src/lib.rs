//! What the fuzz targets share.

use std::path::Path;
use std::sync::LazyLock;

use laxity_plan::matching::Match;
use laxity_plan::model::Recording;
use laxity_plan::{Plan, PlanError};
use laxity_sim::source::read_recording;

/// Where the examples are, and one of them.
pub const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../examples");
pub const HOME_UPLINK: &str = include_str!("../../examples/home-uplink.toml");

/// The plan whose classes recorded packets belong to.
static PLAN: LazyLock<Plan> = LazyLock::new(|| {
    let text = r#"
        version = 1
        link = { rate = "10mbit", max-packet = "9000b" }
        scheduler = { kind = "edf" }

        [class.voice]
        deadline = "20ms"
        arrival = { bucket = "2140b", rate = "96kbit", packet = "214b" }
        match = "udp dport 4000-4010"

        [class.web]
        match = "tcp port { 80, 443 } and not ip6 daddr fd00::/8"

        [class.other]
        match = "any"
    "#;
    Plan::parse(text, "fuzz", Path::new("")).expect("the plan is sound")
});

/// Reads a recording to its end, holds its arrivals to what sources promise, and prints its error.
pub fn read(file: &[u8], filter: Option<&Match>) {
    let filter = filter.cloned();
    let recording = Recording { file: "in".into(), path: Default::default(), filter, sort: false };
    let failed = match read_recording(file, &recording, &PLAN, None) {
        Err(error) => Some(error),
        Ok(mut arrivals) => {
            let mut previous = 0;
            loop {
                match arrivals.next_arrival() {
                    Ok(Some(arrival)) => {
                        assert!(arrival.time.0 >= previous, "times do not decrease");
                        assert!((1..=9000).contains(&arrival.length), "lengths are in range");
                        assert!(arrival.class.index() < PLAN.classes.len(), "classes exist");
                        previous = arrival.time.0;
                    }
                    Ok(None) => break None,
                    Err(error) => break Some(error),
                }
            }
        }
    };
    if let Some(error) = failed {
        assert!(error.is_bad_input(), "{error}");
        assert!(error.to_string().len() < 2000, "{error}");
    }
}

/// Refuses a refusal that is not at a place in the text, or whose message has no bounded length.
pub fn read_error(error: &PlanError) {
    assert!(error.span().is_none_or(|span| error.text().get(span).is_some()), "{error}");
    assert!(error.to_string().len() < 2000, "{error}");
    let _ = (error.line_column(), error.help());
}
