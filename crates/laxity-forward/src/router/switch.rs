//! Frames that no path leads: they go by their destination's address, along a tree of the network's
//! links.

use std::collections::{HashMap, VecDeque};

use laxity_plan::model::{Hop, Network};

/// The address of an interface.
type Address = [u8; 6];

/// The most addresses that are remembered. When there are more all are forgotten, and learned
/// again.
const MOST: usize = 4096;

/// Addresses that stay on their link (IEEE 802.1Q, table 8-1).
const ON_THE_LINK: [u8; 5] = [0x01, 0x80, 0xc2, 0x00, 0x00];

/// What knows at which port of a node an address is.
///
/// All nodes of a network agree on the tree, since they find it in the same plan: so nothing goes
/// round in circles. An address is where frames come from that have it as their source.
pub(super) struct Switch {
    /// The ports whose links are in the tree.
    tree: Vec<usize>,
    learned: HashMap<Address, usize>,
}

impl Switch {
    /// That of a node with these ports.
    pub(super) fn new(network: &Network, ports: &[Hop]) -> Self {
        let links = tree(network);
        let is_in_tree = |&port: &usize| links[ports[port].link.index()];
        Switch { tree: (0..ports.len()).filter(is_in_tree).collect(), learned: HashMap::new() }
    }

    /// The ports at which a frame leaves that came at this one. It is learned from if it came the
    /// way that it would have been sent.
    pub(super) fn ports(&mut self, at: usize, frame: &[u8], into: &mut Vec<usize>) {
        into.clear();
        let Some([destination, source]) = addresses(frame) else { return };
        if destination[..5] == ON_THE_LINK || !self.tree.contains(&at) {
            return;
        }
        if is_single(&source) {
            if self.learned.len() >= MOST && !self.learned.contains_key(&source) {
                self.learned.clear();
            }
            self.learned.insert(source, at);
        }
        match self.learned.get(&destination).filter(|_| is_single(&destination)) {
            Some(port) => into.extend(Some(*port).filter(|port| *port != at)),
            None => into.extend(self.tree.iter().copied().filter(|port| *port != at)),
        }
    }
}

/// Destination and source.
fn addresses(frame: &[u8]) -> Option<[Address; 2]> {
    Some([*frame.first_chunk()?, *frame.get(6..)?.first_chunk()?])
}

/// Whether an address is that of one interface, not of a group.
fn is_single(address: &Address) -> bool {
    address[0] & 1 == 0
}

/// Which links are in a tree that reaches all nodes that can be reached from the first: for each
/// node the one over which it is reached first, links in their order.
fn tree(network: &Network) -> Vec<bool> {
    let mut is_in_tree = vec![false; network.links.len()];
    let mut is_reached = vec![false; network.nodes.len()];
    for first in 0..network.nodes.len() {
        let mut reached = VecDeque::from([first]);
        while let Some(node) = reached.pop_front() {
            is_reached[node] = true;
            for (link, joins) in network.links.iter().enumerate() {
                let [a, b] = joins.between.map(laxity_plan::model::NodeId::index);
                let other = if a == node {
                    b
                } else if b == node {
                    a
                } else {
                    continue;
                };
                if !std::mem::replace(&mut is_reached[other], true) {
                    is_in_tree[link] = true;
                    reached.push_back(other);
                }
            }
        }
    }
    is_in_tree
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_plan::Plan;
    use laxity_plan::model::LinkId;

    use super::*;

    fn ring() -> Network {
        let links = ["ab", "bc", "cd", "da", "ah", "ck"].map(|link| {
            let (from, to) = link.split_at(1);
            format!("{link} = {{ between = ['{from}', '{to}'] }}\n")
        });
        let text = format!(
            "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\nclass.all = {{}}\n[network]\n{}",
            links.concat()
        );
        Plan::parse(&text, "plan.toml", Path::new("")).unwrap().network.unwrap()
    }

    fn frame(destination: u8, source: u8) -> Vec<u8> {
        let mut frame = vec![0; 60];
        (frame[5], frame[11]) = (destination, source);
        if destination == 0xff {
            frame[..6].fill(0xff);
        }
        frame
    }

    #[test]
    fn a_ring_is_cut_once_and_addresses_are_learned() {
        let network = ring();
        assert_eq!(tree(&network), [true, true, false, true, true, true]);
        // Node a has the links ab, da and ah.
        let ports = [(0, false), (3, true), (4, false)];
        let ports = ports.map(|(link, backward)| Hop { link: LinkId(link), backward });
        let (mut switch, mut out) = (Switch::new(&network, &ports), Vec::new());
        let mut pass = |at, destination, source| {
            switch.ports(at, &frame(destination, source), &mut out);
            out.clone()
        };
        assert_eq!(pass(2, 0xff, 1), [0, 1]);
        assert_eq!(pass(0, 1, 2), [2]);
        assert_eq!(pass(1, 2, 3), [0]);
        assert_eq!(pass(0, 2, 3), [0; 0], "it is there already");
        switch.ports(0, &[1, 0x80, 0xc2, 0, 0, 0, 2, 0, 0, 0, 0, 1], &mut out);
        assert!(out.is_empty(), "what is for the bridge itself stays on the link");
        switch.ports(0, &[0; 11], &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn what_comes_over_no_link_of_the_tree_goes_nowhere() {
        let network = ring();
        // Node d has the links cd and da.
        let ports =
            [(2, true), (3, false)].map(|(link, backward)| Hop { link: LinkId(link), backward });
        let (mut switch, mut out) = (Switch::new(&network, &ports), Vec::new());
        switch.ports(0, &frame(0xff, 1), &mut out);
        assert!(out.is_empty());
    }

    #[test]
    fn strangers_fill_no_memory() {
        let network = ring();
        let ports =
            [(0, false), (4, false)].map(|(link, backward)| Hop { link: LinkId(link), backward });
        let (mut switch, mut out) = (Switch::new(&network, &ports), Vec::new());
        for number in 0..20_000u32 {
            let mut bytes = frame(9, 0);
            bytes[7..11].copy_from_slice(&number.to_be_bytes());
            bytes[11] = 1;
            switch.ports(1, &bytes, &mut out);
            assert_eq!(out, [0]);
        }
        assert!(switch.learned.len() <= MOST);
    }
}
