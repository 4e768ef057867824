use std::collections::VecDeque;
use std::vec::Vec;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::packet::{FlowId, Packet};
use crate::sched::Dwcs;
use crate::sched::dwcs::{Late, Precedence, Stream};
use crate::scheduler::Scheduler;
use crate::units::Bytes;
use crate::window::{Loss, Monitor};

/// A byte takes a nanosecond.
const RATE: Rate = Rate(8_000_000_000);
const DEADLINE_FIRST: DwcsSettings = DwcsSettings {
    precedence: Precedence::DeadlineFirst,
    violation: crate::sched::dwcs::Violation::Reset,
    check_every: 1,
};

/// A stream in the test: what it asks for, how long its packets are, and when it starts.
#[derive(Clone, Debug)]
struct Source {
    class: WindowClass,
    start: u64,
    /// A packet every gap, or always some.
    is_periodic: bool,
    /// In turn.
    lengths: Vec<u32>,
}

fn source(gap: u64, loss: (u32, u32)) -> Source {
    let stream = Stream {
        gap: (gap > 0).then_some(Nanos(gap)),
        loss: Loss::new(loss.0, loss.1).unwrap(),
        late: Late::Drop,
    };
    let streams = Streams { stream, count: 1 };
    let class = WindowClass { streams, packet: Bytes(1) };
    Source { class, start: 0, is_periodic: false, lengths: Vec::from([1]) }
}

fn classes(sources: &[Source]) -> Vec<WindowClass> {
    sources.iter().map(|source| source.class).collect()
}

/// A stream on the way.
struct Running<'a> {
    source: &'a Source,
    monitor: Monitor,
    sent: u64,
    queued: u64,
    /// The deadline with which the last packet left.
    left: u64,
}

impl Running<'_> {
    fn next_arrival(&self) -> Option<u64> {
        let Source { start, is_periodic, .. } = *self.source;
        match self.source.class.streams.stream.gap {
            Some(Nanos(gap)) if is_periodic => Some(start + self.sent * gap),
            _ => (self.queued < 2).then_some(start),
        }
    }
}

/// Runs streams until this time and tells what happened to the windows of each.
fn run(settings: DwcsSettings, sources: &[Source], until: u64) -> Vec<Monitor> {
    let classes: Vec<_> = sources.iter().map(|source| source.class.streams).collect();
    let mut dwcs = Dwcs::new(settings, &classes).unwrap();
    let running = |source| {
        let Source { class, start, .. }: &Source = source;
        let monitor = Monitor::new(class.streams.stream.loss);
        Running { source, monitor, sent: 0, queued: 0, left: *start }
    };
    let mut streams: Vec<_> = sources.iter().map(running).collect();
    let (mut now, mut last) = (0, 0);
    while now < until {
        let next = streams.iter().enumerate().filter_map(|(number, stream)| {
            stream.next_arrival().map(|time| (time.max(last), number))
        });
        let next = next.min();
        if let Some((time, number)) = next.filter(|(time, _)| *time <= now) {
            let stream = &mut streams[number];
            let lengths = &stream.source.lengths;
            let packet = Packet {
                class: ClassId(number as u32),
                flow: FlowId(0),
                length: lengths[stream.sent as usize % lengths.len()],
                ..Packet::default()
            };
            dwcs.enqueue(Nanos(time), packet, &mut |_, _| panic!("a packet was refused"));
            stream.sent += 1;
            stream.queued += 1;
            last = time;
            continue;
        }
        let mut dropped = VecDeque::new();
        let dispatch = dwcs.dequeue(Nanos(now), &mut |packet: Packet, _| {
            dropped.push_back(packet.class.index());
        });
        for number in dropped {
            let stream = &mut streams[number];
            stream.monitor.record(true);
            stream.queued -= 1;
            stream.left += stream.source.class.streams.stream.gap.unwrap().0;
        }
        last = now;
        let Some(dispatch) = dispatch else {
            if dwcs.backlog().packets == 0 {
                now = now.max(next.map_or(until, |(time, _)| time));
            }
            continue;
        };
        let stream = &mut streams[dispatch.packet.class.index()];
        stream.queued -= 1;
        if let Some(Nanos(gap)) = stream.source.class.streams.stream.gap {
            let deadline = dispatch.deadline.unwrap().0;
            stream.monitor.record(deadline > stream.left + gap);
            stream.left = deadline;
        }
        now += u64::from(dispatch.packet.length);
    }
    streams.into_iter().map(|stream| stream.monitor).collect()
}

