//! `laxity live --dev` at the uplink of a router in namespaces of the test's own: addresses are
//! translated, two hosts are behind it, and a provider is before it.

use std::io::{BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream, UdpSocket};
use std::process::{ChildStderr, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use laxity_linux::namespace::Namespace;

use crate::datagrams::uninterrupted;
use crate::folder::Folder;
use crate::live::link::{Running, wait_for};

const UP: &str = "version = 1
link.rate = '20mbit'
scheduler.kind = 'edf'
[class.call]
deadline = '10ms'
arrival = { bucket = '3kB', rate = '2mbit', packet = '300b' }
match = 'udp dport 5000 and (saddr 192.168.7.11 or saddr fd07::11)'
[class.marked]
match = 'mark 0x20/0xf0'
[class.connection]
match = 'ct mark 7'
[class.own]
match = 'priority 6'
[class.second]
match = 'saddr 192.168.7.12'
[class.rest]
";

const DOWN: &str = "version = 1
link.rate = '20mbit'
scheduler.kind = 'edf'
[class.first]
match = 'daddr 192.168.7.11 or daddr fd07::11'
[class.connection]
match = 'ct mark 7'
[class.rest]
";

/// Marks for the plans, beside what translates addresses.
const FIREWALL: &str = "table inet router {
    chain translate {
        type nat hook postrouting priority srcnat;
        oifname \"wan\" masquerade
    }
    chain marks {
        type filter hook forward priority mangle;
        oifname \"wan\" udp dport 5001 meta mark set 0x25
        oifname \"wan\" udp dport 5002 ct mark set 7
    }
}
";

/// The provider's address.
const PROVIDER: [&str; 2] = ["198.51.100.1", "fd51::1"];

/// A router with two hosts inside and a provider outside.
struct Lab {
    router: Namespace,
    provider: Namespace,
    hosts: [Namespace; 2],
}

impl Lab {
    /// None where it cannot be had, and then it says so.
    fn new() -> Option<Lab> {
        if let Some(missing) = ["ip", "nft", "tc"].into_iter().find(|it| !is_installed(it)) {
            eprintln!("SKIPPED: {missing} is not installed");
            return None;
        }
        if !is_able() {
            eprintln!(
                "SKIPPED: programs for traffic control are root's, outside of user namespaces"
            );
            return None;
        }
        let [router, provider, first, second] = [(); 4].map(|()| namespace());
        router.veth("wan", &provider, "eth").unwrap();
        let hosts = [(first, "lan1", 11u8), (second, "lan2", 12)];
        let hosts = hosts.map(|(host, port, last)| {
            router.veth(port, &host, "eth").unwrap();
            give(&host, "eth", &format!("192.168.7.{last}/24"), &format!("fd07::{last}/64"));
            run(&host, "ip route add default via 192.168.7.1");
            run(&host, "ip route add default via fd07::1");
            host
        });
        router.bridge("lan", &["lan1", "lan2"]).unwrap();
        give(&router, "lan", "192.168.7.1/24", "fd07::1/64");
        give(&router, "wan", "198.51.100.2/24", "fd51::2/64");
        give(&provider, "eth", "198.51.100.1/24", "fd51::1/64");
        let forwards = ["ipv4/ip_forward", "ipv6/conf/all/forwarding"];
        forwards.iter().for_each(|setting| set(&router, setting, "1"));
        let lab = Lab { router, provider, hosts };
        load(&lab.router, FIREWALL);
        Some(lab)
    }

    /// What the router's tools show.
    fn shown(&self) -> String {
        let shown = [
            "ip link",
            "ip addr",
            "ip route",
            "ip -6 route",
            "tc qdisc",
            "tc filter show dev wan ingress",
            "tc filter show dev wan egress",
            "nft list ruleset",
        ];
        shown.map(|command| run(&self.router, command)).concat()
    }

    /// Waits until the router's tools show this, for a second at most; tells how long it took.
    fn shows(&self, wanted: &str) -> Duration {
        let began = Instant::now();
        while self.shown() != wanted {
            if began.elapsed() > Duration::from_secs(1) {
                assert_eq!(self.shown(), wanted);
            }
        }
        began.elapsed()
    }

