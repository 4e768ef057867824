//! What is applied, shown, changed, confirmed and undone.

use std::time::Duration;

use crate::lab::{cable, plan, run, says};
use crate::uml::inside;

const LIMIT: Duration = Duration::from_secs(120);

const UPLINK: &str = r#"
version = 1
title = "Uplink"
[link]
rate = "10mbit"
max-packet = "1514b"
[scheduler]
kind = "hfsc"
[class.voice]
match = "udp dport 4000"
curve = { burst = "400b", delay = "4ms", rate = "1mbit" }
arrival = { bucket = "400b", rate = "800kbit", packet = "200b" }
[class.rest]
curve = "8mbit"
"#;

#[test]
fn a_plan_is_applied_and_the_second_time_changes_nothing() {
    inside("setups::a_plan_is_applied_and_the_second_time_changes_nothing", LIMIT, || {
        cable();
        let path = plan("uplink.toml", UPLINK);
        let dry = says(0, &["apply", &path, "--dev", "left", "--dry-run"]);
        assert!(dry.contains("voice"), "{dry}");
        assert!(run("tc", "qdisc show dev left").contains("noqueue"));

        let applied = says(0, &["apply", &path, "--dev", "left"]);
        println!("{applied}");
        println!(
            "{}{}{}",
            run("tc", "-d qdisc show dev left"),
            run("tc", "class show dev left"),
            run("tc", "filter show dev left parent 2:")
        );
        let again = says(0, &["apply", &path, "--dev", "left"]);
        assert!(again.contains("Nothing to change"), "{again}");

        let status = says(0, &["status", "--dev", "left"]);
        println!("{status}");
        assert!(status.contains("Uplink") && status.contains("voice"), "{status}");

        // A curve changes in place.
        let faster = UPLINK.replace("\"1mbit\"", "\"2mbit\"").replace("8mbit", "7mbit");
        let faster = plan("faster.toml", &faster);
        let changed = says(0, &["apply", &faster, "--dev", "left"]);
        println!("{changed}");
        assert!(changed.contains('~') && !changed.contains("loses"), "{changed}");

        // A class that goes loses its queue, which is said before; nothing waits in it.
        let alone = UPLINK.split("[class.voice]").next().unwrap().to_string()
            + "[class.rest]\ncurve = \"8mbit\"\n";
        let alone = plan("alone.toml", &alone);
        let gone = says(0, &["apply", &alone, "--dev", "left"]);
        assert!(gone.contains("Class voice loses its queue: 0 packets"), "{gone}");
        assert!(says(0, &["apply", &alone, "--dev", "left"]).contains("Nothing to change"));

        // Undone, it is the one before.
        says(0, &["apply", "--undo", "--dev", "left"]);
        assert!(says(0, &["apply", &faster, "--dev", "left"]).contains("Nothing to change"));
    });
}