/// The consecutive and the sliding windows that are violated, by stream.
fn violations(settings: DwcsSettings, sources: &[Source], until: u64) -> Vec<(u64, u64)> {
    let monitors = run(settings, sources, until);
    let counts = monitors.iter().map(|monitor| {
        assert!(monitor.consecutive().windows > 3);
        (monitor.consecutive().violations, monitor.counts().violations)
    });
    counts.collect()
}

fn any_loss() -> impl Strategy<Value = (u32, u32)> {
    (1..8u32).prop_flat_map(|of| (0..=of, Just(of)))
}

/// Takes streams as long as the test admits all of them.
fn admitted(offered: Vec<Source>) -> Vec<Source> {
    let mut sources = Vec::new();
    for source in offered {
        sources.push(source);
        if dwcs(RATE, &DEADLINE_FIRST, &classes(&sources)).proof.is_err() {
            sources.pop();
        }
    }
    sources
}

/// Streams with equal gaps of a whole number of services. They start together or whole gaps apart.
fn unit_services() -> impl Strategy<Value = Vec<Source>> {
    let one = (any_loss(), prop_oneof![2 => Just(0), 1 => 0..9u64], any::<bool>());
    (1..6u64, any::<bool>(), vec(one, 2..16)).prop_map(|(gap, together, streams)| {
        let stream = |(loss, start, is_periodic): ((u32, u32), u64, bool)| {
            let mut source = source(gap, loss);
            source.start = if together { 0 } else { start * gap };
            source.is_periodic = is_periodic;
            if holds_for_sliding_windows(source.class.streams.stream.loss) && start % 2 == 0 {
                source.class.streams.stream.late = Late::Send;
            }
            source
        };
        admitted(streams.into_iter().map(stream).collect())
    })
}

/// Streams and best effort with packets of up to 8 bytes each, and gaps that no number of them
/// fills.
fn several_lengths() -> impl Strategy<Value = Vec<Source>> {
    let lengths = || vec(1..9u32, 1..12);
    let one = (any_loss(), any::<bool>(), lengths());
    (5..60u64, lengths(), vec(one, 2..16)).prop_map(|(gap, best_effort, streams)| {
        let with_lengths = |mut source: Source, lengths: Vec<u32>| {
            source.class.packet = Bytes(lengths.iter().copied().max().unwrap().into());
            source.lengths = lengths;
            source
        };
        let stream = |(loss, is_periodic, lengths)| {
            with_lengths(Source { is_periodic, ..source(gap, loss) }, lengths)
        };
        let best_effort = with_lengths(source(0, (1, 1)), best_effort);
        let streams = streams.into_iter().map(stream);
        admitted([best_effort].into_iter().chain(streams).collect())
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1500))]

    /// The theorem of West et al. (2004).
    #[test]
    fn admitted_streams_keep_their_windows(sources in unit_services()) {
        for (monitor, source) in run(DEADLINE_FIRST, &sources, 1200).iter().zip(&sources) {
            prop_assert_eq!(monitor.consecutive().violations, 0);
            if holds_for_sliding_windows(source.class.streams.stream.loss) {
                prop_assert_eq!(monitor.counts().violations, 0);
            }
        }
    }

    #[test]
    fn packets_of_several_lengths_count_as_the_longest(sources in several_lengths()) {
        for monitor in run(DEADLINE_FIRST, &sources, 6000) {
            prop_assert_eq!(monitor.consecutive().violations, 0);
        }
    }
}

/// Streams that send late packets or not, of one or two gaps, beside best effort or not.
fn refused_sets() -> impl Strategy<Value = (DwcsSettings, Vec<WindowClass>)> {
    let gap = prop_oneof![4 => Just(0), 1 => Just(3u64)];
    let late = prop::bool::weighted(0.1);
    let class = (any_loss(), 1..4u32, prop_oneof![1..9u64, 6..200u64], gap, late);
    let settings = prop_oneof![
        4 => Just(DEADLINE_FIRST),
        1 => Just(DwcsSettings::default()),
        1 => Just(DwcsSettings { check_every: 3, ..DEADLINE_FIRST }),
    ];
    let best_effort = prop::option::of(1..200u64);
    (settings, 1..60u64, vec(class, 1..6), best_effort).prop_map(
        |(settings, gap, classes, best_effort)| {
            let class = |(loss, count, packet, longer, sends_late)| {
                let mut class = source(gap + longer, loss).class;
                class.streams.count = count;
                if sends_late {
                    class.streams.stream.late = Late::Send;
                }
                WindowClass { packet: Bytes(packet), ..class }
            };
            let best_effort = best_effort
                .map(|packet| WindowClass { packet: Bytes(packet), ..source(0, (1, 1)).class });
            (settings, classes.into_iter().map(class).chain(best_effort).collect())
        },
    )
}

