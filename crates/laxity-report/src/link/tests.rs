use super::*;

fn class(name: &str, bound_ns: Option<u64>) -> ClassReport {
    ClassReport {
        name: name.into(),
        arrived: 1_000,
        sent: 990,
        unsent: [("queue-full".to_string(), 10)].into(),
        throughput_bps: 1e6,
        delay: Some(Delays {
            min: 1_000_000,
            mean: 2e6,
            p50: 2_000_000,
            p99: 3_000_000,
            p99_9: 3_500_000,
            max: 4_000_000,
        }),
        deadline_ns: None,
        bound_ns,
        bound_misses: 0,
        spread: vec![(1_000_000, 490), (2_000_000, 400), (4_000_000, 100)],
        bytes: vec![1_000; 900],
    }
}

fn report(classes: Vec<ClassReport>) -> LinkReport {
    LinkReport {
        title: "a → b".into(),
        facts: vec![("Interfaces", "a → b".into())],
        remarks: vec!["3 events came too fast.".into()],
        ways: vec![WayReport {
            title: "out: edf/exact at 20 Mbit/s".into(),
            kept: classes.iter().all(|class| class.bound_misses == 0),
            headline: Some("Every packet kept its bound.".into()),
            remarks: Vec::new(),
            admission: None,
            late: None,
            measured: "from one tap to the other",
            unsent: "dropped",
            rate_bps: 20_000_000,
            duration_ns: 90_000_000_000,
            interval_ns: 100_000_000,
            classes,
        }],
    }
}

#[test]
fn shares_are_those_of_packets_that_take_longer() {
    let shares = class("call", None).exceedance();
    assert_eq!(shares, [(1_000_000, 500.0 / 990.0), (2_000_000, 100.0 / 990.0), (4_000_000, 0.0)]);
    assert!(ClassReport::default().exceedance().is_empty());
}

#[test]
fn classes_stand_beside_their_bounds() {
    let text = html(&report(vec![class("call", Some(5_000_000)), class("rest", None)]));
    for wanted in ["verdict kept", "call 5\u{a0}ms", "queue-full", "too fast", "Proved bound"] {
        assert!(text.contains(wanted), "{wanted}");
    }
    assert!(!text.contains("How late it woke up"), "that is not known");
    assert!(text.contains("call: 10 queue-full"));
    let mut lost = report(vec![class("call", None)]);
    lost.ways[0].unsent = "queue-full";
    assert!(!html(&lost).contains("by reason"), "the table says it");
    let late = ClassReport { bound_misses: 1, ..class("call", Some(2_000_000)) };
    let text = html(&report(vec![late]));
    assert!(!text.contains("For 90"));
    assert!(text.contains("verdict broken"));
    assert!(text.contains("call: 1 packet took longer than the bound of 2\u{a0}ms"));
}

#[test]
fn a_report_is_one_file_and_names_are_names() {
    let evil = "</title><script>alert(1)</script>\" onload=\"x";
    let mut report = report(vec![class(evil, Some(1))]);
    (report.title, report.remarks[0]) = (evil.into(), evil.into());
    report.ways[0].classes[0].unsent = [(evil.to_string(), 1)].into();
    let text = html(&report);
    assert!(!text.contains("<script") && !text.contains("\" onload"));
    let text = text.replace("http://www.w3.org/2000/svg", "");
    for outside in ["http:", "https:", "url(", "@import", "src=", "<link"] {
        assert!(!text.contains(outside), "{outside}");
    }
}

#[test]
fn nothing_that_passed_is_a_report_too() {
    let mut report = report(vec![ClassReport { name: "call".into(), ..ClassReport::default() }]);
    (report.ways[0].duration_ns, report.ways[0].interval_ns) = (0, 0);
    let text = html(&report);
    assert!(text.contains("no data") && !text.contains("NaN"));
    report.ways.clear();
    html(&report);
}

#[test]
fn what_is_sent_is_drawn_at_its_rate() {
    // 8 kbit in each 100 ms are 80 kbit/s; an interval that is cut off is shorter.
    let mut way = report(vec![class("call", None)]).ways.remove(0);
    way.duration_ns -= 50_000_000;
    way.classes[0].bytes[899] = 500;
    let svg = throughput(&way).svg();
    let path = svg.split("class=\"series").nth(1).expect("a line");
    let path = path.split(" d=\"M").nth(1).and_then(|path| path.split('"').next());
    let points: Vec<_> = path.expect("its points").split('L').collect();
    let height = |point: &str| point.split(' ').nth(1).map(str::to_string);
    assert_eq!(points.len(), 900 / 4);
    assert!(points.iter().all(|point| height(point) == height(points[0])), "{points:?}");
}
