//! `laxity check --streams`: streams by IEEE 802.1Qcc.

use serde_json::Value;

use crate::folder::Folder;

const EXAMPLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/");
const STREAM: &str = "/ieee802-dot1q-cnc-config:cnc-config/domain/0/cuc/0/stream";

fn folder() -> Folder {
    let text = |name: &str| std::fs::read_to_string(format!("{EXAMPLES}{name}")).unwrap();
    Folder::with_plan(&text("time-frames.toml"))
        .with("streams.json", text("time-frames-streams.json"))
}

#[test]
fn streams_are_answered_and_written_into_the_plan() {
    let folder = folder();
    let arguments = ["check", "plan.toml", "--streams", "streams.json", "--write", "with.toml"];
    let table = folder.laxity(&arguments).printed(1);
    assert!(table.contains("21: maximum latency exceeded"), "{table}");
    let again = folder.laxity(&arguments);
    assert_eq!(again.code, Some(2), "{}", again.stderr);
    let answer = folder.laxity(&[&arguments[..4], &["--json"]].concat()).printed(1);
    let answer: Value = serde_json::from_str(&answer).unwrap();
    let streams = answer.pointer(STREAM).unwrap();
    assert_eq!(streams[1]["status-info"]["listener-status"], "partial-failed");
    assert_eq!(streams[1]["status-info"]["failure-code"], 21);

    // What is written is admitted, with the latencies that were answered.
    let checked = folder.laxity(&["check", "with.toml", "--json"]).printed(0);
    let checked: Value = serde_json::from_str(&checked).unwrap();
    let classes = checked["classes"].as_array().unwrap();
    let bound = |name: &str| {
        classes.iter().find(|class| class["class"] == name).unwrap()["bound_ns"].clone()
    };
    assert_eq!(bound("00-1B-44-11-3A-B7:00-01"), streams[0]["talker"]["accumulated-latency"]);
    let listener = &streams[1]["listener"][0];
    assert_eq!(bound("00-1B-44-11-3A-B8:00-01 1"), listener["accumulated-latency"]);
    folder.laxity(&["run", "with.toml", "--duration", "300ms"]).printed(0);
}

#[test]
fn what_is_no_request_is_refused() {
    let folder = folder();
    let refused = |text: &str, said: &str| {
        std::fs::write(folder.path("wrong.json"), text).unwrap();
        let ended = folder.laxity(&["check", "plan.toml", "--streams", "wrong.json"]);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    };
    let text = folder.text("streams.json");
    refused(&text.replace("\"s5\"", "\"s9\""), "the plan has no node `s9`");
    refused(&text.replace("max-frame-size", "frame-size"), "unknown field `frame-size`");
    refused("{", "wrong.json:1:1:");
    let unknown = folder.laxity(&["check", "plan.toml", "--streams", "none.json"]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.stderr);
}
