//! A link that several threads serve.

use laxity::units::{Nanos, Rate};

use super::*;
use crate::model::ThreadsSpec;

fn read(link: &str, rest: &str) -> Result<Plan, PlanError> {
    parse(&format!(
        "version = 1\nscheduler.kind = 'hfsc'\n[link]\nrate = '1gbit'\n{link}\n[class.a]\ncurve = '1mbit'\n{rest}"
    ))
}

#[test]
fn a_thread_counts_on_its_share() {
    let link = read("threads = 3\nmax-packet = '1500b'", "").unwrap().link;
    let threads = ThreadsSpec { count: 3, rate: Rate(1_000_000_000) };
    assert_eq!((link.threads, link.rate), (Some(threads), Rate(333_333_333)));
    assert_eq!(link.whole_rate(), Rate(1_000_000_000));
    // A packet at a third of the rate, and two at the whole of it.
    assert_eq!(threads.patience(link.max_packet), Nanos(36_001 + 1));
    assert_eq!(link.stall, Nanos(36_002 + 24_001));
    let alone = read("threads = 1", "").unwrap().link;
    assert_eq!((alone.threads, alone.stall), (None, Nanos::ZERO));
}

#[test]
fn what_threads_cannot_keep_together_is_refused() {
    let refused = |link: &str, rest: &str| read(link, rest).unwrap_err().to_string();
    for (link, rest, says) in [
        ("threads = 0", "", "`threads` is zero"),
        ("threads = 65", "", "`threads` is 65"),
        (
            "threads = 2",
            "upper-limit = '2mbit'",
            "several `threads`, and `upper-limit` of class `a`",
        ),
        ("threads = 2\ndelay = '1ms'", "", "several `threads`, and a wire to be emulated"),
        (
            "threads = 2",
            "[network]\nab = { between = ['a', 'b'] }",
            "several `threads`, and a network",
        ),
    ] {
        let text = refused(link, rest);
        assert!(text.contains(says), "{text}");
    }
}
