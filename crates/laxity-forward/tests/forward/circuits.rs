//! A provider's circuits: a link, its sites, their access points, and the circuits below these.

use std::fmt::Write as _;
use std::net::IpAddr;

use laxity_plan::matching::{Headers, IpHeaders, Ports};

/// What shares the link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Upper {
    Wf2q,
    Hfsc,
    /// Which has one level, whatever the plan's parents.
    Drr,
}

/// Circuits below an access point, and access points below a site.
const BELOW: usize = 25;

/// The plan of a number of circuits on a link of 10 Gbit/s, each with this key, such as
/// `scheduler = { kind = "fq-codel" }`.
pub(crate) fn plan(upper: Upper, leaf: &str, circuits: usize) -> String {
    let kind = match upper {
        Upper::Wf2q => "wf2q",
        Upper::Hfsc => "hfsc",
        Upper::Drr => "drr",
    };
    let mut text = format!(
        "version = 1\nlink = {{ rate = \"10gbit\", max-packet = \"1514b\" }}\nscheduler.kind = \"{kind}\"\n"
    );
    let access_points = circuits.div_ceil(BELOW);
    for site in 0..access_points.div_ceil(BELOW) {
        let _ = writeln!(text, "[class.site-{site}]");
    }
    for point in 0..access_points {
        let _ = writeln!(text, "[class.point-{point}]\nparent = \"site-{}\"", point / BELOW);
    }
    for circuit in 0..circuits {
        let _ = writeln!(
            text,
            "[class.circuit-{circuit}]\nparent = \"point-{}\"\n{leaf}\nmatch = \"daddr {}\"",
            circuit / BELOW,
            address(circuit)
        );
    }
    text += "[class.rest]\nweight = 0.01\n";
    text
}

/// The headers of a flow to a circuit.
pub(crate) fn headers(circuit: usize, flow: u16) -> Headers {
    let source = IpAddr::from([192, 0, 2, flow as u8]);
    let ip = IpHeaders { source, destination: address(circuit), protocol: 17, dscp: 0, ecn: 0 };
    let ports = Ports { source: 443, destination: 1024 + flow };
    Headers { ip: Some(ip), ports: Some(ports), ..Headers::default() }
}

fn address(circuit: usize) -> IpAddr {
    IpAddr::V4((0x6440_0001 + circuit as u32).into())
}
