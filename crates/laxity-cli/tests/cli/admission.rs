//! What is proved under H-FSC and fair queueing, and what runs then keep.

use std::path::Path;

use laxity_plan::Plan;
use serde_json::Value;

use crate::folder::Folder;
use crate::kinds;

/// The hierarchy of Fig. 10 of Stoica, Zhang and Ng (2000), which fits exactly.
const PAPER: &str = r#"version = 1
[link]
rate = "10mbit"
max-packet = "8192b"
[scheduler]
kind = "hfsc"
[run]
duration = "2s"
[class.A]
link-share = "4.5mbit"
[class.audio]
parent = "A"
curve = { burst = "160b", delay = "5ms", rate = "64kbit" }
arrival = { bucket = "160b", rate = "64kbit", packet = "160b" }
[class.video]
parent = "A"
curve = { burst = "8192b", delay = "10ms", rate = "2mbit" }
arrival = { bucket = "8192b", rate = "2mbit", packet = "8192b" }
[class.on-off]
parent = "A"
curve = "1.8mbit"
[class.others-of-A]
parent = "A"
curve = "636kbit"
[class.B]
link-share = "5.5mbit"
[class.ftp]
parent = "B"
curve = { burst = "4096b", delay = "16.25ms", rate = "5mbit" }
[class.others-of-B]
parent = "B"
curve = "0.5mbit"
[[source]]
class = "audio"
model = "constant"
rate = "64kbit"
packet = "160b"
[[source]]
class = "video"
model = "constant"
rate = "1.98mbit"
packet = "8192b"
[[source]]
class = "on-off"
model = "on-off"
rate = "4mbit"
on = { exponential = "100ms" }
off = { exponential = "100ms" }
packet = "4096b"
[[source]]
class = "others-of-A"
model = "backlogged"
packet = "4096b"
[[source]]
class = "ftp"
model = "backlogged"
packet = "4096b"
[[source]]
class = "others-of-B"
model = "backlogged"
packet = "4096b"
"#;

/// Numbers and units apart by plain spaces.
fn plain(text: &str) -> String {
    text.replace(['\u{a0}', '\u{202f}'], " ")
}

fn class<'a>(answer: &'a Value, name: &str) -> &'a Value {
    let classes = answer["classes"].as_array().unwrap();
    classes.iter().find(|class| class["name"] == name).unwrap()
}

fn with_deadline(plan: &str, class: &str, deadline: &str) -> String {
    let head = format!("[class.{class}]\n");
    plan.replacen(&head, &format!("{head}deadline = \"{deadline}\"\n"), 1)
}

#[test]
fn the_plan_of_the_paper_is_admitted() {
    let folder = Folder::with_plan(PAPER);
    let told = plain(&folder.laxity(&["check", "plan.toml"]).printed(0));
    assert!(told.contains("Admitted. Every real-time curve is kept"), "{told}");
    assert!(
        told.contains("  audio") && told.contains("256 kbit/s for 5 ms, then 64 kbit/s"),
        "{told}"
    );
    assert!(told.contains("12 252 bytes within 10 ms"), "{told}");
    assert!(!told.contains("Trap:"), "{told}");
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    assert_eq!(answer["admitted"], true);
    assert_eq!(answer["long_run_bps"], 10_000_000);
    // 5 and 10 ms, and 8192 bytes on the link.
    assert_eq!(class(&answer, "audio")["bound_ns"], 11_553_600);
    assert_eq!(class(&answer, "video")["bound_ns"], 16_553_600);
    assert_eq!(class(&answer, "audio")["parent"], "A");
    assert_eq!(class(&answer, "ftp")["unbounded"], "it has no arrival curve");
    assert_eq!(answer["left"]["long_run_rate_bps"], 0.0);
}

