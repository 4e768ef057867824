//! Two hosts in namespaces of the test's own, and `laxity live` between them.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::datagrams::uninterrupted;
use crate::folder::Folder;

/// Ends the command if a test does not.
pub(crate) struct Running(pub Child, Option<Sender<()>>);

/// How long a command runs at most, beside a soak.
const LONGEST: Duration = Duration::from_secs(300);

impl Drop for Running {
    fn drop(&mut self) {
        // Nothing has to be killed any more.
        self.1.take();
        let _gone = self.0.kill();
        let _gone = self.0.wait();
    }
}

impl Running {
    /// A command that is killed after five minutes, so that a test that waits for it fails.
    pub(crate) fn new(child: Child) -> Running {
        let (alive, gone) = mpsc::channel();
        let process = child.id().to_string();
        let longest = LONGEST + super::soak::length();
        thread::spawn(move || {
            if gone.recv_timeout(longest) == Err(RecvTimeoutError::Timeout) {
                let _killed = Command::new("kill").args(["-KILL", &process]).status();
            }
        });
        Running(child, Some(alive))
    }

    pub(crate) fn signal(&self, name: &str) {
        let kill = Command::new("kill").args([name, &self.0.id().to_string()]).status();
        assert!(kill.is_ok_and(|status| status.success()));
    }

    /// What all threads of the process have of a field of `/proc/PID/task/TID/status`.
    pub(crate) fn of_threads(&self, field: &str) -> Vec<String> {
        let tasks = std::fs::read_dir(format!("/proc/{}/task", self.0.id())).unwrap();
        let of = |task: std::io::Result<std::fs::DirEntry>| {
            let status = std::fs::read_to_string(task.unwrap().path().join("status")).unwrap();
            let line = status.lines().find_map(|line| line.strip_prefix(field)).unwrap();
            line.trim().to_string()
        };
        tasks.map(of).collect()
    }
}

/// Sets a flag when it is dropped, so that threads that look at it end even where a test fails.
pub(crate) struct SetAtEnd<'a>(pub &'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Reads lines up to one with this in it.
pub(crate) fn wait_for(stderr: &mut impl BufRead, text: &str) {
    let mut all = String::new();
    while !all.lines().last().is_some_and(|line| line.contains(text)) {
        assert!(stderr.read_line(&mut all).unwrap() > 0, "no {text:?} in {all}");
    }
}

/// Two hosts, `10.0.0.1` and `10.0.0.2`, and the command between them.
pub(crate) struct Link {
    pub between: Namespace,
    pub hosts: [Namespace; 2],
    pub running: Running,
    pub said: BufReader<ChildStderr>,
}

impl Link {
    /// Starts the command with more arguments. None where that is not allowed, and then it says so.
    pub(crate) fn start(folder: &Folder, more: &[&str]) -> Option<Link> {
        Link::start_with(folder, more, &[])
    }

    /// The same with these variables in its environment.
    pub(crate) fn start_with(
        folder: &Folder,
        more: &[&str],
        variables: &[(&str, &str)],
    ) -> Option<Link> {
        let (between, hosts) = hosts()?;
        let mut arguments = vec!["live", "plan.toml", "--in", "a", "--out", "b"];
        if !more.contains(&"--priority") {
            arguments.extend(["--priority", "0"]);
        }
        let mut command = folder.command(&[&arguments[..], more].concat());
        command.env("NOTIFY_SOCKET", folder.path("notify")).env("WATCHDOG_USEC", "100000");
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).envs(variables.iter().copied());
        let mut running = Running::new(between.run(|| command.spawn().unwrap()).unwrap());
        let said = BufReader::new(running.0.stderr.take().unwrap());
        let mut link = Link { between, hosts, running, said };
        link.says("forwarding between a and b");
        Some(link)
    }

    pub(crate) fn says(&mut self, text: &str) {
        wait_for(&mut self.said, text);
    }

    /// Sends a datagram after the other to a port, each until it has come.
    pub(crate) fn pass(&self, from: usize, port: u16, count: usize) {
        let [sender, receiver] = [from, 1 - from].map(|host| {
            let address = SocketAddr::from((Ipv4Addr::new(10, 0, 0, host as u8 + 1), port));
            (self.hosts[host].run(|| UdpSocket::bind(address).unwrap()).unwrap(), address)
        });
        receiver.0.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        for _ in 0..count {
            let came = (0..25).any(|_| {
                sender.0.send_to(&[7; 100], receiver.1).unwrap();
                uninterrupted(|| receiver.0.recv(&mut [0; 200])).is_ok()
            });
            assert!(came);
        }
    }

    /// Sends datagrams to a port, whether they come or not.
    pub(crate) fn offer(&self, from: usize, port: u16, count: usize) {
        let [sender, receiver] = [from, 1 - from]
            .map(|host| SocketAddr::from((Ipv4Addr::new(10, 0, 0, host as u8 + 1), port)));
        let socket = self.hosts[from].run(|| UdpSocket::bind(sender).unwrap()).unwrap();
        for _ in 0..count {
            // Nobody hears of a neighbour whose answers are lost.
            let _ = socket.send_to(&[7; 100], receiver);
        }
    }

    /// Asks for the end, and tells what was printed.
    pub(crate) fn end(self) -> String {
        let (code, printed) = self.end_somehow();
        assert_eq!(code, Some(0), "{printed}");
        printed
    }

    /// The same, whatever the exit code.
    pub(crate) fn end_somehow(mut self) -> (Option<i32>, String) {
        self.running.signal("-TERM");
        let mut printed = String::new();
        self.running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        (self.running.0.wait().unwrap().code(), printed)
    }
}

/// A namespace with cables, `a` and `b`, to the two hosts. None where that is not allowed, and then
/// it says so.
pub(crate) fn hosts() -> Option<(Namespace, [Namespace; 2])> {
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
    Some((between, hosts))
}

/// Plugs a host in.
pub(crate) fn plug(between: &Namespace, name: &str, host: &Namespace, last: u8) {
    between.veth(name, host, "eth").unwrap();
    host.address("eth", IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 24).unwrap();
}