    /// Bytes that have come to the provider, and to the hosts inside.
    fn counted(&self) -> [u64; 2] {
        let received = |host: &Namespace| {
            let read = || std::fs::read_to_string("/proc/thread-self/net/dev").unwrap();
            let counters = host.run(read).unwrap();
            let line = counters.lines().find_map(|line| line.trim().strip_prefix("eth:")).unwrap();
            line.split_whitespace().next().unwrap().parse::<u64>().unwrap()
        };
        [received(&self.provider), self.hosts.iter().map(received).sum()]
    }

    /// Has a host send datagrams to a port of the provider, each until it has come and was
    /// answered.
    fn call(&self, from: &Namespace, to: &str, count: usize) {
        let to: SocketAddr = to.parse().unwrap();
        let any = if to.is_ipv4() { "0.0.0.0:0" } else { "[::]:0" };
        let caller = from.run(|| UdpSocket::bind(any).unwrap()).unwrap();
        let called = self.provider.run(|| UdpSocket::bind(to).unwrap()).unwrap();
        let patience = Some(Duration::from_millis(200));
        [&caller, &called].iter().for_each(|socket| socket.set_read_timeout(patience).unwrap());
        for _ in 0..count {
            let answered = (0..50).any(|_| {
                // Without an address or a route yet nothing can be sent.
                let _ = caller.send_to(&[7; 100], to);
                let heard = uninterrupted(|| called.recv_from(&mut [0; 200]));
                let Ok((_, caller_outside)) = heard else { return false };
                called.send_to(&[8; 100], caller_outside).unwrap();
                uninterrupted(|| caller.recv(&mut [0; 200])).is_ok()
            });
            assert!(answered, "{to}");
        }
    }

    /// A connection from a host to a port of the provider, both ends.
    fn connect(&self, from: &Namespace, to: &str) -> [TcpStream; 2] {
        // A process that another test starts may hold the last listener until it runs its program.
        let bind = || {
            thread::sleep(Duration::from_millis(1));
            self.provider.run(|| TcpListener::bind(to)).unwrap().ok()
        };
        let listener = (0..1000).find_map(|_| bind()).expect("a port");
        let near = from.run(|| TcpStream::connect(to).unwrap()).unwrap();
        let (far, _) = listener.accept().unwrap();
        let ends = [near, far];
        ends.iter().for_each(|end| end.set_read_timeout(Some(Duration::from_secs(20))).unwrap());
        ends
    }
}

/// Sends `count` bytes from the one end to the other and looks at them there.
fn transfer([from, to]: [&TcpStream; 2], count: usize) {
    let bytes: Vec<u8> = (0..count).map(|at| (at % 251) as u8).collect();
    thread::scope(|scope| {
        scope.spawn(|| { from }.write_all(&bytes).unwrap());
        let mut heard = vec![0; count];
        { to }.read_exact(&mut heard).unwrap();
        assert!(heard == bytes);
    });
}

/// The command at the router's uplink.
struct Shaper {
    running: Running,
    said: BufReader<ChildStderr>,
}

