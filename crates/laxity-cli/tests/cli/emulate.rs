//! `laxity emulate`: commands behind emulated links, in namespaces of the test's own.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::Path;
use std::process::{Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laxity_forward::Event;
use laxity_forward::ledger::{Entry, Reader};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;

use crate::folder::Folder;
use crate::live::link::{Link, Running};

const PLAN: &str = "version = 1
link = { rate = '10mbit', delay = '15ms', loss = { share = 0.2 }, duplicate = { share = 0.1 } }
scheduler.kind = 'fifo'
class.all = {}
";

/// Sends datagrams that nobody waits for.
const DATAGRAMS: &str =
    "for i in $(seq 300); do echo $i >/dev/udp/$LAXITY_GATEWAY/9 2>/dev/null || true; done; exit 7";

/// A machine with nothing on it, to which namespaces are outside. None where that is not allowed,
/// and then it says so.
fn machine() -> Option<Namespace> {
    Namespace::new()
        .map_err(|error| eprintln!("SKIPPED: no machine to be behind a link of: {error}"))
        .ok()
}

/// Runs a command behind a link, on a machine.
fn emulate(machine: &Namespace, folder: &Folder, options: &[&str], command: &[&str]) -> Output {
    let arguments = [&["emulate", "--priority", "0", "plan.toml"], options, &["--"], command];
    let mut command = folder.command(&arguments.concat());
    machine.run(|| command.output().unwrap()).unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The packets that were lost on the wire, by their places among those sent.
fn lost(folder: &Path) -> Vec<usize> {
    let ledger = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut ledgers = ledger.filter(|path| path.to_string_lossy().contains("out-"));
    let reader = Reader::new(BufReader::new(File::open(ledgers.next().unwrap()).unwrap()));
    let (mut places, mut lost) = (BTreeMap::new(), Vec::new());
    for entry in reader.unwrap() {
        match entry.unwrap() {
            Entry::Event(Event::Sent(sent)) => {
                let place = places.len();
                places.insert(sent.number, place);
            }
            Entry::Event(Event::Lost(packet)) => lost.push(places[&packet.number]),
            _ => {}
        }
    }
    lost
}

/// The command's exit code and output are its own; its packets take the delay of the wire, and each
/// run loses the same of them; what happened is repeated by the simulator.
#[test]
fn a_command_runs_behind_a_link() {
    let Some(machine) = machine() else { return };
    let folder = Folder::with_plan(PLAN);
    let runs = ["one", "two"].map(|ledger| {
        let options = ["--ledger", ledger, "--out", ledger];
        let ended = emulate(&machine, &folder, &options, &["bash", "-c", DATAGRAMS]);
        assert_eq!(ended.status.code(), Some(7), "{}", said(&ended));
        assert!(ended.stdout.is_empty());
        for text in ["out: fifo at", "back: fifo at", "The wire delivered", "copies", "lost"] {
            assert!(said(&ended).contains(text), "no {text:?} in {}", said(&ended));
        }
        assert!(folder.path(ledger).join("report.html").is_file());
        for entry in std::fs::read_dir(folder.path(ledger)).unwrap() {
            let path = entry.unwrap().path().display().to_string();
            if path.ends_with(".ledger") {
                let replayed = folder.laxity(&["replay", &path]).printed(0);
                assert!(replayed.contains("sends and drops the same"), "{replayed}");
            }
        }
        let summary = std::fs::read_to_string(folder.path(ledger).join("summary.json")).unwrap();
        let summary: serde_json::Value = serde_json::from_str(&summary).unwrap();
        assert_eq!(summary["exit_code"], 7);
        let wire = &summary["ways"][0]["wire"];
        let lost = lost(&folder.path(ledger));
        assert_eq!(wire["lost"], lost.len());
        assert!((20..90).contains(&lost.len()) && wire["copies"].as_u64() > Some(10), "{wire}");
        lost
    });
    // What the command sent last may come too late for the link, which ends with it.
    let both = runs[0].len().min(runs[1].len());
    assert_eq!(runs[0][..both], runs[1][..both]);
    only_lo_is_left(&machine);
}

/// The way there and back takes twice the delay, and services of this machine are reached.
#[test]
fn what_is_outside_is_reached() {
    let Some(machine) = machine() else { return };
    let folder = Folder::with_plan(&PLAN.replace("loss = { share = 0.2 }, ", ""));
    let ping = "ping -c 5 -i 0.05 -q $LAXITY_GATEWAY";
    let pinged = emulate(&machine, &folder, &["--json"], &["sh", "-c", ping]);
    let printed = String::from_utf8_lossy(&pinged.stdout).into_owned();
    if pinged.status.code() == Some(127) {
        return eprintln!("SKIPPED: ping is not installed");
    }
    let times = printed.lines().find_map(|line| line.split_once("mdev = ")).unwrap().1;
    let times: Vec<f64> = times.split(['/', ' ']).map_while(|time| time.parse().ok()).collect();
    assert!(times[0] >= 30.0 && times[1] < 60.0, "{printed}");

    let listener = machine.run(|| std::net::TcpListener::bind("127.0.0.1:0").unwrap()).unwrap();
    let port = listener.local_addr().unwrap().port();
    let service = thread::spawn(move || {
        use std::io::{Read, Write};
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"hello\n").unwrap();
        let mut heard = String::new();
        stream.read_to_string(&mut heard).unwrap();
        heard
    });
    let talk = format!(
        "exec 3<>/dev/tcp/$LAXITY_GATEWAY/{port}; read line <&3; echo got $line; echo bye >&3"
    );
    let talked = emulate(&machine, &folder, &[], &["bash", "-c", &talk]);
    assert_eq!(String::from_utf8_lossy(&talked.stdout), "got hello\n", "{}", said(&talked));
    assert_eq!(service.join().unwrap(), "bye\n");
}

/// However it is ended, the command ends with it, and nothing is left.
#[test]
fn nothing_is_left_behind() {
    let Some(machine) = machine() else { return };
    let folder = Folder::with_plan(PLAN);
    for (signal, code) in [("-TERM", Some(128 + 15)), ("-KILL", None)] {
        let command = "echo $$ >pid; exec sleep 600";
        let arguments = ["emulate", "--priority", "0", "plan.toml", "--", "sh", "-c", command];
        let mut command = folder.command(&arguments);
        command.stdout(Stdio::null()).stderr(Stdio::null());
        let mut running = Running::new(machine.run(|| command.spawn().unwrap()).unwrap());
        let pid = wait_for("the command", || {
            let pid = std::fs::read_to_string(folder.path("pid")).ok()?;
            pid.trim().parse::<u32>().ok()
        });
        running.signal(signal);
        let ended = running.0.wait().unwrap();
        assert_eq!(ended.code(), code);
        wait_for("the end of the command", || {
            (!Path::new(&format!("/proc/{pid}")).exists()).then_some(())
        });
        only_lo_is_left(&machine);
        std::fs::remove_file(folder.path("pid")).unwrap();
    }
}

/// The kernel takes namespaces away, and the interfaces in them, a moment after their last process.
fn only_lo_is_left(machine: &Namespace) {
    wait_for("the end of the interfaces", || {
        (machine.run(Interface::all).unwrap().unwrap().len() == 1).then_some(())
    });
}

fn wait_for<T>(what: &str, mut look: impl FnMut() -> Option<T>) -> T {
    let begun = Instant::now();
    loop {
        if let Some(found) = look() {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(20), "no {what}");
        thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn what_cannot_be_run_is_said() {
    let network = "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\nclass.a = {}\n\
                   network.x = { between = ['a', 'b'] }\n";
    let folder = Folder::with_plan(PLAN).with("network.toml", network);
    let usage = folder.laxity(&["emulate", "plan.toml"]);
    assert_eq!(usage.code, Some(2));
    let of_network = folder.laxity(&["emulate", "network.toml", "--", "true"]);
    assert_eq!(of_network.code, Some(2));
    assert!(of_network.stderr.contains("behind one link"), "{}", of_network.stderr);
    let Some(machine) = machine() else { return };
    let unknown = emulate(&machine, &folder, &[], &["./no-such-program"]);
    assert_eq!(unknown.status.code(), Some(2), "{}", said(&unknown));
    assert!(said(&unknown).contains("cannot start ./no-such-program"), "{}", said(&unknown));
}

/// Between two interfaces, too, frames pass the wire, and what happened is repeated. A link that
/// began without a wire has no memory for one.
#[test]
fn a_link_between_two_interfaces_has_a_wire() {
    let still = PLAN.replace(", loss = { share = 0.2 }, duplicate = { share = 0.1 }", "");
    let folder = Folder::with_plan(&still);
    let xdp = ["live", "plan.toml", "--in", "lo", "--out", "lo", "--backend", "xdp"];
    let refused = folder.laxity(&xdp);
    assert_eq!(refused.code, Some(2));
    assert!(refused.stderr.contains("no memory for frames on a wire"), "{}", refused.stderr);
    let Some(link) = Link::start(&folder, &["--ledger", "books"]) else { return };
    let begun = Instant::now();
    link.pass(0, 5000, 20);
    assert!(begun.elapsed() >= Duration::from_millis(20 * 15));
    let printed = link.end();
    assert!(printed.contains("The wire delivered"), "{printed}");
    let ledger = std::fs::read_dir(folder.path("books")).unwrap().next().unwrap().unwrap();
    let replayed = folder.laxity(&["replay", &ledger.path().display().to_string()]).printed(0);
    assert!(replayed.contains("sends and drops the same"), "{replayed}");

    let plain = "version = 1\nlink.rate = '10mbit'\nscheduler.kind = 'fifo'\nclass.all = {}\n";
    std::fs::write(folder.path("plan.toml"), plain).unwrap();
    let Some(mut link) = Link::start(&folder, &[]) else { return };
    std::fs::write(folder.path("plan.toml"), PLAN).unwrap();
    link.running.signal("-HUP");
    link.says("for which no memory was taken");
    link.end();
}
