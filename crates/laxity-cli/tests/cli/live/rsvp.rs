//! `laxity rsvp` at a router between two hosts that speak RSVP by a program of their own.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, UdpSocket};
use std::process::{ChildStderr, ChildStdin, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;
use serde_json::{Value, json};

use super::dev::{is_able, is_installed, namespace, run, set};
use super::link::{Running, wait_for};
use crate::folder::Folder;

const PLAN: &str = "version = 1
link.rate = '20mbit'
scheduler = { kind = 'edf', best-effort = 'background' }
[class.rest]
";

const CLIENT: &str = include_str!("rsvp/client.py");

/// Kinds of messages; the first says that the program listens.
const LISTENS: u64 = 0;
const PATH: u64 = 1;
const RESV: u64 = 2;
const PATH_ERR: u64 = 3;
const RESV_ERR: u64 = 4;
const PATH_TEAR: u64 = 5;
const RESV_TEAR: u64 = 6;
const RESV_CONF: u64 = 7;

/// A router whose link to a receiver is forwarded over, with a sender on its other side.
struct Lab {
    folder: Folder,
    sender: Host,
    receiver: Host,
    /// The link and the agent.
    running: [(Running, BufReader<ChildStderr>); 2],
    _router: Namespace,
}

/// A host with the program that speaks RSVP.
struct Host {
    namespace: Namespace,
    _running: Running,
    orders: ChildStdin,
    messages: Receiver<Value>,
}

impl Host {
    fn new(namespace: Namespace, address: &str, folder: &Folder, capture: &str) -> Host {
        let mut command = Command::new("python3");
        command.arg(folder.path("client.py")).arg(address).arg(folder.path(capture));
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut running = Running::new(namespace.run(|| command.spawn().unwrap()).unwrap());
        let orders = running.0.stdin.take().unwrap();
        let printed = BufReader::new(running.0.stdout.take().unwrap());
        let (tell, messages) = mpsc::channel();
        thread::spawn(move || {
            for line in printed.lines().map_while(Result::ok) {
                let _gone = tell.send(serde_json::from_str(&line).unwrap());
            }
        });
        let host = Host { namespace, _running: running, orders, messages };
        host.hears(LISTENS);
        host
    }

    fn send(&mut self, order: Value) {
        writeln!(self.orders, "{order}").unwrap();
    }

    /// The next message of a kind; others before it are passed over.
    fn hears(&self, kind: u64) -> Value {
        self.hears_within(kind, Duration::from_secs(10)).unwrap_or_else(|| panic!("none of {kind}"))
    }

    fn hears_within(&self, kind: u64, patience: Duration) -> Option<Value> {
        let until = Instant::now() + patience;
        loop {
            let left = until.saturating_duration_since(Instant::now());
            let message = self.messages.recv_timeout(left).ok()?;
            if message["kind"] == kind {
                return Some(message);
            }
        }
    }
}

impl Lab {
    /// None where it cannot be had, and then it says so.
    fn new(refresh: &str) -> Option<Lab> {
        if let Some(missing) = ["ip", "python3"].into_iter().find(|it| !is_installed(it)) {
            eprintln!("SKIPPED: {missing} is not installed");
            return None;
        }
        if !is_able() {
            eprintln!(
                "SKIPPED: programs for traffic control are root's, outside of user namespaces"
            );
            return None;
        }
        let folder = Folder::with_plan(PLAN).with("client.py", CLIENT);
        let [router, sender, receiver] = [(); 3].map(|()| namespace());
        for (port, host, subnet) in [("lan", &sender, 1), ("wan", &receiver, 2)] {
            router.veth(port, host, "eth").unwrap();
            run(&router, &format!("ip addr add 10.0.{subnet}.1/24 dev {port}"));
            run(host, &format!("ip addr add 10.0.{subnet}.2/24 dev eth"));
            run(host, &format!("ip route add default via 10.0.{subnet}.1"));
        }
        set(&router, "ipv4/ip_forward", "1");
        let start = |arguments: &[&str], begun: &str| {
            let mut command = folder.command(arguments);
            command.args(["--control", "control.sock"]);
            command.stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut running = Running::new(router.run(|| command.spawn().unwrap()).unwrap());
            let mut said = BufReader::new(running.0.stderr.take().unwrap());
            wait_for(&mut said, begun);
            (running, said)
        };
        let live = ["live", "plan.toml", "--dev", "wan", "--priority", "0"];
        let link = start(&[&live[..], &["--reservations", "promised"]].concat(), "at wan");
        let rsvp = ["rsvp", "plan.toml", "--dev", "wan", "--refresh", refresh];
        let agent = start(&rsvp, "RSVP reserves at wan");
        let sender = Host::new(sender, "10.0.1.2", &folder, "sender.pcap");
        let receiver = Host::new(receiver, "10.0.2.2", &folder, "receiver.pcap");
        Some(Lab { folder, sender, receiver, running: [link, agent], _router: router })
    }

    /// The flows that are reserved for.
    fn reserved(&self) -> BTreeSet<String> {
        let listed = self.folder.laxity(&["reservations", "--json", "--control", "control.sock"]);
        let listed: Value = serde_json::from_str(&listed.printed(0)).unwrap();
        let all = listed["reservations"].as_array().unwrap().iter();
        let active = all.filter(|one| one["state"] == "active");
        // A flow has another name while what it had before is still felt.
        let flow = |name: &str| name.split(' ').take(5).collect::<Vec<_>>().join(" ");
        active.map(|one| flow(one["name"].as_str().unwrap())).collect()
    }

    /// The keys of the only reservation.
    fn keys(&self) -> String {
        let listed = self.folder.laxity(&["reservations", "--json", "--control", "control.sock"]);
        let listed: Value = serde_json::from_str(&listed.printed(0)).unwrap();
        let all = listed["reservations"].as_array().unwrap().iter();
        let keys = all.filter(|one| one["state"] == "active").map(|one| one["keys"].clone());
        let [keys] = &keys.collect::<Vec<_>>()[..] else { panic!("one of {listed}") };
        keys.as_str().unwrap().to_string()
    }

    /// Ends both. Returns what the link printed.
    fn end(self) -> String {
        let Lab { folder, running: [(mut link, mut said), (mut agent, mut agent_said)], .. } = self;
        let mut all = String::new();
        for (running, said) in [(&mut agent, &mut agent_said), (&mut link, &mut said)] {
            running.signal("-TERM");
            said.read_to_string(&mut all).unwrap();
            let code = running.0.wait().unwrap().code();
            running.0.stdout.take().unwrap().read_to_string(&mut all).unwrap();
            assert_eq!(code, Some(0), "{all}");
        }
        assert!(!all.contains("is not used"), "{all}");
        for capture in ["sender.pcap", "receiver.pcap"] {
            wireshark_understands(&folder, capture);
        }
        all
    }
}

/// Asserts that Wireshark finds nothing wrong in a capture of messages.
fn wireshark_understands(folder: &Folder, capture: &str) {
    let shown = Command::new("tshark").arg("-r").arg(folder.path(capture)).arg("-V").output();
    let Ok(shown) = shown else {
        return eprintln!("SKIPPED: tshark is not installed, so no message is looked at");
    };
    let text = String::from_utf8_lossy(&shown.stdout);
    assert!(text.contains("Resource ReserVation Protocol"), "{text}");
    for wrong in
        ["Malformed", "Unknown object", "Expert Info (Error", "Expert Info (Warning", "incorrect"]
    {
        let lines = text.lines().filter(|line| line.contains(wrong));
        assert_eq!(lines.collect::<Vec<_>>(), [""; 0], "{text}");
    }
}

/// The traffic of a call: 100 kB/s in bursts of 2000 bytes.
fn call() -> Value {
    json!([100e3, 2000.0, 1e9, 100, 500])
}

const NAME: &str = "rsvp 17 10.0.1.2:4000 > 10.0.2.2:5000";

/// An order about the call, in the words of the program.
fn order(what: &str, more: Value) -> Value {
    let mut order = json!({
        "do": what, "session": ["10.0.2.2", 17, 5000], "sender": ["10.0.1.2", 4000], "tspec": call(),
        "refresh": 30_000,
    });
    let more = more.as_object().unwrap().clone();
    order.as_object_mut().unwrap().extend(more);
    order
}

/// A reservation for the call at a rate, at the hop that a path message came from.
fn resv(path: &Value, rate: f64, more: Value) -> Value {
    let mut order = order("resv", more);
    order["hop"] = path["hop"].clone();
    if order["rspec"].is_null() {
        order["rspec"] = json!([rate, 0]);
    }
    order
}

#[test]
fn a_flow_is_reserved_for_by_rsvp_and_kept_in_time_beside_a_flood() {
    let Some(mut lab) = Lab::new("30s") else { return };
    lab.sender.send(order("path", json!({})));
    let path = lab.receiver.hears(PATH);
    assert_eq!(path["from"], "10.0.1.2");
    assert_eq!(path["alert"], true);
    assert_eq!([&path["ttl"], &path["send_ttl"]], [63, 63]);
    assert_eq!(path["hop"][0], "10.0.2.1");
    assert_eq!(path["tspec"], call());
    // 1514 bytes take 606 us, and the process may be 1 ms late.
    assert_eq!(path["terms"], json!([2000, 1606, 2000, 1606]));
    assert_eq!([&path["hops"], &path["mtu"]], [1, 1500]);
    assert_eq!(path["bandwidth"], 2.5e6);
    assert_eq!(path["broken"], json!([0, 0, 1]), "controlled load is not served");

    lab.receiver.send(resv(&path, 200e3, json!({ "confirm": true })));
    let passed_on = lab.sender.hears(RESV);
    assert_eq!(passed_on["hop"], json!(["10.0.1.1", 7]));
    assert_eq!(passed_on["rspec"], json!([200e3, 0]));
    assert_eq!(passed_on["confirm"], "10.0.2.2");
    lab.sender.send(order("resv-conf", json!({ "to": "10.0.2.2", "rspec": [200e3, 0] })));
    assert_eq!(lab.receiver.hears(RESV_CONF)["confirm"], "10.0.2.2");
    assert_eq!(lab.reserved(), BTreeSet::from([NAME.to_string()]));
    // C / R + D less the lateness, and the traffic with 14 bytes of Ethernet to 100 of IP.
    let keys = lab.keys();
    for key in [
        "\"10606000ns\"",
        "\"2280b\"",
        "\"912000bit\"",
        "\"570b\"",
        "\"9120000000bit\"",
        "\"514b\"",
    ] {
        assert!(keys.contains(key), "{key} in {keys}");
    }

    flood_and_call(&lab);
    let printed = lab.end();
    assert!(printed.contains("Every packet kept its bound"), "{printed}");
    let sent = printed.lines().find(|line| line.starts_with("rsvp 17")).unwrap();
    assert!(sent.contains(" 180 "), "{printed}");
    assert!(printed.contains(&format!("`{NAME}` has ended")), "{printed}");
}

/// 180 packets of the call, in bursts, beside 26 Mbit/s.
fn flood_and_call(lab: &Lab) {
    let bind = |host: &Host, at: &str| {
        let at: SocketAddr = at.parse().unwrap();
        host.namespace.run(|| UdpSocket::bind(at).unwrap()).unwrap()
    };
    let call = bind(&lab.sender, "10.0.1.2:4000");
    let flood = bind(&lab.sender, "10.0.1.2:4001");
    let heard = bind(&lab.receiver, "10.0.2.2:5000");
    heard.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..180 {
                heard.recv(&mut [0; 500]).expect("every packet of the call comes");
            }
        });
        for _ in 0..60 {
            for _ in 0..50 {
                let _full = flood.send_to(&[0; 1400], "10.0.2.2:6000");
            }
            // 1500 of 2000 bytes of IP at once, for 2200 that are earned meanwhile. Headers take
            // 28.
            for _ in 0..3 {
                call.send_to(&[0; 472], "10.0.2.2:5000").unwrap();
            }
            thread::sleep(Duration::from_millis(22));
        }
    });
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    let Some(mut lab) = Lab::new("30s") else { return };
    let early = json!({ "hop": ["10.0.2.1", 1], "rspec": [200e3, 0] });
    lab.receiver.send(order("resv", early));
    assert_eq!(lab.receiver.hears(RESV_ERR)["error"], json!(["10.0.2.1", 0, 3, 0]), "no path");
    lab.sender.send(order("path", json!({})));
    let path = lab.receiver.hears(PATH);

    let refused = |lab: &mut Lab, order: Value| {
        lab.receiver.send(order);
        let refused = lab.receiver.hears(RESV_ERR);
        assert_eq!(refused["sender"], json!(["10.0.1.2", 4000]));
        assert_eq!(refused["hop"], path["hop"]);
        let error = refused["error"].as_array().unwrap();
        assert_eq!(error[0], "10.0.2.1");
        [1, 2, 3].map(|part| error[part].as_u64().unwrap())
    };
    // 3 MB/s of 2.5; a burst within less than it takes; packets longer than the link sends.
    let large = json!({ "tspec": [3e6, 2000, 4e6, 100, 500] });
    assert_eq!(refused(&mut lab, resv(&path, 3e6, large)), [0, 1, 2]);
    let urgent = json!({ "tspec": [100e3, 60e3, 1e9, 100, 500] });
    assert_eq!(refused(&mut lab, resv(&path, 1e6, urgent.clone())), [0, 1, 1]);
    let long = json!({ "tspec": [100e3, 2000, 200e3, 100, 1501] });
    assert_eq!(refused(&mut lab, resv(&path, 200e3, long)), [0, 1, 3]);
    // Less than its traffic; a bucket less than a packet; controlled load; other styles.
    assert_eq!(refused(&mut lab, resv(&path, 50e3, json!({}))), [0, 21, 3]);
    let empty = json!({ "tspec": [100e3, 100, 200e3, 100, 500] });
    assert_eq!(refused(&mut lab, resv(&path, 200e3, empty)), [0, 21, 4]);
    assert_eq!(refused(&mut lab, resv(&path, 200e3, json!({ "service": 5 }))), [0, 21, 2]);
    for style in [0b10001, 0b10010] {
        assert_eq!(refused(&mut lab, resv(&path, 200e3, json!({ "style": style }))), [0, 6, 0]);
    }
    let other = json!({ "sender": ["10.0.1.2", 4001] });
    lab.receiver.send(resv(&path, 200e3, other));
    assert_eq!(lab.receiver.hears(RESV_ERR)["error"], json!(["10.0.2.1", 0, 4, 0]), "no sender");
    assert_eq!(lab.reserved(), BTreeSet::new());
    assert_eq!(lab.sender.hears_within(RESV, Duration::from_millis(300)), None);

    // A change that does not fit leaves what there is, and says so.
    lab.receiver.send(resv(&path, 200e3, json!({})));
    lab.sender.hears(RESV);
    let before = lab.keys();
    assert_eq!(refused(&mut lab, resv(&path, 1e6, urgent)), [1, 1, 1]);
    assert_eq!(lab.keys(), before);
    // With slack it fits, and what is left of that goes on.
    let patient = json!({ "tspec": [100e3, 60e3, 1e9, 100, 500], "rspec": [1e6, 100_000] });
    lab.receiver.send(resv(&path, 1e6, patient));
    let passed_on = lab.sender.hears(RESV);
    let left = passed_on["rspec"][1].as_u64().unwrap();
    assert!((50_000..90_000).contains(&left), "{passed_on}");
    let deadline = 1e6 * (2000.0 / 1e6 + 606e-6) + (100_000 - left) as f64;
    let keys = lab.keys();
    let found: u64 = keys
        .lines()
        .find_map(|line| line.strip_prefix("deadline = \"")?.strip_suffix("ns\""))
        .unwrap()
        .parse()
        .unwrap();
    assert!((found as f64 / 1e3 - deadline).abs() <= 1.0, "{found} of {deadline} us");
    lab.end();
}

