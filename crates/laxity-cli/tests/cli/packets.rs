//! The packet file read again with nothing of Laxity's, and held against the summary and against
//! what every link does.

use std::collections::BTreeMap;
use std::fs::File;

use laxity_plan::discipline::Kind;
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use serde_json::Value;

use crate::folder::Folder;
use crate::schedulers;

/// A busy link: overloaded now and then, so that packets wait, are late and are dropped, for full
/// queues and for broken contracts.
pub(crate) const BUSY: &str = r#"
version = 1
[link]
rate = "9999991bit"            # no packet takes a whole number of nanoseconds
max-packet = "1500b"
[scheduler]
kind = "edf"
[run]
duration = "3s"
warm-up = "250ms"
seed = 7

[class.voice]
deadline = "4ms"
arrival = { bucket = "2kB", rate = "600kbit", packet = "200b" }

[class.video]
deadline = "15ms"
police = "drop"
arrival = { bucket = "12kB", rate = "4mbit", packet = "1400b" }

[class.web]
weight = 2
queue = { kind = "droptail", limit = "30kB" }

[class.bulk]
queue = { kind = "droptail", limit = 20 }

[class.silent]

[[source]]
class = "voice"
model = "constant"
count = 5
rate = "100kbit"
packet = "200b"

[[source]]
class = "video"
model = "on-off"
rate = "6mbit"
on = { exponential = "40ms" }
off = { exponential = "40ms" }
packet = { normal = ["1000b", "300b"] }

[[source]]
class = "web"
model = "pareto-on-off"
count = 4
rate = "4mbit"
on = "50ms"
off = "150ms"
packet = { uniform = ["40b", "1500b"] }

[[source]]
class = "bulk"
model = "poisson"
rate = "3mbit"
packet = "1500b"
"#;

const RATE: u128 = 9_999_991;
const WARM_UP: u64 = 250_000_000;

/// A row of packets.csv.
struct Packet {
    seq: usize,
    class: String,
    length: u64,
    arrival: u64,
    deadline: Option<u64>,
    sent: Option<Transmission>,
    verdict: String,
}

#[derive(Clone, Copy)]
struct Transmission {
    start: u64,
    departure: u64,
}

fn read(csv: &str) -> Vec<Packet> {
    let mut lines = csv.lines();
    let header = "seq,class,flow,length,arrival_ns,deadline_ns,start_ns,departure_ns,verdict";
    assert_eq!(lines.next(), Some(header));
    let rows = lines.map(|line| {
        let fields: Vec<&str> = line.split(',').collect();
        let [seq, class, flow, length, arrival, deadline, start, departure, verdict] = fields[..]
        else {
            panic!("{line}")
        };
        flow.parse::<u32>().unwrap();
        let optional = |field: &str| (!field.is_empty()).then(|| field.parse().unwrap());
        let sent = optional(start).zip(optional(departure));
        assert_eq!(sent.is_some(), verdict == "sent", "{line}");
        Packet {
            seq: seq.parse().unwrap(),
            class: class.into(),
            length: length.parse().unwrap(),
            arrival: arrival.parse().unwrap(),
            deadline: optional(deadline),
            sent: sent.map(|(start, departure)| Transmission { start, departure }),
            verdict: verdict.into(),
        }
    });
    rows.collect()
}

