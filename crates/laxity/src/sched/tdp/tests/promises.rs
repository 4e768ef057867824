//! What an output promises, whatever comes.

use std::vec;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::{Coming, CommonTime, TdpSettings, send};
use crate::packet::Packet;
use crate::sched::{Late, Tdp};
use crate::scheduler::Criterion;
use crate::units::{Bytes, Nanos, Rate};

const FRAMES: u32 = 6;

/// Arrivals of reserved packets, each as late as just before its frame, and of best effort.
fn traffic() -> impl Strategy<Value = (TdpSettings, Vec<bool>, Vec<Coming>)> {
    (200..2_000u64, 1_000_000_000..20_000_000_000u64, 0..4u32).prop_flat_map(
        |(frame, rate, delay)| {
            let time = CommonTime { frame: Nanos(frame), frames: FRAMES, cycles: 2 };
            let one = (0..60u64, 0..=delay, 0..frame, 1..400u32, any::<bool>(), any::<bool>());
            let reserved =
                prop_oneof![Just(vec![true; FRAMES as usize]), vec(any::<bool>(), FRAMES as usize)];
            (0..=frame / 2, reserved, vec(one, 1..250)).prop_map(move |(guard, reserved, many)| {
                let guard = Nanos(guard);
                let settings =
                    TdpSettings { time, rate: Rate(rate), delay, guard, late: Late::Drop };
                let coming = |(frame, ahead, at, length, is_reserved, at_end)| {
                    let at = if at_end { time.frame.0 - 1 } else { at };
                    let time = Nanos(frame * time.frame.0 + at);
                    let out: u64 = frame + u64::from(ahead) + 1;
                    let is_reserved: bool =
                        is_reserved && reserved[(out % u64::from(FRAMES)) as usize];
                    let frame = is_reserved.then_some(out);
                    Coming { time, packet: Packet { length, ..Packet::default() }, frame }
                };
                let mut coming: Vec<_> = many.into_iter().map(coming).collect();
                coming.sort_by_key(|one| one.time);
                for (handle, one) in (0..).zip(&mut coming) {
                    one.packet.handle = handle;
                }
                (settings, reserved, coming)
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// What is within a frame's capacity leaves within the frame, and best effort takes the guard
    /// from it at most.
    #[test]
    fn reserved_packets_leave_within_their_frames(
        (settings, reserved, coming) in traffic(), padding in proptest::option::of(1..100u32),
    ) {
        let TdpSettings { time, rate, guard, .. } = settings;
        let mut output = Tdp::reserving(settings, |frame| reserved[frame as usize]).unwrap();
        let end = Nanos(80 * time.frame.0);
        let (sent, dropped) = send(&mut output, &coming, padding, end);
        // In order of arrival, as much as there is room for.
        let capacity = time.frame - guard;
        let mut taken = vec![0; 100];
        let mut accepted = vec![false; coming.len()];
        for one in coming.iter().filter(|one| one.frame.is_some()) {
            let bytes = &mut taken[one.frame.unwrap() as usize];
            if rate.time_for(Bytes(*bytes + u64::from(one.packet.length))) <= capacity {
                *bytes += u64::from(one.packet.length);
                accepted[one.packet.handle as usize] = true;
            }
        }
        for one in &coming {
            let handle = one.packet.handle;
            let of_handle = |packet: &Packet| packet.handle == handle;
            let sent = sent.iter().find(|sent| sent.dispatch.is_some_and(|sent| of_handle(&sent.packet)));
            let is_dropped = dropped.iter().any(|(packet, _)| of_handle(packet));
            let Some(frame) = one.frame else { continue };
            prop_assert_eq!(sent.is_some(), accepted[handle as usize]);
            prop_assert_eq!(is_dropped, !accepted[handle as usize]);
            let Some(sent) = sent else { continue };
            prop_assert_eq!(sent.dispatch.unwrap().criterion, Criterion::ReservedFrame);
            prop_assert!(sent.start >= time.start(frame));
            prop_assert!(sent.departure <= time.start(frame + 1));
            prop_assert_eq!(sent.mark, Some(time.mark(frame)));
        }
        // What is not reserved never lasts longer than the guard into a reserved frame, even if
        // nothing was reserved of it in the end.
        let is_reserved = |frame: u64| reserved[(frame % u64::from(FRAMES)) as usize];
        for one in sent.iter().filter(|one| one.dispatch.is_none_or(|sent| sent.deadline.is_none())) {
            let first = time.frame_at(one.start) + 1;
            if let Some(next) = (first..first + u64::from(FRAMES)).find(|&frame| is_reserved(frame)) {
                prop_assert!(one.departure <= time.start(next) + guard);
            }
        }
    }

    /// Every frame has a mark, if padding fits where nothing else is.
    #[test]
    fn padding_leaves_no_frame_without_a_mark((settings, _, coming) in traffic()) {
        let time = settings.time;
        let reserved: Vec<_> = coming.into_iter().filter(|one| one.frame.is_some()).collect();
        let end = Nanos(80 * time.frame.0);
        let (sent, _) = send(&mut Tdp::new(settings).unwrap(), &reserved, Some(1), end);
        for frame in 0..80 {
            let marks = sent.iter().filter(|one| time.frame_at(one.start) == frame && one.mark.is_some());
            let paddings = marks.clone().filter(|one| one.dispatch.is_none()).count();
            prop_assert!(marks.count() >= 1);
            prop_assert!(paddings <= 1);
        }
    }
}
