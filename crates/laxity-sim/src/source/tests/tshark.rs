//! The contents of frames, compared with those that tshark finds.

use std::path::Path;
use std::process::Command;

use laxity_plan::matching::Headers;
use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::links::before_and_behind;
use crate::source::links::look;
use crate::source::tests::testing::{pcap, udp};

/// The VLAN, the source of IPv4 and of IPv6, the protocol and the port of UDP of each frame; `None`
/// without tshark.
fn tshark(file: &Path) -> Option<Vec<String>> {
    const FIELDS: [&str; 5] = ["vlan.id", "ip.src", "ipv6.src", "ip.proto", "udp.dstport"];
    let mut command = Command::new("tshark");
    command.args(["-n", "-T", "fields", "-E", "separator=,", "-E", "occurrence=f", "-r"]).arg(file);
    let done = command.args(FIELDS.iter().flat_map(|field| ["-e", field])).output().ok()?;
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}");
    Some(String::from_utf8(done.stdout).unwrap().lines().map(str::to_string).collect())
}

/// The same of a frame, as it is found here.
fn found(link_type: u32, frame: &[u8]) -> String {
    let headers = Headers::within(frame, &look(link_type, frame).unwrap().encapsulation);
    let text = |field: Option<String>| field.unwrap_or_default();
    let (v4, v6) =
        (headers.ip.filter(|ip| ip.source.is_ipv4()), headers.ip.filter(|ip| ip.source.is_ipv6()));
    [
        text(headers.vlan.map(|vlan| vlan.to_string())),
        text(v4.map(|ip| ip.source.to_string())),
        text(v6.map(|ip| ip.source.to_string())),
        text(v4.map(|ip| ip.protocol.to_string())),
        text(headers.ports.map(|ports| ports.destination.to_string())),
    ]
    .join(",")
}

fn agrees(link_type: u32, frames: &[Vec<u8>]) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("frames.pcap");
    let rows: Vec<(u64, u32, &[u8])> =
        frames.iter().map(|frame| (0, frame.len() as u32, &frame[..])).collect();
    std::fs::write(&file, pcap(link_type, &rows)).unwrap();
    let Some(expected) = tshark(&file) else {
        eprintln!("SKIPPED: tshark is not there");
        return;
    };
    assert_eq!(expected.len(), frames.len());
    for (frame, expected) in frames.iter().zip(expected) {
        assert_eq!(found(link_type, frame), expected, "{link_type}: {frame:02x?}");
    }
}

/// A packet of UDP over IPv6 to port 4010.
fn udp6() -> Vec<u8> {
    let udp = &udp(1, 4010)[34..];
    let header = [0x60, 0, 0, 0, 0, udp.len() as u8, 17, 64];
    [&header[..], &[1; 16], &[2; 16], udp].concat()
}

#[test]
fn links_are_as_tshark_sees_them() {
    let mut links = before_and_behind();
    links.sort_by_key(|(link_type, ..)| *link_type);
    for rows in links.chunk_by(|(a, ..), (b, ..)| a == b) {
        let frames =
            rows.iter().map(|(_, before, behind)| [before, &udp(1, 4000)[14..], behind].concat());
        agrees(rows[0].0, &frames.collect::<Vec<_>>());
    }
}

/// What may stand between addresses and a packet, put together at random.
fn ethernet() -> impl Strategy<Value = Vec<u8>> {
    use proptest::prelude::*;
    // What tshark finds in a tag of 802.1ad has another name.
    let tag = (1..4095u16).prop_map(|vlan| [[0x81, 0x00], vlan.to_be_bytes()].concat());
    let label = (16..0xf_ffffu32).prop_map(|label| (label << 12 | 64).to_be_bytes());
    let labels = prop::collection::vec(label, 1..4).prop_map(|mut labels| {
        labels.last_mut().unwrap()[2] |= 1;
        labels.concat()
    });
    let carrier = (0..6, labels, any::<bool>()).prop_map(|(kind, labels, is_v4)| {
        let packet = if is_v4 { udp(1, 4000)[14..].to_vec() } else { udp6() };
        let ether_type = if is_v4 { [0x08, 0x00] } else { [0x86, 0xdd] };
        let protocol = if is_v4 { [0x00, 0x21] } else { [0x00, 0x57] };
        let session = |above: &[u8]| {
            let length = (above.len() + packet.len()) as u16;
            [&[0x88, 0x64, 0x11, 0, 0, 1][..], &length.to_be_bytes(), above].concat()
        };
        let snap = [0, 8 + packet.len() as u8, 0xaa, 0xaa, 3, 0, 0, 0];
        let carrier = match kind {
            0 => ether_type.to_vec(),
            1 => [&[0x88, 0x47], &labels[..]].concat(),
            2 => session(&protocol),
            3 => session(&[&[0x02, 0x81], &labels[..]].concat()),
            4 => [&snap[..], &ether_type].concat(),
            _ => [&[0xf1, 0xc1, 0, 0, 0, 9][..], &ether_type].concat(),
        };
        [carrier, packet].concat()
    });
    (prop::collection::vec(tag, 0..3), carrier).prop_map(|(tags, carrier)| {
        [&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1][..], &tags.concat(), &carrier].concat()
    })
}

#[test]
fn ethernet_is_as_tshark_sees_it() {
    let mut runner = TestRunner::deterministic();
    let frames: Vec<Vec<u8>> =
        (0..500).map(|_| ethernet().new_tree(&mut runner).unwrap().current()).collect();
    agrees(1, &frames);
}
