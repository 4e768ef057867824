use std::path::Path;

use proptest::prelude::*;
use serde_json::json;

use super::*;

const PLAN: &str = "version = 1
link = { rate = '100mbit', overhead = 'ethernet', max-packet = '1542b' }
scheduler = { kind = 'tdp', frame = '250us', frames = 40 }
[class.rest]
[network.one]
between = ['left', 'middle']
[network.two]
between = ['middle', 'right']
";

fn plan() -> Plan {
    Plan::parse(PLAN, "plan", Path::new("")).unwrap()
}

/// A document with one stream.
fn document() -> Value {
    json!({ "ieee802-dot1q-cnc-config:cnc-config": { "domain": [{ "domain-id": "d", "cuc": [{
        "cuc-id": "c",
        "stream": [{
            "stream-id": "00-00-5E-00-53-01:00-0a",
            "talker": {
                "stream-rank": { "rank": 0 },
                "end-station-interfaces": [{ "mac-address": "left" }],
                "data-frame-specification": [{ "index": 0, "ieee802-vlan-tag": { "vlan-id": 7 } }],
                "traffic-specification": {
                    "interval": { "numerator": 1, "denominator": 3000 },
                    "max-frames-per-interval": 2,
                    "max-frame-size": 482,
                    "time-aware": {
                        "earliest-transmit-offset": 1000, "latest-transmit-offset": 2000,
                        "jitter": 500
                    },
                },
                "user-to-network-requirements": { "max-latency": 5000000 },
            },
            "listener": [
                { "index": 4, "end-station-interfaces": [
                    { "mac-address": "00-00-5E-00-53-02", "interface-name": "right" }] },
                { "index": 9, "end-station-interfaces": [{ "mac-address": "middle" }],
                  "user-to-network-requirements": { "max-latency": 4000000 } },
            ],
        }],
    }] }] } })
}

const STREAM: &str = "/ieee802-dot1q-cnc-config:cnc-config/domain/0/cuc/0/stream/0";

fn read(document: &Value) -> Result<Requests, Error> {
    Requests::read(&document.to_string(), &plan())
}

