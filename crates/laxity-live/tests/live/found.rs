//! A rate that is found before a shaper of the kernel's whose rate changes.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_forward::Event;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::host_link::{Hooks, HostLink};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet;
use laxity_linux::ping::Pinger;
use laxity_live::{Bridge, Forwarding, FoundRate, Options, Way};
use laxity_plan::Plan;

use crate::hosts::{B, Hosts};
use crate::traffic::scheduled;

/// The link behind, one rate after the other [Mbit/s].
const REAL: [u32; 3] = [8, 3, 12];

/// Between 1 and 40 Mbit/s, with these reflectors.
fn plan(reflectors: &[IpAddr]) -> Plan {
    let reflectors: Vec<_> = reflectors.iter().map(|one| format!("'{one}'")).collect();
    let reflectors = reflectors.join(", ");
    let text = format!(
        "version = 1
        [link]
        overhead = 'ethernet'
        rate = {{ from = '1mbit', to = '40mbit', delay = '30ms', reflectors = [{reflectors}] }}
        [scheduler]
        kind = 'edf'
        [class.probes]
        deadline = '40ms'
        arrival = {{ bucket = '1kB', rate = '100kbit', packet = '130b' }}
        match = 'icmp'
        [class.rest]
        queue = {{ kind = 'droptail', limit = 300 }}"
    );
    Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
}

/// A host whose packets pass the bridge, what shapes them behind it, and another host.
struct Lab {
    here: Namespace,
    there: SocketAddr,
    listener: TcpListener,
    shaper: (Namespace, &'static str),
}

impl Lab {
    /// None where the kernel has no such shaper, and then it says so.
    fn new(here: Namespace, there: &Namespace, shaper: (Namespace, &'static str)) -> Option<Lab> {
        let address = SocketAddr::new(B, 5001);
        let listener = there.run(|| TcpListener::bind(address).expect("a socket"));
        let listener = listener.expect("entered");
        let lab = Lab { here, there: address, listener, shaper };
        lab.shape("add", REAL[0]).then_some(lab)
    }

    /// Has the kernel send at a rate behind the bridge; whether it does.
    fn shape(&self, verb: &str, rate: u32) -> bool {
        let (within, at) = &self.shaper;
        let tbf = format!("qdisc {verb} dev {at} root tbf rate {rate}mbit burst 10kb limit 4mb");
        let tc = || Command::new("tc").args(tbf.split_whitespace()).output();
        let output = within.run(tc).expect("entered");
        let is_shaped = output.as_ref().is_ok_and(|output| output.status.success());
        if !is_shaped {
            eprintln!("SKIPPED: `tc {tbf}` is not to be had: {output:?}");
        }
        is_shaped
    }

    /// Sends by TCP until it is over.
    fn send(&self, is_over: &AtomicBool) {
        let connect = || TcpStream::connect(self.there).expect("it listens");
        let mut stream = self.here.run(connect).expect("entered");
        while !is_over.load(Ordering::Relaxed) {
            stream.write_all(&[7; 1 << 14]).expect("it is read");
        }
    }

    /// Has the rate found before each of the real ones while a host sends, and looks whether it is
    /// near.
    fn find<B: Backend + Send + 'static>(&self, backend: B, plan: &Plan, pinger: Pinger) {
        let mut bridge = Bridge::new(backend, [scheduled(plan), Way::Plain]);
        let found = bridge.find_rate(Side::A, pinger).expect("a thread").expect("a rate to find");
        bridge.open().expect("frames come to it");
        let options = Options { priority: None, ..Options::default() };
        let (forwarding, mut recorder) = Forwarding::start(bridge, options).expect("a thread");
        let is_over = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                let (mut stream, _) = self.listener.accept().expect("somebody comes");
                let mut bytes = vec![0; 1 << 16];
                while stream.read(&mut bytes).is_ok_and(|count| count > 0) {}
            });
            scope.spawn(|| self.send(&is_over));
            let over = SetAtEnd(&is_over);
            let rates = REAL.map(|rate| {
                assert!(self.shape("change", rate));
                thread::sleep(Duration::from_millis(2500));
                usual(&found, Duration::from_millis(1500))
            });
            drop(over);
            for (usual, real) in rates.iter().zip(REAL) {
                usual.is_near(real.into());
            }
        });
        assert!(found.answers() > 50, "{}", found.answers());
        forwarding.drain(Nanos(5_000_000_000)).expect("it forwarded to the end");
        let mut changes = 0;
        recorder.read(|report| {
            if let Event::Rate { rate, .. } = report.event.event {
                assert!((1_000_000..=40_000_000).contains(&rate.0));
                changes += 1;
            }
        });
        assert!(changes > 10, "{changes}");
    }
}

