//! Two routers in namespaces of the test's own, and hosts at them.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{ChildStderr, Command, Stdio};
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use crate::live::link::Running;

/// Calls go from `a` through both routers to `b`; `c` is at the first router, too.
pub(super) const PLAN: &str = "version = 1
link = { rate = '100mbit', delay = '20us', min-packet = '64b' }
scheduler = { kind = 'tdp', frame = '250us', frames = 40, guard = '122us' }
[class.call]
gap = '2ms'
arrival = { bucket = '150b', rate = '600kbit', packet = '150b' }
match = 'udp dport 5000'
[class.rest]
[network]
left = { between = ['a', 'r1'], private = true }
near = { between = ['c', 'r1'], private = true }
core = { between = ['r1', 'r2'] }
right = { between = ['r2', 'b'], private = true }
[[source]]
class = 'call'
model = 'constant'
rate = '600kbit'
packet = '150b'
path = ['a', 'r1', 'r2', 'b']
";

/// The hosts are 10.0.0.1 and so on: `a`, `b`, `c`.
pub(super) struct Routers {
    /// Where the routers are.
    pub nodes: [Namespace; 2],
    pub hosts: [Namespace; 3],
    pub running: Running,
    said: BufReader<ChildStderr>,
    /// A process that holds the other namespace for as long as it is named.
    _holder: Running,
}

impl Routers {
    /// Starts the command with more arguments, and waits until it forwards. None where that is not
    /// allowed, and then it says so.
    pub(super) fn start(folder: &Folder, more: &[&str]) -> Option<Routers> {
        let mut routers = Routers::spawn(folder, more)?;
        routers.says(&["forwarding at r1, r2"]);
        Some(routers)
    }

    /// The same without waiting.
    pub(super) fn spawn(folder: &Folder, more: &[&str]) -> Option<Routers> {
        let first = match Namespace::new() {
            Ok(namespace) => namespace,
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                return None;
            }
            Err(error) => panic!("{error}"),
        };
        let nodes = [first, Namespace::new().unwrap()];
        let hosts = [(); 3].map(|()| Namespace::new().unwrap());
        let [here, there] = &nodes;
        here.veth("core", there, "core").unwrap();
        for (host, (node, name)) in
            [(here, "host"), (there, "host"), (here, "near")].iter().enumerate()
        {
            plug(node, name, &hosts[host], host);
        }
        let mut sleep = Command::new("sleep");
        let holder = there.run(|| sleep.arg("120").spawn().unwrap()).unwrap();
        let namespace = format!("/proc/{}/ns/net", holder.id());
        let ports = [
            "r1:a=host".to_string(),
            "r1:c=near".to_string(),
            "r1:r2=core".to_string(),
            format!("r2:r1=core@{namespace}"),
            format!("r2:b=host@{namespace}"),
        ];
        let mut command = folder.command(&["live", "plan.toml", "--priority", "0"]);
        command.args(ports.iter().flat_map(|port| ["--port", port])).args(more);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.env("NOTIFY_SOCKET", folder.path("notify")).env("WATCHDOG_USEC", "100000");
        let mut running = Running::new(here.run(|| command.spawn().unwrap()).unwrap());
        let said = BufReader::new(running.0.stderr.take().unwrap());
        Some(Routers { nodes, hosts, running, said, _holder: Running::new(holder) })
    }

    /// Reads what it says until all of this was said, in any order.
    pub(super) fn says(&mut self, all: &[&str]) {
        let (mut left, mut heard) = (all.to_vec(), String::new());
        while !left.is_empty() {
            let mut line = String::new();
            assert!(self.said.read_line(&mut line).unwrap() > 0, "no {left:?} in {heard}");
            left.retain(|text| !line.contains(text));
            heard += &line;
        }
    }

    /// Sockets of two hosts, and the address of the second.
    pub(super) fn sockets(
        &self,
        from: usize,
        to: usize,
        port: u16,
    ) -> (UdpSocket, UdpSocket, SocketAddr) {
        let address = |host: usize, port| SocketAddr::new(address(host), port);
        let bind = |host: usize, port| {
            self.hosts[host].run(|| UdpSocket::bind(address(host, port)).unwrap()).unwrap()
        };
        (bind(from, 0), bind(to, port), address(to, port))
    }

    /// Sends a datagram after the other to a port, each until it has come.
    pub(super) fn pass(&self, from: usize, to: usize, port: u16, count: usize) {
        let (sender, receiver, address) = self.sockets(from, to, port);
        receiver.set_read_timeout(Some(Duration::from_millis(200))).unwrap();
        for number in 0..count {
            let came = (0..50).any(|_| {
                // Who has no way there for a moment says so.
                let _ = sender.send_to(&[7; 100], address);
                uninterrupted(|| receiver.recv(&mut [0; 200])).is_ok()
            });
            assert!(came, "{number} of {count} from {from} to {to}");
        }
    }

    /// Asks for the end, and tells what was printed.
    pub(super) fn end(mut self) -> String {
        self.running.signal("-TERM");
        let mut printed = String::new();
        self.running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        assert_eq!(self.running.0.wait().unwrap().code(), Some(0), "{printed}");
        printed
    }
}

fn address(host: usize) -> IpAddr {
    IpAddr::V4(Ipv4Addr::new(10, 0, 0, host as u8 + 1))
}

/// Plugs a host in.
pub(super) fn plug(node: &Namespace, name: &str, host: &Namespace, number: usize) {
    node.veth(name, host, "eth").unwrap();
    host.address("eth", address(number), 24).unwrap();
}
