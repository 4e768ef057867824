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

/// What `ping` says of all packets: the shortest and the mean time there and back in ms, and how
/// many were lost in per cent.
#[derive(Debug)]
struct Pinged {
    shortest: f64,
    mean: f64,
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
        assert!((netem.mean - laxity.mean).abs() < 15.0, "{netem:?} {laxity:?}");
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
    let ran = command.args(["ping", "-q", "-i", "0.02", "-c", &count, address]).output();
    let ran = ran.expect("it is there");
    let text = String::from_utf8_lossy(&ran.stdout).into_owned();
    let number = |before: &str, behind: &str| -> Option<f64> {
        let (rest, _) = text.split_once(behind)?;
        rest.rsplit_once(before)?.1.parse().ok()
    };
    let said = || format!("{text}{}", String::from_utf8_lossy(&ran.stderr));
    let lost = number(", ", "% packet loss").unwrap_or_else(|| panic!("{}", said()));
    let times = text.split_once("mdev = ").unwrap_or_else(|| panic!("{}", said())).1;
    let mut times = times.split('/').map_while(|time| time.parse().ok());
    let (shortest, mean) = (times.next().expect("a time"), times.next().expect("another"));
    Pinged { shortest, mean, lost }
}
