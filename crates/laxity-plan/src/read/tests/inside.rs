//! Schedulers inside classes.

use laxity::admit::Unbounded;
use laxity::packet::ClassId;
use laxity::units::{Nanos, Rate};

use super::*;
use crate::model::{QueueLimit, QueueSpec, SchedulerSpec, Scheduling};

/// GPS over EDF.
const GPS_OVER_EDF: &str = r#"
version = 1
link = { rate = "10mbit", max-packet = "1000b" }
scheduler.kind = "wf2q"
[class.real-time]
weight = 6
scheduler = { kind = "edf", late = "drop" }
[class.voice]
parent = "real-time"
deadline = "20ms"
arrival = { bucket = "400b", rate = "1mbit", packet = "200b" }
[class.video]
parent = "real-time"
deadline = "50ms"
arrival = { bucket = "4kB", rate = "3mbit" }
[class.rest]
weight = 4
scheduler = { kind = "fifo", queue = { kind = "droptail", limit = 50 } }
"#;

#[track_caller]
fn refused(old: &str, new: &str, at: &str, message: &str, help: &str) {
    assert!(GPS_OVER_EDF.contains(old), "{old}");
    let error = parse(&GPS_OVER_EDF.replacen(old, new, 1)).expect_err("this plan is wrong");
    assert_eq!(error.message(), message);
    assert_eq!(&error.text()[error.span().unwrap_or(0..0)], at, "{error}");
    assert!(error.help().unwrap_or_default().contains(help), "{:?}", error.help());
}

#[test]
fn schedulers_inside_classes() {
    let plan = parse(GPS_OVER_EDF).unwrap();
    let queue = Some(QueueSpec::limited(QueueLimit::Packets(50)));
    let rest = Scheduling { scheduler: SchedulerSpec::Fifo, queue };
    assert_eq!(plan.classes[3].inside.as_deref(), Some(&rest));
    let inside = plan.classes[0].inside.as_deref().unwrap();
    assert!(
        matches!(inside.scheduler, SchedulerSpec::Edf(edf) if edf.late == crate::model::Late::Drop)
    );
    assert_eq!(plan.guaranteed_rates()[0], Rate(6_000_000));
}

/// The share has 6 Mbit/s, at the latest after a packet of its own at that rate, a third of one on
/// the link, for the others send two thirds of one in that time, and 3 ns for rounding: 1000 B take
/// 1.333334 ms and 0.8 ms.
#[test]
fn bounds_compose() {
    let plan = parse(GPS_OVER_EDF).unwrap();
    let guarantees = plan.inner_guarantees();
    assert!(guarantees.overbooked.is_empty());
    let [(class, edf)] = &guarantees.edf[..] else { panic!("one share has EDF") };
    assert_eq!((*class, edf.admitted), (ClassId(0), true));
    let latency = 1_333_334 + 266_667 + 3;
    let mut alone = plan.clone();
    alone.link.rate = Rate(6_000_000);
    alone.link.latency = Some(Nanos(latency));
    alone.classes.truncate(3);
    let expected = Plan { scheduler: SchedulerSpec::EDF, ..alone }.bounds();
    assert_eq!(guarantees.bounds[1..3], expected[1..3]);
    assert!(expected[1].unwrap() > Nanos(latency), "{expected:?}");
    assert_eq!(guarantees.bounds[3], Err(Unbounded::NoArrival), "nothing is known of the rest");
    assert_eq!(guarantees.bounds[0], Err(Unbounded::NoGuarantee), "no leaf");
    let tight = GPS_OVER_EDF.replace("\"20ms\"", "\"2ms\"");
    let refused = parse(&tight).unwrap().inner_guarantees();
    assert!(!refused.edf[0].1.admitted, "little is left beside the latency");
}

#[test]
fn a_queue_inside_a_share_is_bounded_as_one() {
    let arrival =
        "arrival = { bucket = \"4kB\", rate = \"2mbit\" }\nscheduler = { kind = \"fifo\" }";
    let text = GPS_OVER_EDF.replace(
        "scheduler = { kind = \"fifo\", queue = { kind = \"droptail\", limit = 50 } }",
        arrival,
    );
    let plan = parse(&text).unwrap();
    // 4 kB at 4 Mbit/s, and a packet at that rate; one of the others takes less.
    assert_eq!(plan.inner_guarantees().bounds[3], Ok(Nanos(8_000_000 + 2_000_000 + 3)));
}

#[test]
fn schedulers_that_make_no_sense() {
    refused(
        "kind = \"wf2q\"",
        "kind = \"qfq\"",
        "{ kind = \"edf\", late = \"drop\" }",
        "class `real-time` has a scheduler, and the link is not shared",
        "kind = \"wf2q\"",
    );
    refused(
        "kind = \"wf2q\"",
        "kind = \"drr\"",
        "{ kind = \"edf\", late = \"drop\" }",
        "class `real-time` has a scheduler that `kind = \"drr\"` has no place for",
        "`kind = \"fq-codel\"`",
    );
    refused(
        "scheduler.kind = \"wf2q\"",
        "scheduler = { kind = \"wf2q\", queue = { kind = \"droptail\", limit = 9 } }",
        "{ kind = \"droptail\", limit = 9 }",
        "`queue` for all classes, which have schedulers of their own",
        "write it in the classes",
    );
    refused(
        "parent = \"real-time\"\ndeadline = \"20ms\"",
        "parent = \"real-time\"\nscheduler.kind = \"fifo\"\ndeadline = \"20ms\"",
        "scheduler",
        "class `voice` has a scheduler, and so has class `real-time` above it",
        "leave the other out",
    );
}

/// The classes of H-FSC and DRR may order their own flows. What their curves and turns give them
/// stays; their packets are promised nothing.
#[test]
fn leaves_order_their_own_flows() {
    for kind in ["hfsc", "drr"] {
        let text = format!(
            "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1000b\" }}\nscheduler.kind = \"{kind}\"\n\
             [class.calls]\ncurve = \"1mbit\"\narrival = {{ bucket = \"400b\", rate = \"1mbit\" }}\n\
             [class.circuit]\ncurve = \"4mbit\"\narrival = {{ bucket = \"4kB\", rate = \"1mbit\" }}\n"
        );
        let plain = parse(&text).unwrap();
        let flows = format!("{text}scheduler = {{ kind = \"fq-codel\" }}\n");
        let plan = parse(&flows).unwrap();
        let [calls, circuit] = [0, 1].map(|class: usize| plan.bounds()[class]);
        assert_eq!(calls, plain.bounds()[0], "{kind}");
        assert_eq!(circuit, Err(Unbounded::NoGuarantee), "{kind}");
        assert!(plan.services()[1].is_none() && plain.services()[1].is_some(), "{kind}");
        assert!(plain.bounds()[1].is_ok(), "{kind}");
    }
}
