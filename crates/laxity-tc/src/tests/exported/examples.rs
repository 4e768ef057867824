//! Single plans in Linux, and what a reader of their scripts expects.

use super::*;

const VOICE: &str = r#"
version = 1
title = "Voice & $(reboot); `x`"
link = { rate = "10mbit", overhead = "ethernet" }
scheduler = { kind = "hfsc" }
[class.voice]
deadline = "8ms"
arrival = { bucket = "300b", rate = "150kB/s", packet = "300b" }
police = "drop"
match = "udp dport 5004-5007 or dscp ef"
[class."$(touch pwned)"]
link-share = "4mbit"
queue = { kind = "red", min = "30kB", max = "90kB", limit = "400kB", weight = 0.001953125, gentle = false }
match = "tcp dport {80, 443} and daddr 192.0.2.0/24"
[class.rest]
link-share = "1mbit"
queue = { kind = "codel", limit = 1000 }
match = "any"
"#;

#[test]
fn a_script_is_what_a_reader_expects() {
    let plan = parse(VOICE);
    let carried = linux_plan(&plan, &Linux::default()).unwrap();
    let bound = carried.plan.bounds()[0].unwrap();
    assert!(bound <= Nanos(8_000_000), "the curve of a deadline makes up for the timer: {bound}");
    let text = script(&plan, &carried, Format::Script);
    for expected in [
        "#!/bin/sh",
        "tc qdisc add dev eth0 root handle 1: stab overhead 24 linklayer ethernet tbf rate 10mbit burst ",
        "tc qdisc add dev eth0 parent 1:1 handle 2: hfsc default 12",
        "#: 2:10 deadline = \"8ms\"",
        "tc class add dev eth0 parent 2: classid 2:10 hfsc rt m1 ",
        "tc qdisc add dev eth0 parent 2:12 handle 12: codel limit 1000 target 5000us interval 100000us noecn",
        "tc filter add dev eth0 parent 2: protocol ip prio 1 flower ip_proto udp dst_port 5004-5007 classid 2:10 \
         action police rate 1200kbit burst ",
        "flower ip_tos 0xb8/0xfc classid 2:10 action police index 16",
        "protocol all prio ",
        "matchall classid 2:12",
    ] {
        assert!(text.contains(expected), "{expected}\n{text}");
    }
    // Nothing of a plan is a word of the shell: it stands in comments, and a comment is one line.
    let commands = text.lines().filter(|line| !line.starts_with('#'));
    let odd = |c: char| matches!(c, '$' | '`' | ';' | '(' | ')' | '"' | '\'' | '\\');
    assert!(!commands.into_iter().any(|line| line.contains(odd)), "{text}");
}

#[test]
fn filters_may_be_bits() {
    let plan = parse(&VOICE.replace("5004-5007", "5004"));
    let linux = Linux { filters: Filters::U32, ..Linux::default() };
    let carried = linux_plan(&plan, &linux).unwrap();
    let text = script(&plan, &carried, Format::Batch);
    let udp = "u32 match u32 0x5000000 0xf000000 at 0 match u32 0x0 0x1fff at 4 match u32 0x110000 0xff0000 at 8 \
               match u32 0x138c 0xffff at 20 classid 2:10";
    assert!(text.contains(udp), "{text}");
    let back = import(&text);
    let voice = &back.classes[back.class("voice").unwrap().index()];
    let matching = voice.matching.as_ref().unwrap().to_string();
    assert!(matching.contains("udp dport 5004") && matching.contains("dscp ef"), "{matching}");
}

#[test]
fn early_detection_keeps_its_weight() {
    let plan = parse(VOICE);
    let carried = linux_plan(&plan, &Linux::default()).unwrap();
    let red = carried.setup.qdiscs.iter().find_map(|qdisc| match &qdisc.kind {
        QdiscKind::Red(red) => Some(*red),
        _ => None,
    });
    assert_eq!(red.map(|red| red.wlog), Some(9));
    let text = script(&plan, &carried, Format::Script);
    assert!(
        import(&text).classes.iter().any(|class| class.queue == plan.classes[1].queue),
        "{text}"
    );
}

#[test]
fn what_linux_lacks_is_refused_with_the_reason() {
    let refused = |change: &dyn Fn(&str) -> String| {
        let refusal = linux_plan(&parse(&change(VOICE)), &Linux::default()).unwrap_err();
        (refusal.to_string(), refusal.nearest_is_hfsc)
    };
    let (edf, nearest) = refused(&|text| text.replace("hfsc", "edf"));
    assert!(edf.contains("`kind = \"edf\"`") && nearest, "{edf}");
    let frames = parse(include_str!("../../../../../examples/time-frames.toml"));
    let frames = linux_plan(&frames, &Linux::default()).unwrap_err().to_string();
    assert!(frames.contains("taprio holds each packet by itself"), "{frames}");
    let no_rest = |text: &str| text.replace("match = \"any\"", "match = \"icmp\"");
    let (not, _) = refused(&|text| no_rest(text).replace("or dscp ef", "and not dscp ef"));
    assert!(not.contains("`not` in the `match` of class voice"), "{not}");
}