/// Sets a flag when it is dropped, so that who sends ends even where the test fails.
struct SetAtEnd<'a>(&'a AtomicBool);

impl Drop for SetAtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// What was found in a while.
#[derive(Debug)]
struct Usual {
    /// The middle of the rates [Mbit/s].
    rate: f64,
    /// The middle of how long answers waited.
    queueing: Nanos,
    /// How much longer a thread slept than it wanted to, at p95.
    late: Duration,
}

impl Usual {
    /// The machine may stall, so that only the order of magnitude is asked for. Threads that wake
    /// up late look like a queue: then the rate may be lower, but not higher. It may be while what
    /// is sent does not fill it, and so finds no queue.
    fn is_near(&self, real: f64) {
        let is_short = self.queueing < Nanos(60_000_000);
        assert!(self.rate < real * 1.5 || is_short, "{self:?}, not {real}");
        if self.late < Duration::from_millis(6) {
            assert!(self.rate > real * 0.6, "{self:?}, not {real}");
        } else {
            eprintln!("this machine is too busy to use all of {real} Mbit/s: {self:?}");
        }
    }
}

fn usual(found: &FoundRate, time: Duration) -> Usual {
    const STEP: Duration = Duration::from_millis(5);
    let (begun, mut rates, mut waits, mut late) = (Instant::now(), vec![], vec![], vec![]);
    while begun.elapsed() < time {
        let slept = Instant::now();
        thread::sleep(STEP);
        late.push(slept.elapsed().saturating_sub(STEP));
        rates.push(found.rate().0);
        waits.push(found.queueing());
    }
    rates.sort_unstable();
    waits.sort_unstable();
    late.sort_unstable();
    Usual {
        rate: rates[rates.len() / 2] as f64 / 1e6,
        queueing: waits[waits.len() / 2],
        late: late[late.len() * 95 / 100],
    }
}

/// Through a bridge between two hosts.
fn between(reflectors: &[IpAddr]) {
    let Some(hosts) = Hosts::new() else { return };
    let shaper = (hosts.between.clone(), "b");
    let Some(lab) = Lab::new(hosts.a.clone(), &hosts.b, shaper) else { return };
    let pinger = hosts.a.run(|| Pinger::open(reflectors, 77)).expect("entered");
    lab.find(hosts.mmsg(), &plan(reflectors), pinger.expect("sockets for echoes"));
}

#[test]
fn echoes_find_the_rate_of_a_shaper_behind() {
    between(&[B]);
}

#[test]
fn time_stamps_of_tcp_find_it_without_a_probe() {
    between(&[]);
}

/// At a host's own interface, where its packets wait in the plan and its probes do not.
#[test]
fn a_host_finds_the_rate_of_its_own_interface() {
    let (Ok(here), Ok(there)) = (Namespace::new(), Namespace::new()) else {
        return eprintln!("SKIPPED: namespaces are not to be had; run as root");
    };
    if !Path::new("/dev/net/tun").exists() {
        return eprintln!("SKIPPED: there is no /dev/net/tun");
    }
    here.veth("wan", &there, "eth").expect("a cable");
    here.address("wan", [10, 0, 0, 1].into(), 24).expect("an address");
    there.address("eth", B, 24).expect("an address");
    let open = || {
        let wan = Interface::named("wan").expect("it is there");
        let pinger = Pinger::open(&[B], 77).expect("sockets for echoes");
        let probes = pinger.cookies().expect("numbers");
        // A kernel without tcx would be none to find a rate with.
        let hooks = Hooks { guardian: Command::new("false"), without_tcx: false };
        (HostLink::open(&wan, false, &packet::Options::default(), &probes, hooks), pinger)
    };
    let (link, pinger) = here.run(open).expect("entered");
    let link = match link {
        Ok(link) => link,
        Err(error) if error.is_permission() => return eprintln!("SKIPPED: {error}"),
        Err(error) => panic!("{error}"),
    };
    let Some(lab) = Lab::new(here.clone(), &there, (here, "wan")) else { return };
    lab.find(link, &plan(&[B]), pinger);
}
