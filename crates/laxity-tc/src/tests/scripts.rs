//! Whole scripts: the shell around the commands, the link, the queues, the names.

use laxity::aqm::Limit;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::model::{QueueLimit, QueueSpec, SchedulerSpec};

use super::{HEAD, NoteKind, class, import, notes, plan, read};
use crate::Options;

#[test]
fn a_script_with_all_that_shells_have() {
    let script = r#"#!/bin/sh
set -e
export DEV="${1:-eth0}" RATE='10mbit'; TC="sudo /sbin/tc"
start() {
    $TC qdisc del dev $DEV root 2>/dev/null || true
    $TC qdisc add dev $DEV root handle 1: hfsc default 20 >/dev/null 2>&1
    $TC class add dev ${DEV} parent 1: classid 1:1 \
        hfsc sc m2 "$RATE" \
        ul m2 $RATE
    tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 1mbit && echo voice   # voice
    LANG=C sudo -n tc -s class add dev eth0 parent 1:1 classid 1:20 hfsc ls m2 9mbit
}
if [ -n "$DEV" ]; then start; fi
ip link set eth0 txqueuelen 100
"#;
    let import = import(script);
    let plan = read(&import);
    assert_eq!(plan.scheduler, SchedulerSpec::Hfsc);
    assert_eq!(plan.link.rate, Rate(10_000_000));
    let names: Vec<_> = plan.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["voice", "1-20"]);
    assert!(notes(&import, NoteKind::NotRead).is_empty());
    assert_eq!(
        class(&plan, "voice").queue.as_deref(),
        Some(&QueueSpec::limited(QueueLimit::Packets(100)))
    );
}

#[test]
fn a_batch_file() {
    let batch = HEAD.replace("tc ", "");
    assert_eq!(plan(&batch), plan(HEAD));
    let here = format!("tc -batch - <<EOF\n{batch}EOF\n");
    let import = import(&here);
    assert_eq!(read(&import), plan(HEAD));
    assert!(notes(&import, NoteKind::NotRead).is_empty());
    assert_eq!(plan(&HEAD.replace('\n', "\r\n")), plan(HEAD));
    // A document for another program is passed over.
    let manual = format!("cat <<-EOF >&2\n\tdon't: tc qdisc add dev eth9 root hfsc\n\tEOF\n{HEAD}");
    assert_eq!(plan(&manual), plan(HEAD));
}

#[test]
fn the_links_rate() {
    let rate = |script: &str, given: Option<u64>| {
        let options = Options { link_rate: given.map(Rate), ..Options::default() };
        let import = crate::import(script, "script.sh", &options).unwrap();
        let told = notes(&import, NoteKind::Reading).concat();
        (read(&import), told)
    };
    let (plan, told) = rate(HEAD, None);
    assert_eq!(plan.link.rate, Rate(10_000_000));
    assert!(told.contains("2: the link's rate is 10mbit, the upper limit of 1:1"));
    let (_, told) = rate(&HEAD.replace(" ul m2 10mbit", ""), None);
    assert!(told.contains("2: the link's rate is 10mbit, the share of 1:1"));
    // A faster link leaves the limit to the class at the top.
    let (plan, told) = rate(HEAD, Some(1_000_000_000));
    assert_eq!(plan.link.rate, Rate(1_000_000_000));
    assert_eq!(class(&plan, "1-1").children.len(), 2);
    assert!(class(&plan, "1-1").curves.upper_limit.is_some());
    assert!(!told.contains("rate"), "{told}");
    let several = HEAD
        .replace("parent 1:1 ", "parent 1: ")
        .replace("parent 1: classid 1:1 ", "parent 1: classid 1:5 ");
    let (plan, _) = rate(&several, Some(20_000_000));
    assert_eq!(plan.top().count(), 3);
}

