use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use laxity::explain::{self, Rule};
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::why::{Part, Passage, UnsentPacket};
use proptest::prelude::*;

use super::*;

/// Reads columns again, as the script of a page does.
struct Reader {
    bytes: Vec<u8>,
    at: usize,
}

impl Reader {
    fn value(&mut self) -> u64 {
        let mut value = 0;
        for shift in (0..).step_by(7) {
            let byte = self.bytes[self.at];
            self.at += 1;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                break;
            }
        }
        value
    }

    fn column(&mut self, rows: usize) -> Vec<u64> {
        (0..rows).map(|_| self.value()).collect()
    }

    fn sums(&mut self, rows: usize) -> Vec<u64> {
        let mut sum = 0;
        self.column(rows)
            .into_iter()
            .map(|folded| {
                sum = unfolded(folded, sum);
                sum
            })
            .collect()
    }
}

fn unfolded(folded: u64, before: u64) -> u64 {
    if folded.is_multiple_of(2) { before + folded / 2 } else { before - folded.div_ceil(2) }
}

fn decoded(columns: &Columns, passages: usize, unsent: usize) -> Timeline {
    let packed = STANDARD.decode(columns.compressed()).unwrap();
    let bytes = miniz_oxide::inflate::decompress_to_vec_zlib(&packed).unwrap();
    let mut reader = Reader { bytes, at: 0 };
    let mut timeline = Timeline::default();
    let outputs = reader.column(passages);
    let packets = reader.sums(passages);
    let [classes, lengths, idle, sends, waits, due, is_last, counts] =
        [(); 8].map(|()| reader.column(passages));
    let causes = reader.column(counts.iter().sum::<u64>() as usize);
    let mut causes = causes.into_iter().map(|cause| columns.causes[cause as usize]);
    let mut free = (u64::MAX, 0);
    let mut all = Vec::new();
    for row in 0..passages {
        let start = unfolded(idle[row], if free.0 == outputs[row] { free.1 } else { 0 });
        let departure = start + sends[row];
        free = (outputs[row], departure);
        let mut rest = waits[row];
        let mut parts = Vec::new();
        for left in (0..counts[row]).rev() {
            let time = if left == 0 { rest } else { reader.value() };
            rest -= time;
            parts.push(Part { cause: causes.next().unwrap(), time: Nanos(time) });
        }
        all.push(parts);
        timeline.passages.push(Passage {
            output: outputs[row] as u32,
            class: ClassId(classes[row] as u32),
            packet: packets[row],
            length: lengths[row] as u32,
            arrival: Nanos(start - waits[row]),
            start: Nanos(start),
            departure: Nanos(departure),
            due: due[row].checked_sub(1).map(|folded| Nanos(unfolded(folded, departure))),
            is_last: is_last[row] == 1,
            first_part: 0,
            parts: 0,
        });
    }
    let others = [(); 4].map(|()| reader.column(passages));
    for (row, (passage, parts)) in timeline.passages.iter_mut().zip(&mut all).enumerate() {
        let sends = (passage.departure - passage.start).0;
        let times = [sends - others[0][row]].into_iter().chain(others.iter().map(|it| it[row]));
        let part = |(cause, time): (&Cause, u64)| Part { cause: *cause, time: Nanos(time) };
        parts.extend(columns.causes.iter().zip(times).map(part).filter(|it| it.time.0 > 0));
        passage.first_part = timeline.parts.len() as u32;
        passage.parts = parts.len() as u32;
        timeline.parts.append(parts);
    }
    let outputs = reader.column(unsent);
    let packets = reader.sums(unsent);
    let [classes, lengths] = [(); 2].map(|()| reader.column(unsent));
    let arrivals = reader.sums(unsent);
    let [reasons, waits] = [(); 2].map(|()| reader.column(unsent));
    for row in 0..unsent {
        let reason = reasons[row].checked_sub(1).map(|reason| columns.reasons[reason as usize]);
        timeline.unsent.push(UnsentPacket {
            output: outputs[row] as u32,
            class: ClassId(classes[row] as u32),
            packet: packets[row],
            length: lengths[row] as u32,
            arrival: Nanos(arrivals[row]),
            dropped: reason.map(|reason| (Nanos(arrivals[row] + waits[row]), reason)),
        });
    }
    assert_eq!(reader.at, reader.bytes.len());
    timeline
}