impl Shaper {
    fn start(lab: &Lab, folder: &Folder, more: &[&str]) -> Shaper {
        let mut arguments = vec!["live", "up.toml", "--dev", "wan"];
        if !more.contains(&"--priority") {
            arguments.extend(["--priority", "0"]);
        }
        let mut command = folder.command(&[&arguments[..], more].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut running = Running::new(lab.router.run(|| command.spawn().unwrap()).unwrap());
        let said = BufReader::new(running.0.stderr.take().unwrap());
        let mut shaper = Shaper { running, said };
        shaper.says("at wan");
        shaper
    }

    fn says(&mut self, text: &str) {
        wait_for(&mut self.said, text);
    }

    /// Asks for the end, and tells what was printed.
    fn end(mut self) -> String {
        self.running.signal("-TERM");
        let mut printed = String::new();
        self.running.0.stdout.take().unwrap().read_to_string(&mut printed).unwrap();
        let mut said = String::new();
        self.said.read_to_string(&mut said).unwrap();
        assert_eq!(self.running.0.wait().unwrap().code(), Some(0), "{said}{printed}");
        printed
    }
}

fn folder() -> Folder {
    let folder = Folder::with_plan(UP);
    std::fs::write(folder.path("up.toml"), UP).unwrap();
    std::fs::write(folder.path("down.toml"), DOWN).unwrap();
    folder
}

/// How many packets of a class arrived, by all tables that have it.
fn arrived(printed: &str, class: &str) -> usize {
    let lines = printed.lines().filter(|line| line.split_whitespace().next() == Some(class));
    lines.map(|line| line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap()).sum()
}

/// Both ways and both versions of IP, by inside addresses, marks of packets and of connections;
/// conversations go on from before until after.
#[test]
fn a_router_keeps_its_connections_and_the_plan_sees_who_is_inside() {
    let Some(lab) = Lab::new() else { return };
    let folder = folder();
    let before = lab.shown();
    let [near, far] = lab.connect(&lab.hosts[1], "198.51.100.1:80");
    transfer([&near, &far], 10_000);
    let shaper = Shaper::start(&lab, &folder, &["--ingress", "down.toml"]);
    for provider in PROVIDER {
        let at = |port: u16| SocketAddr::new(provider.parse().unwrap(), port).to_string();
        lab.call(&lab.hosts[0], &at(5000), 10);
        lab.call(&lab.hosts[1], &at(5001), 5);
        lab.call(&lab.hosts[0], &at(5002), 5);
        let [upload, served] = lab.connect(&lab.hosts[0], &at(81));
        transfer([&upload, &served], 1_000_000);
        transfer([&served, &upload], 1_000_000);
    }
    transfer([&near, &far], 1_000_000);
    transfer([&far, &near], 1_000_000);
    let printed = shaper.end();
    assert_eq!(arrived(&printed, "call"), 20, "{printed}");
    assert_eq!(arrived(&printed, "marked"), 10, "{printed}");
    assert_eq!(arrived(&printed, "connection"), 10, "{printed}");
    assert!(arrived(&printed, "second") > 600, "what was connected before: {printed}");
    assert!(arrived(&printed, "first") > 1400 + 20, "{printed}");
    transfer([&near, &far], 10_000);
    assert!(!printed.contains("Lost at"), "{printed}");
    assert_eq!(lab.shown(), before);
}

/// An uplink that gets another address, goes down, and is removed and made again.
#[test]
fn an_uplink_changes_while_it_is_shaped() {
    changes(&["--ingress", "down.toml"]);
}

#[test]
fn an_uplink_without_tcx_changes_while_it_is_shaped() {
    changes(&["--ingress", "down.toml", "--clsact"]);
}

fn changes(arguments: &[&str]) {
    let Some(lab) = Lab::new() else { return };
    let folder = folder();
    let mut shaper = Shaper::start(&lab, &folder, arguments);
    lab.call(&lab.hosts[0], "198.51.100.1:5000", 3);
    run(&lab.router, "ip addr del 198.51.100.2/24 dev wan");
    run(&lab.router, "ip addr add 198.51.100.77/24 dev wan");
    lab.call(&lab.hosts[0], "198.51.100.1:5000", 3);
    lab.router.switch("wan", false).unwrap();
    shaper.says("wan is down");
    lab.router.switch("wan", true).unwrap();
    shaper.says("wan is up");
    lab.call(&lab.hosts[0], "198.51.100.1:5000", 3);
    lab.router.remove("wan").unwrap();
    shaper.says("wan is gone");
    lab.router.veth("wan", &lab.provider, "eth").unwrap();
    shaper.says("wan is back");
    give(&lab.router, "wan", "198.51.100.2/24", "fd51::2/64");
    give(&lab.provider, "eth", "198.51.100.1/24", "fd51::1/64");
    lab.call(&lab.hosts[0], "198.51.100.1:5000", 3);
    let printed = shaper.end();
    assert_eq!(arrived(&printed, "call"), 12, "{printed}");
    assert!(arrived(&printed, "first") >= 12, "{printed}");
}

/// Killed while both ways are busy: connectivity is back within a second, and nothing is left.
#[test]
fn a_router_is_as_it_was_when_the_process_is_killed() {
    killed(&["--ingress", "down.toml"]);
}

/// The same as on a kernel before 6.6, where what is left is taken away by a guardian.
#[test]
fn a_router_without_tcx_is_as_it_was_when_the_process_is_killed() {
    killed(&["--ingress", "down.toml", "--clsact"]);
}

fn killed(arguments: &[&str]) {
    let Some(lab) = Lab::new() else { return };
    let folder = folder();
    let before = lab.shown();
    let kills = std::env::var("LAXITY_KILLS").map_or(5, |kills| kills.parse().unwrap());
    let mut longest = Duration::ZERO;
    for number in 0..kills {
        let [near, far] = lab.connect(&lab.hosts[0], "198.51.100.1:80");
        let mut shaper = Shaper::start(&lab, &folder, arguments);
        // At other moments of its life each time: 0 to 99 ms.
        let moment = Duration::from_millis(number * 37 % 100);
        thread::scope(|scope| {
            scope.spawn(|| transfer([&near, &far], 3_000_000));
            thread::sleep(moment);
            shaper.running.0.kill().unwrap();
            let killed = Instant::now();
            lab.call(&lab.hosts[1], "198.51.100.1:5003", 1);
            longest = longest.max(killed.elapsed());
            lab.shows(&before);
        });
        shaper.running.0.wait().unwrap();
    }
    println!("{kills} kills, connectivity back after at most {longest:?}");
    assert!(longest < Duration::from_secs(1), "{longest:?}");
}

/// As before Linux 6.6: filters of others and their qdisc stay, and where the guardian is killed,
/// too, frames pass all the same and the next start takes away what it left.
#[test]
fn filters_of_others_stay_without_tcx() {
    let Some(lab) = Lab::new() else { return };
    let folder = folder();
    let arguments = ["--ingress", "down.toml", "--clsact"];
    run(&lab.router, "tc qdisc add dev wan clsact");
    let other = "pref 5 protocol ip u32 match ip dport 9 0xffff flowid 1:1";
    run(&lab.router, &format!("tc filter add dev wan egress {other}"));
    let before = lab.shown();
    let shaper = Shaper::start(&lab, &folder, &arguments);
    assert!(run(&lab.router, "tc filter show dev wan egress").contains("laxity direct-action"));
    lab.call(&lab.hosts[0], "198.51.100.1:5000", 3);
    let printed = shaper.end();
    assert_eq!(arrived(&printed, "call"), 3, "{printed}");
    assert_eq!(lab.shown(), before);

    let mut shaper = Shaper::start(&lab, &folder, &arguments);
    let guardian = children(shaper.running.0.id());
    run(&lab.router, &format!("kill -KILL {guardian}"));
    shaper.running.0.kill().unwrap();
    shaper.running.0.wait().unwrap();
    lab.call(&lab.hosts[0], "198.51.100.1:5003", 1);
    assert_ne!(lab.shown(), before);
    Shaper::start(&lab, &folder, &arguments).end();
    assert_eq!(lab.shown(), before);

    run(&lab.router, "tc filter add dev wan ingress pref 1 protocol ip u32 match u32 0 0");
    assert_refused(&lab, &folder, "they are filters of priority 1, which others have");
    run(&lab.router, "tc qdisc del dev wan clsact");
    run(&lab.router, "tc qdisc add dev wan ingress");
    assert_refused(&lab, &folder, "the place of its qdisc `ingress`");
}

fn assert_refused(lab: &Lab, folder: &Folder, why: &str) {
    let before = lab.shown();
    let arguments = ["live", "up.toml", "--dev", "wan", "--clsact", "--priority", "0"];
    let refused = lab.router.run(|| folder.command(&arguments).output().unwrap()).unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert_eq!(refused.status.code(), Some(3), "{said}");
    assert!(said.contains(why), "{said}");
    assert_eq!(lab.shown(), before);
}

/// The children of a process.
fn children(process: u32) -> String {
    let threads = std::fs::read_dir(format!("/proc/{process}/task")).unwrap();
    let of = |thread: std::fs::DirEntry| {
        std::fs::read_to_string(thread.path().join("children")).unwrap_or_default()
    };
    threads.map(|thread| of(thread.unwrap())).collect::<String>().trim().to_string()
}

/// Uploads and downloads by 16 flows each, over 5 and 20 Mbit/s, and a call beside them.
#[test]
fn a_call_keeps_its_bound_while_the_link_is_full() {
    // A machine that stalls leaves the link idle; bounds hold nevertheless.
    let is_full = || call_beside_a_full_link().is_none_or(|used| used.iter().all(|it| *it > 0.9));
    assert!((0..3).any(|_| is_full()), "never full");
}

/// The part of the link that is used, up and down; `None` where there is no laboratory.
fn call_beside_a_full_link() -> Option<[f64; 2]> {
    let lab = Lab::new()?;
    let folder = folder();
    let plan = |rate| {
        let plan = UP
            .replace("udp dport 5000 and (saddr 192.168.7.11 or saddr fd07::11)", "udp port 5000");
        let queue = "queue = { kind = 'codel', limit = '200kB' }\n";
        let plan = plan + queue;
        plan.replace("20mbit", rate).replace("2mbit", "200kbit").replace("3kB", "600b")
    };
    std::fs::write(folder.path("up.toml"), plan("5mbit")).unwrap();
    std::fs::write(folder.path("down.toml"), plan("20mbit")).unwrap();
    let shaper = Shaper::start(&lab, &folder, &["--ingress", "down.toml", "--priority", "50"]);
    let seconds = std::env::var("LAXITY_UPLINK_SECONDS").map_or(3, |it| it.parse().unwrap());
    let ends = Instant::now() + Duration::from_secs(2 + seconds);
    let flows = |host: &Namespace, port: u16| -> Vec<[TcpStream; 2]> {
        let to = format!("198.51.100.1:{port}");
        (0..16).map(|_| lab.connect(host, &to)).collect()
    };
    let (uploads, downloads) = (flows(&lab.hosts[0], 90), flows(&lab.hosts[1], 91));
    let [carried, took] = thread::scope(|scope| {
        for [near, far] in &uploads {
            scope.spawn(|| pump([near, far], ends));
        }
        for [near, far] in &downloads {
            scope.spawn(|| pump([far, near], ends));
        }
        thread::sleep(Duration::from_secs(2));
        let (before, began) = (lab.counted(), Instant::now());
        while Instant::now() < ends {
            lab.call(&lab.hosts[0], "198.51.100.1:5000", 1);
            thread::sleep(Duration::from_millis(20));
        }
        let after = lab.counted();
        let took = began.elapsed().as_secs_f64();
        [[0, 1].map(|way| (after[way] - before[way]) as f64 * 8.0 / took), [took; 2]]
    });
    let used = [carried[0] / 5e6, carried[1] / 20e6];
    let printed = shaper.end();
    println!(
        "for {:.1} s the link carried {:.1} % up and {:.1} % down\n{printed}",
        took[0],
        used[0] * 100.0,
        used[1] * 100.0
    );
    assert_eq!(printed.matches("Every packet kept its bound").count(), 2, "{printed}");
    assert!(used.iter().all(|used| *used < 1.01), "{used:?}");
    Some(used)
}

/// Sends from the one end and reads at the other until then.
fn pump([from, to]: [&TcpStream; 2], ends: Instant) {
    thread::scope(|scope| {
        scope.spawn(|| {
            while Instant::now() < ends && { from }.write_all(&[0; 20_000]).is_ok() {}
            from.shutdown(std::net::Shutdown::Write).unwrap();
        });
        let mut heard = vec![0; 65_536];
        while { to }.read(&mut heard).is_ok_and(|count| count > 0) {}
    });
}

/// As CAKE is by default: shared by hosts at both ends.
const CAKE: &str = "version = 1
link.rate = '30mbit'
scheduler.kind = 'cake'
[class.rest]
";

/// The same in what deadlines leave.
const EDF_OVER_CAKE: &str = "version = 1
link.rate = '30mbit'
scheduler = { kind = 'edf', best-effort-order = 'cake' }
[class.call]
deadline = '10ms'
arrival = { bucket = '600b', rate = '200kbit', packet = '300b' }
match = 'udp port 5000'
[class.rest]
";

/// Behind the link: what came to the server of the first host, and to those of the second.
const UPLOADS: &str = "table ip shares {
    counter first { }
    counter second { }
    chain came {
        type filter hook input priority filter;
        ip daddr 198.51.100.101 counter name first
        ip daddr 198.51.100.102-198.51.100.117 counter name second
    }
}
";