#[test]
fn one_of_several_interfaces() {
    let other = HEAD.replace("eth0", "ifb0").replace("10mbit", "50mbit");
    let script = format!("{HEAD}{other}");
    let options = Options { link_rate: None, device: Some("ifb0".into()), ..Options::default() };
    let import = crate::import(&script, "script.sh", &options).unwrap();
    assert_eq!(read(&import).link.rate, Rate(50_000_000));
    assert_eq!(notes(&import, NoteKind::NotRead).len(), 4);
    let incoming =
        format!("{HEAD}tc qdisc add dev ifb0 root tbf rate 1mbit burst 5k latency 50ms\n");
    assert_eq!(plan(&incoming), plan(HEAD));
}

#[test]
fn qdiscs_of_leaves() {
    let queue = |qdisc: &str| {
        let line = format!("tc qdisc add dev eth0 parent 1:10 handle 10: {qdisc}\n");
        let import = import(&format!("{HEAD}{line}"));
        let told = notes(&import, NoteKind::NotMapped);
        let queue = class(&read(&import), "voice").queue.as_deref().copied();
        (queue, told.last().cloned().unwrap_or_default())
    };
    let packets = |limit| Some(QueueSpec::limited(QueueLimit::Packets(limit)));
    let bytes = |limit| Some(QueueSpec::limited(QueueLimit::Bytes(Bytes(limit))));
    assert_eq!(queue("pfifo limit 50").0, packets(50));
    assert_eq!(queue("pfifo limit 1k").0, packets(1024));
    assert_eq!(queue("bfifo limit 64kb").0, bytes(65_536));
    assert_eq!(queue("bfifo limit 15140").0, bytes(15_140));
    assert_eq!(queue("sfq perturb 10").0, packets(127));
    let codel = |queue| match queue {
        Some(QueueSpec::CoDel(codel)) => (codel.limit, codel.target, codel.interval, codel.ecn),
        other => panic!("{other:?}"),
    };
    let ms = |ms: u64| Nanos(ms * 1_000_000);
    let limit = Limit::Packets;
    let written = queue("codel limit 600 target 8ms interval 80ms");
    assert_eq!(codel(written.0), (limit(600), ms(8), ms(80), false));
    // The burst that 2^-5 lets pass, as tc shows it: `ewma 5`.
    let (red, told) = queue("red limit 400000 min 30000 max 90000 avpkt 1000 burst 55 ecn");
    assert!(!told.starts_with("5:"), "{told}");
    let shown = queue("red limit 400000b min 30000b max 90000b ecn ewma 5 probability 0.02").0;
    assert!(matches!(red, Some(QueueSpec::Red(_))) && red == shown, "{red:?} {shown:?}");
    assert!(queue("red limit 400000 min 30000 max 90000").1.contains("weight of its average"));
    let choke = queue("choke limit 200 bandwidth 10mbit").0;
    let same = queue("choke limit 200 min 16 max 50 bandwidth 10mbit").0;
    assert!(matches!(choke, Some(QueueSpec::Choke(_))) && choke == same, "{choke:?} {same:?}");
    assert_eq!(queue("pfifo").0, packets(1000));
    assert_eq!(queue("bfifo").0, bytes(1_514_000));
    for (qdisc, why) in
        [("pfifo limit 0", "takes no packet"), ("netem delay 10ms", "netem has no counterpart")]
    {
        let (limit, told) = queue(qdisc);
        assert_eq!(limit, packets(1000));
        assert!(told.contains(why), "{told}");
    }
}

#[test]
fn names_come_from_comments() {
    let name = |comment: &str| {
        let line =
            format!("tc class add dev eth0 parent 1:1 classid 1:a hfsc ls m2 1mbit {comment}\n");
        let script = HEAD.replacen(
            "tc class add dev eth0 parent 1:1",
            &format!("{line}tc class add dev eth0 parent 1:1"),
            1,
        );
        plan(&script).classes[0].name.clone()
    };
    assert_eq!(name("# web"), "web");
    assert_eq!(name("## Video calls: Jitsi and others"), "Video-calls");
    assert_eq!(name("# büro"), "büro");
    for comment in ["", "#", "# 50% of it", "# everything that is not worth a name", "# \"x\""] {
        assert_eq!(name(comment), "1-a", "{comment}");
    }
    // Taken by a class before it.
    let twice =
        format!("{HEAD}tc class add dev eth0 parent 1:1 classid 1:30 hfsc ls m2 1mbit # rest\n");
    assert!(plan(&twice).class("1-30").is_some());
}

