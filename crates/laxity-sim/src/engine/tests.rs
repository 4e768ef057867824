use std::collections::BTreeMap;
use std::path::Path;

use super::*;

/// Counts packets by class and flow.
#[derive(Default)]
struct Flows(BTreeMap<(u32, u32), u64>);

impl Observer for Flows {
    fn record(&mut self, record: &Record) {
        *self.0.entry((record.packet.class.0, record.packet.flow.0)).or_default() += 1;
    }
}

/// Ten milliseconds of a link that sends a packet of 1000 B in 1 ms.
fn flows(sources: &str) -> BTreeMap<(u32, u32), u64> {
    let head = "version = 1\nlink.rate = '8mbit'\nscheduler.kind = 'fifo'\nclass.a = {}\n\
                run.duration = '10ms'\n";
    let plan = Plan::parse(&format!("{head}{sources}"), "plan", Path::new("")).unwrap();
    let mut flows = Flows::default();
    Run::of_plan(&plan).unwrap().simulate(&mut flows, &mut |_| true).unwrap();
    flows.0
}

const BACKLOGGED: &str =
    "[[source]]\nclass = 'a'\nmodel = 'backlogged'\npacket = '1000b'\nwindow = 1\n";

#[test]
fn a_backlogged_source_sends_when_its_packet_leaves() {
    assert_eq!(flows(BACKLOGGED), BTreeMap::from([((0, 0), 11)]));
}

#[test]
fn backlogged_sources_of_one_class_take_turns() {
    let two_and_one = format!("{BACKLOGGED}count = 2\n{BACKLOGGED}");
    assert_eq!(flows(&two_and_one), BTreeMap::from([((0, 0), 9), ((0, 1), 4)]));
}

#[test]
fn a_packet_of_another_source_brings_no_packet_of_a_backlogged_one() {
    let other = "[[source]]\nclass = 'a'\nmodel = 'constant'\nrate = '8mbit'\npacket = '1000b'\n\
                 count = 3\nstop = '1ns'\n";
    let counts = flows(&format!("{BACKLOGGED}{other}"));
    assert_eq!(counts, BTreeMap::from([((0, 0), 9), ((0, 1), 1), ((0, 2), 1)]));
}
