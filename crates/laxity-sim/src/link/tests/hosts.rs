//! Fairness by host, alone, inside a share and beside deadlines.

use std::io::Cursor;

use laxity::packet::FlowId;

use super::ecn::{MS, recording};
use super::*;
use crate::source::tests::testing::{pcap, udp};
use crate::source::{Feed, read_recording};

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

/// A capture in which one host sends sixteen flows and another one, each at the rate of the link
/// together, for two seconds.
fn captured() -> Vec<u8> {
    let frame = |host: u8, port: u16| {
        let mut frame = udp(port, 9);
        frame[29] = host;
        frame
    };
    let frames: Vec<_> = (0..2_000)
        .flat_map(|number| [(1, 5_000 + number as u16 % 16), (2, 5_000)].map(|of| (number, of)))
        .map(|(number, (host, port))| (number * MS, frame(host, port)))
        .collect();
    let rows: Vec<(u64, u32, &[u8])> =
        frames.iter().map(|(time, frame)| (*time, 1_000, &frame[..])).collect();
    pcap(1, &rows)
}

#[test]
fn hosts_of_a_capture_share_a_link() {
    let file = captured();
    let share = |isolation: &str| {
        let plan = plan(&format!(
            "scheduler = {{ kind = \"cake\", isolation = \"{isolation}\", rtt = \"100s\" }}\n\
             [class.all]\nmatch = \"any\"\n"
        ));
        let arrivals =
            read_recording(Cursor::new(file.clone()), &recording(), &plan, None).unwrap();
        let run = Run { plan: &plan, duration: None, seed: 1, feeds: vec![Feed::new(arrivals)] };
        let mut records = Records::default();
        run.simulate(&mut records, &mut crate::to_the_end).unwrap();
        let first = &records.0[..1_000];
        // The second of its flows to come into sight is the only one of the second host.
        let own = first.iter().filter(|record| record.packet.flow == FlowId(1)).count();
        own as f64 / first.len() as f64
    };
    let (by_host, by_flow) = (share("dual-srchost"), share("flows"));
    assert!((by_host - 0.5).abs() < 0.03, "{by_host}");
    assert!((by_flow - 1.0 / 17.0).abs() < 0.03, "{by_flow}");
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
