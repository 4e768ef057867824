//! The search for the frames of one flow: hop by hop, over all frames in which an output may send.
//!
//! It is a search for a shortest path from the frames of one output to those of the next; the
//! length of a path is the room that it leaves, and the best label of a frame is extended. Where a
//! flow passes an output twice, labels of a frame differ in the frames that they took there, and
//! are all extended (label setting for shortest paths with resource constraints: Desrochers, Soumis
//! 1988).

use alloc::collections::BTreeSet;
use alloc::vec::Vec;
use core::cmp::Reverse;
use core::mem;

use super::pattern::Pattern;
use super::{Answer, Flow, Full, Hop, Ledger, OutputId, Reservation, ReservationError};
use crate::sched::tdp::Slots;

/// The most labels of a frame.
const MOST_LABELS: usize = 16;

impl Ledger {
    /// Reserves frames for a flow beside the existing reservations. It maximises the least room
    /// that is left in any frame the flow uses; of equal choices it prefers frames that held
    /// little, and short delays.
    ///
    /// The search finds a choice if there is one, with one exception: a flow with a forwarding
    /// delay that passes an output more than once, without a promise. There the free frames depend
    /// on those that the flow itself took before, and a frame has a limited number of labels. The
    /// immediate choice is always among them. [`ReservationError::certain`] says whether the limit
    /// was reached.
    ///
    /// # Errors
    /// If no choice of frames fits.
    ///
    /// # Panics
    /// If the flow has no packets, no path, or an unknown output.
    pub fn reserve(&mut self, flow: &Flow) -> Answer {
        let reservation = LabelSetting::new(self, flow).best()?;
        let reserved = self.reserve_as(flow, &reservation);
        debug_assert!(reserved.is_ok());
        Ok(reservation)
    }
}

/// How good a label is, the greater the better: the least room that it leaves in a frame that it
/// uses, then how little the frames held that it uses, then by how little it is later than
/// immediate.
type Merit = (u64, Reverse<u128>, Reverse<u64>);

const UNUSED: Merit = (u64::MAX, Reverse(0), Reverse(0));

/// A label: a choice of frames for the outputs up to one of them.
#[derive(Clone)]
struct Label {
    merit: Merit,
    start: u32,
    /// In which frame that output sends the first packet, modulo the pattern's repetition.
    frame: u32,
    /// By how much it sends later than immediately.
    extra: u32,
    /// The label of the output before that it extends.
    before: usize,
    /// Whether it is as good as the immediate label for all that follows.
    immediate: bool,
    /// The outputs that come again, and the frames of their first packets; in order.
    own: Vec<(OutputId, u32)>,
}

/// Room in the frames that a flow would use at an output: the least room, and the bytes that they
/// held.
type Room = Result<(u64, u128), Full>;

/// The search for one flow.
pub(super) struct LabelSetting<'a> {
    ledger: &'a Ledger,
    flow: &'a Flow,
    pattern: Pattern,
    /// By hop and frame, beside the existing reservations.
    rooms: Vec<Vec<Room>>,
    /// By hop, whether its output comes again.
    again: Vec<bool>,
    full: BTreeSet<Full>,
    certain: bool,
}

impl<'a> LabelSetting<'a> {
    pub(super) fn new(ledger: &'a Ledger, flow: &'a Flow) -> Self {
        assert!(!flow.path.is_empty(), "a flow has no path");
        let pattern = Pattern::new(ledger.period(), flow.packets);
        let mut later = BTreeSet::new();
        let again = flow.path.iter().rev().map(|hop| !later.insert(hop.output));
        let mut again: Vec<bool> = again.collect();
        again.reverse();
        let (rooms, full) = (Vec::new(), BTreeSet::new());
        let mut label_setting =
            LabelSetting { ledger, flow, pattern, rooms, again, full, certain: true };
        let frames = 0..label_setting.pattern.repeat;
        let rooms =
            |hop: &Hop| frames.clone().map(|at| label_setting.room(hop.output, at, &[])).collect();
        label_setting.rooms = flow.path.iter().map(rooms).collect();
        label_setting
    }

    /// The best choice of frames.
    pub(super) fn best(mut self) -> Answer {
        let Some((room, reservation)) = self.run(None) else {
            return Err(ReservationError {
                full: self.full.into_iter().collect(),
                certain: self.certain,
            });
        };
        if self.flow.path.iter().skip(1).all(|hop| hop.spare == 0) {
            return Ok(reservation);
        }
        // Where labels were compared, more room decided, though a later output may leave less in
        // any case. Now that it is known how much counts, the others decide.
        Ok(self.run(Some(room)).map_or(reservation, |(_, better)| better))
    }

    /// The best choice with the room that it leaves; if that is known, as far as it counts.
    fn run(&mut self, enough: Option<u64>) -> Option<(u64, Reservation)> {
        let (flow, repeat) = (self.flow, self.pattern.repeat);
        let mut labels: Vec<Label> = Vec::new();
        let mut last = 0..0;
        let mut met: Vec<Vec<Label>> = alloc::vec![Vec::new(); repeat as usize];
        for (place, hop) in flow.path.iter().enumerate() {
            let mut go = |label| {
                if let Some(label) = self.extend(label, place, enough) {
                    add(&mut met[label.frame as usize], label);
                }
            };
            if place == 0 {
                (0..repeat).for_each(|start| go(Label::from(start)));
            }
            for before in last {
                (0..=longest(hop, repeat))
                    .for_each(|extra| go(labels[before].forwarded(before, hop, extra, repeat)));
            }
            let begin = labels.len();
            for met in &mut met {
                self.prune(met);
                labels.append(met);
            }
            last = begin..labels.len();
        }
        let best = last.min_by_key(|&label| (Reverse(labels[label].merit), labels[label].start))?;
        Some((labels[best].merit.0, self.reservation(&labels, best)))
    }