/// The same of what goes on to the hosts.
const DOWNLOADS: &str = "table ip shares {
    counter first { }
    counter second { }
    chain came {
        type filter hook forward priority filter;
        ip daddr 192.168.7.11 counter name first
        ip daddr 192.168.7.12 counter name second
    }
}
";

/// One flow of a host beside 16 of another, also when the router's address changes.
#[test]
fn hosts_share_whatever_their_number_of_flows() {
    let Some(lab) = Lab::new() else { return };
    let folder = folder();
    for flow in 0..17 {
        run(&lab.provider, &format!("ip addr add 198.51.100.{}/24 dev eth", 101 + flow));
    }
    load(&lab.provider, UPLOADS);
    load(&lab.router, DOWNLOADS);
    for (name, plan) in [("cake", CAKE), ("edf over cake", EDF_OVER_CAKE)] {
        std::fs::write(folder.path("up.toml"), plan).unwrap();
        std::fs::write(folder.path("down.toml"), plan).unwrap();
        let shaper = Shaper::start(&lab, &folder, &["--ingress", "down.toml", "--priority", "50"]);
        [true, false].into_iter().for_each(|is_up| assert_halves(&lab, name, is_up));
        if name == "cake" {
            run(&lab.router, "ip addr del 198.51.100.2/24 dev wan");
            run(&lab.router, "ip addr add 198.51.100.77/24 dev wan");
            lab.call(&lab.hosts[0], "198.51.100.1:5003", 1);
            assert_halves(&lab, "cake, after a change of address", true);
        }
        shaper.end();
    }
}

