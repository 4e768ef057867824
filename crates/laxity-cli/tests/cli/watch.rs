//! `laxity watch` between two hosts in namespaces of the test's own.

use std::io::{BufReader, Read};
use std::net::{Ipv4Addr, SocketAddr, UdpSocket};
use std::process::Stdio;
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use crate::live::PLAN;
use crate::live::link::{Running, hosts, wait_for};
use crate::sight::{get, promtool_is_content};

const WATCH: [&str; 6] = ["watch", "plan.toml", "--in", "a", "--out", "b"];

#[test]
fn what_cannot_be_watched_is_bad_input() {
    let folder = Folder::with_plan(PLAN);
    let ended = folder.laxity(&["watch", "plan.toml", "--in", "lo", "--out", "nowhere"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("nowhere"), "{}", ended.stderr);
    let network = format!("{}/../../examples/dumbbell.toml", env!("CARGO_MANIFEST_DIR"));
    let ended = folder.laxity(&["watch", &network, "--in", "lo", "--out", "lo"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(ended.stderr.contains("of a network"), "{}", ended.stderr);
    for timeout in ["0s", "-1s", "5"] {
        let ended = folder.laxity(&[&WATCH[..], &["--timeout", timeout]].concat());
        assert_eq!(ended.code, Some(2), "{timeout}: {}", ended.stderr);
    }
}

/// Something that watches a bridge of the kernel's.
pub(crate) struct Watching {
    pub between: Namespace,
    hosts: [Namespace; 2],
    running: Running,
}

impl Watching {
    /// Starts it with more arguments. None where that is not allowed, and then it says so.
    pub(crate) fn start(folder: &Folder, more: &[&str]) -> Option<Watching> {
        let (between, hosts) = hosts()?;
        between.bridge("bridge", &["a", "b"]).unwrap();
        let mut command = folder.command(&[&WATCH[..], more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::new(between.run(|| command.spawn().unwrap()).unwrap());
        let mut said = BufReader::new(running.0.stderr.take().unwrap());
        wait_for(&mut said, "watching between a and b");
        let is_none = |left: &String| left.trim_start_matches('0').is_empty();
        assert!(running.of_threads("CapEff:").iter().all(is_none));
        assert!(running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));
        Some(Watching { between, hosts, running })
    }

    /// Sends `calls` calls, each after the previous one has arrived.
    pub(crate) fn pass(&self, calls: usize) {
        call(&self.hosts[0], &self.hosts[1], calls);
    }

    /// Asks for the end; what was printed, and the exit code.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        self.running.signal("-INT");
        let mut printed = String::new();
        self.running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (printed, self.running.0.wait().unwrap().code())
    }
}

/// Watches `calls` calls; returns what is printed and the exit code.
fn watched(plan: &str, more: &[&str], calls: usize) -> Option<(String, Option<i32>)> {
    let watching = Watching::start(&Folder::with_plan(plan), more)?;
    watching.pass(calls);
    Some(watching.end())
}

fn call(from: &Namespace, to: &Namespace, count: usize) {
    let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 5000));
    let receiver = to.run(|| UdpSocket::bind(address).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let sender = from.run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    for number in 0..count {
        sender.send_to(&[number as u8; 100], address).unwrap();
        uninterrupted(|| receiver.recv(&mut [0; 200])).unwrap();
    }
}

#[test]
fn calls_within_their_bound() {
    let Some((printed, code)) = watched(PLAN, &[], 30) else { return };
    let row = printed.lines().find(|line| line.starts_with("call ")).expect("a row");
    let cells: Vec<_> = row.split_whitespace().collect();
    assert_eq!(cells[1..4], ["30", "30", "0"], "{printed}");
    // A machine that stands still for so long would break it.
    match cells[10] {
        "0" => assert!(code == Some(0) && printed.contains("No packet took longer"), "{printed}"),
        above => assert!(code == Some(1) && printed.contains(above), "{printed}"),
    }
}

/// No bridge forwards in less time than a link of 1 Tbit/s takes for a packet.
#[test]
fn calls_above_their_bound() {
    let plan = PLAN.replace("20mbit", "1tbit").replace("10ms", "100ns").replace("demote", "count");
    let Some((printed, code)) = watched(&plan, &["--json"], 30) else { return };
    assert_eq!(code, Some(1), "{printed}");
    let lines: Vec<_> = printed.lines().map(str::trim).collect();
    for line in ["\"broken\": 30,", "\"sent\": 30,", "\"scheduler\": \"edf/exact\","] {
        assert!(lines.contains(&line), "{line} in {printed}");
    }
}

/// What is shown while it runs is what it prints in the end, and nothing that nobody knows.
#[test]
fn a_watch_is_seen_as_a_link_is() {
    let folder = Folder::with_plan(PLAN);
    let more = ["--listen", "9464", "--report", "report.html"];
    let Some(watching) = Watching::start(&folder, &more) else { return };
    watching.pass(30);
    let control = ["--control", "laxity/a-b.watch.sock"];
    let asked = |command: &str, more: &[&str]| {
        folder.laxity(&[&[command][..], &control[..], more].concat())
    };
    let sent = |status: &serde_json::Value| status["ways"][0]["classes"][0]["sent"].as_u64();
    // Frames are looked at some time after they have passed.
    let shown = (0..100).find_map(|_| {
        std::thread::sleep(Duration::from_millis(50));
        let ended = asked("status", &["--json"]);
        let status: serde_json::Value = serde_json::from_str(&ended.stdout).unwrap();
        (sent(&status) == Some(30)).then_some(status)
    });
    let shown = shown.expect("all have left");
    let (class, way) = (&shown["ways"][0]["classes"][0], &shown["ways"][0]);
    for (of, absent) in [
        (&shown, &["real_time", "reloads", "reloads_refused", "events_lost"][..]),
        (&shown["interfaces"][0], &["up", "sent"]),
        (&shown["interfaces"][1], &["up", "received"]),
        (way, &["late"]),
        (class, &["queued"]),
    ] {
        let of = of.as_object().unwrap();
        assert!(absent.iter().all(|field| !of.contains_key(*field)), "{absent:?} in {of:?}");
    }
    assert_eq!((&shown["interfaces"][1]["name"], &way["way"]), (&"b".into(), &"watched".into()));
    let refused = asked("reload", &[]).printed(1);
    assert!(refused.contains("keeps the plan that it began with"), "{refused}");

    let metrics = get(&watching.between, "/metrics");
    promtool_is_content(&metrics);
    let samples = || metrics.lines().filter(|line| !line.starts_with('#'));
    for absent in
        ["laxity_real_time", "laxity_reloads", "laxity_lateness", "laxity_class_queued_packets"]
    {
        assert!(!samples().any(|line| line.starts_with(absent)), "{absent} in {metrics}");
    }
    let text = asked("status", &[]).stdout;
    let (printed, _) = watching.end();
    let row = |text: &str| -> Vec<String> {
        let row = text.lines().find(|line| line.starts_with("call ")).expect("a row");
        row.split_whitespace().map(str::to_string).collect()
    };
    // All but its rate, for that falls as time goes on.
    let [printed_row, shown_row] = [&printed, &text].map(|text| row(text));
    assert_eq!(printed_row[..11], shown_row[..11], "{printed}{text}");
    let max = class["delay_ns"]["max"].as_u64().unwrap();
    for line in [
        "laxity_class_sent_packets_total{way=\"watched\",class=\"call\"} 30".to_string(),
        "laxity_class_delay_seconds_count{way=\"watched\",class=\"call\"} 30".to_string(),
        "laxity_watched_unseen_frames_total{interface=\"a\"} 0".to_string(),
        format!(
            "laxity_class_delay_max_seconds{{way=\"watched\",class=\"call\"}} {}",
            max as f64 / 1e9
        ),
    ] {
        assert!(samples().any(|it| it == line), "{line} in {metrics}");
    }
    assert!(printed.contains("Report: report.html"), "{printed}");
    let report = std::fs::read_to_string(folder.path("report.html")).unwrap();
    assert!(report.contains("watched: edf/exact at 20\u{a0}Mbit/s") && report.contains("<svg"));
    assert!(!report.contains("How late it woke up"));
}