fn is_refused(settings: &DwcsSettings, classes: &[WindowClass]) -> bool {
    let proof = dwcs(RATE, settings, classes).proof;
    matches!(proof, Err(UnmetCondition::Overloaded | UnmetCondition::TooFewServices { .. }))
}

/// The fewest streams that have to go, by trying all ways to keep some of each class.
fn fewest_by_force(settings: &DwcsSettings, classes: &[WindowClass]) -> u32 {
    let mut fewest = u32::MAX;
    let due = |class: &&WindowClass| class.streams.stream.gap.is_some();
    let ways: u32 = classes.iter().filter(due).map(|class| class.streams.count + 1).product();
    for way in 0..ways {
        let (mut rest, mut way, mut out) = (classes.to_vec(), way, 0);
        for class in rest.iter_mut().filter(|class| class.streams.stream.gap.is_some()) {
            let left_out = way % (class.streams.count + 1);
            way /= class.streams.count + 1;
            class.streams.count -= left_out;
            out += left_out;
        }
        if out < fewest && !is_refused(settings, &rest) {
            fewest = out;
        }
    }
    fewest
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn the_fewest_are_left_out((settings, mut classes) in refused_sets()) {
        let admission = dwcs(RATE, &settings, &classes);
        let surplus: u32 = admission.surplus.iter().map(|surplus| surplus.streams).sum();
        prop_assert_eq!(surplus, fewest_by_force(&settings, &classes));
        for Surplus { class, streams } in admission.surplus {
            prop_assert!(streams > 0);
            classes[class.index()].streams.count -= streams;
        }
        prop_assert!(!is_refused(&settings, &classes));
    }
}

/// Nine streams with packets of 2 bytes and one with packets of 9, which may lose half of them: in
/// a gap of 20 bytes' time 2 services of the long packets are sure, and 10 of the short ones.
#[test]
fn one_long_packet_is_less_than_many_short_ones() {
    let mut short = source(20, (0, 1)).class;
    (short.streams.count, short.packet) = (9, Bytes(2));
    let long = WindowClass { packet: Bytes(9), ..source(20, (1, 2)).class };
    let admission = dwcs(RATE, &DEADLINE_FIRST, &[short, long]);
    assert_eq!(admission.proof, Err(UnmetCondition::Overloaded));
    assert_eq!(admission.surplus, [Surplus { class: ClassId(1), streams: 1 }]);
}

/// Sliding windows, the smallest example: two streams that may lose 1 of 2 and send a packet every
/// gap, of one service. Each is served in one half of each of its windows, not always in the same.
#[test]
fn sliding_windows_are_not_promised() {
    let sources = [1, 2].map(|_| Source { is_periodic: true, ..source(1, (1, 2)) });
    assert!(dwcs(RATE, &DEADLINE_FIRST, &classes(&sources)).proof.is_ok());
    let violated = violations(DEADLINE_FIRST, &sources, 100);
    assert!(violated.iter().all(|(consecutive, _)| *consecutive == 0));
    assert!(violated.iter().any(|(_, sliding)| *sliding > 0));
}

/// The tolerance first, always backlogged: streams are served ahead of their deadlines while
/// another misses its own. Two streams that may lose nothing, one service for each in every gap.
#[test]
fn loss_first_violates_windows() {
    let sources = [source(2, (0, 3)), source(2, (0, 1))];
    let admission = dwcs(RATE, &DwcsSettings::default(), &classes(&sources));
    assert_eq!(admission.proof, Err(UnmetCondition::LossFirst));
    assert!(admission.utilization <= Exact::one() && admission.surplus.is_empty());
    let consecutive = |settings| {
        let violated = violations(settings, &sources, 100).into_iter();
        violated.map(|(consecutive, _)| consecutive).sum::<u64>()
    };
    assert!(consecutive(DwcsSettings::default()) > 0);
    assert_eq!(consecutive(DEADLINE_FIRST), 0);
}

