//! An upper bound on the number of flows that can be placed, by the room that outputs have in a
//! period.

use std::collections::BTreeSet;

use laxity::admit::tdp::{Flow, Ledger};

/// The room of an output in a period, in one measure, and the part of it that each flow uses.
pub(crate) struct Budget {
    /// Use by each flow that passes the output.
    pub uses: Vec<(usize, u128)>,
    pub room: u128,
}

/// The budgets that some flows would exceed together. Each output has one for bytes. It also has
/// one for each packet length: the number of packets of at least this length that fit, as the rest
/// of a frame is lost.
pub(crate) fn budgets(ledger: &Ledger, flows: &[Flow]) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for output in ledger.outputs() {
        let rooms = || (0..ledger.period()).map(|frame| u128::from(ledger.room(output, frame).0));
        let packets = |flow: &Flow| {
            let visits = flow.path.iter().filter(|hop| hop.output == output).count();
            visits as u128 * u128::from(flow.packets)
        };
        let passing = flows.iter().enumerate().map(|(at, flow)| (at, flow, packets(flow)));
        let passing: Vec<_> = passing.filter(|(.., packets)| *packets > 0).collect();
        let bytes =
            |&(at, flow, packets): &(usize, &Flow, u128)| (at, packets * u128::from(flow.packet.0));
        budgets.push(Budget { uses: passing.iter().map(bytes).collect(), room: rooms().sum() });
        let lengths: BTreeSet<u64> = passing.iter().map(|(_, flow, _)| flow.packet.0).collect();
        for length in lengths.into_iter().filter(|&length| length > 0) {
            let long = passing.iter().filter(|(_, flow, _)| flow.packet.0 >= length);
            budgets.push(Budget {
                uses: long.map(|&(at, _, packets)| (at, packets)).collect(),
                room: rooms().map(|room| room / u128::from(length)).sum(),
            });
        }
    }
    budgets.retain(|budget| budget.uses.iter().map(|(_, uses)| uses).sum::<u128>() > budget.room);
    budgets
}

/// An upper bound on the number of flows that can be placed.
///
/// Each budget leaves out some of its flows. The numbers of budgets for disjoint sets of flows add
/// up.
pub(crate) fn most(ledger: &Ledger, flows: &[Flow]) -> usize {
    let mut budgets = budgets(ledger, flows);
    budgets.sort_by_key(|budget| std::cmp::Reverse(budget.left_out()));
    let mut counted = BTreeSet::new();
    let mut most = flows.len();
    for budget in budgets {
        if budget.uses.iter().all(|(flow, _)| !counted.contains(flow)) {
            counted.extend(budget.uses.iter().map(|(flow, _)| *flow));
            most -= budget.left_out();
        }
    }
    most
}

impl Budget {
    /// A lower bound on the number of flows that it has no room for.
    fn left_out(&self) -> usize {
        let mut uses: Vec<u128> = self.uses.iter().map(|(_, uses)| *uses).collect();
        uses.sort_unstable();
        let mut room = self.room;
        let fit = uses.iter().take_while(|&&uses| match room.checked_sub(uses) {
            Some(left) => {
                room = left;
                true
            }
            None => false,
        });
        uses.len() - fit.count()
    }
}