#[test]
fn what_is_not_refreshed_ends_and_what_is_torn_down_too() {
    let Some(mut lab) = Lab::new("1s") else { return };
    lab.sender.send(order("path", json!({})));
    let path = lab.receiver.hears(PATH);
    assert_eq!(path["refresh"], 1000);
    // It lasts for 5.25 periods: 1.05 s.
    lab.receiver.send(resv(&path, 200e3, json!({ "refresh": 200 })));
    lab.sender.hears(RESV);
    let begun = Instant::now();
    lab.sender.hears(RESV_TEAR);
    assert!(begun.elapsed() > Duration::from_millis(900), "{:?}", begun.elapsed());
    assert_eq!(lab.reserved(), BTreeSet::new());

    // Refreshed, it stays; the router refreshes the sender's state of it, and the path further on.
    lab.receiver.send(resv(&path, 200e3, json!({ "refresh": 400 })));
    lab.sender.hears(RESV);
    for _ in 0..9 {
        thread::sleep(Duration::from_millis(300));
        lab.receiver.send(resv(&path, 200e3, json!({ "refresh": 400 })));
    }
    assert_eq!(lab.reserved(), BTreeSet::from([NAME.to_string()]));
    lab.sender.hears_within(RESV, Duration::from_millis(1)).expect("a refresh");
    lab.receiver.hears_within(PATH, Duration::from_millis(1)).expect("a refresh");
    let more = json!({ "refresh": 30_000, "tspec": [120e3, 2000, 200e3, 100, 500] });
    lab.receiver.send(resv(&path, 200e3, more));
    let changed = (0..9).find(|_| lab.sender.hears(RESV)["tspec"][0] == 120e3);
    assert!(changed.is_some());
    assert!(lab.keys().contains("1094400bit"), "{}", lab.keys());

    lab.receiver.send({
        let mut tear = resv(&path, 200e3, json!({}));
        tear["do"] = "resv-tear".into();
        tear
    });
    lab.sender.hears(RESV_TEAR);
    assert_eq!(lab.reserved(), BTreeSet::new());

    lab.receiver.send(resv(&path, 200e3, json!({})));
    lab.sender.hears(RESV);
    assert_eq!(lab.reserved(), BTreeSet::from([NAME.to_string()]));
    lab.sender.send(order("path-tear", json!({})));
    assert_eq!(lab.receiver.hears(PATH_TEAR)["from"], "10.0.1.2");
    assert_eq!(lab.reserved(), BTreeSet::new());
    lab.end();
}

