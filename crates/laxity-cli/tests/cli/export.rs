//! `laxity export tc` and `laxity check --for linux`: what the kernel is given, and what holds
//! there.

use crate::folder::Folder;

const PLAN: &str = r#"
version = 1
link = { rate = "10mbit" }
scheduler = { kind = "hfsc" }
[class.voice]
deadline = "8ms"
arrival = { bucket = "300b", rate = "150kB/s", packet = "300b" }
match = "udp dport 5004"
[class.rest]
link-share = "1mbit"
match = "any"
"#;

#[test]
fn a_script_says_what_check_proves_and_comes_back() {
    let folder = Folder::new().with("plan.toml", PLAN);
    let proved = folder.laxity(&["check", "plan.toml", "--for", "linux", "--json"]);
    assert_eq!(proved.code, Some(0), "{}", proved.stderr);
    let answer: serde_json::Value = serde_json::from_str(&proved.stdout).unwrap();
    assert_eq!(answer["admitted"], true);
    assert_eq!(answer["linux"]["stall_ns"], 1_000_320);
    let bound = answer["classes"][0]["bound_ns"].as_u64().unwrap();
    assert!((6_000_000..=8_000_000).contains(&bound), "{bound}");
    let written =
        folder.laxity(&["export", "tc", "plan.toml", "--dev", "eth0", "--out", "shape.sh"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    let script = folder.text("shape.sh");
    assert!(script.contains("# Admitted under Linux. Every deadline holds."), "{script}");
    let shown =
        script.lines().find(|line| line.starts_with("# voice: no packet waits longer than "));
    assert!(shown.is_some_and(|line| line.ends_with("It was to be 8\u{a0}ms.")), "{script}");
    folder.laxity(&["import", "tc", "shape.sh", "--out", "back.toml"]);
    let again = folder.laxity(&["check", "back.toml", "--for", "linux", "--json"]);
    let again: serde_json::Value = serde_json::from_str(&again.stdout).unwrap();
    assert_eq!(again["classes"][0]["bound_ns"], bound);
    // Nothing is written over.
    let twice = folder.laxity(&["export", "tc", "plan.toml", "--dev", "eth0", "--out", "shape.sh"]);
    assert_eq!(twice.code, Some(2));
    assert!(twice.stderr.contains("is there already"), "{}", twice.stderr);
}

#[test]
fn a_late_timer_breaks_a_deadline() {
    let folder = Folder::new().with("plan.toml", PLAN);
    let late = ["check", "plan.toml", "--for", "linux", "--timer", "10ms"];
    let checked = folder.laxity(&late);
    assert_eq!(checked.code, Some(1), "{}", checked.stdout);
    assert!(checked.stdout.contains("NOT ADMITTED."), "{}", checked.stdout);
    assert!(
        checked.stdout.contains("may be 10\u{a0}ms late because of timers"),
        "{}",
        checked.stdout
    );
    let written = folder.laxity(&["export", "tc", "plan.toml", "--dev", "eth0", "--timer", "10ms"]);
    assert_eq!(written.code, Some(1));
    assert!(written.stdout.contains("# NOT ADMITTED under Linux."), "{}", written.stdout);
    let lost = folder.laxity(&["check", "plan.toml", "--timer", "10ms"]);
    assert_eq!(lost.code, Some(2));
    assert!(lost.stderr.contains("add --for linux"), "{}", lost.stderr);
}

#[test]
fn the_nearest_plan_is_written_where_there_is_none() {
    let folder = Folder::new().with("edf.toml", PLAN.replace("hfsc", "edf"));
    let refused = folder.laxity(&["export", "tc", "edf.toml", "--dev", "eth0"]);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("--nearest FILE"), "{}", refused.stderr);
    let near = ["export", "tc", "edf.toml", "--dev", "eth0", "--nearest", "hfsc.toml"];
    let near = folder.laxity(&near);
    assert_eq!(near.code, Some(0), "{}", near.stderr);
    assert!(near.stdout.contains("Every deadline holds."), "{}", near.stdout);
    let written =
        folder.laxity(&["export", "tc", "hfsc.toml", "--dev", "eth0", "--format", "batch"]);
    assert_eq!(written.code, Some(0), "{}", written.stderr);
    assert!(written.stdout.contains("\nclass add dev eth0 parent 2: classid 2:10 hfsc rt m1 "));
}

#[test]
fn names_of_interfaces_are_names() {
    let folder = Folder::new().with("plan.toml", PLAN);
    let wrong = folder.laxity(&["export", "tc", "plan.toml", "--dev", "eth0;reboot"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("as the name of an interface"), "{}", wrong.stderr);
    assert_eq!(wrong.stdout, "");
}
