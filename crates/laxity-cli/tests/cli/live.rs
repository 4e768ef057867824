//! `laxity live` between two hosts in namespaces of the test's own.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::folder::Folder;

const PLAN: &str = "version = 1
link.rate = '20mbit'
scheduler.kind = 'edf'
[class.call]
deadline = '10ms'
arrival = { bucket = '3kB', rate = '2mbit', packet = '300b' }
match = 'udp dport 5000'
[class.rest]
";

#[test]
fn a_plan_that_does_not_fit_is_refused() {
    let folder = Folder::with_plan(&PLAN.replace("10ms", "1ms"));
    let refused = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]).printed(1);
    assert_eq!(refused, folder.laxity(&["check", "plan.toml"]).printed(1));
}

#[test]
fn an_interface_that_is_not_there() {
    let folder = Folder::with_plan(PLAN);
    let ended = folder.laxity(&["live", "plan.toml", "--in", "nowhere", "--out", "lo"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
    assert!(
        ended.stderr.contains("nowhere") && ended.stderr.contains("there are lo"),
        "{}",
        ended.stderr
    );
}

/// Ends the command if a test does not.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

impl Running {
    fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
    }

    /// What all threads of the process have of a field of `/proc/PID/task/TID/status`.
    fn of_threads(&self, field: &str) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap();
        let of = |task: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
            line.trim().to_string()
        };
        tasks.map(of).collect()
    }
}

/// Reads lines up to one with this in it.
fn wait_for(stderr: &mut impl BufRead, text: &str) {
    let mut all = String::new();
    while !all.lines().last().is_some_and(|line| line.contains(text)) {
        assert!(stderr.read_line(&mut all).unwrap() > 0, "no {text:?} in {all}");
    }
}

/// Two hosts, `10.0.0.1` and `10.0.0.2`, and the command between them.
struct Link {
    between: Namespace,
    hosts: [Namespace; 2],
    running: Running,
    said: BufReader<ChildStderr>,
}

impl Link {
    /// Starts the command with more arguments. None where that is not allowed, and then it says so.
    fn start(folder: &Folder, more: &[&str]) -> Option<Link> {
        let between = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let hosts = [("a", 1), ("b", 2)].map(|(name, last)| {
            let host = Namespace::new().unwrap();
            plug(&between, name, &host, last);
            host
        });
        let arguments = ["live", "plan.toml", "--in", "a", "--out", "b", "--priority", "0"];
        let mut command = folder.command(&[&arguments, more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running(between.run(|| command.spawn().unwrap()).unwrap());
        let said = BufReader::new(running.0.stderr.take().unwrap());
        let mut link = Link { between, hosts, running, said };
        link.says("forwarding between a and b");
        Some(link)
    }

    fn says(&mut self, text: &str) {
        wait_for(&mut self.said, text);
    }

    /// Sends a datagram after the other to a port, each until it has come.
    fn pass(&self, from: usize, port: u16, count: usize) {
        let [sender, receiver] = [from, 1 - from].map(|host| {
            let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, host as u8 + 1), port));
            (self.hosts[host].run(|| UdpSocket::bind(address).unwrap()).unwrap(), address)
        });
        receiver.0.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        for _ in 0..count {
            let came = (0..25).any(|_| {
                sender.0.send_to(&[7; 100], receiver.1).unwrap();
                receiver.0.recv(&mut [0; 200]).is_ok()
            });
            assert!(came);
        }
    }

    /// Asks for the end, and tells what was printed.
    fn end(mut self) -> String {
        self.running.signal("-TERM");
        let mut printed = String::new();
        self.running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert_eq!(self.running.0.wait().unwrap().code(), Some(0), "{printed}");
        printed
    }
}

fn plug(between: &Namespace, name: &str, host: &Namespace, last: u8) {
    between.veth(name, host, "eth").unwrap();
    host.address("eth", IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 24).unwrap();
}

/// What is said, forwarded, reloaded, counted and repeated; and no privilege is left meanwhile.
#[test]
fn a_link_from_start_to_end() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut link) = Link::start(&folder, &["--ledger", "books"]) else { return };
    let left = link.running.of_threads("CapEff:");
    assert!(left.iter().all(|left| left.trim_start_matches('0').is_empty()));
    assert!(link.running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));

    link.pass(0, 5000, 20);
    link.running.signal("-HUP");
    link.says("the plan is reloaded");
    link.pass(0, 5000, 30);
    std::fs::write(folder.path("plan.toml"), PLAN.replace("10ms", "1ms")).unwrap();
    link.running.signal("-HUP");
    link.says("the plan is not reloaded");
    link.pass(0, 5000, 5);
    let printed = link.end();
    let calls: Vec<_> = printed.lines().filter(|line| line.starts_with("call ")).collect();
    let counts = calls.iter().map(|line| line.split_whitespace().nth(2).unwrap());
    assert_eq!(counts.collect::<Vec<_>>(), ["20", "35"], "{printed}");
    assert_eq!(printed.matches("Every packet kept its bound").count(), 2, "{printed}");

    let ledgers: Vec<_> = std::fs::read_dir(folder.path("books")).unwrap().collect();
    let [Ok(ledger)] = &ledgers[..] else { panic!("one for the way with a plan: {ledgers:?}") };
    let ledger = ledger.path().display().to_string();
    let replayed = folder.laxity(&["replay", &ledger]).printed(0);
    assert!(replayed.contains("under 2 plans"), "{replayed}");
    assert!(replayed.contains("sends and drops the same"), "{replayed}");
}

/// Switched off and on, renamed, unplugged and plugged in again: each is said, and then frames pass.
#[test]
fn interfaces_come_and_go() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut link) = Link::start(&folder, &[]) else { return };
    link.pass(0, 5000, 3);
    link.between.switch("b", false).unwrap();
    link.says("b is down");
    link.between.switch("b", true).unwrap();
    link.says("b is up");
    link.pass(0, 5000, 3);

    link.between.rename("b", "b2").unwrap();
    link.says("b is now called b2");
    link.pass(0, 5000, 3);

    link.between.remove("b2").unwrap();
    link.says("b2 is gone");
    plug(&link.between, "b2", &link.hosts[1], 2);
    link.says("b2 is back");
    // The new host makes itself known first.
    link.pass(1, 5001, 1);
    link.pass(0, 5000, 3);
    link.end();
}
