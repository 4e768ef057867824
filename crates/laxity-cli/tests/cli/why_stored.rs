//! `laxity why` of a stored run, and of the ledger of a live link.

use std::net::IpAddr;
use std::path::Path;

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::ledger::Writer;
use laxity_forward::{Event, Forwarder, Frame, PreparedPlan, Settings};
use laxity_plan::Plan;
use laxity_plan::matching::{Headers, IpHeaders, Ports};
use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::{Folder, repository};

fn example(name: &str) -> Folder {
    Folder::with_plan(&std::fs::read_to_string(repository(&format!("examples/{name}"))).unwrap())
}

fn json(folder: &Folder, arguments: &[&str]) -> Value {
    let arguments = [&["why", "--json"], arguments].concat();
    serde_json::from_str(&folder.laxity(&arguments).printed(0)).unwrap()
}

/// One link and a network, with both packet files: the folder and its manifest say the same as the
/// plan with the seed and the duration of the run.
#[test]
fn a_stored_run_is_explained_as_the_plan_with_its_options() {
    for name in ["why/long-packet.toml", "why/regulator.toml"] {
        let folder = example(name);
        let options = ["--seed", "7", "--duration", "2s"];
        let expected = json(&folder, &[&["plan.toml"], &options[..]].concat());
        for format in ["csv", "parquet"] {
            let run = ["run", "plan.toml", "--out", "stored", "--packets", format];
            folder.laxity(&[&run[..], &options].concat());
            for stored in ["stored", "stored/manifest.json"] {
                let asked = json(&folder, &[stored, "--slowest", "3"]);
                assert!(asked["matched"].as_u64().unwrap() > 100, "{asked}");
                assert_eq!(asked, expected, "{name}, {format}, {stored}");
            }
        }
    }
}

/// What a change of the plan to another discipline does is a run of its own, under that.
#[test]
fn a_stored_run_was_under_the_scheduler_of_its_command() {
    let folder = example("why/long-packet.toml");
    folder.laxity(&["run", "plan.toml", "--out", "stored", "--scheduler", "fifo"]).printed(1);
    let changed = json(&folder, &["plan.toml", "--scheduler", "fifo"]);
    assert_eq!(json(&folder, &["stored"])["classes"], changed["changes"][0]["classes"]);
    let back = json(&folder, &["stored", "--scheduler", "priority"]);
    assert_eq!(back["changes"][0]["classes"], changed["classes"]);
}

#[test]
fn a_plan_that_has_changed_is_not_that_of_the_run() {
    let folder = example("why/long-packet.toml");
    for format in ["csv", "parquet"] {
        let run = ["run", "plan.toml", "--out", "stored", "--packets", format];
        folder.laxity(&run);
        let text = folder.text("plan.toml");
        let changed = text.replacen("rate = \"1mbit\"", "rate = \"1001kbit\"", 1);
        assert_ne!(changed, text);
        std::fs::write(folder.path("plan.toml"), changed).unwrap();
        let says = ["repeated, the run is another: row 1 is", "in the file and", "has changed"];
        refused(&folder, &["why", "stored"], &says);
        std::fs::write(folder.path("plan.toml"), text).unwrap();
    }
}

#[test]
fn a_folder_without_one_run_is_refused() {
    let folder = example("why/long-packet.toml");
    std::fs::create_dir(folder.path("empty")).unwrap();
    refused(&folder, &["why", "empty"], &["there is no manifest of a run", "laxity run --out"]);
    folder.laxity(&["run", "plan.toml", "--out", "seeds", "--seeds", "2"]);
    refused(&folder, &["why", "seeds"], &["it is of several runs"]);
    folder.laxity(&["run", "plan.toml", "--out", "stored"]);
    refused(&folder, &["why", "stored", "--seed", "3"], &["a stored run has its own traffic"]);
    std::fs::rename(folder.path("plan.toml"), folder.path("elsewhere.toml")).unwrap();
    refused(&folder, &["why", "stored"], &["its plan is plan.toml as seen from where"]);
}

/// 8 Mbit/s: a byte takes a microsecond.
const LINK: &str = r#"version = 1
[link]
rate = "8mbit"
[scheduler]
kind = "priority"
[class.call]
level = 0
match = "udp dport 4000"
[class.upload]
level = 1
match = "any"
"#;

fn frame(port: u16, length: u32) -> Frame {
    let address = |last: u32| IpAddr::V4((0x0a00_0000 + last).into());
    let ip =
        IpHeaders { source: address(1), destination: address(2), protocol: 17, dscp: 0, ecn: 0 };
    let ports = Some(Ports { source: 9, destination: port });
    let headers = Headers { ip: Some(ip), ports, ..Headers::default() };
    Frame { headers, ecn: Ecn::NotCapable, length, handle: 0, ..Frame::default() }
}

