//! Fairness between the hosts of captures, on links inside a network.

use std::num::NonZeroU32;
use std::path::Path;

use laxity::packet::FlowId;
use laxity::scheduler::DropReason;

use super::*;
use crate::network::layout::partition::partitions_of;
use crate::network::parallel::pace::Pace;
use crate::source::tests::testing::{pcap, udp};

/// A capture in which hosts send these numbers of flows, each host 1000 packets of 1000 bytes in a
/// second.
fn captured(hosts: &[(u8, u16)]) -> Vec<u8> {
    let frame = |host: u8, port: u16| {
        let mut frame = udp(port, 9);
        (frame[29], frame[33]) = (host, 100 + host);
        frame
    };
    let frames: Vec<_> = (0..1_000u64)
        .flat_map(|number| hosts.iter().map(move |(host, flows)| (number, *host, *flows)))
        .map(|(number, host, flows)| (number * MS, frame(host, 5_000 + number as u16 % flows)))
        .collect();
    let rows: Vec<(u64, u32, &[u8])> =
        frames.iter().map(|(time, frame)| (*time, 1_000, &frame[..])).collect();
    pcap(1, &rows)
}

/// Writes captures in a folder of their own.
fn written(captures: &[Vec<u8>]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (number, capture) in captures.iter().enumerate() {
        std::fs::write(folder.path().join(format!("{number}.pcap")), capture).unwrap();
    }
    folder
}

/// Two links, the second one narrow and of this scheduler, and sources.
fn narrow(scheduler: &str, classes: &str, sources: &str) -> String {
    format!(
        r#"
        version = 1
        link = {{ rate = "100mbit", delay = "1ms", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        network.first = {{ between = ["x", "y"] }}
        network.other = {{ between = ["w", "y"] }}
        network.second = {{ between = ["y", "z"], rate = "8mbit", scheduler = {scheduler} }}
        {classes}
        {sources}
        "#
    )
}

const ALL: &str = "class.all = { match = \"any\" }";

fn source(number: u32, from: &str) -> String {
    format!(
        "[[source]]\nmodel = \"capture\"\nfile = \"{number}.pcap\"\npath = [\"{from}\", \"y\", \"z\"]\n"
    )
}

/// The part of these flows in what the narrow link sent while all were backlogged, on one thread
/// and on two.
fn part(text: &str, folder: &Path, of: impl Fn(FlowId) -> bool) -> f64 {
    let plan = Plan::parse_for(text, "plan.toml", folder, Kind::ALL).unwrap();
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(Nanos(900 * MS)), 1);
    let mut diary = Diary::default();
    run.simulate(&mut diary, &mut crate::to_the_end).unwrap();
    let partitions = partitions_of(&on, NonZeroU32::new(2).unwrap());
    assert!(partitions.iter().any(|partition| partition.parts == 2));
    for partition in partitions {
        let mut parallel = Diary::default();
        run.simulate_in_parts(&partition, Pace::with_help(), &mut parallel, &mut crate::to_the_end)
            .unwrap();
        assert!(diary == parallel);
    }
    let sent: Vec<FlowId> = diary
        .hops
        .iter()
        .filter(|(hop, .., fate)| hop.link.0 == 2 && matches!(fate, Fate::Sent { .. }))
        .map(|(_, _, flow, ..)| *flow)
        .collect();
    assert!(sent.len() > 800, "{}", sent.len());
    sent.iter().filter(|flow| of(**flow)).count() as f64 / sent.len() as f64
}

/// The second flow to come into sight is the only one of the second host.
#[test]
fn hosts_of_a_capture_share_a_link_behind_another() {
    let folder = written(&[captured(&[(1, 8), (2, 1)])]);
    let share = |isolation: &str| {
        let cake = format!("{{ kind = \"cake\", isolation = \"{isolation}\", rtt = \"100s\" }}");
        part(&narrow(&cake, ALL, &source(0, "x")), folder.path(), |flow| flow == FlowId(1))
    };
    let (by_host, by_flow) = (share("dual-srchost"), share("flows"));
    assert!((by_host - 0.5).abs() < 0.01, "{by_host}");
    assert!((by_flow - 1.0 / 9.0).abs() < 0.01, "{by_flow}");
}

#[test]
fn hosts_share_a_share_and_what_frames_leave() {
    let folder = written(&[captured(&[(1, 8), (2, 1)])]);
    let classes = r#"
        [class.rest]
        scheduler = { kind = "cake", isolation = "dual-srchost", rtt = "100s" }
        [class.all]
        parent = "rest"
        match = "any"
        [class.others]
    "#;
    let text = narrow("{ kind = \"wf2q\" }", classes, &source(0, "x"));
    let text = text.replace("scheduler.kind = \"fifo\"", "scheduler.kind = \"wf2q\"");
    let in_a_share = part(&text, folder.path(), |flow| flow == FlowId(1));
    assert!((in_a_share - 0.5).abs() < 0.01, "{in_a_share}");
    let text = narrow("{ kind = \"edf\", best-effort-order = \"cake\" }", ALL, &source(0, "x"));
    let beside_deadlines = part(&text, folder.path(), |flow| flow == FlowId(1));
    assert!((beside_deadlines - 0.5).abs() < 0.01, "{beside_deadlines}");
}

/// A host that two captures have is one host, and their flows are different ones.
#[test]
fn captures_agree_on_hosts() {
    let folder = written(&[captured(&[(1, 8)]), captured(&[(1, 4), (2, 1)])]);
    let cake = "{ kind = \"cake\", isolation = \"dual-srchost\", rtt = \"100s\" }";
    let sources = [source(0, "x"), source(1, "w")].concat();
    let own = FlowId(65_538);
    let of_two = part(&narrow(cake, ALL, &sources), folder.path(), |flow| flow == own);
    assert!((of_two - 0.5).abs() < 0.01, "{of_two}");
}

/// Acknowledgements that a capture has are filtered where they wait.
#[test]
fn acknowledgements_of_a_capture_are_filtered() {
    let segments: Vec<_> = (0..40u32)
        .map(|number| {
            let mut frame = udp(80, 5_000);
            frame.resize(54, 0);
            frame[16..18].copy_from_slice(&40u16.to_be_bytes());
            frame[23] = 6;
            frame[38..42].fill(0);
            frame[42..46].copy_from_slice(&(1_000 * number).to_be_bytes());
            frame[46..50].copy_from_slice(&[5 << 4, 0x10, 4, 0]);
            frame
        })
        .collect();
    let rows: Vec<(u64, u32, &[u8])> = segments.iter().map(|frame| (0, 54, &frame[..])).collect();
    let folder = written(&[pcap(1, &rows)]);
    let dropped = |filter: &str| {
        let cake = format!("{{ kind = \"cake\", ack-filter = \"{filter}\", rtt = \"100s\" }}");
        let text = narrow(&cake, ALL, &source(0, "x"));
        let text = text.replace("8mbit", "100kbit");
        let plan = Plan::parse_for(&text, "plan.toml", folder.path(), Kind::ALL).unwrap();
        let (_, diary) = run(&plan, Nanos(1_000 * MS), 1);
        let is_dropped = |fate: Fate| fate == Fate::Dropped(DropReason::AckFilter);
        diary.hops.iter().filter(|(.., fate)| is_dropped(*fate)).count()
    };
    assert_eq!(dropped("off"), 0);
    assert!(dropped("on") > 30, "{}", dropped("on"));
}
