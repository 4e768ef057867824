//! Sources that follow what the network does, and recordings.

use super::*;

/// Two links, the second one slower, with keys of the first and sources.
fn two_links(first: &str, sources: &str) -> Plan {
    plan(&format!(
        r#"
        link = {{ rate = "8mbit", delay = "1ms", max-packet = "1000b" }}
        scheduler.kind = "fifo"
        class.a = {{}}
        class.b = {{}}
        network.first = {{ between = ["x", "y"]{first} }}
        network.second = {{ between = ["y", "z"], rate = "4mbit" }}
        {sources}
        "#
    ))
}

/// The times at which packets begin on a link, of a class.
fn starts(diary: &Diary, link: u32, of: u32) -> Vec<u64> {
    let start = |(hop, class, .., fate): &(Hop, ClassId, FlowId, u32, Fate)| match fate {
        Fate::Sent { start, .. } if hop.link.0 == link && *class == ClassId(of) => Some(start.0),
        _ => None,
    };
    diary.hops.iter().filter_map(start).collect()
}

const BACKLOGGED: &str = r#"
    [[source]]
    class = "a"
    model = "backlogged"
    packet = "1000b"
    window = 3
    stop = "50ms"
    path = ["x", "y", "z"]
"#;

/// It keeps the first link busy until it stops, however far behind the second is, and then its
/// window is still sent.
#[test]
fn a_backlogged_source_waits_for_its_first_output_alone() {
    let (_, diary) = run(&two_links("", BACKLOGGED), Nanos(1_000 * MS), 1);
    let first = starts(&diary, 0, 0);
    assert_eq!(first, (0..53).map(|number| number * MS).collect::<Vec<_>>());
    // 1 ms on the first link and 1 ms to the second, which takes 2 ms a packet.
    let second = starts(&diary, 1, 0);
    assert_eq!(second, (0..53).map(|number| (2 + 2 * number) * MS).collect::<Vec<_>>());
}

/// Where every flow has a link to itself, every copy is served as if there were no others.
#[test]
fn copies_with_private_links_wait_for_their_own() {
    let source = BACKLOGGED.replace("window", "count = 2\n    window");
    let (_, diary) = run(&two_links(", private = true", &source), Nanos(1_000 * MS), 1);
    let mut both: Vec<_> = (0..53).flat_map(|number| [number * MS; 2]).collect();
    let mut first = starts(&diary, 0, 0);
    first.sort_unstable();
    both.sort_unstable();
    assert_eq!(first, both);
}

/// Where frames leave room, a backlogged source sends as one does that sends too much, with no more
/// of it queued than its window.
#[test]
fn a_backlogged_source_fills_what_frames_leave() {
    let with = |bulk: &str| {
        plan(&format!(
            r#"
            link = {{ rate = "8mbit", max-packet = "1000b" }}
            scheduler = {{ kind = "tdp", frame = "2ms", frames = 10 }}
            class.calls = {{ gap = "4ms", end-to-end = "50ms", arrival = {{ bucket = "1000b", rate = "250kB/s", packet = "1000b" }} }}
            class.bulk = {{}}
            network = {{ one.between = ["x", "y"], two.between = ["y", "z"] }}
            [[source]]
            class = "calls"
            model = "constant"
            rate = "250kB/s"
            packet = "1000b"
            path = ["x", "y", "z"]
            [[source]]
            class = "bulk"
            {bulk}
            packet = "500b"
            path = ["x", "y", "z"]
            "#
        ))
    };
    let backlogged = with("model = \"backlogged\"\nwindow = 3");
    let too_much = with("model = \"constant\"\nrate = \"20mbit\"");
    let [(backlogged, ours), (_, theirs)] =
        [backlogged, too_much].map(|plan| run(&plan, Nanos(1_000 * MS), 1));
    assert_eq!(starts(&ours, 0, 0), starts(&theirs, 0, 0));
    assert_eq!(starts(&ours, 0, 1), starts(&theirs, 0, 1));
    assert!(starts(&ours, 0, 1).len() > 1_000);
    let bulk = &backlogged.hops[0].classes[1];
    assert_eq!((bulk.name.as_str(), bulk.queued), ("bulk", 3));
}

/// A recording's packets come as they were recorded, over its path; the run ends with the last of
/// them.
#[test]
fn a_recording_takes_its_path_and_ends_the_run() {
    let file = std::env::temp_dir().join(format!("laxity-two-links-{}.csv", std::process::id()));
    let recorded =
        "time_ns,class,flow,length\n1000000,a,7,1000\n1000000,b,1,500\n9000000,a,8,1000\n";
    std::fs::write(&file, recorded).unwrap();
    let source = format!(
        "[[source]]\nmodel = \"csv\"\nfile = '{}'\npath = [\"x\", \"y\", \"z\"]",
        file.display()
    );
    let plan = two_links("", &source);
    let until = |duration| {
        let mut diary = Diary::default();
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, duration, 1);
        let summary = run.simulate(&mut diary, &mut crate::to_the_end).unwrap().summary;
        (summary, diary.delivered)
    };
    // 1 ms and 2 ms on the links, twice 1 ms in between: the second waits for the first on both.
    let times = [(0, 7, 1000, 6_000_000), (1, 1, 500, 7_000_000), (0, 8, 1000, 14_000_000)];
    let expected =
        times.map(|(class, flow, bytes, at)| (ClassId(class), FlowId(flow), bytes, Nanos(at)));
    for duration in [None, Some(Nanos(100 * MS))] {
        let (summary, delivered) = until(duration);
        assert_eq!((summary.duration_ns, &delivered[..]), (14 * MS, &expected[..]));
    }
    let (summary, delivered) = until(Some(Nanos(8 * MS)));
    assert_eq!((summary.duration_ns, &delivered[..]), (8 * MS, &expected[..2]));
    let flows: Vec<_> =
        summary.ends().flows.iter().map(|flow| (flow.class.as_str(), flow.sent)).collect();
    assert_eq!(flows, [("a", 1), ("b", 1)]);
    std::fs::remove_file(file).unwrap();
}