#[test]
fn a_path_that_ends_takes_its_reservation_with_it_and_a_killed_agent_leaves_nothing() {
    let Some(mut lab) = Lab::new("1s") else { return };
    // A class above 191 that nobody knows goes on; one from 128 to 191 does not; for others the
    // message is refused.
    let extra = ["0008c8010000002a", "000890010000002b"];
    lab.sender.send(order("path", json!({ "refresh": 200, "extra": extra })));
    let path = lab.receiver.hears(PATH);
    assert_eq!(path["others"], json!([[200, 1, "0000002a"]]));
    lab.sender.send(order("path", json!({ "extra": ["000840020000002c"] })));
    assert_eq!(lab.sender.hears(PATH_ERR)["error"], json!(["10.0.1.1", 0, 13, 0x4002]));
    lab.receiver.send(resv(&path, 200e3, json!({})));
    lab.sender.hears(RESV);
    lab.receiver.hears(PATH_TEAR);
    assert_eq!(lab.reserved(), BTreeSet::new());

    lab.sender.send(order("path", json!({})));
    let path = lab.receiver.hears(PATH);
    // Refreshes of what has ended do not count.
    while lab.sender.messages.try_recv().is_ok() {}
    // The lease is of 5.25 s.
    lab.receiver.send(resv(&path, 200e3, json!({ "refresh": 1000 })));
    lab.sender.hears(RESV);
    lab.running[1].0.signal("-KILL");
    assert_eq!(lab.reserved(), BTreeSet::from([NAME.to_string()]));
    let begun = Instant::now();
    while !lab.reserved().is_empty() {
        assert!(begun.elapsed() < Duration::from_secs(20), "it stays");
        thread::sleep(Duration::from_millis(100));
    }
}
