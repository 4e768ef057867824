//! What else the kernel does with the frames of the interfaces is said or refused before the start.

use std::fs;
use std::net::IpAddr;
use std::process::Stdio;

use laxity_linux::interface::{Offload, offload, set_offload};
use laxity_linux::namespace::Namespace;

use super::PLAN;
use super::link::{Running, hosts, wait_for};
use crate::folder::Folder;

const LIVE: [&str; 8] = ["live", "plan.toml", "--in", "a", "--out", "b", "--priority", "0"];

/// What is said where the command refuses to forward, and its exit code.
fn refused(folder: &Folder, between: &Namespace) -> (Option<i32>, String) {
    let ended = between.run(|| folder.command(&LIVE).output().unwrap()).unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

/// The exit code after a moment of forwarding, and what is said.
fn for_a_moment(folder: &Folder, between: &Namespace) -> (Option<i32>, String) {
    let mut command = folder.command(&LIVE);
    command.args(["--duration", "300ms"]);
    let ended = between.run(|| command.output().unwrap()).unwrap();
    (ended.status.code(), String::from_utf8(ended.stderr).unwrap())
}

/// Waits until it says this, and then that it forwards.
fn says(folder: &Folder, between: &Namespace, text: &str) {
    let mut command = folder.command(&LIVE);
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let mut running = Running::new(between.run(|| command.spawn().unwrap()).unwrap());
    let mut said = std::io::BufReader::new(running.0.stderr.take().unwrap());
    wait_for(&mut said, text);
    wait_for(&mut said, "forwarding between a and b");
}

fn forward(between: &Namespace, version: &str, on: bool) {
    let setting = format!("/proc/sys/net/{version}/conf/all/forwarding");
    between.run(|| fs::write(setting, if on { "1" } else { "0" }).unwrap()).unwrap();
}

#[test]
fn ports_of_a_bridge_and_routed_interfaces_are_refused() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    between.bridge("br0", &["b"]).unwrap();
    let (code, said) = refused(&folder, &between);
    assert_eq!(code, Some(3), "{said}");
    assert!(said.contains("b is part of br0") && said.contains("nomaster"), "{said}");
    between.remove("br0").unwrap();

    for (version, addresses) in
        [("ipv4", ["10.1.0.1", "10.2.0.1"]), ("ipv6", ["fd00:1::1", "fd00:2::1"])]
    {
        let [one, other] = addresses.map(|address| address.parse::<IpAddr>().unwrap());
        forward(&between, version, true);
        between.address("a", one, if one.is_ipv4() { 24 } else { 64 }).unwrap();
        says(&folder, &between, "and routes what it is to pass on, past the plan");
        between.address("b", other, if other.is_ipv4() { 24 } else { 64 }).unwrap();
        let (code, said) = refused(&folder, &between);
        assert_eq!(code, Some(3), "{said}");
        let expected = format!("this host routes {version} between a and b");
        assert!(said.contains(&expected) && said.contains("--dev b"), "{said}");
        forward(&between, version, false);
        says(&folder, &between, "the host itself answers there, beside what is forwarded;");
    }
}

#[test]
fn packets_that_only_the_overhead_makes_too_long_are_no_plan() {
    let Some((between, _hosts)) = hosts() else { return };
    let link = |link: &str| Folder::with_plan(&PLAN.replace("link.rate = '20mbit'", link));
    let short = link("link = { rate = '20mbit', overhead = '24b', max-packet = '1514b' }");
    let (code, said) = refused(&short, &between);
    assert_eq!(code, Some(2), "{said}");
    assert!(
        said.contains("1.538kB on the link") && said.contains("`max-packet = \"1538b\"`"),
        "{said}"
    );
    let whole = link("link = { rate = '20mbit', overhead = '24b', max-packet = '1538b' }");
    let (code, said) = for_a_moment(&whole, &between);
    assert_eq!(code, Some(0), "{said}");

    // Tags that the plan looks for count.
    let tagged = PLAN.replace("udp dport 5000", "vlan 5 and udp dport 5000");
    says(&Folder::with_plan(&tagged), &between, "1.518kB on the link with the tag");
}

#[test]
fn joined_packets_are_said() {
    let folder = Folder::with_plan(PLAN);
    let Some((between, _hosts)) = hosts() else { return };
    let set = |on| between.run(|| set_offload("a", Offload::Receive, on)).unwrap();
    let is_on = || between.run(|| offload("a", Offload::Receive)).unwrap().unwrap();
    for on in [true, false] {
        if let Err(error) = set(on) {
            return eprintln!("SKIPPED: {error}");
        }
        assert_eq!(is_on(), on);
        let (_, said) = for_a_moment(&folder, &between);
        assert_eq!(said.contains("a joins TCP packets that arrive in a row (gro)"), on, "{said}");
    }
}