/// A link that wakes up late: at 0 it sends 1500 bytes of the upload, until 1.5 ms. At 1 ms a
/// packet of the call comes, and at 1.2 ms one of the upload. It wakes at 1.6 ms, sends the call
/// until 1.8 ms, and wakes at 2 ms. With `reload`, another plan, in which classes have other
/// numbers, is followed at 1.65 ms.
fn ledger(reload: Option<&str>) -> Vec<u8> {
    let us = |time: u64| Nanos(time * 1000);
    let plan = |text: &str| Plan::parse(text, "plan.toml", Path::new(".")).unwrap();
    let settings = Settings::default();
    let mut events: Vec<Event> = Vec::new();
    let mut sink = |event: &Event| events.push(*event);
    let mut forwarder = Forwarder::new(plan(LINK), settings).unwrap();
    forwarder.arrive(us(0), frame(80, 1500), &mut sink);
    forwarder.poll(us(0), &mut sink);
    forwarder.arrive(us(1000), frame(4000, 200), &mut sink);
    forwarder.arrive(us(1200), frame(80, 1500), &mut sink);
    forwarder.poll(us(1600), &mut sink);
    if let Some(text) = reload {
        let mut next = PreparedPlan::new(plan(text), forwarder.settings()).unwrap();
        forwarder.reload(us(1650), &mut next, &mut sink).unwrap();
    }
    forwarder.poll(us(2000), &mut sink);
    let mut ledger = Writer::new(Vec::new(), settings.into()).unwrap();
    ledger.plan(LINK).unwrap();
    for event in &events {
        if let (Event::Reloaded { .. }, Some(text)) = (event, reload) {
            ledger.plan(text).unwrap();
        }
        ledger.write(event).unwrap();
    }
    ledger.into_inner()
}

/// The causes of packet `number`, with their times in microseconds.
fn parts(answer: &Value, number: u64) -> Vec<(String, u64)> {
    let mut packets = answer["packets"].as_array().unwrap().iter();
    let packet = packets.find(|packet| packet["seq"] == number).unwrap();
    let part = |part: &Value| {
        let nanos = part["time_ns"].as_u64().unwrap();
        assert_eq!(nanos % 1000, 0);
        (part["sentence"].as_str().unwrap().to_string(), nanos / 1000)
    };
    packet["hops"][0]["parts"].as_array().unwrap().iter().map(part).collect()
}

fn of(parts: &[(&str, u64)]) -> Vec<(String, u64)> {
    parts.iter().map(|(cause, time)| (cause.to_string(), *time)).collect()
}

#[test]
fn a_ledger_says_what_waking_late_costs() {
    let folder = Folder::new().with("live.ledger", ledger(None));
    folder.laxity(&["replay", "live.ledger"]).printed(0);
    let changes = ["--without", "upload", "--scheduler", "fifo"];
    let answer = json(&folder, &[&["live.ledger"], &changes[..]].concat());
    let call =
        [("a packet of upload was on the link", 500), ("the link was free and woke up late", 100)];
    let upload = [
        ("a packet of upload was on the link", 300),
        ("packets of call: their level comes first", 200),
        ("the link was free and woke up late", 100 + 200),
    ];
    let own = [("its own transmission", 200), ("its own transmission", 1500)];
    assert_eq!(parts(&answer, 1), of(&[&call[..], &own[..1]].concat()));
    assert_eq!(parts(&answer, 2), of(&[&upload[..], &own[1..]].concat()));
    let names: Vec<_> =
        answer["changes"].as_array().unwrap().iter().map(|change| &change["change"]).collect();
    assert_eq!(names, ["never late", "without upload", "fifo"]);
    let delays = answer["changes"][0]["slowest"].as_array().unwrap().iter();
    let delays: Vec<_> = delays.map(|packet| packet["delay_ns"].as_u64().unwrap()).collect();
    assert_eq!(delays, [2_000_000, 1_500_000, 700_000]);
    let slow = json(&folder, &["live.ledger", "--class", "call", "--slower-than", "700us"]);
    assert_eq!([&slow["matched"], &slow["packets"][0]["seq"]], [1, 1]);
    assert_eq!(json(&folder, &["live.ledger", "--packet", "2"])["matched"], 1);
    assert_eq!(json(&folder, &["live.ledger", "--missed"])["matched"], 0);
}

#[test]
fn a_packet_keeps_its_causes_when_another_plan_is_followed() {
    let other = r#"version = 1
[link]
rate = "16mbit"
[scheduler]
kind = "fifo"
[class.web]
match = "tcp dport 1"
[class.upload]
match = "any"
"#;
    let folder = Folder::new().with("live.ledger", ledger(Some(other)));
    folder.laxity(&["replay", "live.ledger"]).printed(0);
    let answer = json(&folder, &["live.ledger"]);
    let upload = [
        ("a packet of upload was on the link", 300),
        ("packets of call: their level comes first", 200),
        ("the link was free and woke up late", 100 + 200),
        ("its own transmission", 750),
    ];
    assert_eq!(parts(&answer, 2), of(&upload));
    assert_eq!(answer["packets"][0]["class"], "upload");
    let says = ["the link followed 2 plans", "ask without changes"];
    refused(&folder, &["why", "live.ledger", "--without", "upload"], &says);
    assert_eq!(json(&folder, &["live.ledger", "--class", "call"])["matched"], 1);
}

#[test]
fn a_ledger_that_cannot_be_explained_is_refused() {
    let whole = ledger(None);
    let folder = Folder::new().with("live.ledger", &whole);
    let says = ["a ledger has its own traffic: leave --duration out"];
    refused(&folder, &["why", "live.ledger", "--duration", "1s"], &says);
    std::fs::write(folder.path("cut.ledger"), &whole[..whole.len() - 3]).unwrap();
    assert_eq!(json(&folder, &["cut.ledger"])["matched"], 2);
    std::fs::write(folder.path("old.ledger"), "laxity ledger 1\n").unwrap();
    refused(&folder, &["why", "old.ledger"], &["it is a ledger of version 1"]);
}