/// Has one flow of the first host and 16 of the second, each with another server, fill the way up
/// or that down. Each host gets half of it, within 2 % of the link. A single flow has nothing to
/// send where the machine stalls, so it may try again.
fn assert_halves(lab: &Lab, what: &str, is_up: bool) {
    assert!((0..4).any(|_| are_halves(lab, what, is_up)), "{what}");
}

fn are_halves(lab: &Lab, what: &str, is_up: bool) -> bool {
    let flows = (0..17).map(|flow: usize| {
        let [near, far] =
            lab.connect(&lab.hosts[flow.min(1)], &format!("198.51.100.{}:90", 101 + flow));
        if is_up { [near, far] } else { [far, near] }
    });
    let flows: Vec<[TcpStream; 2]> = flows.collect();
    let (settled, measured) = (Duration::from_millis(800), Duration::from_millis(1600));
    let ends = Instant::now() + settled + measured + Duration::from_millis(100);
    let counts = || counted(if is_up { &lab.provider } else { &lab.router });
    let [before, after] = thread::scope(|scope| {
        for [from, to] in &flows {
            scope.spawn(move || fill([from, to], ends));
        }
        [settled, measured].map(|time| {
            thread::sleep(time);
            counts()
        })
    });
    let [first, second] = [0, 1].map(|host| (after[host] - before[host]) as f64);
    let share = first / (first + second);
    let rate = (first + second) * 8.0 / measured.as_secs_f64() / 1e6;
    let way = if is_up { "up" } else { "down" };
    println!(
        "{what}, {way}: one flow gets {:.2} % of {rate:.1} Mbit/s beside sixteen",
        share * 100.0
    );
    (0.48..0.52).contains(&share)
}