    /// Extends a label that has come to the output of a hop by its frame there; `None` if that is
    /// full.
    fn extend(&mut self, mut label: Label, place: usize, enough: Option<u64>) -> Option<Label> {
        let output = self.flow.path[place].output;
        let taken = label.own.iter().any(|own| own.0 == output);
        let room = if taken {
            &self.room(output, label.frame, &label.own)
        } else {
            &self.rooms[place][label.frame as usize]
        };
        let (room, held) = match room {
            Ok(room) => *room,
            Err(full) => {
                self.full.insert(*full);
                return None;
            }
        };
        if enough.is_some_and(|enough| room < enough) {
            return None;
        }
        let (least, Reverse(before), late) = label.merit;
        let room = enough.unwrap_or(least.min(room));
        label.merit = (room, Reverse(before + held), late);
        if self.again[place] {
            let place = label.own.partition_point(|own| *own < (output, label.frame));
            label.own.insert(place, (output, label.frame));
        } else if taken {
            label.own.retain(|own| own.0 != output);
        }
        Some(label)
    }

    /// Room at an output if the flow uses it from this frame on, beside the existing reservations
    /// and the frames that it took itself.
    fn room(&self, output: OutputId, first: u32, own: &[(OutputId, u32)]) -> Room {
        let packet = self.flow.packet.0;
        let capacity = self.ledger.capacity(output).0;
        let (mut least, mut held) = (u64::MAX, 0);
        for (frame, packets) in self.pattern.frames(first) {
            let own = own.iter().filter(|own| own.0 == output);
            let own: u64 = own.map(|own| self.own_packets(frame, own.1)).sum();
            let taken = self.ledger.reserved(output, frame).0 + own * packet;
            let room = u128::from(capacity - taken);
            let (packet, packets) = (u128::from(packet), u128::from(packets));
            let Some(room) = room.checked_sub(packet * packets) else {
                return Err(self.ledger.full(output, frame));
            };
            least = least.min(room as u64);
            held += packets * u128::from(taken) + packet * (packets * (packets - 1) / 2);
        }
        Ok((least, held))
    }

    /// How many packets are in a frame if the first is in that one.
    fn own_packets(&self, frame: u32, first: u32) -> u64 {
        let repeat = self.pattern.repeat;
        self.pattern.packets_at((frame % repeat + repeat - first) % repeat)
    }

    /// Leaves the best labels of a frame, no more than [`MOST_LABELS`].
    fn prune(&mut self, labels: &mut Vec<Label>) {
        if labels.len() > MOST_LABELS {
            self.certain = false;
            labels.sort_by_key(|label| (!label.immediate, Reverse(label.merit), label.start));
            labels.truncate(MOST_LABELS);
        }
    }

    fn reservation(&self, labels: &[Label], last: usize) -> Reservation {
        let (packets, period) = (self.flow.packets, self.ledger.period());
        let slots = Slots { start: labels[last].start, packets, period };
        let mut delays = alloc::vec![0; self.flow.path.len()];
        let mut at = last;
        for (delay, hop) in delays.iter_mut().zip(&self.flow.path).skip(1).rev() {
            *delay = hop.delay + labels[at].extra;
            at = labels[at].before;
        }
        Reservation { slots, delays }
    }
}

impl Label {
    fn from(start: u32) -> Self {
        let own = Vec::new();
        Label { merit: UNUSED, start, frame: start, extra: 0, before: 0, immediate: true, own }
    }

    /// The label of an output behind, from the label at that place.
    fn forwarded(&self, place: usize, hop: &Hop, extra: u32, repeat: u32) -> Label {
        let lag = u64::from(hop.delay) + u64::from(hop.propagation) + u64::from(extra);
        let frame = (u64::from(self.frame) + lag) % u64::from(repeat);
        let (room, held, Reverse(late)) = self.merit;
        Label {
            merit: (room, held, Reverse(late + u64::from(extra))),
            start: self.start,
            frame: frame as u32,
            extra,
            before: place,
            immediate: self.immediate && extra == 0,
            own: self.own.clone(),
        }
    }
}

/// By how much a hop may be later than immediate so that it makes a difference.
fn longest(hop: &Hop, repeat: u32) -> u32 {
    hop.spare.min(repeat - 1).min(u32::MAX - hop.delay)
}

/// Adds a label to those of its frame; of two that took the same, the better one dominates.
fn add(labels: &mut Vec<Label>, mut label: Label) {
    let Some(other) = labels.iter_mut().find(|other| other.own == label.own) else {
        labels.push(label);
        return;
    };
    let immediate = other.immediate || label.immediate;
    if (label.merit, Reverse(label.start)) > (other.merit, Reverse(other.start)) {
        mem::swap(other, &mut label);
    }
    other.immediate = immediate;
}