fn part() -> impl Strategy<Value = Part> {
    let on_link = (0..3u32).prop_map(|class| explain::Cause::OnLink(ClassId(class)));
    let rules = prop_oneof![Just(Rule::ArrivalOrder), Just(Rule::VirtualTime)];
    let before =
        (0..3u32, rules).prop_map(|(class, rule)| explain::Cause::Before(ClassId(class), rule));
    let held = Just(explain::Cause::Held(Rule::UpperLimit));
    let cause = prop_oneof![on_link, before, held];
    let time = prop_oneof![1..200u64, 1..u64::from(u32::MAX), 1..1u64 << 50];
    (cause, time).prop_map(|(cause, time)| Part { cause: Cause::Wait(cause), time: Nanos(time) })
}

/// Passages in the order of their output and start; some overlap, as on private links.
fn timelines() -> impl Strategy<Value = Timeline> {
    let passage = (
        0..3u32,
        any::<u32>(),
        (0..3u32, 1..1u32 << 16, any::<bool>()),
        (1..1u64 << 40, 1..1u64 << 20, proptest::option::of(0..1u64 << 54)),
        proptest::collection::vec(part(), 0..5),
        (0..1000u64, [0..2u64, 0..1 << 30, 0..5u64]),
    );
    let unsent = (0..3u32, any::<u32>(), 0..1u64 << 50, proptest::option::of(0..1u64 << 40));
    let passages = proptest::collection::vec(passage, 1..40);
    (passages, proptest::collection::vec(unsent, 0..9)).prop_map(|(passages, unsent)| {
        let mut timeline = Timeline::default();
        for (output, packet, (class, length, is_last), (idle, sends, due), waits, rest) in passages
        {
            let waited: u64 = waits.iter().map(|part| part.time.0).sum();
            let (start, slow) = (waited + idle, rest.0.min(sends - 1));
            let others = [sends - slow, slow, rest.1[0], rest.1[1], rest.1[2]];
            let causes = [
                Cause::Transmission,
                Cause::SlowTransmission,
                Cause::Propagation,
                Cause::Wire,
                Cause::Regulator,
            ];
            let other = |(cause, time)| Part { cause, time: Nanos(time) };
            let others = causes.into_iter().zip(others).map(other).filter(|it| it.time.0 > 0);
            let parts: Vec<_> = waits.into_iter().chain(others).collect();
            timeline.passages.push(Passage {
                output,
                class: ClassId(class),
                packet: packet.into(),
                length,
                arrival: Nanos(idle),
                start: Nanos(start),
                departure: Nanos(start + sends),
                due: due.map(Nanos),
                is_last,
                first_part: timeline.parts.len() as u32,
                parts: parts.len() as u32,
            });
            timeline.parts.extend(parts);
        }
        timeline.unsent = unsent
            .into_iter()
            .map(|(output, packet, arrival, waited)| UnsentPacket {
                output,
                class: ClassId(output),
                packet: packet.into(),
                length: 1 + output,
                arrival: Nanos(arrival),
                dropped: waited.map(|waited| (Nanos(arrival + waited), DropReason::CoDel)),
            })
            .collect();
        timeline
    })
}

proptest! {
    #[test]
    fn columns_are_read_again_as_they_were(timeline in timelines()) {
        let columns = Columns::new(&timeline);
        let read = decoded(&columns, timeline.passages.len(), timeline.unsent.len());
        prop_assert_eq!(&read.passages, &timeline.passages);
        prop_assert_eq!(&read.parts, &timeline.parts);
        prop_assert_eq!(&read.unsent, &timeline.unsent);
    }
}

/// A name from outside ends neither the script nor the text around it.
#[test]
fn names_stay_within_the_legend() {
    let evil = "</script><script>alert(1)</script>";
    let text = format!(
        "version = 1\nlink = {{ rate = \"1mbit\", max-packet = \"100b\" }}\n\
         scheduler.kind = \"fifo\"\nclass.\"{evil}\" = {{}}\n"
    );
    let plan = Plan::parse(&text, "plan.toml", std::path::Path::new("")).unwrap();
    let passage = Passage {
        output: 0,
        class: ClassId(0),
        packet: 0,
        length: 100,
        arrival: Nanos(0),
        start: Nanos(0),
        departure: Nanos(8),
        due: None,
        is_last: true,
        first_part: 0,
        parts: 0,
    };
    let timeline = Timeline { outputs: vec![None], passages: vec![passage], ..Timeline::default() };
    let section = section(&plan, &timeline, &[]).into_string();
    assert!(!section.contains("<script>alert"), "{section}");
    assert_eq!(section.matches("</script>").count(), 3);
    assert!(section.contains("\\u003c/script>"));
}
