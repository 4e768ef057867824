//! Hosts that answer before their time.

use super::*;

/// Events and hops of a connection without delayed acknowledgements along a path, with and without
/// an observer that listens.
fn events(links: &str, path: &str) -> [(u64, u64); 2] {
    let plan = plan(&format!(
        r#"
        link = {{ rate = "10mbit", delay = "1ms", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        class.a = {{}}
        {links}
        source = [{{
            class = "a", model = "tcp", count = 3, packet = "1000b", window = 20, delayed-acks = false, jitter = "0s",
            path = [{path}]
        }}]
        "#
    ));
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(Nanos(2_000 * MS)), 1);
    let told = run.profile(&mut Diary::default(), &mut crate::to_the_end).unwrap().1;
    let silent = run.profile(&mut (), &mut crate::to_the_end).unwrap().1;
    [told, silent].map(|profile| (profile.events, profile.hops))
}

/// Of the six hops that a segment and its acknowledgement take, two need an event each: those over
/// the link that all share. Timers are looked at now and then.
#[test]
fn a_round_trip_takes_two_events() {
    let links = r#"
        network.access = { between = ["s", "r"], private = true }
        network.neck = { between = ["r", "t"] }
        network.exit = { between = ["t", "d"], private = true }
    "#;
    let [told, silent] = events(links, r#""s", "r", "t", "d""#);
    assert_eq!(told.1, silent.1);
    assert!(told.0 >= told.1, "{told:?}");
    assert!((silent.1 / 3..silent.1 / 3 + silent.1 / 50).contains(&silent.0), "{silent:?}");
}

/// Where nothing is between two hosts, one of them answers before its time, and the other one in
/// it.
#[test]
fn hosts_that_nothing_is_between_take_turns() {
    let links = r#"network.only = { between = ["s", "d"], private = true }"#;
    let [told, silent] = events(links, r#""s", "d""#);
    assert_eq!(told.1, silent.1);
    assert!((silent.1 / 2..silent.1 / 2 + silent.1 / 50).contains(&silent.0), "{silent:?}");
}
