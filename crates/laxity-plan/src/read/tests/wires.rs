//! What links do to packets under way, and DualPI2: what is read, and what is refused.

use laxity::aqm::Limit;
use laxity::packet::ClassId;
use laxity::sched::dualpi2::DualPi2Settings;
use laxity::units::Nanos;

use super::parse;
use crate::model::{Dist, Reorder, SchedulerSpec, WireLoss, WireSpec};

fn plan(scheduler: &str, wire: &str) -> String {
    format!(
        "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1500b\" }}\nscheduler = {{ {scheduler} }}\n\
         class.a = {{}}\n[network.x]\nbetween = [\"a\", \"b\"]\n{wire}\n"
    )
}

fn refused(scheduler: &str, wire: &str, at: &str, message: &str, help: &str) {
    let error = parse(&plan(scheduler, wire)).unwrap_err();
    let said = error.to_string();
    assert!(said.contains(message), "{said} instead of {message}");
    let span = error.span().unwrap();
    assert_eq!(error.text().get(span), Some(at), "{said}");
    let helped = error.help().unwrap_or_default();
    assert!(helped.contains(help), "{helped} instead of {help}");
}

const FIFO: &str = "kind = \"fifo\"";

#[test]
fn wires_are_read() {
    let wire = "jitter = { normal = [\"5ms\", \"2ms\"] }\nduplicate = { share = 0.001 }\n\
                reorder = { share = 1, by = { uniform = [\"1ms\", \"4ms\"] } }";
    let read = parse(&plan(FIFO, wire)).unwrap();
    let link = &read.network.as_ref().unwrap().links[0];
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    assert_eq!(link.jitter, Some(Dist::Normal(ms(5), ms(2))));
    let by = Dist::Uniform(ms(1), ms(4));
    assert_eq!(link.reorder, Some(Reorder { share: 1.0, by }));
    assert_eq!(link.duplicate, Some(0.001));
    assert!(link.disturbs() && link.most_jitter().is_none());
    let bounded = parse(&plan(FIFO, "jitter = \"2ms\"\nreorder = { share = 0.5, by = \"3ms\" }"));
    let link = &bounded.unwrap().network.unwrap().links[0];
    assert_eq!(link.most_jitter(), Some(ms(5)));
    let plain = parse(&plan(FIFO, "")).unwrap();
    let link = &plain.network.as_ref().unwrap().links[0];
    assert_eq!((link.disturbs(), link.most_jitter()), (false, Some(Nanos::ZERO)));
}

#[test]
fn wires_that_make_no_sense() {
    let wire = |wire: &str, at: &str, message: &str, help: &str| {
        refused(FIFO, wire, at, message, help);
    };
    let share = "it is more than 0 and at most 1, such as 0.01";
    for of in ["0", "-0.1", "1.5"] {
        let message = format!("`share` is {of}");
        wire(&format!("duplicate = {{ share = {of} }}"), of, &message, share);
        let reorder = format!("reorder = {{ share = {of}, by = \"1ms\" }}");
        wire(&reorder, of, &message, share);
    }
    wire("jitter = \"0s\"", "\"0s\"", "`jitter` is zero", "");
    wire("reorder = { share = 0.1, by = \"0s\" }", "\"0s\"", "`by` is zero", "");
    let uniform = "{ uniform = [\"4ms\", \"1ms\"] }";
    wire(&format!("jitter = {uniform}"), uniform, "`jitter` is uniform from", "write {");
    let error = parse(&plan(FIFO, "reorder = { share = 0.1 }")).unwrap_err();
    assert!(error.to_string().contains("`by`"), "{error}");
    let error = parse(&plan(FIFO, "duplicate = { run = 2 }")).unwrap_err();
    assert!(error.to_string().contains("`run`"), "{error}");
}

/// Without a network the wire is that of the only link; there is none where nothing is said of it.
#[test]
fn the_wire_of_one_link() {
    let read = |keys: &str| {
        parse(&format!(
            "version = 1\nlink = {{ rate = \"10mbit\"{keys} }}\nscheduler = {{ {FIFO} }}\nclass.a = {{}}\n"
        ))
    };
    assert_eq!(read("").unwrap().link.wire, None);
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    let still = WireSpec { delay: Nanos::ZERO, ..WireSpec::default() };
    assert_eq!(read(", delay = \"0s\"").unwrap().link.wire, Some(still));
    let wire = read(
        ", delay = \"5ms\", jitter = \"1ms\", duplicate = { share = 0.5 }, \
         loss = { share = 0.25, run = 2 }, reorder = { share = 0.1, by = \"3ms\" }",
    );
    let expected = WireSpec {
        delay: ms(5),
        loss: Some(WireLoss { share: 0.25, run: 2.0 }),
        jitter: Some(Dist::Constant(ms(1))),
        reorder: Some(Reorder { share: 0.1, by: Dist::Constant(ms(3)) }),
        duplicate: Some(0.5),
    };
    assert_eq!(wire.unwrap().link.wire, Some(expected));
    let error = read(", loss = { share = 2 }").unwrap_err();
    assert!(error.to_string().contains("`share` is 2"), "{error}");
}

/// With a network each link says what its wire does; `delay` may be said of all.
#[test]
fn the_wires_of_a_network_are_its_links() {
    for key in ["loss = { share = 0.1 }", "jitter = \"1ms\"", "duplicate = { share = 0.1 }"] {
        let text = plan(FIFO, "").replace("link = {", &format!("link = {{ {key},"));
        let error = parse(&text).unwrap_err();
        assert!(error.to_string().contains("of all links of a network"), "{error}");
        assert!(error.help().unwrap_or_default().contains("[network.NAME]"));
    }
    let text = plan(FIFO, "").replace("link = {", "link = { delay = \"2ms\",");
    let read = parse(&text).unwrap();
    assert_eq!(read.link.wire, None);
    assert_eq!(read.network.unwrap().links[0].delay, Nanos(2_000_000));
}

