//! `laxity live` between two hosts in namespaces of the test's own.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::folder::Folder;

pub const PLAN: &str = "version = 1
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
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

impl Running {
    pub fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
    }

    /// What all threads of the process have of a field of `/proc/PID/task/TID/status`.
    pub fn of_threads(&self, field: &str) -> Vec<String> {
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
pub fn wait_for(stderr: &mut impl BufRead, text: &str) {
    let mut all = String::new();
    while !all.lines().last().is_some_and(|line| line.contains(text)) {
        assert!(stderr.read_line(&mut all).unwrap() > 0, "no {text:?} in {all}");
    }
}

/// A namespace with a cable each, `a` and `b`, to the hosts 10.0.0.1 and 10.0.0.2. None where that is not
/// allowed, and then it says so.
pub fn hosts() -> Option<(Namespace, [Namespace; 2])> {
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
        between.veth(name, &host, "eth").unwrap();
        host.address("eth", IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 24).unwrap();
        host
    });
    Some((between, hosts))
}

/// What is said, forwarded, reloaded and counted; and no privilege is left meanwhile.
#[test]
fn a_link_from_start_to_end() {
    let Some((between, [a, b])) = hosts() else { return };
    let folder = Folder::with_plan(PLAN);
    let mut command =
        folder.command(&["live", "plan.toml", "--in", "a", "--out", "b", "--priority", "0"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = Running(between.run(|| command.spawn().unwrap()).unwrap());
    let mut said = BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut said, "forwarding between a and b");
    assert!(
        running.of_threads("CapEff:").iter().all(|left| left.trim_start_matches('0').is_empty())
    );
    assert!(running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));

    let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 5000));
    let receiver = b.run(|| UdpSocket::bind(address).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    let sender = a.run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    let pass = |count: usize| {
        for _ in 0..count {
            sender.send_to(&[7; 100], address).unwrap();
            receiver.recv(&mut [0; 200]).unwrap();
        }
    };
    pass(20);
    running.signal("-HUP");
    wait_for(&mut said, "the plan is reloaded");
    pass(30);
    std::fs::write(folder.path("plan.toml"), PLAN.replace("10ms", "1ms")).unwrap();
    running.signal("-HUP");
    wait_for(&mut said, "the plan is not reloaded");
    pass(5);
    running.signal("-TERM");
    let mut printed = String::new();
    running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(running.0.wait().unwrap().code(), Some(0), "{printed}");
    let calls: Vec<_> = printed.lines().filter(|line| line.starts_with("call ")).collect();
    let counts = calls.iter().map(|line| line.split_whitespace().nth(2).unwrap());
    assert_eq!(counts.collect::<Vec<_>>(), ["20", "35"], "{printed}");
    assert_eq!(printed.matches("Every packet kept its bound").count(), 2, "{printed}");
}
