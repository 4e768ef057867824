//! What fills a link, and its past in a file.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::folder::Folder;
use crate::live::PLAN;
use crate::live::link::Link;
use crate::sight::get;

/// Passes packets until the status says something.
fn until(folder: &Folder, link: &Link, mut is_told: impl FnMut(&Value) -> bool) -> Value {
    let begun = Instant::now();
    loop {
        link.pass(0, 5000, 40);
        let status = folder.laxity(&["status", "--control", "laxity/a-b.sock", "--json"]).json(0);
        if is_told(&status) {
            return status;
        }
        assert!(begun.elapsed() < Duration::from_secs(60), "{status}");
    }
}

fn recorded(folder: &Folder, file: &str) -> u64 {
    let past = folder.laxity(&["status", "--history", file, "--json"]);
    let past: Value = serde_json::from_str(&past.stdout).unwrap();
    let call = &past["classes"][0];
    assert_eq!((&call["way"], &call["name"]), (&"out".into(), &"call".into()));
    call["points"].as_array().unwrap().iter().map(|it| it["packets"].as_u64().unwrap()).sum()
}

/// Hosts and flows while packets pass, advice, and a history that goes on after the process was
/// killed, and beside itself under other classes.
#[test]
fn a_link_is_described_and_its_past_is_kept() {
    let folder = Folder::with_plan(PLAN);
    let more = ["--history", "uplink.history", "--listen", "9464", "--names"];
    let Some(mut link) = Link::start(&folder, &more) else { return };
    let told = |status: &Value| {
        let way = &status["ways"][0];
        way["advice"].is_string() && way["talkers"]["flows"][0]["class"] == "call"
    };
    let status = until(&folder, &link, told);
    let way = &status["ways"][0];
    let flow = &way["talkers"]["flows"][0];
    assert_eq!((&flow["protocol"], &flow["source"]), (&"udp".into(), &"10.0.0.1".into()));
    assert_eq!((&flow["source_port"], &flow["destination_port"]), (&5000.into(), &5000.into()));
    assert_eq!(way["talkers"]["hosts"][0]["address"], "10.0.0.1");
    assert_eq!(way["talkers"]["unknown_bytes"], 0);
    let text = folder.laxity(&["status", "--control", "laxity/a-b.sock"]).stdout;
    assert!(text.contains("What fills the link now"), "{text}");
    let past = get(&link.between, "/past?day");
    assert!(past.contains("\"span\":\"day\"") && past.contains("\"call\""), "{past}");
    assert!(get(&link.between, "/past?year").starts_with("HTTP/1.1 400"), "no such span");

    link.running.signal("-KILL");
    link.running.0.wait().unwrap();
    let before = recorded(&folder, "uplink.history");
    assert!(before > 0);
    drop(link);

    let Some(mut link) = Link::start(&folder, &more) else { return };
    until(&folder, &link, |_| recorded(&folder, "uplink.history") > before);
    std::fs::write(folder.path("plan.toml"), PLAN.replace("class.call", "class.talk")).unwrap();
    folder.laxity(&["reload", "--control", "laxity/a-b.sock"]).printed(0);
    until(&folder, &link, |_| folder.path("uplink-2.history").exists());
    link.says("the history begins in uplink-2.history: uplink.history is of other classes");
    link.end_somehow();
    let text = folder.laxity(&["status", "--history", "uplink-2.history", "--back", "week"]).stdout;
    assert!(text.starts_with("The last week") && text.contains("out talk"), "{text}");
}

#[test]
fn what_is_no_history_is_refused_and_kept() {
    let folder = Folder::with_plan(PLAN);
    for arguments in [
        &["status", "--history", "plan.toml"][..],
        &["live", "plan.toml", "--in", "lo", "--out", "nowhere", "--history", "plan.toml"],
    ] {
        let ended = folder.laxity(arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
    }
    let ended = folder.laxity(&["status", "--history", "plan.toml"]);
    assert!(ended.stderr.contains("plan.toml is no history"), "{}", ended.stderr);
    assert_eq!(std::fs::read_to_string(folder.path("plan.toml")).unwrap(), PLAN);
    assert_eq!(folder.laxity(&["status", "--history", "nowhere"]).code, Some(3));
}
