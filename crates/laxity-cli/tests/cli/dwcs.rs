//! Streams that tolerate losses: what is checked, compared and written of them.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};
use crate::schedulers;

/// Sixty streams of packets that take 1 ms, on a link that carries two thirds of them: twenty that
/// can do without one in twenty and forty that can do without three in four.
const OVERLOADED: &str = r#"version = 1
[link]
rate = "8mbit"
max-packet = "1000b"

[scheduler]
kind = "dwcs"

[class.strict]
count = 20
gap = "40ms"
loss = "1/20"

[class.loose]
count = 40
gap = "40ms"
loss = "3/4"

[class.rest]

[[source]]
class = "strict"
model = "constant"
packet = "1000b"
rate = "200kbit"

[[source]]
class = "loose"
model = "constant"
packet = "1000b"
rate = "200kbit"

[run]
duration = "4s"
"#;

fn class<'a>(summary: &'a Value, name: &str) -> &'a Value {
    let classes = summary["classes"].as_array().unwrap();
    classes.iter().find(|class| class["name"] == name).unwrap()
}

#[test]
fn windows_are_told_under_every_scheduler() {
    let folder = Folder::with_plan(OVERLOADED);
    for scheduler in schedulers() {
        let name = scheduler.replace('/', "-");
        let run = ["run", "plan.toml", "--scheduler", scheduler, "--out", &name];
        let ended = folder.laxity(&run);
        assert_eq!(ended.stderr, "");
        assert!(ended.stdout.contains("longest run"), "{scheduler}: {}", ended.stdout);
        let summary = folder.json(&format!("{name}/summary.json"));
        let strict = class(&summary, "strict");
        let windows = &strict["windows"];
        let told = (windows["loss"].as_str(), windows["streams"].as_u64());
        assert_eq!(told, (Some("1/20"), Some(20)));
        let number = |of: &str| windows[of].as_u64().unwrap();
        let dropped: u64 =
            strict["dropped"].as_object().unwrap().values().map(|n| n.as_u64().unwrap()).sum();
        assert_eq!(number("packets"), strict["sent"].as_u64().unwrap() + dropped);
        // A stream's first 19 packets complete no window.
        assert_eq!(number("windows"), number("packets") - 20 * 19);
        assert!(number("lost") <= number("packets") && number("violations") <= number("windows"));
        assert!((number("longest_run") == 0) == (number("lost") == 0));
        assert!(class(&summary, "rest").get("windows").is_none());
        let report = folder.text(&format!("{name}/report.html"));
        assert!(report.contains("Longest run"), "{scheduler}");
    }
}

/// First come, first served and EDF make all streams late alike; DWCS takes from those that can do
/// without.
#[test]
fn dwcs_takes_from_those_who_can_spare_it() {
    let folder = Folder::with_plan(OVERLOADED);
    let schedulers = "fifo,edf,dwcs/deadline-first";
    let compare = ["compare", "plan.toml", "--json", "--out", "out", "--schedulers", schedulers];
    let summaries: Value = serde_json::from_str(&folder.laxity(&compare).stdout).unwrap();
    assert_eq!(summaries, folder.json("out/summary.json"));
    let windows = |at: usize, name: &str, of: &str| {
        class(&summaries[at], name)["windows"][of].as_u64().unwrap()
    };
    for late in [0, 1] {
        // Packets follow each other after 60 ms instead of 40, so every second one misses a
        // deadline.
        let lost = windows(late, "strict", "lost") as f64;
        let share = lost / windows(late, "strict", "packets") as f64;
        assert!((share - 0.5).abs() < 0.02, "{share}");
        let all = windows(late, "strict", "windows");
        assert!(windows(late, "strict", "violations") > all * 9 / 10);
    }
    // What the loose ones can do without is more than what is asked of them.
    assert_eq!(windows(2, "strict", "violations"), 0);
    assert!(windows(2, "loose", "violations") < windows(2, "loose", "windows") / 100);
    assert!(windows(2, "loose", "longest_run") <= 2 * 3);
    assert!(folder.text("out/report.html").contains("Windows violated"));
    let table = folder.laxity(&["compare", "plan.toml", "--schedulers", schedulers]).stdout;
    let row = |of: &str| table.lines().find(|line| line.contains(of)).unwrap().to_string();
    let violated = row("windows violated (may lose 1/20)");
    assert!(violated.contains('!') && violated.ends_with(" 0"), "{table}");
    assert!(table.contains("longest run of losses") && table.contains("late or lost"), "{table}");
}

#[test]
fn late_packets_are_told_apart_in_the_packet_file() {
    let folder = Folder::with_plan(OVERLOADED);
    folder.laxity(&["run", "plan.toml", "--out", "out"]);
    let packets = folder.text("out/packets.csv");
    let late = packets.lines().filter(|line| line.ends_with(",late")).count() as u64;
    let summary = folder.json("out/summary.json");
    let of = |name: &str, key: &str| class(&summary, name)["dropped"][key].as_u64().unwrap_or(0);
    assert!(late > 100);
    assert_eq!(of("strict", "late") + of("loose", "late"), late);
    assert!(
        class(&summary, "loose")["windows"]["deadline_misses"].as_u64()
            >= Some(of("loose", "late"))
    );
}

