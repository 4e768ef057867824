//! SCED, the discipline that H-FSC is held against in worked examples (Sariowan, Cruz, Polyzos
//! 1995, as Stoica, Zhang and Ng 2000 define it in section II-A).

use std::collections::VecDeque;

use laxity::curve::{Curve, ceil_nanos, exact, exact_nanos};
use laxity::packet::Packet;
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink, Scheduler};
use laxity::service::ServiceCurve;
use laxity::units::{Bytes, Nanos};

/// Service curve earliest deadline first: all service counts towards a session's deadlines, so that
/// one who gets more than its curve now gets nothing later until the curve has caught up.
///
/// A plain rendering of the definition in exact arithmetic: every dispatch looks at every session.
pub(super) struct Sced {
    sessions: Vec<Option<Session>>,
}

struct Session {
    curve: Curve,
    /// Of the current backlogged period or the last; D of Eq. 3.
    deadlines: Option<Curve>,
    served: u64,
    queue: VecDeque<Packet>,
}

impl Sced {
    /// A scheduler for sessions with these curves; one without takes no packets.
    pub(super) fn new(curves: &[Option<ServiceCurve>]) -> Sced {
        let session = |curve: ServiceCurve| Session {
            curve: curve.curve(),
            deadlines: None,
            served: 0,
            queue: VecDeque::new(),
        };
        Sced { sessions: curves.iter().map(|curve| curve.map(session)).collect() }
    }

    fn active(&self) -> impl Iterator<Item = (usize, &Session)> {
        let sessions = self.sessions.iter().enumerate();
        sessions.filter_map(|(at, session)| Some((at, session.as_ref()?)))
    }
}

impl Session {
    /// Eq. 3: from `now` on the session is due what it was due, or its curve anew if that is less.
    fn wake(&mut self, now: Nanos) {
        let so_far = Curve::constant(Bytes(self.served));
        let anew = self.curve.shift(&exact_nanos(now)).add(&so_far);
        self.deadlines = Some(match &self.deadlines {
            Some(deadlines) => deadlines.minimum(&anew),
            None => anew,
        });
    }

    /// Eq. 4.
    fn deadline(&self) -> Option<Nanos> {
        let served = self.served + u64::from(self.queue.front()?.length);
        ceil_nanos(&self.deadlines.as_ref()?.lower_pseudo_inverse(&exact(served))?)
    }
}

impl Scheduler for Sced {
    fn enqueue(&mut self, now: Nanos, packet: Packet, drops: &mut dyn DropSink) {
        let Some(Some(session)) = self.sessions.get_mut(packet.class.index()) else {
            return drops.dropped(packet, DropReason::NoClass);
        };
        if session.queue.is_empty() {
            session.wake(now);
        }
        session.queue.push_back(packet);
    }

    fn dequeue(&mut self, _: Nanos, _: &mut dyn DropSink) -> Option<Dispatch> {
        let heads = self.active().filter_map(|(at, session)| Some((session.deadline()?, at)));
        let (deadline, at) = heads.min()?;
        let session = self.sessions[at].as_mut()?;
        let packet = session.queue.pop_front()?;
        session.served += u64::from(packet.length);
        Some(Dispatch { packet, deadline: Some(deadline), criterion: Criterion::EarliestDeadline })
    }

    fn backlog(&self) -> Backlog {
        let queued = self.active().flat_map(|(_, session)| &session.queue);
        queued.fold(Backlog::default(), |sum, packet| Backlog {
            packets: sum.packets + 1,
            bytes: sum.bytes + u64::from(packet.length),
        })
    }

    fn footprint(&self) -> usize {
        let queues = self.active().map(|(_, session)| session.queue.capacity());
        queues.sum::<usize>() * size_of::<Packet>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use laxity::packet::ClassId;
    use laxity::units::Rate;

    fn no_drop(packet: Packet, reason: DropReason) {
        panic!("{packet:?}: {reason:?}");
    }

    /// At 8 Mbit/s a kilobyte is due every ms.
    fn line() -> Option<ServiceCurve> {
        Some(ServiceCurve::linear(Rate(8_000_000)))
    }

    fn packet(class: u32) -> Packet {
        Packet { class: ClassId(class), length: 1000, ..Packet::default() }
    }

    #[test]
    fn deadlines_follow_the_curve_and_keep_what_was_served() {
        let mut sced = Sced::new(&[line(), line()]);
        let ms = |ms: u64| Nanos(ms * 1_000_000);
        for _ in 0..3 {
            sced.enqueue(ms(0), packet(0), &mut no_drop);
        }
        sced.enqueue(ms(0), packet(1), &mut no_drop);
        let mut next = |now| {
            sced.dequeue(now, &mut no_drop)
                .map(|sent| (sent.packet.class.0, sent.deadline.unwrap()))
        };
        assert_eq!(next(ms(0)), Some((0, ms(1))));
        assert_eq!(next(ms(0)), Some((1, ms(1))));
        assert_eq!(next(ms(0)), Some((0, ms(2))));
        assert_eq!(next(ms(0)), Some((0, ms(3))));
        assert_eq!(next(ms(0)), None);
        // Session 0 was served ahead until 3 ms, session 1 until 1 ms.
        for class in [0, 1] {
            sced.enqueue(ms(2), packet(class), &mut no_drop);
        }
        assert_eq!(sced.backlog(), Backlog { packets: 2, bytes: 2000 });
        let mut next = |now| sced.dequeue(now, &mut no_drop).and_then(|sent| sent.deadline);
        assert_eq!(next(ms(2)), Some(ms(3)));
        assert_eq!(next(ms(2)), Some(ms(4)));
    }

    #[test]
    fn a_class_without_a_curve_takes_no_packets() {
        let mut dropped = 0;
        let mut sced = Sced::new(&[None]);
        sced.enqueue(Nanos(0), packet(0), &mut |_: Packet, reason: DropReason| {
            assert_eq!(reason, DropReason::NoClass);
            dropped += 1;
        });
        assert_eq!((dropped, sced.backlog()), (1, Backlog::default()));
    }
}
