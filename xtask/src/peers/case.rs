//! The networks that both simulators are given.

use std::path::PathBuf;

use crate::workspace::Workspace;

/// A network as both are told of it.
pub struct Case {
    pub title: &'static str,
    /// In s.
    pub duration: u32,
    /// What `dumbbell.tcl` is told besides.
    pub ns2: &'static [&'static str],
    /// The plan beside `dumbbell.tcl`.
    pub plan: &'static str,
}

pub const CASES: [Case; 7] = [
    Case {
        title: "DropTail: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=droptail", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "droptail.toml",
    },
    Case {
        title: "RED: 32 TCP connections and 1.999 Mbit/s of UDP on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "tcp=32", "udp=1999kb", "access=10Mb", "bottleneck=1Mb"],
        plan: "red.toml",
    },
    Case {
        title: "RED: 32 TCP connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "alone.toml",
    },
    Case {
        title: "RED: 32 SACK connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "sack.toml",
    },
    Case {
        title: "RED and ECN: 32 TCP connections with windows of 6 on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "ecn=1", "window=6", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn.toml",
    },
    Case {
        title: "RED and ECN: 32 SACK connections alone on 1 Mbit/s",
        duration: 200,
        ns2: &["queue=red", "ecn=1", "variant=sack", "tcp=32", "access=10Mb", "bottleneck=1Mb"],
        plan: "ecn-sack.toml",
    },
    Case {
        title: "DropTail: 100 TCP connections on 100 Mbit/s",
        duration: 20,
        ns2: &["queue=droptail", "tcp=100", "access=1000Mb", "bottleneck=100Mb"],
        plan: "fast.toml",
    },
];

/// A file beside `dumbbell.tcl`.
pub fn beside(workspace: &Workspace, name: &str) -> PathBuf {
    workspace.root().join("xtask/src/peers").join(name)
}