/// What the kernel counts of a frame never takes less time than the frame takes of a link with PTM.
#[test]
fn ptm_is_counted_by_the_rate() {
    for (overhead, least) in
        [("'pppoe-ptm'", 0), ("{ bytes = '8b', at-least = '64b', framing = 'ptm' }", 64)]
    {
        let plan = parse(&VOICE.replace("\"ethernet\"", overhead));
        let carried = linux_plan(&plan, &Linux::default()).unwrap();
        assert!(carried.remarks.iter().any(|remark| remark.contains("does not know PTM")));
        let text = script(&plan, &carried, Format::Script);
        assert!(text.contains("stab"), "{text}");
        assert_eq!(text.contains("mpu"), least > 0, "{text}");
        let time = |plan: &Plan, frame| {
            u128::from(plan.link.overhead.on_link(frame)) * 8_000_000_000_000
                / u128::from(plan.link.rate.0)
        };
        for frame in 60..=2000 {
            let (link, kernel) = (time(&plan, frame), time(&carried.plan, frame));
            assert!(kernel >= link && kernel * 100 <= link * 103, "{frame}: {kernel} for {link}");
        }
    }
}

#[test]
fn what_is_demoted_is_asked_of_the_filters_behind() {
    let plan = parse(&VOICE.replace("police = \"drop\"", "police = \"demote\""));
    let text = script(&plan, &linux_plan(&plan, &Linux::default()).unwrap(), Format::Script);
    assert!(text.contains("conform-exceed continue/pipe index 16"), "{text}");
}

/// The kernel cannot tell classes of one band apart, so that nothing of either is said of both.
#[test]
fn classes_that_share_a_band_come_back_without_a_bound() {
    let plan = parse(
        "version = 1\nlink = { rate = \"20mbit\" }\nscheduler = { kind = \"priority\" }\n\
         [class.a]\nlevel = 0\narrival = { bucket = \"500b\", rate = \"1mbit\", packet = \"500b\" }\nmatch = \"udp dport 1\"\n\
         [class.b]\nlevel = 0\narrival = { bucket = \"900b\", rate = \"1mbit\", packet = \"500b\" }\nmatch = \"udp dport 2\"\n\
         [class.c]\nlevel = 1\narrival = { bucket = \"500b\", rate = \"1mbit\", packet = \"500b\" }\nmatch = \"any\"\n",
    );
    let there = linux_plan(&plan, &Linux::default()).unwrap();
    let back = import(&script(&plan, &there, Format::Script));
    let arrival = |class: &laxity_plan::model::Class| (class.name.clone(), class.arrival.is_some());
    let classes: Vec<_> = back.classes.iter().map(arrival).collect();
    assert_eq!(classes[1], ("c".into(), true));
    assert!(classes.len() == 2 && !classes[0].1, "{classes:?}");
}

#[test]
fn quanta_that_the_kernel_would_cut_are_refused() {
    let plan = |packet: u32, weight: u32| {
        parse(&format!(
            "version = 1\nlink = {{ rate = \"20mbit\", max-packet = \"{packet}b\" }}\nscheduler = {{ kind = \"drr\" }}\n\
             [class.a]\nmatch = \"udp\"\n[class.b]\nweight = {weight}\nmatch = \"tcp\"\n"
        ))
    };
    let quanta = |packet, weight| {
        let there = linux_plan(&plan(packet, weight), &Linux::default()).unwrap();
        let all = there.setup.classes.into_iter().map(|class| class.kind);
        all.collect::<Vec<_>>()
    };
    let quantum = |quantum| ClassKind::Drr { quantum };
    assert_eq!(quanta(100, 2), [quantum(256), quantum(512)]);
    assert_eq!(quanta(1_024, 1_024), [quantum(1_024), quantum(1 << 20)]);
    let refusal = linux_plan(&plan(1_024, 1_025), &Linux::default()).unwrap_err();
    assert!(refusal.what.contains("class b would send 1049600 bytes"), "{refusal}");
}

#[test]
fn segments_are_counted_without_overhead() {
    let overhead = |offload| {
        let there = linux_plan(&parse(VOICE), &Linux { offload, ..Linux::default() }).unwrap();
        there.remarks.iter().any(|remark| remark.contains("`overhead`"))
    };
    assert!(overhead(true) && !overhead(false));
}

#[test]
fn formats_say_what_they_can() {
    let fq = parse(
        "version = 1\nlink = { rate = \"20mbit\" }\nscheduler = { kind = \"fq-codel\" }\nclass.all = {}\n",
    );
    let of_fq = linux_plan(&fq, &Linux::default()).unwrap();
    let text = script(&fq, &of_fq, Format::Networkd);
    assert!(
        text.contains("[TokenBucketFilter]\nParent=root\nHandle=0001\nRate=20000000\n"),
        "{text}"
    );
    assert!(text.contains("[FairQueueingControlledDelay]\nParent=1:1\nHandle=0002\n"), "{text}");
    let netplan = export(&fq, &of_fq, "eth0", Format::Netplan, &Promises::default());
    assert!(netplan.unwrap_err().why.contains("no key"));
    let voice = parse(VOICE);
    let of_voice = linux_plan(&voice, &Linux::default()).unwrap();
    assert!(export(&voice, &of_voice, "eth0", Format::Networkd, &Promises::default()).is_err());
    for wrong in ["", "-x", "a b", "eth0;reboot", "$(x)", "0123456789abcdef", ".."] {
        assert!(!is_device(wrong), "{wrong}");
        assert!(export(&fq, &of_fq, wrong, Format::Script, &Promises::default()).is_err());
    }
}

#[test]
fn frames_of_several_segments_count_where_tbf_lets_them_through() {
    let plan = |rate: &str| parse(&VOICE.replace("10mbit", rate).replace("8ms", "30ms"));
    let packet = |rate: &str, offload| {
        let linux = Linux { offload, ..Linux::default() };
        linux_plan(&plan(rate), &linux).unwrap().plan.link.max_packet.0
    };
    assert_eq!((packet("10mbit", true), packet("10mbit", false)), (1_538, 1_538));
    assert_eq!((packet("1gbit", true), packet("1gbit", false)), (68_543, 1_538));
}
