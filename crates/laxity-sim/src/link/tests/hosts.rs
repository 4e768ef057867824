//! Fairness by host, alone, inside a share and beside deadlines.

use super::*;

/// A laptop with sixteen flows and a phone with one; parts of the scheduler and the classes differ.
fn shares(head: &str, call: &str, isolation: &str) -> (Vec<u64>, Outcome) {
    let plan = plan(&format!(
        r#"{head}
        {call}
        [class.laptop]
        {isolation}
        [class.phone]
        {isolation}
        [[source]]
        class = "laptop"
        model = "backlogged"
        packet = "1500b"
        count = 16
        hosts = ["laptop", "cloud"]
        [[source]]
        class = "phone"
        model = "backlogged"
        packet = "1500b"
        hosts = ["phone", "photos"]
        "#
    ));
    let (outcome, _) = run(&plan, 1, 20);
    let classes = &outcome.summary.hops[0].classes;
    let sent = |name: &str| classes.iter().find(|class| class.name == name).unwrap().bytes_sent;
    let sent = ["laptop", "phone"].map(sent).to_vec();
    (sent, outcome)
}

fn is_fair(sent: &[u64]) -> bool {
    let [laptop, phone] = [sent[0] as f64, sent[1] as f64];
    (laptop / phone - 1.0).abs() < 0.02
}

#[test]
fn hosts_share_a_link() {
    let (sent, _) = shares("scheduler.kind = \"cake\"", "", "");
    assert!(is_fair(&sent), "{sent:?}");
    let (sent, _) = shares("scheduler = { kind = \"cake\", isolation = \"flows\" }", "", "");
    assert!((sent[0] as f64 / sent[1] as f64 - 16.0).abs() < 1.0, "{sent:?}");
}

#[test]
fn hosts_share_what_deadlines_leave() {
    let call = r#"
        [class.call]
        deadline = "10ms"
        arrival = { bucket = "400b", rate = "1mbit", packet = "200b" }
        [[source]]
        class = "call"
        model = "greedy"
        packet = "200b"
        burst = "1s"
        spacing = "1ms"
    "#;
    let edf = "scheduler = { kind = \"edf\", best-effort-order = \"cake\" }";
    let (sent, outcome) = shares(edf, call, "");
    assert!(is_fair(&sent), "{sent:?}");
    let calls = &outcome.summary.hops[0].classes[0];
    assert!(calls.sent > 1_000 && calls.deadline_misses == 0, "{calls:?}");
}

#[test]
fn hosts_share_a_share() {
    let share = r#"
        [class.rest]
        scheduler = { kind = "cake" }
        [class.call]
        [[source]]
        class = "call"
        model = "backlogged"
        packet = "500b"
    "#;
    let (sent, _) = shares("scheduler.kind = \"wf2q\"", share, "parent = \"rest\"");
    assert!(is_fair(&sent), "{sent:?}");
}

/// The figures of the guide: hosts that send more than there is get equal parts, but for what
/// COBALT drops at random times.
#[test]
fn the_example_is_as_its_guide_says() {
    let text = include_str!("../../../../../examples/home-hosts.toml");
    let plan = Plan::parse(text, "home-hosts.toml", Path::new(".")).unwrap();
    let (outcome, _) = run(&plan, 1, 20);
    let classes = &outcome.summary.hops[0].classes;
    let kbit = |class: usize| classes[class].bytes_sent * 8 / 20_000;
    assert_eq!([kbit(1), kbit(2)], [2_549, 2_381]);
    assert_eq!(classes[0].delay_ns.as_ref().map(|delay| delay.max), Some(8_480_000));
    assert_eq!(classes[0].deadline_misses, 0);
}
