//! `laxity live --port`: a router between two hosts in namespaces of the test's own.

use std::io::{BufRead, BufReader, Read};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, UdpSocket};
use std::process::{Command, Stdio};
use std::time::Duration;

use laxity_linux::namespace::Namespace;

use crate::folder::Folder;

const PLAN: &str = "version = 1
link = { rate = '100mbit', delay = '20us', min-packet = '64b' }
scheduler = { kind = 'tdp', frame = '250us', frames = 40, guard = '122us' }
[class.call]
gap = '2ms'
arrival = { bucket = '150b', rate = '600kbit', packet = '150b' }
match = 'udp dport 5000'
[class.rest]
[network]
left = { between = ['a', 'r1'], private = true }
core = { between = ['r1', 'r2'] }
right = { between = ['r2', 'b'], private = true }
[[source]]
class = 'call'
model = 'constant'
rate = '600kbit'
packet = '150b'
path = ['a', 'r1', 'r2', 'b']
";

#[test]
fn what_is_wrong_with_ports_is_said() {
    let folder = Folder::with_plan(PLAN);
    let refused = |ports: &[&str], says: &str| {
        let mut arguments = vec!["live", "plan.toml"];
        ports.iter().for_each(|port| arguments.extend(["--port", port]));
        let ended = folder.laxity(&arguments);
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(says), "{}", ended.stderr);
    };
    refused(&["r1"], "NODE:NEIGHBOUR=INTERFACE");
    refused(&["r1:r3=lo"], "no node `r3`");
    refused(&["r1:b=lo"], "links lead to");
    refused(&["r1:a=lo"], "r1:r2=INTERFACE");
    refused(&["r1:a=lo", "r1:r2=lo", "r1:a=lo"], "twice");
    refused(&["r1:a=nowhere", "r1:r2=lo"], "nowhere");
    refused(&[], "--in");
    let ended = folder.laxity(&["live", "plan.toml", "--in", "lo", "--out", "lo"]);
    assert!(ended.code == Some(2) && ended.stderr.contains("--port"), "{}", ended.stderr);
    let both = ["live", "plan.toml", "--port", "r1:a=lo", "--in", "lo"];
    let ended = folder.laxity(&both);
    assert!(ended.code == Some(2) && ended.stderr.contains("cannot be used"), "{}", ended.stderr);
    let full = Folder::with_plan(&PLAN.replace("2ms", "2us"));
    let ended = full.laxity(&["live", "plan.toml", "--port", "r1:a=lo"]);
    assert!(ended.code == Some(1) && ended.stdout.contains("NOT ADMITTED"), "{}", ended.stdout);
}

/// Two routers, the one in this command's namespace and the other in one that is named by a path.
#[test]
fn calls_come_through_two_routers() {
    let [here, there, a, b] = match std::array::from_fn(|_| Namespace::new()) {
        [Ok(here), Ok(there), Ok(a), Ok(b)] => [here, there, a, b],
        [Err(error), ..] if error.is_permission() => {
            return eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
        }
        others => panic!("{others:?}"),
    };
    here.veth("host", &a, "eth").unwrap();
    here.veth("core", &there, "core").unwrap();
    there.veth("host", &b, "eth").unwrap();
    for (host, last) in [(&a, 1), (&b, 2)] {
        host.address("eth", IpAddr::V4(Ipv4Addr::new(10, 0, 0, last)), 24).unwrap();
    }
    // A process that holds the other namespace for as long as it is named.
    let mut holder =
        there.run(|| Command::new("sleep").arg("60").spawn().expect("a process")).expect("entered");
    let namespace = format!("/proc/{}/ns/net", holder.id());
    let folder = Folder::with_plan(PLAN);
    let ports = [
        "r1:a=host".to_string(),
        "r1:r2=core".to_string(),
        format!("r2:r1=core@{namespace}"),
        format!("r2:b=host@{namespace}"),
    ];
    let mut command =
        folder.command(&["live", "plan.toml", "--priority", "0", "--duration", "20s"]);
    for port in &ports {
        command.args(["--port", port]);
    }
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut running = here.run(|| command.spawn().expect("started")).expect("entered");
    let mut said = BufReader::new(running.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("forwarding at r1, r2") {
        line.clear();
        assert!(said.read_line(&mut line).unwrap() > 0, "it ended");
    }
    let at = SocketAddr::from((Ipv4Addr::new(10, 0, 0, 2), 5000));
    let receiver = b.run(|| UdpSocket::bind(at).unwrap()).unwrap();
    receiver.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    let sender = a.run(|| UdpSocket::bind("0.0.0.0:0").unwrap()).unwrap();
    for _ in 0..50 {
        sender.send_to(&[7; 100], at).unwrap();
        receiver.recv(&mut [0; 200]).unwrap();
    }
    let kill = Command::new("kill").args(["-TERM", &running.id().to_string()]).status();
    assert!(kill.is_ok_and(|status| status.success()));
    let mut printed = String::new();
    running.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
    assert_eq!(running.wait().unwrap().code(), Some(0), "{printed}");
    holder.kill().unwrap();
    holder.wait().unwrap();
    let call = printed.lines().find(|line| line.starts_with("call ")).unwrap();
    let counts: Vec<_> = call.split_whitespace().skip(1).take(4).collect();
    assert_eq!(counts, ["50", "50", "0", "0"], "{printed}");
    assert!(printed.contains("kept its bound, and its jitter below two frames"), "{printed}");
}