/// Bytes of the first and the second host, with those of Ethernet's headers.
fn counted(at: &Namespace) -> [u64; 2] {
    let counters = run(at, "nft list counters table ip shares");
    let bytes = |name: &str| {
        let (_, counter) = counters.split_once(&format!("counter {name}")).unwrap();
        let count = |unit: &str| {
            let mut words = counter.split_whitespace().skip_while(|word| *word != unit);
            words.nth(1).unwrap().parse::<u64>().unwrap()
        };
        count("bytes") + 14 * count("packets")
    };
    ["first", "second"].map(bytes)
}

/// Sends from the one end and reads at the other until then.
fn fill([from, to]: [&TcpStream; 2], ends: Instant) {
    let patience = Some(Duration::from_millis(50));
    from.set_write_timeout(patience).unwrap();
    to.set_read_timeout(patience).unwrap();
    thread::scope(|scope| {
        scope.spawn(|| {
            while Instant::now() < ends {
                let _full = { from }.write(&[0; 20_000]);
            }
        });
        let mut heard = vec![0; 65_536];
        while Instant::now() < ends {
            let _none = { to }.read(&mut heard);
        }
    });
}

/// A process's own packets, by its control group, which is looked up again when the plan is
/// reloaded; and no privilege is left meanwhile.
#[test]
fn a_control_group_has_a_class() {
    let Some(lab) = Lab::new() else { return };
    let group = laxity_linux::cgroup::root().map(|root| root.join("laxity-test-dev"));
    let Some(group) = group.ok().filter(|group| std::fs::create_dir_all(group).is_ok()) else {
        return eprintln!("SKIPPED: no control group of version 2 can be made");
    };
    let folder = folder();
    let named = UP.replace("priority 6", "cgroup laxity-test-dev");
    std::fs::write(folder.path("up.toml"), named).unwrap();
    let mut shaper = Shaper::start(&lab, &folder, &[]);
    let left = shaper.running.of_threads("CapEff:");
    assert!(left.iter().all(|left| left.trim_start_matches('0').is_empty()), "{left:?}");
    assert!(shaper.running.of_threads("Seccomp:").iter().all(|mode| mode == "2"));
    shaper.running.signal("-HUP");
    shaper.says("the plan is reloaded");
    // Bash's own file that sends: a child in the group.
    let send =
        format!("echo $$ > {}/cgroup.procs; echo > /dev/udp/198.51.100.1/5004", group.display());
    let bash = || Command::new("bash").args(["-c", &send]).status().unwrap();
    // The first is lost if the neighbour is not known yet.
    lab.call(&lab.router, "198.51.100.1:5003", 1);
    for _ in 0..3 {
        assert!(lab.router.run(bash).unwrap().success());
    }
    let printed = shaper.end();
    std::fs::remove_dir(&group).unwrap();
    assert_eq!(arrived(&printed, "own"), 3, "{printed}");
    let refused = folder.laxity(&["live", "up.toml", "--dev", "lo"]);
    assert_eq!(refused.code, Some(2), "{}", refused.stderr);
    let said = "class `own`: there is no control group laxity-test-dev";
    assert!(refused.stderr.contains(said), "{}", refused.stderr);
}

