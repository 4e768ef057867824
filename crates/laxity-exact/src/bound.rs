//! How many flows can be placed at most, by what outputs can carry in a period.

use std::collections::BTreeSet;

use laxity::admit::tdp::Flow;
use laxity::units::Bytes;

/// What an output can carry in a period, in one measure, and what flows take of it.
pub(crate) struct Budget {
    /// By flow that passes the output.
    pub uses: Vec<(usize, u128)>,
    pub room: u128,
}

/// The budgets that some flows would exceed together: for each output the bytes, and for each
/// length of packet how many that are no shorter have room, for what is left of a frame is lost.
pub(crate) fn budgets(period: u32, capacities: &[Bytes], flows: &[Flow]) -> Vec<Budget> {
    let mut budgets = Vec::new();
    for (output, capacity) in capacities.iter().enumerate() {
        let packets = |flow: &Flow| {
            let visits = flow.path.iter().filter(|hop| hop.output as usize == output).count();
            visits as u128 * u128::from(flow.packets)
        };
        let passing = flows.iter().enumerate().map(|(at, flow)| (at, flow, packets(flow)));
        let passing: Vec<_> = passing.filter(|(.., packets)| *packets > 0).collect();
        let frames = u128::from(period);
        let bytes =
            |&(at, flow, packets): &(usize, &Flow, u128)| (at, packets * u128::from(flow.packet.0));
        budgets.push(Budget {
            uses: passing.iter().map(bytes).collect(),
            room: frames * u128::from(capacity.0),
        });
        let lengths: BTreeSet<u64> = passing.iter().map(|(_, flow, _)| flow.packet.0).collect();
        for length in lengths.into_iter().filter(|&length| length > 0) {
            let long = passing.iter().filter(|(_, flow, _)| flow.packet.0 >= length);
            budgets.push(Budget {
                uses: long.map(|&(at, _, packets)| (at, packets)).collect(),
                room: frames * u128::from(capacity.0 / length),
            });
        }
    }
    budgets.retain(|budget| budget.uses.iter().map(|(_, uses)| uses).sum::<u128>() > budget.room);
    budgets
}

/// No more flows than this can be placed.
///
/// Each budget leaves out some of the flows that it is for; what budgets for different flows leave
/// out adds up.
pub(crate) fn most(period: u32, capacities: &[Bytes], flows: &[Flow]) -> usize {
    let mut budgets = budgets(period, capacities, flows);
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
    /// How many flows it has no room for at least.
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
