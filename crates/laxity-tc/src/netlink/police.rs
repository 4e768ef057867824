//! `action police` behind a filter (`tc_police`).

use super::attributes::{Attributes, bytes, find, find_u32, read, words};
use super::qdisc::{large_rate, rate_of, rate_spec};
use crate::setup::{Police, units};

/// TCA_ACT_KIND and TCA_ACT_OPTIONS.
const ACTION: [u16; 2] = [1, 2];
/// TCA_POLICE_TBF, RATE, RESULT and RATE64.
const POLICE: [u16; 4] = [1, 2, 5, 8];
/// TC_ACT_UNSPEC, by which the next filters are asked, TC_ACT_SHOT and TC_ACT_PIPE.
const UNSPEC: u32 = u32::MAX;
const SHOT: u32 = 2;
const PIPE: u32 = 3;
/// A table that the kernel asks for and computes itself (TC_RTAB_SIZE).
const TABLE: [u8; 1024] = [0; 1024];

/// The actions of a filter, in turn; what keeps to one goes on to the next.
pub(super) fn actions(police: &[Police]) -> Attributes {
    let numbered = police.iter().zip(1..);
    numbered.fold(Attributes::default(), |all, (police, place)| all.with(place, &action(police).0))
}

fn action(police: &Police) -> Attributes {
    let Police { index, rate, burst, mtu, demote } = *police;
    let exceeding = if demote { UNSPEC } else { SHOT };
    let first = bytes(&[index, exceeding, 0, units::ticks(rate, burst), mtu]);
    let parameters = [first, rate_spec(rate), vec![0; 24]].concat();
    let options = Attributes::default()
        .with(POLICE[0], &parameters)
        .with(POLICE[1], &TABLE)
        .with_u32(POLICE[2], PIPE)
        .with_some(POLICE[3], large_rate(rate));
    Attributes::default().with_text(ACTION[0], "police").with(ACTION[1], &options.0)
}

/// `None` if one of them is not of this kind.
pub(super) fn read_actions(actions: &[u8]) -> Option<Vec<Police>> {
    read(actions).map(|(_, action)| read_action(action)).collect()
}

fn read_action(action: &[u8]) -> Option<Police> {
    if find(action, ACTION[0])? != b"police\0" {
        return None;
    }
    let options = find(action, ACTION[1])?;
    let parameters = find(options, POLICE[0])?;
    let [index, exceeding, _, buffer, mtu] = words(parameters)?;
    let rate = rate_of(parameters.get(20..)?, find(options, POLICE[3]))?;
    let demote = exceeding == UNSPEC;
    let known = (demote || exceeding == SHOT) && find_u32(options, POLICE[2]) == Some(PIPE);
    known.then_some(Police { index, rate, burst: units::bytes(rate, buffer), mtu, demote })
}
