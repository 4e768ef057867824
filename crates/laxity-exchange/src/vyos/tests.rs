//! Traffic policies of VyOS.

use laxity_plan::model::SchedulerSpec;
use proptest::prelude::*;

use super::*;

const SHAPER: &str = "\
set qos interface eth0 egress 'WAN'
set qos policy shaper WAN bandwidth '20mbit'
set qos policy shaper WAN class 10 bandwidth '10%'
set qos policy shaper WAN class 10 ceiling '50%'
set qos policy shaper WAN class 10 description 'calls'
set qos policy shaper WAN class 10 match VOICE ip dscp 'EF'
set qos policy shaper WAN class 10 match SIP ip protocol 'udp'
set qos policy shaper WAN class 10 match SIP ip source port '5060'
set qos policy shaper WAN class 10 priority '1'
set qos policy shaper WAN class 20 bandwidth '4mbit'
set qos policy shaper WAN class 20 match LAN ipv6 source address 'fd00::/8'
set qos policy shaper WAN class 20 match MARKED mark '7'
set qos policy shaper WAN class 20 queue-type 'fair-queue'
set qos policy shaper WAN default bandwidth '60%'
set qos policy shaper WAN default ceiling '100%'
set qos policy fq-codel LAN target '7'
";

fn plan(text: &str, options: &Options) -> (Plan, Conversion) {
    let imported = import(text, options).unwrap();
    (Plan::parse(&imported.text, "plan", Path::new("")).unwrap(), imported)
}

#[test]
fn a_shaper_is_guarantees_and_limits() {
    let (plan, imported) = plan(SHAPER, &Options::default());
    assert!(matches!(plan.scheduler, SchedulerSpec::Hfsc));
    assert_eq!(plan.link.rate, Rate(20_000_000));
    let names: Vec<&str> = plan.classes.iter().map(|class| class.name.as_str()).collect();
    assert_eq!(names, ["class-10", "class-20", "default"]);
    let text = imported.text;
    for part in [
        "[class.class-10] # calls\ncurve = \"2mbit\"\nupper-limit = \"10mbit\"",
        "match = \"ip and udp and sport 5060 or ip and dscp ef\"",
        "curve = \"4mbit\"\nupper-limit = \"4mbit\"",
        "match = \"ip6 and saddr fd00::/8\"",
        "curve = \"12mbit\"\nqueue",
    ] {
        assert!(text.contains(part), "`{part}` is missing in {text}");
    }
    for note in
        ["9: class-10: priority 1: not kept", "12: match MARKED: not kept", "fair-queue: one queue"]
    {
        assert!(
            imported.notes.iter().any(|text| text.contains(note)),
            "{note}: {:?}",
            imported.notes
        );
    }
}

#[test]
fn other_policies_are_their_disciplines() {
    let rate = Options { link_rate: Some(Rate(8_000_000)), ..Options::default() };
    for (text, kind) in [
        (
            "set qos policy cake A bandwidth 10mbit\nset qos policy cake A rtt 50\nset qos policy cake A flow-isolation dual-src-host",
            "cake",
        ),
        ("set qos policy fq-codel A target 7\nset qos policy fq-codel A flows 512", "fq-codel"),
        ("set qos policy fair-queue A", "fq-codel"),
        ("set qos policy drop-tail A queue-limit 100", "fifo"),
        (
            "set qos policy rate-control A bandwidth 5mbit\nset qos policy rate-control A latency 20",
            "fifo",
        ),
        (
            "set qos policy priority-queue A class 1 match B ip dscp EF\nset qos policy priority-queue A default queue-limit 10",
            "priority",
        ),
        (
            "set traffic-policy round-robin A class 1 quantum 3000\nset traffic-policy round-robin A class 1 match B vif 7",
            "drr",
        ),
        (
            "set qos policy shaper-hfsc A class 1 realtime m1 4mbit\nset qos policy shaper-hfsc A class 1 realtime d 10\nset qos policy shaper-hfsc A class 1 realtime m2 1mbit\nset qos policy shaper-hfsc A default linkshare m2 50%",
            "hfsc",
        ),
    ] {
        let (plan, _) = plan(text, &rate);
        assert_eq!(plan.scheduler.name().split('/').next(), Some(kind), "{text}");
    }
}

#[test]
fn what_is_wrong_is_refused_at_its_line() {
    let changed = |from: &str, to: &str| SHAPER.replace(from, to);
    for (text, part) in [
        (changed("'20mbit'", "'fast'"), "2: `bandwidth`: `fast` is not a rate"),
        (changed("'10%'", "'0%'"), "3: `bandwidth`: `0%`"),
        (changed("shaper WAN bandwidth '20mbit'", "shaper WAN bandwidth 'auto'"), "does not say the rate"),
        (changed("'fair-queue'", "'blue'"), "13: `queue-type` is `blue`"),
        (changed("shaper WAN class 20 bandwidth '4mbit'", "shaper WAN class 20 burst '1'"), "class-20 has no `bandwidth`"),
        (changed("egress", "ingress"), "several policies: say which with --policy"),
        ("set qos policy limiter A default bandwidth 5mbit\nset qos policy limiter A bandwidth 1mbit".into(), "`limiter` is not read"),
        ("set system host-name vyos\n".into(), "there is no `qos policy`"),
    ] {
        let error = import(&text, &Options::default()).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    }
}

proptest! {
    #[test]
    fn any_words_are_read_or_refused(
        lines in prop::collection::vec(
            ("(shaper|cake|fq-codel|shaper-hfsc|round-robin)", "(class 1|default|class 300)",
             "(bandwidth|ceiling|queue-limit|match a ip dscp|quantum|realtime m2|realtime d|realtime m1)",
             "(|5%|10mbit|EF|0|99999999999|é)"), 1..8),
    ) {
        let lines = lines.iter().map(|(kind, class, key, value)| {
            format!("set qos policy {kind} A {class} {key} {value}\n")
        });
        let options = Options { link_rate: Some(Rate(1_000_000)), ..Options::default() };
        let _ = import(&lines.collect::<String>(), &options);
    }
}