#[test]
fn a_little_more_is_refused_with_the_place() {
    let plan = PAPER.replace("curve = \"636kbit\"", "curve = \"700kbit\"");
    let folder = Folder::with_plan(&plan);
    let told = plain(&folder.laxity(&["check", "plan.toml"]).printed(1));
    let why = "NOT ADMITTED. Not every real-time curve can be kept: in the long run they sum to \
               10.06 Mbit/s, but the link has only 10 Mbit/s; in class A: its classes' curves sum \
               to 4.564 Mbit/s, A has 4.5 Mbit/s.";
    assert!(told.contains(why), "{told}");
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(1);
    assert_eq!(answer["admitted"], false);
    let [_, place] = &answer["reasons"].as_array().unwrap()[..] else { panic!("{answer}") };
    assert_eq!((&place["code"], &place["class"]), (&"curves-overbooked".into(), &"A".into()));
    assert_eq!((&place["asked_bps"], &place["given_bps"]), (&4_564_000.into(), &4_500_000.into()));
    let binding = &answer["binding"];
    assert!(binding["demand_bytes"].as_u64() > binding["capacity_bytes"].as_u64());
    assert_eq!(class(&answer, "others-of-A")["highest_rate_bps"], 636_000);
    assert!(class(&answer, "audio")["highest_rate_bps"].is_null());
    assert!(class(&answer, "audio")["bound_ns"].is_null());
    // What is refused is no promise kept, whatever is measured.
    let told = folder.laxity(&["run", "plan.toml", "--duration", "100ms"]).printed(1);
    assert!(told.contains("NOT ADMITTED. Not every real-time curve can be kept"), "{told}");
}

#[test]
fn a_burst_that_does_not_fit_is_refused_with_its_interval() {
    let plan = PAPER.replace("delay = \"10ms\"", "delay = \"9ms\"");
    let folder = Folder::with_plan(&plan);
    let told = plain(&folder.laxity(&["check", "plan.toml"]).printed(1));
    assert!(told.contains("within 9 ms they sum to"), "{told}");
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(1);
    let burst = class(&answer, "video")["largest_burst_bytes"].as_u64().unwrap();
    assert!(burst < 8192);
    let mended = plan.replace("burst = \"8192b\"", &format!("burst = \"{burst}b\""));
    Folder::with_plan(&mended).laxity(&["check", "plan.toml"]).printed(0);
}

/// The disciplines that bound the delays of the paper's classes with a contract.
fn bounding() -> Vec<&'static str> {
    let plan = Plan::parse(PAPER, "plan.toml", Path::new("")).unwrap();
    let bounds = |kind: &&str| {
        let bounds = plan.clone().under(kind).unwrap().bounds();
        ["audio", "video"].iter().all(|name| bounds[plan.class(name).unwrap().index()].is_ok())
    };
    let bounding: Vec<_> = kinds().into_iter().filter(bounds).collect();
    assert!(bounding.len() > 4, "{bounding:?}");
    bounding
}

/// A deadline is part of what is promised, under every discipline that proves bounds.
#[test]
fn deadlines_below_the_bound_are_refused() {
    for scheduler in bounding() {
        let check = |plan: &str, code| {
            let folder = Folder::with_plan(plan);
            folder.laxity(&["check", "plan.toml", "--scheduler", scheduler, "--json"]).json(code)
        };
        let bound = class(&check(PAPER, 0), "audio")["bound_ns"].as_u64().unwrap();
        let kept = check(&with_deadline(PAPER, "audio", &format!("{bound}ns")), 0);
        assert_eq!(kept["admitted"], true, "{scheduler}");
        assert_eq!(class(&kept, "audio")["slack_ns"], 0, "{scheduler}");
        let refused = check(&with_deadline(PAPER, "audio", &format!("{}ns", bound - 1)), 1);
        assert_eq!(refused["admitted"], false, "{scheduler}");
        let says = refused["statement"].as_str().unwrap();
        assert!(says.contains("audio is to take no more than"), "{scheduler}: {says}");
    }
}

#[test]
fn rates_that_do_not_fit_are_refused_with_the_place() {
    let plan = PAPER.replace("curve = \"636kbit\"", "curve = \"700kbit\"");
    let folder = Folder::with_plan(&plan);
    let told = plain(&folder.laxity(&["check", "plan.toml", "--scheduler", "wf2q"]).printed(1));
    let why = "in class A: its classes' rates sum to 4.564 Mbit/s, A has 4.5 Mbit/s";
    assert!(told.contains(why), "{told}");
    let answer = folder.laxity(&["check", "plan.toml", "--scheduler", "wf2q", "--json"]).json(1);
    let reason = &answer["reasons"][0];
    assert_eq!((&reason["code"], &reason["class"]), (&"rates-overbooked".into(), &"A".into()));
    assert_eq!(class(&answer, "audio")["unbounded"], "more is promised than there is");
}