/// Time frames need wires that keep order.
#[test]
fn frames_need_plain_wires() {
    let frames = "kind = \"tdp\", frame = \"5ms\", frames = 10";
    for wire in ["jitter = \"1ms\"", "duplicate = { share = 0.1 }"] {
        let error = parse(&plan(frames, wire)).unwrap_err();
        let message = "`jitter`, `reorder` or `duplicate` at link `x`";
        assert!(error.to_string().contains(message), "{error}");
        let plain = parse(&plan(FIFO, wire)).unwrap();
        assert!(plain.under("tdp").is_err());
    }
}

/// What is held keeps its order, which wires and frames in its way must do, too.
#[test]
fn regulators_are_read_and_need_order() {
    let network = |first: &str, class: &str, source: &str| {
        format!(
            "version = 1\nlink = {{ rate = \"10mbit\", max-packet = \"1500b\" }}\nscheduler.kind = \"fifo\"\n\
             [class.a]\n{class}\n[network.x]\nbetween = [\"a\", \"b\"]\n{first}\n[network.y]\n\
             between = [\"b\", \"c\"]\nregulate = true\n[network.z]\nbetween = [\"c\", \"d\"]\n\
             reorder = {{ share = 0.5, by = \"1ms\" }}\n[[source]]\nclass = \"a\"\npacket = \"1000b\"\n{source}\n"
        )
    };
    let arrival = "arrival = { bucket = \"3kB\", rate = \"1mbit\" }";
    let constant = "model = \"constant\"\nrate = \"1mbit\"\npath = [\"a\", \"b\", \"c\", \"d\"]";
    let read = parse(&network("jitter = \"1ms\"", arrival, constant)).unwrap();
    let on = read.network_plan().unwrap();
    assert_eq!(
        on.network.links.iter().map(|link| link.regulate).collect::<Vec<_>>(),
        [false, true, false]
    );
    let path = read.sources[0].path();
    assert_eq!(on.plan.regulated(ClassId(0), path).collect::<Vec<_>>(), [1]);
    assert!(read.under("tdp").is_err());

    let double = "duplicate = { share = 0.1 }";
    let tcp = "model = \"tcp\"\npath = [\"d\", \"c\", \"b\"]";
    for (text, mixing) in [
        (network(double, arrival, constant), "x"),
        (network("", arrival, tcp), "z"),
        (network("", arrival, "model = \"tcp\"\npath = [\"b\", \"c\", \"d\"]"), "z"),
    ] {
        let error = parse(&text).unwrap_err();
        let message =
            format!("`regulate` behind link `{mixing}`, which has `reorder` or `duplicate`");
        assert_eq!(error.message(), message);
        assert_eq!(error.text().get(error.span().unwrap()), Some("true"));
    }
    // What has no contract is not held.
    assert!(parse(&network(double, "", constant)).is_ok());
    let text = network("", arrival, constant).replace("regulate = true", "regulate = 1");
    assert!(parse(&text).is_err());
    let frames = "kind = \"tdp\", frame = \"5ms\", frames = 10";
    refused(
        frames,
        "regulate = true",
        &format!("{{ {frames} }}"),
        "`regulate` at link `x`",
        "frames tell when packets go on",
    );
}

#[test]
fn two_queues_are_read() {
    let read = |keys: &str| {
        let plan = parse(&plan(&format!("kind = \"dualpi2\"{keys}"), "")).unwrap();
        let SchedulerSpec::DualPi2(settings) = plan.scheduler else { panic!("{keys}") };
        settings
    };
    assert_eq!(read(""), DualPi2Settings::USUAL);
    let all = ", target = \"20ms\", update = \"10ms\", alpha = 0.1, beta = 3, coupling = 3, \
               threshold = \"800us\", classic-share = 0.25, limit = \"100kB\"";
    let expected = DualPi2Settings {
        target: Nanos(20_000_000),
        update: Nanos(10_000_000),
        alpha: 100_000,
        beta: 3_000_000,
        coupling: 3,
        threshold: Nanos(800_000),
        classic_share: 250_000,
        limit: Limit::Bytes(100_000),
        packet: DualPi2Settings::USUAL.packet,
    };
    assert_eq!(read(all), expected);
}

#[test]
fn two_queues_that_make_no_sense() {
    let keys = |keys: &str, at: &str, message: &str, help: &str| {
        refused(&format!("kind = \"dualpi2\", {keys}"), "", at, message, help);
    };
    keys("coupling = 0", "0", "`coupling` is 0", "it is 1 to 255");
    keys("coupling = 256", "256", "`coupling` is 256", "it is 1 to 255");
    keys("classic-share = 1.1", "1.1", "`classic-share` is 1.1", "it is 0 to 1");
    keys("alpha = -1", "-1", "`alpha` is -1", "it is 0 to 1000");
    keys("update = \"0s\"", "\"0s\"", "`update` is zero", "");
    keys("quantum = \"100b\"", "\"100b\"", "`quantum` does not belong to `kind = \"dualpi2\"`", "");
    let message = "`coupling` does not belong to `kind = \"fifo\"`";
    refused("kind = \"fifo\", coupling = 2", "", "2", message, "`kind = \"dualpi2\"`");
}
