//! `laxity why` of two captures, before a shaper and behind it.

use serde_json::Value;

use crate::bad_input::refused;
use crate::folder::Folder;

/// 8 Mbit/s: a byte takes a microsecond.
const PLAN: &str = r#"version = 1
[link]
rate = "8mbit"
[scheduler]
kind = "edf"
[class.call]
deadline = "2ms"
arrival = { bucket = "300b", rate = "800kbit", packet = "300b" }
match = "udp dport 5000"
[class.upload]
match = "udp dport 80"
"#;

/// An Ethernet frame of this many bytes that carries `number` in a UDP datagram.
fn frame(port: u16, number: u8, bytes: u16) -> Vec<u8> {
    let mut frame = vec![2; 12];
    frame.extend([8, 0, 0x45, 0]);
    frame.extend((bytes - 14).to_be_bytes());
    frame.extend([0, 0, 0x40, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2, 0x10, 0]);
    frame.extend(port.to_be_bytes());
    frame.extend((bytes - 34).to_be_bytes());
    frame.extend([0, 0, number]);
    frame.resize(bytes.into(), 7);
    frame
}

/// A capture of frames, each with its time in microseconds.
fn pcap(link_type: u32, snap: usize, frames: &[(u32, Vec<u8>)]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, 65_535, link_type] {
        file.extend(u32::to_le_bytes(word));
    }
    for (micros, frame) in frames {
        let kept = &frame[..snap.min(frame.len())];
        for word in [1_700_000_000, micros * 1000, kept.len() as u32, frame.len() as u32] {
            file.extend(word.to_le_bytes());
        }
        file.extend(kept);
    }
    file
}

/// At 0 a packet of the upload arrives, and at 1 ms one of the call; then one that no class takes.
/// The upload's is sent at once, and takes 1.5 ms. The other is sent at 1.6 ms, before the call, at
/// 2 ms.
fn captures() -> [Vec<u8>; 2] {
    let [upload, call, other] = [frame(80, 1, 1500), frame(5000, 2, 200), frame(9, 3, 300)];
    let before = [(0, upload.clone()), (1_000, call.clone()), (1_100, other.clone())];
    let behind = [(0, upload), (1_600, other), (2_000, call)];
    [pcap(1, 65_535, &before), pcap(1, 65_535, &behind)]
}

fn folder() -> Folder {
    let [before, behind] = captures();
    Folder::with_plan(PLAN).with("before.pcap", before).with("behind.pcap", behind)
}

const CAPTURES: [&str; 6] =
    ["why", "plan.toml", "--before", "before.pcap", "--behind", "behind.pcap"];

fn parts(folder: &Folder, more: &[&str]) -> Vec<(String, u64)> {
    let arguments = [&CAPTURES[..], &["--json"], more].concat();
    let answer: Value = serde_json::from_str(&folder.laxity(&arguments).printed(0)).unwrap();
    assert_eq!(answer["matched"], 1);
    let parts = answer["packets"][0]["hops"][0]["parts"].as_array().unwrap().clone();
    let part = |part: &Value| {
        let micros = part["time_ns"].as_u64().unwrap() / 1_000;
        (part["sentence"].as_str().unwrap().to_string(), micros)
    };
    parts.iter().map(part).collect()
}

fn named(parts: &[(&str, u64)]) -> Vec<(String, u64)> {
    parts.iter().map(|(cause, micros)| (cause.to_string(), *micros)).collect()
}

#[test]
fn what_left_before_a_packet_delayed_it() {
    let folder = folder();
    let expected = [
        ("a packet of upload was on the link", 500),
        ("nothing was sent: the reason is not seen from outside", 100 + 100),
        ("packets of other traffic: they were sent before it", 300),
    ];
    assert_eq!(parts(&folder, &["--class", "call"]), named(&expected));
}

/// The same stamps, of last bits. The packet before the call ends at 1.6 ms, and began at 1.3 ms.
#[test]
fn frames_that_were_recorded_where_they_arrived_end_at_their_stamps() {
    let folder = folder();
    let expected = [
        ("nothing was sent: the reason is not seen from outside", 300 + 200),
        ("packets of other traffic: they were sent before it", 300),
        ("its own transmission", 200),
    ];
    assert_eq!(parts(&folder, &["--class", "call", "--mirror"]), named(&expected));
}

#[test]
fn captures_that_do_not_tell_packets_apart_are_refused() {
    let folder = folder().with("raw.pcap", pcap(101, 65_535, &[(0, vec![0x45; 40])]));
    let folder = folder.with("cut.pcap", pcap(1, 60, &[(0, frame(80, 1, 1500))]));
    let ask = |before| ["why", "plan.toml", "--before", before, "--behind", "behind.pcap"];
    refused(&folder, &ask("raw.pcap"), &["raw.pcap: frame 1", "record at an Ethernet interface"]);
    refused(&folder, &ask("cut.pcap"), &["cut.pcap: frame 1", "60 of 1500 bytes", "-s 0"]);
    refused(&folder, &ask("plan.toml"), &["this is a text"]);
    refused(&folder, &CAPTURES[..4], &["--behind"]);
    refused(&folder, &[&CAPTURES[..], &["--without", "upload"]].concat(), &["--without"]);
}
