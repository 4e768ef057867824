//! Packets followed from router to router.

use std::collections::VecDeque;
use std::hash::{DefaultHasher, Hasher};

use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::router::Renumbering;

/// What is known of a packet on its way through the routers of this host.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Passage {
    /// Its class, once a router has looked.
    pub class: ClassId,
    /// How long it is, as links count it, once it has left a router.
    pub length: u32,
    /// When it came to the first router.
    pub arrival: Nanos,
    /// When its first transmission began, and when its last bit left: in frames, where there are
    /// any.
    pub began: Option<Nanos>,
    /// See `began`.
    pub last: Nanos,
    /// Whether it was demoted to best effort where it came in.
    pub is_demoted: bool,
    /// Whether it left after its frame, or without one, at an output that has frames.
    pub is_disturbed: bool,
    /// Whether a router here has sent it.
    pub has_left: bool,
}

/// What is on the way between two routers of this host. Frames come in the order in which they were
/// sent.
#[derive(Debug, Default)]
pub(crate) struct Wire(VecDeque<(u64, Passage)>);

/// The number of no class of any plan.
const NO_CLASS: ClassId = ClassId(u32::MAX);

/// The most that is remembered of a wire.
const MOST: usize = 1 << 16;

/// Leading bytes of a frame that tell it from its neighbours on a wire, including its mark.
pub(crate) const HEAD: usize = 128;

impl Wire {
    /// A frame is sent; returns what is forgotten for want of room.
    pub(crate) fn send(&mut self, digest: u64, passage: Passage) -> Option<Passage> {
        self.0.push_back((digest, passage));
        if self.0.len() > MOST { self.0.pop_front().map(|(_, passage)| passage) } else { None }
    }

    /// A frame comes: what is known of it, if it was sent here. What was sent before it and has not
    /// come is `lost`.
    pub(crate) fn receive(
        &mut self,
        digest: u64,
        mut lost: impl FnMut(&Passage),
    ) -> Option<Passage> {
        let place = self.0.iter().position(|(sent, _)| *sent == digest)?;
        self.0.drain(..place).for_each(|(_, passage)| lost(&passage));
        self.0.pop_front().map(|(_, passage)| passage)
    }

    /// Another plan is followed, under which classes have other numbers. What is of a class that is
    /// gone is of none until the next router looks.
    pub(crate) fn renumber(&mut self, numbers: &Renumbering<'_>) {
        for (_, passage) in &mut self.0 {
            passage.class = numbers.get(passage.class).unwrap_or(NO_CLASS);
        }
    }

    /// What has not come.
    pub(crate) fn under_way(&self) -> impl Iterator<Item = &Passage> {
        self.0.iter().map(|(_, passage)| passage)
    }
}

/// What tells a frame from others.
pub(crate) fn digest(frame: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&frame[..frame.len().min(HEAD)]);
    hasher.write_usize(frame.len());
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use laxity_plan::Plan;

    use super::*;

    fn passage(arrival: u64) -> Passage {
        Passage { arrival: Nanos(arrival), ..Passage::default() }
    }

    #[test]
    fn what_is_under_way_is_of_the_class_of_the_present_plan() {
        let plan = |classes: &str| {
            let text = format!(
                "version = 1\nlink.rate = '1mbit'\nscheduler.kind = 'fifo'\n{classes}[class.rest]\n"
            );
            Plan::parse(&text, "plan.toml", Path::new("")).expect("a plan")
        };
        let (before, next) = (plan("[class.x]\nmatch = 'udp'\n"), plan(""));
        let mut wire = Wire::default();
        for class in [0, 1] {
            wire.send(0, Passage { class: ClassId(class), ..Passage::default() });
        }
        wire.renumber(&Renumbering::new(&before, &next));
        let classes: Vec<_> = wire.under_way().map(|passage| passage.class).collect();
        assert_eq!(classes, [NO_CLASS, ClassId(0)]);
    }

    #[test]
    fn what_does_not_come_is_lost_and_strangers_are_no_ones() {
        let (mut wire, mut lost) = (Wire::default(), 0);
        for number in 0..4 {
            assert_eq!(wire.send(number % 3, passage(number)), None);
        }
        let mut receive = |digest| wire.receive(digest, |_| lost += 1);
        assert_eq!(receive(7), None, "it was not sent here");
        assert_eq!(receive(0), Some(passage(0)));
        assert_eq!(receive(0), Some(passage(3)), "and two before it are lost");
        assert_eq!(receive(1), None);
        assert_eq!(lost, 2);
    }
}
