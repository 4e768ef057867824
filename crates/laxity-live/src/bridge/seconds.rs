//! What classes get, second by second.

use laxity::histogram::Histogram;
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_forward::Event;

use crate::status::SecondStatus;

/// What the classes of a plan got in the present second and in the one before.
pub(super) struct Seconds {
    /// By class number.
    classes: Vec<ClassSecond>,
    /// How many seconds are over.
    over: u64,
}

#[derive(Default)]
struct ClassSecond {
    present: SecondStatus,
    /// Of packets that were not demoted.
    delays: Histogram<32>,
    last: Option<SecondStatus>,
}

impl Seconds {
    /// Of this many classes, and nothing yet.
    pub(super) fn new(classes: usize) -> Self {
        let classes = std::iter::repeat_with(ClassSecond::default).take(classes).collect();
        Seconds { classes, over: 0 }
    }

    /// Counts an event.
    pub(super) fn add(&mut self, event: &Event) {
        match event {
            Event::Sent(sent) => {
                let Some(class) = self.class(sent.packet.class) else { return };
                class.present.bytes += u64::from(sent.packet.length);
                class.present.packets += 1;
                if sent.packet.demoted {
                    return;
                }
                let delay = sent.delay();
                class.delays.record(delay);
                if delay.0 >= class.present.max_ns {
                    (class.present.max_ns, class.present.allowance_ns) = (delay.0, sent.late().0);
                }
            }
            Event::Dropped(dropped) => {
                if let Some(class) = self.class(dropped.packet.class) {
                    class.present.dropped += 1;
                }
            }
            Event::Nonconforming { class, .. } => {
                if let Some(class) = self.class(*class) {
                    class.present.nonconforming += 1;
                }
            }
            Event::Arrived(_)
            | Event::Idle { .. }
            | Event::Reloaded { .. }
            | Event::Delivered(_)
            | Event::Lost(_)
            | Event::Rate { .. }
            | Event::Introduced { .. }
            | Event::Resumed { .. }
            | Event::Queued { .. }
            | Event::Kept { .. } => {}
        }
    }

    fn class(&mut self, class: ClassId) -> Option<&mut ClassSecond> {
        self.classes.get_mut(class.index())
    }

    /// Ends the present second, which took so long.
    pub(super) fn turn(&mut self, duration: Nanos) {
        for class in &mut self.classes {
            let delays = std::mem::take(&mut class.delays);
            let p99_ns = if delays.count() == 0 { 0 } else { delays.quantile(99, 100).0 };
            let present = std::mem::take(&mut class.present);
            let (number, over_ns) = (self.over, duration.0);
            class.last = Some(SecondStatus { number, over_ns, p99_ns, ..present });
        }
        self.over += 1;
    }

    /// What a class got in the last second that is over.
    pub(super) fn last(&self, class: ClassId) -> Option<SecondStatus> {
        self.classes.get(class.index())?.last
    }
}

#[cfg(test)]
mod tests {
    use laxity::packet::Packet;
    use laxity::scheduler::DropReason;
    use laxity_forward::{DroppedPacket, SentPacket};

    use super::*;
    use crate::bridge::samples;

    fn sent(delay: u64, allowance: u64, demoted: bool) -> Event {
        let packet = Packet { length: 100, demoted, ..Packet::default() };
        let sent = samples::sent(packet, Nanos::ZERO, Nanos(delay));
        Event::Sent(SentPacket { allowance: Nanos(allowance), ..sent })
    }

    #[test]
    fn each_second_has_its_own_and_demoted_packets_no_delay() {
        let mut seconds = Seconds::new(2);
        assert_eq!(seconds.last(ClassId(0)), None);
        (1..=200).for_each(|at| seconds.add(&sent(at * 1_000, at, false)));
        seconds.add(&sent(900_000_000, 0, true));
        let (packet, reason) = (Packet::default(), DropReason::QueueFull);
        seconds.add(&Event::Dropped(DroppedPacket {
            number: 0,
            packet,
            time: Nanos::ZERO,
            reason,
        }));
        seconds.add(&Event::Nonconforming { number: 0, class: ClassId(0) });
        seconds.turn(Nanos(1_000_000_007));
        let last = seconds.last(ClassId(0)).expect("a second is over");
        assert_eq!(
            (last.number, last.over_ns, last.bytes, last.packets),
            (0, 1_000_000_007, 20_100, 201)
        );
        assert_eq!((last.dropped, last.nonconforming), (1, 1));
        assert_eq!((last.max_ns, last.allowance_ns), (200_000, 200));
        assert!((198_000..=198_000 * 33 / 32).contains(&last.p99_ns), "{}", last.p99_ns);
        seconds.turn(Nanos(1));
        let nothing = SecondStatus { number: 1, over_ns: 1, ..SecondStatus::default() };
        assert_eq!(seconds.last(ClassId(0)), Some(nothing));
        assert_eq!(seconds.last(ClassId(2)), None);
    }
}