fn run(folder: &Folder, more: &[&str]) -> Value {
    let ended = folder.laxity(&[&["run", "plan.toml", "--json"], more].concat());
    assert!(ended.code == Some(0) || ended.code == Some(1), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[test]
fn the_summary_follows_from_the_packets() {
    let folder = Folder::with_plan(BUSY);
    for scheduler in schedulers() {
        let summary = run(&folder, &["--scheduler", scheduler, "--out", "out"]);
        assert_eq!(summary, folder.json("out/summary.json"));
        let packets = read(&folder.text("out/packets.csv"));
        for class in summary["classes"].as_array().unwrap() {
            let own = packets.iter().filter(|packet| class["name"] == *packet.class);
            let own: Vec<&Packet> = own.filter(|packet| packet.arrival >= WARM_UP).collect();
            assert_class_follows(class, &own);
        }
        assert_every_way_of_ending_occurs(&summary, scheduler);
    }
}

/// Without these the comparison would be hollow.
fn assert_every_way_of_ending_occurs(summary: &Value, scheduler: &str) {
    let classes = summary["classes"].as_array().unwrap();
    let dropped =
        |reason: &str| classes.iter().any(|class| class["dropped"][reason] != Value::Null);
    assert!(dropped("queue-full") && dropped("contract"), "{summary}");
    let late = classes.iter().any(|class| class["deadline_misses"] != 0);
    let kind = Kind::named(scheduler).unwrap();
    // Static priority goes by deadlines where no class has a level.
    let has_deadlines = kind.room().is_held_to_promises || kind == Kind::Priority;
    assert_eq!(late, !has_deadlines, "{scheduler}: {summary}");
}

fn assert_class_follows(class: &Value, packets: &[&Packet]) {
    let mut verdicts: BTreeMap<&str, u64> = BTreeMap::new();
    for packet in packets {
        *verdicts.entry(&packet.verdict).or_default() += 1;
    }
    assert_eq!(class["arrived"], packets.len());
    assert_eq!(class["sent"], verdicts.remove("sent").unwrap_or(0));
    assert_eq!(class["dropped"], serde_json::to_value(verdicts).unwrap());

    let sent = packets.iter().filter_map(|packet| Some((packet, packet.sent?)));
    let bytes: u64 = sent.clone().map(|(packet, _)| packet.length).sum();
    assert_eq!(class["bytes_sent"], bytes);
    let mut delays: Vec<u64> = sent.map(|(packet, sent)| sent.departure - packet.arrival).collect();
    let promised = class["deadline_ns"].as_u64();
    let misses = promised.map_or(0, |promised| delays.iter().filter(|d| **d > promised).count());
    assert_eq!(class["deadline_misses"], misses);
    for packet in packets {
        if let Some(promised) = promised {
            assert_eq!(packet.deadline, Some(packet.arrival + promised));
        }
    }
    delays.sort_unstable();
    assert_eq!(class["promised_max_ns"].as_u64(), promised.and(delays.last().copied()));
    assert_delays_follow(&class["delay_ns"], &delays);
}

fn assert_delays_follow(summary: &Value, sorted: &[u64]) {
    let [least, .., greatest] = sorted else {
        return assert!(summary.is_null() && sorted.is_empty());
    };
    assert_eq!((&summary["min"], &summary["max"]), (&(*least).into(), &(*greatest).into()));
    let count = sorted.len() as f64;
    let mean = sorted.iter().sum::<u64>() as f64 / count;
    // The summary has every digit; the JSON reader's last one may be off.
    assert!((summary["mean"].as_f64().unwrap() - mean).abs() <= 2.0 * f64::EPSILON * mean);
    let spread: f64 = sorted.iter().map(|delay| (*delay as f64 - mean).powi(2)).sum();
    let deviation = (spread / count).sqrt();
    assert!((summary["stddev"].as_f64().unwrap() - deviation).abs() <= 1e-6 * deviation);
    for (name, parts) in [("p50", 500), ("p90", 900), ("p99", 990), ("p99_9", 999)] {
        let exact = sorted[(parts * sorted.len()).div_ceil(1000) - 1];
        let told = summary[name].as_u64().unwrap();
        assert!(exact <= told && told as f64 <= exact as f64 * 1.008, "{name}: {exact}, {told}");
    }
}

#[test]
fn every_packet_has_one_row_and_the_link_sends_one_packet_at_a_time() {
    let folder = Folder::with_plan(BUSY);
    for scheduler in schedulers() {
        let summary = run(&folder, &["--scheduler", scheduler, "--out", "out"]);
        let mut packets = read(&folder.text("out/packets.csv"));
        packets.sort_by_key(|packet| packet.seq);
        assert!(packets.iter().enumerate().all(|(number, packet)| packet.seq == number));
        assert!(packets.is_sorted_by_key(|packet| packet.arrival));
        assert_link_sends_them(&packets, scheduler, &summary);
    }
}

/// Each packet takes its time, to a nanosecond, and no two at once; nothing waits beside an idle
/// link; and the last bit leaves when arithmetic says.
fn assert_link_sends_them(packets: &[Packet], scheduler: &str, summary: &Value) {
    let mut sent: Vec<(&Packet, Transmission)> =
        packets.iter().filter_map(|packet| Some((packet, packet.sent?))).collect();
    sent.sort_by_key(|(_, sent)| sent.start);
    if scheduler == "fifo" {
        assert!(sent.is_sorted_by_key(|(packet, _)| packet.seq));
    }
    let mut earliest = u64::MAX;
    let mut earliest_left: Vec<u64> = Vec::new();
    for (packet, _) in sent.iter().rev() {
        earliest = earliest.min(packet.arrival);
        earliest_left.push(earliest);
    }
    let (mut previous, mut busy, mut busy_from, mut bits) = (0, 0, 0, 0u128);
    for ((packet, now), earliest_left) in sent.iter().zip(earliest_left.into_iter().rev()) {
        assert!(now.start >= packet.arrival && now.start >= previous);
        if now.start > previous {
            assert_eq!(earliest_left, now.start, "packet {} was kept waiting", packet.seq);
            (busy_from, bits) = (now.start, 0);
        }
        bits += u128::from(packet.length) * 8;
        let exact = (bits * 1_000_000_000).div_ceil(RATE) as u64;
        assert_eq!(now.departure, busy_from + exact, "packet {}", packet.seq);
        previous = now.departure;
        busy += now.departure.min(3_000_000_000).saturating_sub(now.start.max(WARM_UP));
    }
    let utilization = busy as f64 / (3_000_000_000 - WARM_UP) as f64;
    let told = summary["link"]["utilization"].as_f64().unwrap();
    assert!((told - utilization).abs() < 1e-9, "{told} {utilization}");
}

#[test]
fn the_same_plan_and_seed_give_the_same_bytes() {
    let folder = Folder::with_plan(BUSY);
    let packets = |out: &str, more: &[&str]| {
        run(&folder, &[&["--out", out], more].concat());
        (folder.text(&format!("{out}/packets.csv")), folder.text(&format!("{out}/summary.json")))
    };
    let first = packets("first", &[]);
    assert!(first == packets("again", &[]));
    assert!(first == packets("seed", &["--seed", "7"]));
    assert!(first.0 != packets("another", &["--seed", "8"]).0);
}

/// Of one link, and of a network at every hop.
#[test]
fn a_parquet_file_has_the_rows_of_the_csv() {
    for plan in [BUSY, NETWORK] {
        let folder = Folder::with_plan(plan);
        run(&folder, &["--out", "csv"]);
        run(&folder, &["--out", "parquet", "--packets", "parquet"]);
        assert!(!folder.path("parquet/packets.csv").exists());
        let file = File::open(folder.path("parquet/packets.parquet")).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let header: Vec<&str> = columns.iter().map(|column| column.name()).collect();
        let rows = reader.get_row_iter(None).unwrap().map(|row| line(&row.unwrap()));
        let lines = std::iter::once(header.join(",")).chain(rows);
        let csv = folder.text("csv/packets.csv");
        assert!(csv.lines().count() > 100);
        assert!(lines.eq(csv.lines().map(str::to_string)));
    }
}

const NETWORK: &str = r#"
    version = 1
    link = { rate = "8mbit" }
    scheduler = { kind = "edf" }
    class.voice = { deadline = "9ms", arrival = { bucket = "600b", rate = "80kB/s" } }
    class.web = { queue = { kind = "droptail", limit = 3 } }
    network = { one.between = ["a", "b"], two = { between = ["b", "c"], rate = "4mbit" } }
    run.duration = "2s"
    source = [{ class = "voice", model = "poisson", packet = "200b", rate = "64kB/s", path = ["a", "b", "c"] },
              { class = "web", model = "poisson", packet = "1500b", rate = "500kB/s", path = ["a", "b", "c"] }]
"#;

/// A row as the CSV has it.
fn line(row: &Row) -> String {
    let fields = row.get_column_iter().map(|(_, field)| match field {
        Field::Null => String::new(),
        Field::Long(number) => number.to_string(),
        Field::Str(text) => text.clone(),
        other => panic!("{other:?}"),
    });
    fields.collect::<Vec<_>>().join(",")
}
