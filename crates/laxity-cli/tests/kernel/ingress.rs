//! Both directions of an interface: what arrives waits at a device of its own.

use std::process::Command;
use std::time::{Duration, Instant};

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use crate::kills::{kill_within, of};
use crate::lab::{cable, only, plan, run, says};
use crate::uml::{inside, whole};

const LIMIT: Duration = Duration::from_secs(240);

/// A plan of cake; `more` are keys of the scheduler.
fn cake(title: &str, rate: &str, more: &str) -> String {
    format!(
        r#"
version = 1
title = "{title}"
[link]
rate = "{rate}"
max-packet = "1514b"
overhead = "pppoe-ptm"
[scheduler]
kind = "cake"
diffserv = "diffserv4"
{more}
[class.voice]
dscp = "ef"
match = "dscp {{ef, 44, cs7, cs6, cs5, cs4}}"
arrival = {{ bucket = "800b", rate = "256kbit", packet = "200b" }}
[class.rest]
"#
    )
}

/// What the interface and the device have, as `tc` and `ip` show it.
fn seen() -> String {
    let device = Command::new("ip").args(["-d", "link", "show", "ifb-left"]).output();
    let device = device.expect("it is there").status.success();
    let shown = |device| {
        let what = ["qdisc show dev", "class show dev"];
        what.map(|what| run("tc", &format!("{what} {device}"))).concat()
    };
    let at_device = if device { shown("ifb-left") } else { "no device\n".into() };
    let arriving = Command::new("tc").args(["filter", "show", "dev", "left", "ingress"]).output();
    let arriving = String::from_utf8_lossy(&arriving.expect("it is there").stdout).into_owned();
    // What filters count is no part of them.
    let arriving = arriving.lines().filter(|line| !line.contains("index")).collect::<String>();
    shown("left") + &at_device + &arriving
}

#[test]
fn both_directions_are_applied_changed_and_undone() {
    inside("ingress::both_directions_are_applied_changed_and_undone", LIMIT, || {
        cable();
        let up = plan("up.toml", &cake("Uplink", "5mbit", "wash = true"));
        let down = plan("down.toml", &cake("Downlink", "20mbit", "isolation = \"dual-dsthost\""));
        let untouched = seen();

        let both = ["apply", &up, "--dev", "left", "--ingress", &down];
        let dry = says(0, &[&both[..], &["--dry-run"]].concat());
        println!("{dry}");
        assert!(dry.contains("ifb-left") && dry.contains("clsact") && dry.contains("dual-dsthost"));
        assert_eq!(seen(), untouched);

        println!("{}", says(0, &both));
        let there = seen();
        println!("{there}");
        let shaped = run("tc", "-j qdisc show");
        for part in ["\"cake\"", "dual-dsthost", "\"wash\":true", "diffserv4"] {
            assert!(shaped.contains(part), "{part}: {shaped}");
        }
        assert!(there.contains("mirred (Egress Redirect to device ifb-left)"), "{there}");
        assert!(says(0, &both).contains("Nothing to change"));
        let status = says(0, &["status", "--dev", "left"]);
        println!("{status}");
        assert!(status.contains("Uplink") && status.contains("Downlink"), "{status}");

        // One direction changes in place, and the other stays.
        let faster =
            plan("faster.toml", &cake("Downlink", "30mbit", "isolation = \"dual-dsthost\""));
        let changed = says(0, &["apply", &up, "--dev", "left", "--ingress", &faster]);
        println!("{changed}");
        assert!(changed.contains('~') && !changed.contains("clsact"), "{changed}");
        // Back, one after the other.
        says(0, &["apply", "--undo", "--dev", "left"]);
        assert_eq!(seen(), there);
        says(0, &["apply", "--undo", "--dev", "left", "--drop-queues"]);
        assert_eq!(seen(), untouched);

        // What leaves changes alone, and all of it is undone at once.
        says(0, &["apply", &up, "--dev", "left", "--ingress", &faster]);
        let slower = plan("slower.toml", &cake("Uplink", "4mbit", "wash = true"));
        let changed = says(0, &["apply", &slower, "--dev", "left"]);
        assert!(changed.contains('~') && !changed.contains("ifb"), "{changed}");
        assert!(run("tc", "qdisc show dev ifb-left").contains("30Mbit"));

        says(0, &["apply", "--undo", "--all", "--dev", "left", "--drop-queues"]);
        assert_eq!(seen(), untouched);
        assert!(
            says(2, &["apply", "--undo", "--dev", "left"]).contains("nothing that was applied")
        );
    });
}