/// What a bridge, a capture and the kernel's disciplines do not know is refused there.
#[test]
fn marks_are_refused_where_they_are_not_seen() {
    let folder = folder();
    let mut capture = 0xa1b2_c3d4_u32.to_le_bytes().to_vec();
    capture.extend([2, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 1, 0, 0, 0]);
    std::fs::write(folder.path("empty.pcap"), capture).unwrap();
    let run = folder.laxity(&["run", "up.toml", "--arrivals", "empty.pcap"]);
    assert_eq!(run.code, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("class `marked` tests `mark`"), "{}", run.stderr);
    let export = folder.laxity(&["export", "tc", "up.toml", "--dev", "eth0"]);
    assert!(export.stderr.contains("`match` of class marked"), "{}", export.stderr);
    let Some((between, _hosts)) = crate::live::link::hosts() else { return };
    let arguments = ["live", "up.toml", "--in", "a", "--out", "b", "--priority", "0"];
    let bridge = between.run(|| folder.command(&arguments).output().unwrap()).unwrap();
    let said = String::from_utf8(bridge.stderr).unwrap();
    assert_eq!(bridge.status.code(), Some(2), "{said}");
    assert!(said.contains("class `marked` tests `mark`") && said.contains("--dev alone"), "{said}");
}

pub(super) fn namespace() -> Namespace {
    let namespace = Namespace::new().unwrap();
    // Addresses of IPv6 are used at once.
    for all in ["all", "default"] {
        set(&namespace, &format!("ipv6/conf/{all}/accept_dad"), "0");
    }
    namespace
}

pub(super) fn set(within: &Namespace, setting: &str, value: &str) {
    let path = format!("/proc/sys/net/{setting}");
    within.run(|| std::fs::write(path, value)).unwrap().unwrap();
}

/// Gives a firewall these rules, too.
fn load(at: &Namespace, rules: &str) {
    let load = || {
        let mut nft = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn()?;
        nft.stdin.take().expect("it is piped").write_all(rules.as_bytes())?;
        nft.wait()
    };
    assert!(at.run(load).unwrap().unwrap().success());
}

fn give(to: &Namespace, interface: &str, v4: &str, v6: &str) {
    for address in [v4, v6] {
        run(to, &format!("ip addr add {address} dev {interface}"));
    }
}

/// Runs a command there, and returns what it printed.
pub(super) fn run(within: &Namespace, command: &str) -> String {
    let mut words = command.split(' ');
    let mut program = Command::new(words.next().unwrap());
    let output = within.run(|| program.args(words).output()).unwrap().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {said}");
    String::from_utf8(output.stdout).unwrap()
}

pub(super) fn is_installed(program: &str) -> bool {
    Command::new(program).arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok()
}

/// Whether programs may be attached: root outside of user namespaces.
pub(super) fn is_able() -> bool {
    let is_outside = std::fs::read_to_string("/proc/self/uid_map")
        .is_ok_and(|map| map.split_whitespace().eq(["0", "0", "4294967295"]));
    is_outside && Namespace::new().is_ok()
}