#[test]
fn the_settings_of_dwcs_reach_the_run() {
    let measured = |options: &str, arguments: &[&str]| {
        let plan = OVERLOADED.replace("kind = \"dwcs\"", &format!("kind = \"dwcs\"\n{options}"));
        let folder = Folder::with_plan(&plan);
        let ended = folder.laxity(&[&["run", "plan.toml", "--json"], arguments].concat());
        let summary: Value = serde_json::from_str(&ended.stdout).unwrap();
        (summary["scheduler"].clone(), summary["classes"].clone())
    };
    let default = measured("", &[]);
    assert_eq!(default.0, "dwcs/loss-first");
    let written = "precedence = \"loss-first\"\nviolation = \"reset\"\ncheck-every = 1";
    assert_eq!(measured(written, &[]), default);
    assert_ne!(measured("check-every = 40", &[]).1, default.1);
    let deadline_first = measured("precedence = \"deadline-first\"", &[]);
    assert_eq!(deadline_first.0, "dwcs/deadline-first");
    assert_ne!(deadline_first.1, default.1);
    assert_eq!(measured("", &["--scheduler", "dwcs/deadline-first"]), deadline_first);
    let both = ["check-every = 40", "precedence = \"deadline-first\""];
    let named = measured(both[0], &["--scheduler", "dwcs/deadline-first"]);
    assert_eq!(measured(&both.join("\n"), &[]), named);
}

#[test]
fn what_streams_cannot_be() {
    let refused = |old: &str, new: &str, says: &[&str]| {
        assert!(OVERLOADED.contains(old), "{old}");
        let folder = Folder::with_plan(&OVERLOADED.replacen(old, new, 1));
        for command in ["check", "run"] {
            refused(&folder, &[command, "plan.toml"], says);
        }
    };
    let loss = |text: &str, says: &str| refused("1/20", text, &["plan.toml:12:8", says]);
    loss("3/2", "`3/2` allows more losses than there are packets");
    loss("0/0", "`0/0` has a window of 0 packets: it must be 1 to 65535");
    loss("1/0", "`1/0` has a window of 0 packets");
    refused("40ms", "0ms", &["plan.toml:11:7", "`gap` is zero: it must be more"]);
    refused("20\n", "0\n", &["plan.toml:10:9", "`count` is zero: it must be more"]);
    let most = "the `count`s of all classes together are at most 1000000";
    refused("20\n", "1000000000\n", &["plan.toml:10:9", most]);
    refused("gap = \"40ms\"\n", "", &["`loss` without `gap` or `deadline`", "add `gap = "]);
    let zero = &["plan.toml:8:15", "`check-every` is zero"];
    refused("\"dwcs\"", "\"dwcs\"\ncheck-every = 0", zero);
}

#[test]
fn a_million_streams_are_no_trouble() {
    let plan = OVERLOADED.replace("count = 40", "count = 999980").replace("200kbit", "8bit");
    let folder = Folder::with_plan(&plan);
    let summary = folder.laxity(&["run", "plan.toml", "--duration", "100ms", "--json"]).stdout;
    let summary: Value = serde_json::from_str(&summary).unwrap();
    assert_eq!(class(&summary, "loose")["windows"]["packets"], 999_980);
}

#[test]
fn check_says_what_to_shed() {
    let deadline_first =
        OVERLOADED.replace("\"dwcs\"", "\"dwcs\"\nprecedence = \"deadline-first\"");
    let check = |plan: &str, code: i32| {
        let folder = Folder::with_plan(plan);
        let told = folder.laxity(&["check", "plan.toml"]).printed(code);
        (told, folder.laxity(&["check", "plan.toml", "--json"]).json(code))
    };
    // 19 services and 10 in 40 ms.
    let (told, answer) = check(&deadline_first, 0);
    assert!(told.contains("Admitted.") && told.contains("72.5\u{a0}%"), "{told}");
    assert_eq!((&answer["admitted"], &answer["windows"]["services"]), (&true.into(), &40.into()));
    assert_eq!(answer["windows"]["services_needed"], 29.0);
    let expected = serde_json::json!({ "count": 20, "gap_ns": 40_000_000, "loss": "1/20" });
    assert_eq!(answer["classes"][0]["streams"], expected);
    // 57 services and 10: 29 streams of 0.95 too many.
    let (told, answer) = check(&deadline_first.replace("count = 20", "count = 60"), 1);
    assert!(
        told.contains("NOT ADMITTED.") && told.contains("29 of the 60 streams of strict"),
        "{told}"
    );
    let expected = serde_json::json!([{ "class": "strict", "streams": 29, "count": 60 }]);
    assert_eq!((&answer["admitted"], &answer["windows"]["shed"]), (&false.into(), &expected));
    let (told, answer) = check(OVERLOADED, 0);
    assert!(told.contains("Not proved") && answer["admitted"].is_null(), "{told}");
}

#[test]
fn the_media_server_keeps_its_windows_under_dwcs_alone() {
    let plan = repository("examples/media-server.toml");
    let folder = Folder::new();
    assert!(folder.laxity(&["check", &plan]).printed(0).contains("Admitted."));
    let run = ["run", &plan, "--duration", "1.5s"];
    let summary = folder.laxity(&[&run[..], &["--json"]].concat()).json(0);
    assert_eq!(class(&summary, "high")["windows"]["proved"], true);
    let told = folder.laxity(&run).printed(0);
    assert!(told.contains("Every promise was kept."), "{told}");
    let fifo = ["run", &plan, "--duration", "1.5s", "--scheduler", "fifo"];
    let told = folder.laxity(&fifo).printed(1);
    assert!(told.contains("LATE: high") && told.contains("lost more than tolerated"), "{told}");
}
