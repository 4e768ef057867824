//! Programs that people use, over a link that is shared.

use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use laxity_linux::namespace::Namespace;
use serde_json::Value;

use super::link::Link;
use crate::folder::Folder;

const PLAN: &str = "version = 1
link = { rate = '20mbit', overhead = 'ethernet' }
scheduler = { kind = 'edf', best-effort = 'exact' }
[class.sound]
deadline = '10ms'
arrival = { bucket = '3kB', rate = '2mbit', packet = '1538b' }
match = 'udp dport 5004'
police = 'demote'
[class.probe]
deadline = '15ms'
arrival = { bucket = '3kB', rate = '1mbit', packet = '300b' }
match = 'udp dport 2112 or icmp'
police = 'demote'
[class.web]
weight = 4
match = 'tcp port 8080'
[class.bulk]
weight = 1
match = 'tcp port 5201'
[class.rest]
weight = 1
";

/// Runs beside the test, and ends with it.
struct Beside(Child);

impl Drop for Beside {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

fn program(line: &str) -> Command {
    let mut words = line.split_whitespace();
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn beside(host: &Namespace, line: &str) -> Beside {
    let mut program = program(line);
    program.stdout(Stdio::null()).stderr(Stdio::null());
    Beside(host.run(|| program.spawn().unwrap()).unwrap())
}

/// What a program prints, once it has ended well. What it talks to may still be starting.
fn output(host: &Namespace, line: &str) -> String {
    let run = || host.run(|| program(line).output().unwrap()).unwrap();
    let ended = |_: u32| -> Option<Output> {
        let output = run();
        output.status.success().then_some(output).or_else(|| {
            thread::sleep(Duration::from_millis(200));
            None
        })
    };
    let output = (0..20).find_map(ended).unwrap_or_else(|| panic!("{line}: {:?}", run()));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(super) fn are_there(programs: &[&str]) -> bool {
    for name in programs {
        let found = Command::new("sh").args(["-c", &format!("command -v {name}")]).output();
        if !found.is_ok_and(|found| found.status.success()) {
            eprintln!("SKIPPED: {name} is not installed");
            return false;
        }
    }
    true
}

/// Of a class, how many packets were sent and how many dropped.
fn counts(printed: &str, class: &str) -> [u64; 2] {
    let row = printed.lines().find(|line| line.starts_with(&format!("{class} ")));
    let cells: Vec<&str> = row.unwrap().split_whitespace().collect();
    [cells[2], cells[3]].map(|count| count.parse().unwrap())
}

/// Bulk TCP, downloads, pings, probes and an RTP stream at once: each in its class, the promised
/// ones without a loss, every packet within its bound and what was late; and the simulator does the
/// same.
#[test]
fn programs_share_a_link() {
    if !are_there(&["iperf3", "curl", "ping", "irtt", "gst-launch-1.0", "python3"]) {
        return;
    }
    let page: Vec<u8> =
        (0..2_000_000u32).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let folder = Folder::with_plan(PLAN).with("page", &page);
    let Some(link) = Link::start(&folder, &["--ledger", "books"]) else { return };
    let [near, far] = &link.hosts;
    let files = folder.path("").display().to_string();
    let _servers = [
        "iperf3 --server",
        "irtt server",
        "gst-launch-1.0 udpsrc port=5004 caps=application/x-rtp ! fakesink",
    ]
    .map(|line| beside(far, line));
    let _pages = beside(near, &format!("python3 -m http.server 8080 --directory {files}"));
    output(far, "curl --silent --fail http://10.0.0.1:8080/plan.toml");

    let upload = "iperf3 --client 10.0.0.2 --time 4 --parallel 4 --json";
    let sound = "gst-launch-1.0 audiotestsrc num-buffers=400 samplesperbuffer=441 ! \
                 audio/x-raw,format=S16BE,rate=44100,channels=1 ! rtpL16pay ! udpsink host=10.0.0.2 port=5004";
    let probes = "irtt client -d 3s -i 10ms -o - -Q 10.0.0.2";
    let pings = "ping -c 30 -i 0.1 -q 10.0.0.2";
    let download = &format!("curl --silent --fail http://10.0.0.1:8080/page --output {files}got");
    let [bulk, _, probes, pings, _] = thread::scope(|scope| {
        let all = [(near, upload), (near, sound), (near, probes), (near, pings), (far, download)];
        let running = all.map(|(host, line)| scope.spawn(move || output(host, line)));
        running.map(|running| running.join().unwrap())
    });
    assert!(
        std::fs::read(folder.path("got")).unwrap() == page,
        "what is downloaded is what is there"
    );

    let bulk: Value = serde_json::from_str(&bulk).unwrap();
    let rate = bulk["end"]["sum_received"]["bits_per_second"].as_f64().unwrap();
    assert!((5e6..20e6).contains(&rate), "{rate}");
    assert!(pings.contains("30 received, 0% packet loss"), "{pings}");
    let probes: Value = serde_json::from_str(&probes).unwrap();
    let count = |what: &str| probes["stats"][what].as_u64().unwrap();
    let (asked, answered) = (count("packets_sent"), count("packets_received"));
    // On a busy machine the program itself sends fewer, and gives up on answers.
    assert!(asked > 100 && answered > asked * 9 / 10, "{answered} of {asked}");

    let printed = link.end();
    assert!(printed.contains("Every packet kept its bound"), "{printed}");
    let [sound, dropped] = counts(&printed, "sound");
    assert!(sound >= 400 && dropped == 0, "{printed}");
    let [probe, dropped] = counts(&printed, "probe");
    assert!(probe >= asked + 30 && dropped == 0, "{printed}");
    assert!(counts(&printed, "web")[0] > 1300 && counts(&printed, "bulk")[0] > 1500, "{printed}");
    let ledger = std::fs::read_dir(folder.path("books")).unwrap().next().unwrap().unwrap();
    folder.laxity(&["replay", &ledger.path().display().to_string()]).printed(0);
}
