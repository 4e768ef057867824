use laxity::packet::Packet;

use super::*;
use crate::why::{Cause, LastQueue};

/// A link that sends a packet of 100 bytes each microsecond: those of class 1 in bursts of 50, of
/// every ten bursts one of class 2 that waits for long, and now and then one is dropped.
fn recorded(packets: u64, budget: usize) -> (Timeline, Vec<PacketDelay>) {
    let mut recorder = TimelineRecorder::new(budget, 2, 3, Nanos::ZERO);
    let mut all = Vec::new();
    for handle in 0..packets {
        let start = Nanos(1000 * handle);
        let (class, wait) = match handle % 500 {
            250 => (2, 30_000 + handle % 7919),
            _ => (1, 1000 * (handle % 50)),
        };
        let arrival = start.saturating_sub(Nanos(wait));
        let packet =
            Packet { class: ClassId(class), length: 100, arrival, handle, ..Packet::default() };
        let departure = start + Nanos(1000);
        let part = |cause, time| Part { cause, time };
        let parts =
            vec![part(Cause::Wire, start - arrival), part(Cause::Transmission, departure - start)];
        let hops = vec![HopDelay { hop: None, arrival, start, departure, parts }];
        let delay = PacketDelay { packet, end: departure, due: None, hops };
        recorder.sent(&delay);
        if handle % 10_000 == 9_999 {
            let last =
                LastQueue { hop: None, arrival, dropped: Some((departure, DropReason::QueueFull)) };
            let packet = Packet { class: ClassId(0), ..packet };
            recorder.unfinished(&UnfinishedPacket { packet, hops: Vec::new(), last: Some(last) });
        }
        all.push(delay);
    }
    (recorder.finish(), all)
}

fn is_in(gaps: &[[Nanos; 2]], time: Nanos) -> bool {
    gaps.iter().any(|[from, to]| *from <= time && time < *to)
}

#[test]
fn a_run_within_the_budget_is_kept_as_it_was() {
    let (timeline, all) = recorded(3_000, 10_000);
    assert_eq!((timeline.passages.len(), timeline.gaps.len()), (3_000, 0));
    for (passage, delay) in timeline.passages.iter().zip(&all) {
        let (packet, hop) = (delay.packet, &delay.hops[0]);
        assert_eq!((passage.packet, passage.class), (packet.handle, packet.class));
        let times = [passage.arrival, passage.start, passage.departure];
        assert_eq!(times, [hop.arrival, hop.start, hop.departure]);
        let first = passage.first_part as usize;
        assert_eq!(timeline.parts[first..][..passage.parts as usize], hop.parts);
    }
}

/// A packet is there, or its transmission lies in a gap, but not both; the slowest packets of each
/// class and the first drop are there with all that was sent while they waited.
#[test]
fn a_long_run_keeps_what_surrounds_its_slowest_packets() {
    for budget in [512, 5_000, 20_000] {
        let (timeline, all) = recorded(100_000, budget);
        let size = timeline.passages.len() + timeline.unsent.len();
        assert!(size <= budget && size > budget / 2, "{size} of {budget}");
        assert!(!timeline.gaps.is_empty() && timeline.gaps.is_sorted());
        let mut kept = timeline.passages.iter().map(|passage| passage.packet).peekable();
        for delay in &all {
            let is_kept = kept.next_if_eq(&delay.packet.handle).is_some();
            assert_ne!(is_kept, is_in(&timeline.gaps, delay.hops[0].start), "{delay:?}");
        }
        for class in 1..3 {
            let of_class = all.iter().filter(|delay| delay.packet.class == ClassId(class));
            let mut delays: Vec<_> = of_class.map(PacketDelay::delay).collect();
            delays.sort();
            let slowest = &timeline.slowest[class as usize];
            let delay = |number: &u64| all[*number as usize].delay();
            let expected: Vec<_> = delays.iter().rev().take(2).copied().collect();
            assert_eq!(slowest.iter().map(delay).collect::<Vec<_>>(), expected);
        }
        if budget >= 5_000 {
            let highlights = timeline.slowest.iter().flatten().map(|number| &all[*number as usize]);
            for delay in highlights {
                let time = [delay.packet.arrival, delay.end];
                let overlaps = |gap: &[Nanos; 2]| gap[0] < time[1] && time[0] < gap[1];
                assert!(!timeline.gaps.iter().any(overlaps), "{delay:?}");
            }
            assert!(timeline.unsent.iter().any(|unsent| unsent.packet == 9_999));
        }
    }
}

#[test]
fn the_links_of_a_packet_have_its_number() {
    let hop = |link| Some(Hop { link: laxity_plan::model::LinkId(link), backward: false });
    let at = |link, arrival| HopDelay {
        hop: hop(link),
        arrival: Nanos(arrival),
        start: Nanos(arrival + 5),
        departure: Nanos(arrival + 10),
        parts: Vec::new(),
    };
    let mut recorder = TimelineRecorder::new(1000, 1, 1, Nanos::ZERO);
    let packet = Packet::default();
    let hops = vec![at(4, 0), at(2, 20)];
    recorder.sent(&PacketDelay { packet, end: Nanos(40), due: None, hops });
    let last = LastQueue { hop: hop(2), arrival: Nanos(25), dropped: None };
    recorder.unfinished(&UnfinishedPacket { packet, hops: vec![at(4, 10)], last: Some(last) });
    let timeline = recorder.finish();
    assert_eq!(timeline.outputs, [hop(4), hop(2)]);
    let places = timeline.passages.iter().map(|passage| (passage.output, passage.packet));
    assert_eq!(places.collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 0)]);
    assert_eq!((timeline.unsent[0].output, timeline.unsent[0].packet), (1, 1));
}