#[test]
fn classes_that_are_changed_or_added_again() {
    let script = format!(
        "{HEAD}tc class change dev eth0 classid 1:10 hfsc sc m2 2mbit\n\
         tc class add dev eth0 parent 1:1 classid 1:10 hfsc sc m2 3mbit\n\
         tc qdisc add dev eth0 root handle 1: hfsc default 10\n\
         tc qdisc del dev eth0 root\n"
    );
    let import = import(&script);
    let plan = read(&import);
    assert_eq!(class(&plan, "voice").curves.real_time.unwrap().m2(), Rate(2_000_000));
    assert_eq!(
        notes(&import, NoteKind::NotRead),
        [
            "6: this adds 1:10 again, which is there since line 3",
            "7: this adds the root again, which is there since line 1",
            "8: `tc qdisc del dev eth0 root`: what it deletes is kept"
        ]
    );
}

#[test]
fn what_no_filter_takes_without_a_default_class() {
    for default in ["", " default 1", " default 99"] {
        let import = import(&HEAD.replace(" default 20", default));
        let plan = read(&import);
        assert!(plan.classes.iter().all(|class| class.matching.is_none()));
        assert!(notes(&import, NoteKind::NotMapped)[0].ends_with("which Linux drops, is left out"));
    }
}

#[test]
fn what_is_elsewhere_is_told() {
    let script = format!(
        "{HEAD}tc qdisc add dev eth0 handle ffff: ingress\n\
         tc filter add dev eth0 parent ffff: protocol ip u32 match u32 0 0 flowid :1\n\
         tc qdisc add dev eth0 parent 1:10 handle 10: prio\n\
         tc qdisc add dev eth0 parent 1:10 handle 10: hfsc\n\
         tc qdisc add dev eth0 parent 10:1 handle 11: sfq\n\
         tc class add dev eth0 parent 10: classid 10:2 hfsc sc m2 1mbit\n"
    );
    let told = notes(&import(&script), NoteKind::NotMapped);
    let lines: Vec<_> = told.iter().map(|note| note.split(':').next().unwrap()).collect();
    assert_eq!(lines, ["3", "5", "6", "8", "9"], "{told:?}");
}

#[test]
fn notes_are_counted_when_there_are_many() {
    let script = format!("{}{HEAD}", "modprobe sch_hfsc\n".repeat(1000));
    let told = notes(&import(&script), NoteKind::NotRead);
    assert_eq!((told.len(), told[200].as_str()), (201, "200: and 800 more"));
}

#[test]
fn the_head_of_the_plan_tells_the_same() {
    let script = format!("{HEAD}modprobe \x1b[31msch_hfsc\n");
    let import = import(&script);
    assert!(import.plan.starts_with("# Imported from script.sh with `laxity import tc`."));
    for note in &import.notes {
        let line = format!("#   {}: {}\n", note.line, note.text);
        assert!(import.plan.contains(&line), "{line}");
    }
    assert!(import.plan.contains("`modprobe \u{fffd}[31msch_hfsc` is no command of tc"));
}

#[test]
fn ten_thousand_classes_with_a_filter_each() {
    let classes: String = (0..10_000).map(|at| {
        let (high, low) = (at / 250, at % 250 + 1);
        format!(
            "tc class add dev eth0 parent 1:1 classid 1:{:x} hfsc ls m2 1kbit\n\
             tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.0.{high}.{low} flowid 1:{:x}\n",
            at + 100,
            at + 100
        )
    }).collect();
    let plan = plan(&format!("{HEAD}{classes}"));
    assert_eq!(plan.classes.len(), 10_002);
    let matching = class_at(&plan, "1-833").to_string();
    assert!(matching.contains("10.0.7.250"), "{matching}");
}

fn class_at<'a>(plan: &'a laxity_plan::Plan, name: &str) -> &'a laxity_plan::matching::Match {
    class(plan, name).matching.as_ref().unwrap()
}
