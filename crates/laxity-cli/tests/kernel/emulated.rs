//! An emulated link beside netem, the kernel's emulator.

use std::process::Command;
use std::time::Duration;

use crate::lab::{plan as file, run};
use crate::uml::inside_alone;

const LIMIT: Duration = Duration::from_secs(300);
/// What both do to packets of one way: the delay in ms, and the share that is lost in per cent.
const DELAY: f64 = 20.0;
const LOSS: f64 = 10.0;
const PINGS: usize = 200;

/// What `ping` says of all packets: the shortest and the median time there and back in ms, and how
/// many were lost in per cent. A mean is not asked for: where the machine stands still for half a
/// second, each packet of that time counts with it.
#[derive(Debug)]
struct Pinged {
    shortest: f64,
    median: f64,
    lost: f64,
}

#[test]
fn packets_fare_as_behind_netem() {
    inside_alone("emulated::packets_fare_as_behind_netem", LIMIT, || {
        if Command::new("ping").arg("-V").output().is_err() {
            return eprintln!("SKIPPED: ping is not installed");
        }
        let [netem, laxity] = [behind_netem(), behind_laxity()];
        for pinged in [&netem, &laxity] {
            // There and back, and what a small machine takes for it.
            assert!((2.0 * DELAY..2.0 * DELAY + 10.0).contains(&pinged.shortest), "{pinged:?}");
            // Five standard deviations of the share of so few.
            assert!((pinged.lost - LOSS).abs() < 11.0, "{pinged:?}");
        }
        assert!((netem.median - laxity.median).abs() < 10.0, "{netem:?} {laxity:?}");
    });
}

fn behind_netem() -> Pinged {
    for arguments in [
        "netns add behind",
        "link add n0 type veth peer name n1 netns behind",
        "addr add 10.9.0.1/24 dev n0",
        "link set n0 up",
        "-n behind addr add 10.9.0.2/24 dev n1",
        "-n behind link set n1 up",
    ] {
        run("ip", arguments);
    }
    run("tc", &format!("qdisc add dev n0 root netem delay {DELAY}ms"));
    let netem = format!("netem delay {DELAY}ms loss {LOSS}%");
    run("ip", &format!("netns exec behind tc qdisc add dev n1 root {netem}"));
    ping(Command::new("ip").args(["netns", "exec", "behind"]), "10.9.0.1")
}

fn behind_laxity() -> Pinged {
    let text = |loss: &str| {
        format!(
            "version = 1\nlink = {{ rate = '1gbit', delay = '{DELAY}ms'{loss} }}\nscheduler.kind = 'fifo'\n\
             class.all = {{}}\n"
        )
    };
    let there = file("there.toml", &text(&format!(", loss = {{ share = {} }}", LOSS / 100.0)));
    let back = file("back.toml", &text(""));
    let mut laxity = Command::new(env!("CARGO_BIN_EXE_laxity"));
    laxity.args(["emulate", &there, "--back", &back, "--"]);
    ping(&mut laxity, "100.64.0.1")
}

/// Pings an address by a command that runs another.
fn ping(command: &mut Command, address: &str) -> Pinged {
    let count = PINGS.to_string();
    let ran = command.args(["ping", "-i", "0.02", "-c", &count, address]).output();
    let ran = ran.expect("it is there");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let said = || format!("{text}{}", String::from_utf8_lossy(&ran.stderr));
    let lost = text
        .split_once("% packet loss")
        .and_then(|(rest, _)| rest.rsplit_once(", ")?.1.parse().ok());
    let lost = lost.unwrap_or_else(|| panic!("{}", said()));
    let time = |line: &str| line.split_once("time=")?.1.split_once(" ms")?.0.parse::<f64>().ok();
    let mut times: Vec<f64> = text.lines().filter_map(time).collect();
    assert!(!times.is_empty(), "{}", said());
    times.sort_by(f64::total_cmp);
    Pinged { shortest: times[0], median: times[times.len() / 2], lost }
}