/// Deadlines that do not fall together: with the same gap, a stream that may lose everything but is
/// due half a gap later than two that may lose nothing takes one of their two services.
#[test]
fn deadlines_must_fall_together() {
    let mut sources = [source(2, (0, 1)), source(2, (0, 1)), source(2, (1, 1))];
    assert!(dwcs(RATE, &DEADLINE_FIRST, &classes(&sources)).proof.is_ok());
    let lost = |sources: &[Source]| {
        let violated = violations(DEADLINE_FIRST, sources, 100).into_iter();
        violated.map(|(consecutive, _)| consecutive).sum::<u64>()
    };
    assert_eq!(lost(&sources), 0);
    sources[2].start = 1;
    assert!(lost(&sources) > 0);
}

/// Unequal gaps, at any utilization, as Mok and Wang (2001) show: a stream that may lose everything
/// but is always due first leaves one service in a gap to two that may lose nothing.
#[test]
fn unequal_gaps_violate_windows_at_any_load() {
    for gap in [2, 10, 1000] {
        let sources = [source(gap, (0, 1)), source(gap, (0, 1)), source(1, (1, 1))];
        let admission = dwcs(RATE, &DEADLINE_FIRST, &classes(&sources));
        assert_eq!(admission.utilization, Exact::new(2.into(), gap.into()));
        let (first, class, other) = (Nanos(gap), ClassId(2), Nanos(1));
        assert_eq!(admission.proof, Err(UnmetCondition::UnequalGaps { first, class, other }));
        let violated = violations(DEADLINE_FIRST, &sources, 20 * gap);
        assert!(violated[0].0 + violated[1].0 > 0);
    }
}

/// Two streams that may lose 1 of 2, a service every gap: where late packets are sent, every one is
/// late.
#[test]
fn late_packets_make_others_late() {
    let mut sources = [source(1, (1, 2)), source(1, (1, 2))];
    assert!(dwcs(RATE, &DEADLINE_FIRST, &classes(&sources)).proof.is_ok());
    for source in &mut sources {
        source.class.streams.stream.late = Late::Send;
    }
    let admission = dwcs(RATE, &DEADLINE_FIRST, &classes(&sources));
    assert_eq!(admission.proof, Err(UnmetCondition::SendsLate(ClassId(0))));
    assert!(violations(DEADLINE_FIRST, &sources, 100).iter().all(|(violated, _)| *violated > 10));
}

/// 480 and 560 streams that may lose 1 of 80, with gaps of 500 services.
#[test]
fn as_many_streams_are_shed_as_do_not_fit() {
    let mut class = source(500, (1, 80)).class;
    class.streams.count = 480;
    let admission = dwcs(RATE, &DEADLINE_FIRST, &[class]);
    assert_eq!(admission.utilization, Exact::new((480 * 79).into(), (80 * 500).into()));
    assert_eq!(admission.proof, Ok(Proof { services: 500 }));
    assert_eq!(admission.surplus, []);
    // 506 of them need 499.675 services, one more 500.6625.
    class.streams.count = 560;
    let surplus = |class, streams| Surplus { class: ClassId(class), streams };
    let admission = dwcs(RATE, &DEADLINE_FIRST, &[class]);
    assert_eq!(admission.proof, Err(UnmetCondition::Overloaded));
    assert_eq!(admission.surplus, [surplus(0, 54)]);
    // Those that may lose nothing take more each.
    let mut strict = source(500, (0, 1)).class;
    strict.streams.count = 10;
    let admission = dwcs(RATE, &DEADLINE_FIRST, &[class, strict]);
    assert_eq!(admission.surplus, [surplus(0, 54), surplus(1, 10)]);
}

/// Best effort with packets of 4 bytes may hold up the first service in a gap: of five, four can
/// be counted on, and none if the gap is shorter than such a packet takes.
#[test]
fn one_transmission_may_be_in_the_way() {
    let best_effort = WindowClass { packet: Bytes(4), ..source(0, (1, 1)).class };
    let services = |gap| {
        let mut class = source(gap, (0, 1)).class;
        class.packet = Bytes(2);
        let admission = dwcs(RATE, &DEADLINE_FIRST, &[class, best_effort]);
        (admission.proof, admission.surplus)
    };
    assert_eq!(services(10), (Ok(Proof { services: 4 }), Vec::new()));
    let surplus = Vec::from([Surplus { class: ClassId(0), streams: 1 }]);
    assert_eq!(services(3), (Err(UnmetCondition::TooFewServices { services: 0 }), surplus));
    assert_eq!(dwcs(RATE, &DEADLINE_FIRST, &[best_effort]).proof, Ok(Proof { services: 0 }));
    let rarely = DwcsSettings { check_every: 2, ..DEADLINE_FIRST };
    assert_eq!(dwcs(RATE, &rarely, &[]).proof, Err(UnmetCondition::ChecksRarely(2)));
}