#[test]
fn traps_are_told_and_are_no_refusal() {
    let plan = r#"version = 1
link = { rate = "10mbit", max-packet = "1500b" }
scheduler = { kind = "hfsc" }
[class.office]
link-share = "4mbit"
upper-limit = "5mbit"
[class.voice]
parent = "office"
real-time = { burst = "160b", delay = "5ms", rate = "64kbit" }
arrival = { bucket = "1500b", rate = "100kbit" }
[class.backup]
parent = "office"
real-time = "6mbit"
link-share = "3mbit"
upper-limit = "6mbit"
[class.web]
link-share = "8mbit"
"#;
    let folder = Folder::with_plan(plan);
    let told = plain(&folder.laxity(&["check", "plan.toml"]).printed(0));
    for trap in [
        "Trap: the real-time curves of the leaves in office sum to 6.064 Mbit/s (backup alone has more)",
        "Trap: office has an upper limit of 5 Mbit/s, but is promised 6.064 Mbit/s",
        "Trap: voice has a real-time curve alone",
        "Trap: the real-time curve of voice serves 160 bytes within its first 5 ms",
        "Trap: up to 100 kbit/s of voice may arrive in the long run",
        "Trap: the real-time curve of backup is 6 Mbit/s, its link-share 3 Mbit/s",
        "Trap: the upper limit of backup is nowhere below that of office",
        "Trap: the link-shares of the classes at the top sum to 12 Mbit/s",
    ] {
        assert!(told.contains(trap), "{trap}\n{told}");
    }
    let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(0);
    let traps = answer["traps"].as_array().unwrap();
    let of = |class: &str, kind: &str| {
        traps.iter().find(|trap| trap["class"] == class && trap["kind"] == kind).unwrap()
    };
    assert_eq!(of("office", "real-time-above-share")["excess"]["asked_bps"], 6_064_000);
    assert_eq!(of("voice", "no-share")["passing"], false);
}

/// The same arrivals under every discipline: what was proved is what was kept, and the report shows
/// both.
#[test]
fn runs_keep_what_was_proved() {
    let folder = Folder::with_plan(PAPER);
    for scheduler in bounding() {
        let arguments = ["run", "plan.toml", "--scheduler", scheduler, "--out", scheduler];
        let told = folder.laxity(&arguments).printed(0);
        assert!(told.contains("Every promise was kept."), "{told}");
        let summary = folder.json(&format!("{scheduler}/summary.json"));
        for name in ["audio", "video"] {
            let class = class(&summary, name);
            let (delay, bound) = (class["promised_max_ns"].as_u64(), class["bound_ns"].as_u64());
            assert!(delay.unwrap() <= bound.unwrap(), "{scheduler} {name}");
        }
        let report = plain(&folder.text(&format!("{scheduler}/report.html")));
        assert!(report.contains("Admitted. "), "{scheduler}");
        let figure = report.contains("Service promised, and what the link can do");
        assert_eq!(figure, scheduler == "hfsc");
        assert!(scheduler != "hfsc" || report.contains("Left to give"));
    }
}

#[test]
fn every_failure_is_named() {
    for count in [1, 4, 9] {
        let classes = (0..count).map(|class| {
            format!(
                "[class.late{class}]\nweight = 1\ndeadline = \"2ms\"\n\
                 arrival = {{ bucket = \"3000b\", rate = \"10kbit\" }}\n"
            )
        });
        let plan = format!(
            "version = 1\n[link]\nrate = \"10mbit\"\n[scheduler]\nkind = \"drr\"\n{}[class.rest]\n",
            classes.collect::<String>()
        );
        let folder = Folder::with_plan(&plan);
        let printed = folder.laxity(&["check", "plan.toml"]).printed(1);
        let answer = folder.laxity(&["check", "plan.toml", "--json"]).json(1);
        let statement = answer["statement"].as_str().unwrap();
        for class in 0..count {
            let told = format!("late{class} is to take no more than");
            assert!(statement.contains(&told), "{statement}");
            assert!(printed.contains(&told), "{printed}");
        }
    }
}
