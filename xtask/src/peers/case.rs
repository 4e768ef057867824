//! The networks that the simulators are given.

use std::path::PathBuf;

use crate::workspace::Workspace;

/// A network for all simulators.
pub(super) struct Case {
    pub title: &'static str,
    /// In s.
    pub duration: u32,
    /// The script of ns-2, and its arguments.
    pub script: &'static str,
    pub ns2: &'static [&'static str],
    /// Where ns-3 is given the network.
    pub ns3: Option<Ns3>,
    /// The plan beside the script.
    pub plan: &'static str,
}

/// A network for ns-3.
pub(super) struct Ns3 {
    pub program: &'static str,
    pub options: &'static [&'static str],
    /// How many seeds it gets at most: it may take minutes for what the others do in seconds.
    pub seeds: u32,
}

/// Two routers, and what most cases of them share.
const DUMBBELL: Case =
    Case { title: "", duration: 200, script: "dumbbell.tcl", ns2: &[], ns3: None, plan: "" };

pub(super) const CASES: [Case; 9] = [
    Case {
        title: "DropTail: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        ns2: &["queue=droptail", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "droptail.toml",
        ..DUMBBELL
    },
    Case {
        title: "RED: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        ns2: &["queue=red", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "red.toml",
        ..DUMBBELL
    },
    Case {
        title: "RED: 32 TCP connections alone on 1 Mbit/s",
        ns2: &["queue=red", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "alone.toml",
        ..DUMBBELL
    },
    Case {
        title: "RED: 32 SACK connections alone on 1 Mbit/s",
        ns2: &["queue=red", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "sack.toml",
        ..DUMBBELL
    },
    Case {
        title: "RED and ECN: 32 TCP connections with windows of 6 on 1 Mbit/s",
        ns2: &["queue=red", "ecn=1", "window=6", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn.toml",
        ..DUMBBELL
    },
    Case {
        title: "RED and ECN: 32 SACK connections alone on 1 Mbit/s",
        ns2: &["queue=red", "ecn=1", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn-sack.toml",
        ..DUMBBELL
    },
    Case {
        title: "DropTail: 100 TCP connections on 100 Mbit/s",
        duration: 20,
        script: "dumbbell.tcl",
        ns2: &["queue=droptail", "tcp=100", "access=1000Mb", "bottleneck=100Mb"],
        ns3: Some(Ns3 {
            program: "dumbbell",
            options: &["tcp=100", "access=1000Mbps", "bottleneck=100Mbps"],
            seeds: 2,
        }),
        plan: "fast.toml",
    },
    Case {
        title: "Mesh: 100 TCP connections with windows of 20 over 18 nodes and 36 links of 100 Mbit/s",
        duration: 10,
        script: "mesh.tcl",
        ns2: &[],
        ns3: Some(Ns3 { program: "mesh", options: &["folder=xtask/src/peers"], seeds: 2 }),
        plan: "mesh.toml",
    },
    Case {
        title: "Short flows: transfers of 20 segments at 70 % of 10 Mbit/s",
        duration: 50,
        script: "flows.tcl",
        ns2: &[],
        ns3: Some(Ns3 { program: "flows", options: &[], seeds: u32::MAX }),
        plan: "flows.toml",
    },
];

/// A file beside the scripts.
pub(super) fn beside(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("xtask/src/peers").join(name)
}
