//! One output against the reference.

use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::reference::Reference;
use super::{CommonTime, TdpSettings};
use crate::packet::Packet;
use crate::sched::{Late, Tdp};
use crate::scheduler::{DropReason, Scheduler};
use crate::units::{Nanos, Rate};

#[derive(Clone, Copy, Debug)]
enum Step {
    Wait(u64),
    /// A reserved packet: how many frames ahead of the current one its frame is, and its length.
    Reserved(i64, u32),
    BestEffort(u32),
    Dequeue,
    /// As soon as it says it is ready.
    DequeueReady,
    /// So much ahead of time.
    DequeueAhead(u64),
    Pad(u32),
}

fn settings() -> impl Strategy<Value = (TdpSettings, Vec<bool>)> {
    let late = prop_oneof![Just(Late::Drop), Just(Late::Send)];
    (1..600u64, 1..9u32, 1_000_000_000..20_000_000_000u64, 0..6u32, late).prop_flat_map(
        |(frame, frames, rate, delay, late)| {
            let guard = prop_oneof![Just(0), Just(frame), 0..=frame];
            let reserved = prop_oneof![
                Just(std::vec![true; frames as usize]),
                vec(any::<bool>(), frames as usize),
            ];
            let time = CommonTime { frame: Nanos(frame), frames, cycles: 3 };
            (guard, reserved).prop_map(move |(guard, reserved)| {
                let guard = Nanos(guard);
                (TdpSettings { time, rate: Rate(rate), delay, guard, late }, reserved)
            })
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..100u64).prop_map(Step::Wait),
        1 => (0..5_000u64).prop_map(Step::Wait),
        6 => (-2..9i64, 1..300u32).prop_map(|(ahead, length)| Step::Reserved(ahead, length)),
        3 => (1..1_500u32).prop_map(Step::BestEffort),
        4 => Just(Step::Dequeue),
        4 => Just(Step::DequeueReady),
        4 => (0..300u64).prop_map(Step::DequeueAhead),
        1 => (1..200u32).prop_map(Step::Pad),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn every_dispatch_and_drop_is_the_definitions(
        (settings, reserved) in settings(), steps in vec(step(), 1..120),
    ) {
        let mut output = Tdp::reserving(settings, |frame| reserved[frame as usize]).unwrap();
        let mut reference = Reference::new(settings, &reserved);
        let mut now = Nanos::ZERO;
        // The frame in which a mark was sent last.
        let mut marked = None;
        for (handle, step) in (0..).zip(steps) {
            let mut dropped = Vec::new();
            let mut drops = |packet: Packet, reason: DropReason| dropped.push((packet.handle, reason));
            let packet = |length| Packet { length, handle, ..Packet::default() };
            let current = now.0 / settings.time.frame.0;
            let expected = match step {
                Step::Wait(time) => {
                    now += Nanos(time);
                    continue;
                }
                Step::Reserved(ahead, length) => {
                    let frame = current.saturating_add_signed(ahead);
                    output.enqueue_in(now, packet(length), frame, &mut drops);
                    reference.enqueue(now, packet(length), Some(frame))
                }
                Step::BestEffort(length) => {
                    output.enqueue(now, packet(length), &mut drops);
                    reference.enqueue(now, packet(length), None)
                }
                Step::Pad(length) => {
                    // It lets frames end, as does a packet that has no frame.
                    let mut expected = reference.enqueue(now, packet(1), Some(current + 1_000));
                    expected.pop();
                    let has_reserved = reference.has_reserved(now);
                    let fits = reference.fits_now(now, length);
                    let padded = output.pad(now, length, &mut drops);
                    prop_assert_eq!(padded, marked != Some(current) && !has_reserved && fits);
                    if padded {
                        marked = Some(current);
                    }
                    expected
                }
                Step::DequeueAhead(more) => {
                    let later = now + Nanos(more);
                    let is_known = later < output.frame_end() && reference.has_due(now);
                    let (expected_sent, expected) =
                        if is_known { reference.dequeue(later) } else { (None, Vec::new()) };
                    let sent = output.dequeue_ahead(later);
                    let sent = sent.map(|sent| (sent.packet.handle, sent.deadline));
                    prop_assert_eq!(sent, expected_sent);
                    if sent.is_some() {
                        marked = Some(current);
                    }
                    expected
                }
                Step::Dequeue | Step::DequeueReady => {
                    if let Step::DequeueReady = step {
                        match output.next_ready(now) {
                            None => prop_assert_eq!(reference.packets().0, 0),
                            Some(ready) => {
                                prop_assert!(ready >= now);
                                // In between it is not.
                                for early in [now, Nanos((now.0 + ready.0) / 2), Nanos(ready.0.max(1) - 1)] {
                                    if (now..ready).contains(&early) {
                                        let sent = output.clone().dequeue(early, &mut drops);
                                        prop_assert_eq!(sent, None);
                                    }
                                }
                                now = ready;
                            }
                        }
                    }
                    let current = now.0 / settings.time.frame.0;
                    let sent = output.dequeue(now, &mut drops);
                    let (expected_sent, expected) = reference.dequeue(now);
                    let is_reserved = sent.is_some_and(|sent| sent.deadline.is_some());
                    let sent = sent.map(|sent| (sent.packet.handle, sent.deadline));
                    prop_assert_eq!(sent, expected_sent);
                    if is_reserved {
                        marked = Some(current);
                        prop_assert_eq!(output.mark(), settings.time.mark(current));
                    }
                    expected
                }
            };
            prop_assert_eq!(dropped, expected);
            let backlog = output.backlog();
            prop_assert_eq!((backlog.packets, backlog.bytes), reference.packets());
            if now < output.frame_end() {
                prop_assert_eq!(output.is_done(), reference.is_done(now));
            }
        }
    }

    /// Section III.C: with counters of frames that start anew with each cycle, the queue is
    /// `((TF_out + n_TF - TF_cur) mod n_TF + buf_cur) mod n_buf`.
    #[test]
    fn queues_are_the_papers(
        current in any::<u32>(), ahead in 0..8u64, more in 0..100u32, delay in 6..20u32,
    ) {
        let frames = delay + 2 + more;
        let time = CommonTime { frame: Nanos(1), frames, cycles: 1 };
        let guard = Nanos::ZERO;
        let output = Tdp::new(TdpSettings { time, rate: Rate(8_000_000_000), delay, guard, late: Late::Drop }).unwrap();
        let buffers = output.queues.len();
        let current = u64::from(current);
        let [out, now] = [current + ahead, current].map(|frame| time.frame_of_cycle(frame));
        let index = ((out + frames - now) % frames) as usize + output.place(current);
        prop_assert_eq!(output.place(current + ahead), index % buffers);
    }
}

/// What is ready early changes nothing: what is asked for too late is still told.
#[test]
fn what_was_left_behind_is_dropped_when_next_asked() {
    let time = CommonTime { frame: Nanos(100), frames: 4, cycles: 1 };
    let settings = TdpSettings {
        time,
        rate: Rate(8_000_000_000),
        delay: 1,
        guard: Nanos(0),
        late: Late::Drop,
    };
    let mut output = Tdp::new(settings).unwrap();
    let mut dropped = Vec::new();
    let mut drops = |packet: Packet, reason| dropped.push((packet.handle, reason));
    let packet = Packet { length: 10, handle: 7, ..Packet::default() };
    output.enqueue_in(Nanos(0), packet, 2, &mut drops);
    assert_eq!(output.next_ready(Nanos(0)), Some(Nanos(200)));
    assert_eq!(output.next_ready(Nanos(100_000)), Some(Nanos(100_000)));
    assert_eq!(output.dequeue(Nanos(100_000), &mut drops), None);
    assert_eq!(output.next_ready(Nanos(100_000)), None);
    assert_eq!(dropped, [(7, DropReason::Frame)]);
}