#[test]
fn a_stream_is_read() {
    let requests = read(&document()).unwrap();
    let [stream] = &requests.streams[..] else { panic!() };
    assert_eq!((stream.rank, stream.trees, &*stream.talker), (0, 1, "left"));
    let listeners: Vec<_> = stream.listeners.iter().map(|it| (&*it.node, it.latency)).collect();
    let latencies = [5_000_000, 4_000_000].map(|ns| Some(Nanos(ns)));
    assert_eq!(listeners, [("right", latencies[0]), ("middle", latencies[1])]);
    // 482 bytes, a header, a tag, and Ethernet's own.
    assert_eq!(stream.traffic.packet(&plan()), Bytes(482 + 14 + 4 + 24));

    let text = stream.text(0, Some(Nanos(5)), &plan());
    // 1048 bytes at once and 500 ns of 1/3000 s sooner or later: 1048 * 1000 / 333333.3.
    let expected = "
[class.\"00-00-5E-00-53-01:00-0a 1\"]
arrival = { bucket = \"1052b\", rate = \"25152000bit\", packet = \"524b\" }
end-to-end = \"5ns\"
gap = \"333333ns\"
count = 2

[[source]]
class = \"00-00-5E-00-53-01:00-0a 1\"
model = \"constant\"
rate = \"25152000bit\"
packet = \"524b\"
path = \"shortest\"
from = \"left\"
to = \"right\"
";
    assert_eq!(text, expected);
}

#[test]
fn what_is_left_out_has_the_values_of_the_standard() {
    let mut document = document();
    let talker = document.pointer_mut(STREAM).unwrap().get_mut("talker").unwrap();
    let talker = talker.as_object_mut().unwrap();
    for group in ["stream-rank", "data-frame-specification", "user-to-network-requirements"] {
        talker.remove(group);
    }
    talker["traffic-specification"].as_object_mut().unwrap().remove("time-aware");
    let requests = read(&document).unwrap();
    let stream = &requests.streams[0];
    assert_eq!((stream.rank, stream.trees), (1, 1));
    assert_eq!(stream.listeners[0].latency, None);
    assert_eq!((stream.traffic.schedule, stream.traffic.is_tagged), (None, false));
}

#[test]
fn statuses_are_put_where_the_module_has_them() {
    let requests = read(&document()).unwrap();
    let answer = |listeners: [ListenerStatus; 2]| {
        let status = Status { listeners: listeners.to_vec() };
        requests.answer(&[status]).pointer(STREAM).unwrap().clone()
    };
    let stream = answer([Ok(Nanos(7_000)), Err(FailureCode::LatencyExceeded)]);
    let info = json!({ "talker-status": "ready", "listener-status": "partial-failed", "failure-code": 21 });
    assert_eq!((&stream["status-info"], &stream["stream-status"]), (&info, &"configured".into()));
    // From the begin of the interval: 1000 ns of offset and 500 of jitter.
    assert_eq!(stream["talker"]["accumulated-latency"], 8_500);
    assert_eq!(stream["listener"][0]["accumulated-latency"], 8_500);
    assert_eq!(stream["listener"][1].get("accumulated-latency"), None);
    let configured = json!({ "interface-list": [{
        "mac-address": "left", "interface-name": "",
        "config-list": [{ "index": 0, "time-aware-offset": 1000 }],
    }] });
    assert_eq!(stream["talker"]["interface-configuration"], configured);

    let stream =
        answer([Err(FailureCode::InsufficientBandwidth), Err(FailureCode::LatencyExceeded)]);
    let info = json!({ "talker-status": "failed", "listener-status": "failed", "failure-code": 1 });
    assert_eq!((&stream["status-info"], &stream["stream-status"]), (&info, &"planned".into()));
    let stream = answer([Ok(Nanos(7_000)), Ok(Nanos(9_000))]);
    let info = json!({ "talker-status": "ready", "listener-status": "ready", "failure-code": 0 });
    assert_eq!(stream["status-info"], info);
    assert_eq!(stream["talker"]["accumulated-latency"], 10_500);
    // What was answered is read as what was asked.
    let again = requests.answer(&[Status { listeners: vec![Ok(Nanos(1)), Ok(Nanos(2))] }]);
    assert_eq!(read(&again).unwrap().streams, requests.streams);
}

#[test]
fn wrong_documents_are_refused_with_their_place() {
    let refused = |pointer: &str, value: Value| {
        let mut document = document();
        *document.pointer_mut(&format!("{STREAM}{pointer}")).unwrap() = value;
        read(&document).unwrap_err().to_string()
    };
    let traffic = "/talker/traffic-specification";
    for (pointer, value, said) in [
        ("/stream-id", json!("00-00:1"), "stream[0]/stream-id: `00-00:1` is no identifier"),
        ("/stream-id", json!(7), "expected a string"),
        (
            "/talker/stream-rank/rank",
            json!(2),
            "stream-rank/rank: `2` is no rank: zero and one are",
        ),
        ("/talker/end-station-interfaces", json!([]), "one is needed"),
        ("/talker/end-station-interfaces/0/mac-address", json!("x"), "no node `x`"),
        ("/talker/end-station-interfaces/0/mac-address", json!("right"), "is the talker, too"),
        (
            &format!("{traffic}/interval/denominator"),
            json!(0),
            "the interval is a number of seconds",
        ),
        (&format!("{traffic}/interval/numerator"), json!(0), "the interval is a number of seconds"),
        (&format!("{traffic}/max-frames-per-interval"), json!(0), "nothing would be sent"),
        (&format!("{traffic}/max-frame-size"), json!(70_000), "expected u16"),
        (&format!("{traffic}/time-aware/latest-transmit-offset"), json!(0), "earliest offset"),
        (&format!("{traffic}/interval"), json!({ "numerator": 1 }), "missing field `denominator`"),
        ("/talker/stream-rank", json!({ "rang": 1 }), "unknown field `rang`, expected `rank`"),
    ] {
        let error = refused(pointer, value);
        assert!(error.contains(said), "{said}: {error}");
    }
    let broken = Requests::read("{\n  \"a\": ]", &plan()).unwrap_err();
    assert_eq!(broken.place(), Some("2:8"));
    let one_link = Plan::parse(
        "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'edf'\n[class.a]\n",
        "plan",
        Path::new(""),
    );
    let refused = Requests::read(&document().to_string(), &one_link.unwrap()).unwrap_err();
    assert!(refused.to_string().contains("[network]"), "{refused}");
}

proptest! {
    #[test]
    fn any_text_is_read_or_refused(
        cut in any::<prop::sample::Index>(),
        other in ".{0,20}",
        cutting in any::<prop::sample::Index>(),
    ) {
        let text = document().to_string();
        let mut place = cut.index(text.len());
        while !text.is_char_boundary(place) {
            place -= 1;
        }
        let mut rest = place + cutting.index(40).min(text.len() - place);
        while !text.is_char_boundary(rest) {
            rest -= 1;
        }
        let changed = format!("{}{other}{}", &text[..place], &text[rest..]);
        if let Ok(requests) = Requests::read(&changed, &plan()) {
            let statuses = vec![Status { listeners: vec![] }; requests.streams.len()];
            requests.answer(&statuses);
        }
    }

    /// A talker that keeps to its specification keeps to the arrival curve of its class.
    #[test]
    fn what_a_talker_sends_keeps_to_the_contract(
        numerator in 1u32..100,
        denominator in 1u32..10_000,
        frames in 1u16..20,
        size in 40u16..1500,
        bursts in proptest::collection::vec(0u128..3, 1..30),
    ) {
        let mut document = document();
        let specification = document.pointer_mut(&format!("{STREAM}/talker/traffic-specification"));
        *specification.unwrap() = json!({
            "interval": { "numerator": numerator, "denominator": denominator },
            "max-frames-per-interval": frames, "max-frame-size": size,
        });
        let requests = read(&document).unwrap();
        let text = requests.streams[0].text(0, None, &plan());
        let plan = Plan::parse(&format!("{PLAN}{text}"), "plan", Path::new(""));
        // What is more than the link sends is refused by its proof, and here by its gap.
        prop_assume!(plan.is_ok());
        let plan = plan.unwrap();
        let arrival = plan.classes.iter().find(|it| it.name.starts_with("00-00")).unwrap();
        let arrival = arrival.arrival.as_ref().unwrap();
        let bucket = arrival.buckets[0];
        // All frames of an interval at once, after some intervals without any.
        let (mut time, mut sent) = (0u128, 0u128);
        let packet = u128::from(arrival.packet.unwrap().0);
        for skipped in bursts {
            sent += packet * u128::from(frames);
            // In units of 1 / denominator s, in which intervals are whole.
            let earned = u128::from(bucket.rate.0) * time;
            let due = u128::from(bucket.bucket.0) * 8 * u128::from(denominator) + earned;
            prop_assert!(sent * 8 * u128::from(denominator) <= due);
            time += u128::from(numerator) * (1 + skipped);
        }
    }
}
