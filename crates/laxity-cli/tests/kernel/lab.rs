//! Interfaces of the test's own, and the command at them.

use std::path::PathBuf;
use std::process::{Command, Output};

/// A cable between two interfaces, `left` and `right`, both up.
pub(crate) fn cable() {
    for arguments in
        ["link add left type veth peer name right", "link set left up", "link set right up"]
    {
        run("ip", arguments);
    }
}

/// What a program prints.
///
/// # Panics
/// If it fails.
pub(crate) fn run(program: &str, arguments: &str) -> String {
    let ran = Command::new(program).args(arguments.split(' ')).output().expect("it is there");
    assert!(
        ran.status.success(),
        "{program} {arguments}: {}",
        String::from_utf8_lossy(&ran.stderr)
    );
    String::from_utf8_lossy(&ran.stdout).into_owned()
}

/// Runs the command.
pub(crate) fn laxity(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_laxity")).args(arguments).output().expect("it is there")
}

/// What the command prints if it ends with this code.
///
/// # Panics
/// If it ends with another.
pub(crate) fn says(code: i32, arguments: &[&str]) -> String {
    let ran = laxity(arguments);
    let text = [&ran.stdout[..], &ran.stderr].map(String::from_utf8_lossy).concat();
    assert_eq!(ran.status.code(), Some(code), "laxity {arguments:?}: {text}");
    text
}

/// What the command prints on standard output alone.
pub(crate) fn only(arguments: &[&str]) -> String {
    String::from_utf8(laxity(arguments).stdout).expect("text")
}

/// A plan in a file, which stays until the machine is switched off.
pub(crate) fn plan(name: &str, text: &str) -> String {
    let path = PathBuf::from("/run").join(name);
    std::fs::write(&path, text).expect("a file in memory");
    path.display().to_string()
}

/// A router: what the host `a` sends to 10.0.2.2 arrives at `in0` and leaves at `left`.
pub(crate) fn route() {
    for arguments in [
        "netns add a",
        "netns add b",
        "link add in0 address 02:00:00:00:01:01 type veth peer name a0 address 02:00:00:00:01:02 netns a",
        "link add left address 02:00:00:00:02:01 type veth peer name b0 address 02:00:00:00:02:02 netns b",
        "addr add 10.0.1.1/24 dev in0",
        "addr add 10.0.2.1/24 dev left",
        "link set in0 up",
        "link set left up",
        "-n a addr add 10.0.1.2/24 dev a0",
        "-n a link set a0 up",
        "-n b link set b0 up",
        "-n a route add default via 10.0.1.1",
        "neigh add 10.0.2.2 lladdr 02:00:00:00:02:02 dev left",
        "neigh add 10.0.1.2 lladdr 02:00:00:00:01:02 dev in0",
        "-n a neigh add 10.0.1.1 lladdr 02:00:00:00:01:01 dev a0",
    ] {
        run("ip", arguments);
    }
    for (name, value) in [("ipv4/ip_forward", "1"), ("ipv6/conf/all/disable_ipv6", "1")] {
        let path = PathBuf::from("/proc/sys/net").join(name);
        // A kernel without IPv6 sends none of its packets.
        if path.exists() {
            std::fs::write(&path, value)
                .unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        }
    }
}