#[test]
fn frames_that_arrive_wait_where_the_plan_says() {
    inside("ingress::frames_that_arrive_wait_where_the_plan_says", LIMIT, || {
        cable();
        for arguments in
            ["netns add far", "link set right netns far", "addr add 10.0.0.1/24 dev left"]
        {
            run("ip", arguments);
        }
        run("ip", "-n far addr add 10.0.0.2/24 dev right");
        run("ip", "-n far link set right up");
        let up = plan("up.toml", &cake("Uplink", "5mbit", ""));
        let down = plan("down.toml", &cake("Downlink", "2mbit", ""));
        says(0, &["apply", &up, "--dev", "left", "--ingress", &down]);
        run("ping", "-c 3 -i 0.2 -W 5 10.0.0.2");
        run("ip", "netns exec far ping -c 3 -i 0.2 -W 5 10.0.0.1");
        let status = only(&["status", "--dev", "left", "--json"]);
        let status: serde_json::Value = serde_json::from_str(&status).expect("JSON");
        let sent = |of: &serde_json::Value| of["sent"]["packets"].as_u64().expect("a count");
        println!("{status}");
        // Answers and requests, and what ARP takes.
        assert!(sent(&status["ingress"]) >= 6 && sent(&status) >= 6);

        // By a script, the same.
        says(0, &["apply", "--undo", "--dev", "left", "--drop-queues"]);
        let script = only(&["export", "tc", &up, "--dev", "left", "--ingress", &down]);
        for _ in 0..2 {
            run("sh", &plan("both.sh", &script));
        }
        run("ping", "-c 3 -i 0.2 -W 5 10.0.0.2");
        let back = plan(
            "back.toml",
            &only(&["import", "tc", &plan("both.sh", &script), "--dev", "ifb-left"]),
        );
        let bound = |path: &str| only(&["check", path, "--for", "linux", "--json"]);
        let bounds = |path: &str| {
            let checked: serde_json::Value = serde_json::from_str(&bound(path)).expect("JSON");
            let classes = checked["classes"].as_array().expect("classes").iter();
            classes.map(|class| class["bound_ns"].as_u64()).collect::<Vec<_>>()
        };
        // A class for each tin comes back, the one of voice first.
        assert!(bounds(&down)[0].is_some());
        assert_eq!(bounds(&down)[0], bounds(&back)[0]);
    });
}

#[test]
fn what_others_have_for_arriving_frames_is_refused_or_kept() {
    inside("ingress::what_others_have_for_arriving_frames_is_refused_or_kept", LIMIT, || {
        cable();
        let up = plan("up.toml", &cake("Uplink", "5mbit", ""));
        let both = ["apply", &up, "--dev", "left", "--ingress", &up];
        run("tc", "qdisc add dev left ingress");
        assert!(says(3, &both).contains("tc qdisc del dev left ingress"));
        run("tc", "filter add dev left ingress protocol ip prio 7 u32 match u32 0 0 action drop");
        assert!(says(3, &both).contains("u32 filter of priority 7"));
        run("tc", "qdisc del dev left ingress");

        // A clsact with filters for what leaves stays, before and after.
        run("tc", "qdisc add dev left clsact");
        run("tc", "filter add dev left egress protocol ip prio 7 matchall action ok");
        let before = seen();
        says(0, &both);
        says(0, &["apply", "--undo", "--dev", "left", "--drop-queues"]);
        assert_eq!(seen(), before);
        run("tc", "qdisc del dev left clsact");

        // One that is ours stays if others come to need it.
        says(0, &both);
        run("tc", "filter add dev left egress protocol ip prio 7 matchall action ok");
        says(0, &["apply", "--undo", "--dev", "left", "--drop-queues"]);
        assert!(run("tc", "filter show dev left egress").contains("matchall"));
        assert!(run("tc", "filter show dev left ingress").is_empty());

        run("ip", "link add ifb-right type dummy");
        assert!(says(3, &["apply", &up, "--dev", "right", "--ingress", &up]).contains("is no ifb"));
    });
}

#[test]
fn killed_at_any_moment_both_are_there_or_none() {
    inside("ingress::killed_at_any_moment_both_are_there_or_none", LIMIT, || {
        cable();
        let plan = plan("both.toml", &of(60, "drr"));
        let apply = ["apply", &plan, "--dev", "left", "--ingress", &plan];
        let undo = ["apply", "--undo", "--all", "--dev", "left", "--drop-queues"];
        let mut setups = vec![seen()];
        let since = Instant::now();
        says(0, &apply);
        let longest = since.elapsed();
        setups.push(seen());
        let mut draw = Pcg64Mcg::seed_from_u64(41);
        let (mut now, mut changed) = (1, 0);
        for round in 0..whole(12, 100) {
            kill_within(longest, if now == 0 { &apply } else { &undo }, &mut draw);
            let there = seen();
            let found = setups.iter().position(|setup| *setup == there);
            let found = found.unwrap_or_else(|| panic!("round {round}, from {now}:\n{there}"));
            changed += u32::from(found != now);
            now = found;
        }
        println!("{changed} changes were whole, the others did not happen");
        assert!(changed > 0);
        if now == 1 {
            says(0, &undo);
        }
        assert_eq!(seen(), setups[0]);
    });
}

/// A kernel without ifb refuses the device, and all of it is taken back.
#[test]
fn what_a_kernel_without_ifb_refuses_is_taken_back() {
    inside("ingress::what_a_kernel_without_ifb_refuses_is_taken_back", LIMIT, || {
        cable();
        let untouched = seen();
        let up = plan("up.toml", &cake("Uplink", "5mbit", ""));
        run("modprobe", "-d /run/modules sch_cake");
        std::fs::write("/proc/sys/kernel/modprobe", "/bin/false").unwrap();
        let refused = says(3, &["apply", &up, "--dev", "left", "--ingress", &up]);
        println!("{refused}");
        assert!(refused.contains("the device ifb-left"), "{refused}");
        assert!(refused.contains("the interface has what it had before"), "{refused}");
        assert_eq!(seen(), untouched);
    });
}
