use laxity::packet::{AckTag, ClassId, Ecn, FlowId, HostId, Hosts, Packet};
use laxity::scheduler::DropReason;
use laxity::units::Rate;
use laxity_plan::matching::Headers;
use proptest::prelude::*;

use super::*;
use crate::event::{
    ArrivedPacket, DeliveredPacket, DroppedPacket, Event, LossCause, LostPacket, SentPacket,
};

fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![any::<u64>(), 0..1_000_000u64].prop_map(Nanos)
}

fn packet() -> impl Strategy<Value = Packet> {
    let ecn = prop::sample::select(vec![Ecn::NotCapable, Ecn::Capable, Ecn::L4s, Ecn::Experienced]);
    let ack = (any::<u16>(), any::<bool>(), 0..=AckTag::REACH);
    let ack = ack.prop_map(|(number, is_numbered, reach)| AckTag::new(number, is_numbered, reach));
    (any::<[u32; 3]>(), any::<bool>(), ecn, ack, time()).prop_map(
        |([class, flow, length], demoted, ecn, ack, arrival)| {
            let (class, flow) = (ClassId(class), FlowId(flow));
            Packet { class, flow, length, demoted, ecn, ack, arrival, handle: 0 }
        },
    )
}

fn event() -> impl Strategy<Value = Event> {
    let arrived =
        (any::<u64>(), time(), time(), packet()).prop_map(|(number, arrived, time, packet)| {
            let Packet { class, flow, length, ecn, ack, .. } = packet;
            let headers = Headers::default();
            Event::Arrived(ArrivedPacket {
                number,
                arrived,
                time,
                class,
                flow,
                length,
                ecn,
                ack,
                headers,
            })
        });
    let times = [(); 6].map(|()| time());
    let sent = (any::<u64>(), packet(), prop::option::of(time()), times, any::<bool>()).prop_map(
        |(number, packet, deadline, times, is_under_way)| {
            let [arrived, start, lateness, departure, allowance, held] = times;
            Event::Sent(SentPacket {
                number,
                arrived,
                packet,
                deadline,
                start,
                lateness,
                departure,
                allowance,
                held,
                is_under_way,
                is_washed: false,
            })
        },
    );
    let lost = (any::<u64>(), packet(), time(), any::<bool>()).prop_map(
        |(number, packet, time, is_by_chance)| {
            let cause = if is_by_chance { LossCause::Chance } else { LossCause::NoRoom };
            Event::Lost(LostPacket { number, packet, time, cause })
        },
    );
    let delivered = (any::<u64>(), packet(), [time(), time()], any::<[bool; 2]>()).prop_map(
        |(number, Packet { class, length, .. }, [due, time], [is_copy, is_needed])| {
            let handle = 0;
            Event::Delivered(DeliveredPacket {
                number,
                class,
                length,
                handle,
                due,
                time,
                is_copy,
                is_needed,
            })
        },
    );
    let dropped = (any::<u64>(), packet(), time(), 0..DropReason::ALL.len()).prop_map(
        |(number, packet, time, reason)| {
            Event::Dropped(DroppedPacket { number, packet, time, reason: DropReason::ALL[reason] })
        },
    );
    let rate =
        (time(), 1..=Rate::LIMIT.0).prop_map(|(time, rate)| Event::Rate { time, rate: Rate(rate) });
    let idle = (time(), time()).prop_map(|(time, lateness)| Event::Idle { time, lateness });
    let reloaded = (time(), any::<u64>()).prop_map(|(time, kept)| Event::Reloaded { time, kept });
    let kept = (any::<u64>(), any::<u32>(), any::<u32>()).prop_map(|(number, class, flow)| {
        Event::Kept { number, class: ClassId(class), flow: FlowId(flow) }
    });
    let nonconforming = (any::<u64>(), any::<u32>())
        .prop_map(|(number, class)| Event::Nonconforming { number, class: ClassId(class) });
    let resumed = ([time(), time(), time()], any::<[u64; 2]>()).prop_map(
        |([time, counted, line], [arrived, queued])| {
            let free_at = [counted, line];
            Event::Resumed { time, arrived, free_at, queued }
        },
    );
    let queued =
        (any::<u64>(), packet()).prop_map(|(number, packet)| Event::Queued { number, packet });
    let introduced = any::<[u32; 4]>().prop_map(|[class, flow, source, destination]| {
        let hosts = Hosts { source: HostId(source), destination: HostId(destination) };
        Event::Introduced { class: ClassId(class), flow: FlowId(flow), hosts }
    });
    prop_oneof![
        arrived,
        nonconforming,
        sent,
        lost,
        delivered,
        dropped,
        idle,
        rate,
        reloaded,
        resumed,
        queued,
        introduced,
        kept
    ]
}

fn entry() -> impl Strategy<Value = Entry> {
    let file = (".{0,30}", ".{0,300}").prop_map(|(key, text)| Entry::File { key, text });
    prop_oneof![
        8 => event().prop_map(Entry::Event),
        1 => ".{0,300}".prop_map(Entry::Plan),
        1 => file,
        1 => any::<u64>().prop_map(|lost| Entry::Gap { lost }),
    ]
}

fn written(entries: &[Entry]) -> Vec<u8> {
    let mut ledger = Writer::new(Vec::new(), Settings::default().into()).unwrap();
    for entry in entries {
        match entry {
            Entry::Plan(text) => ledger.plan(text).unwrap(),
            Entry::File { key, text } => ledger.file(key, text).unwrap(),
            Entry::Gap { lost } => ledger.gap(*lost).unwrap(),
            Entry::Event(event) => ledger.write(event).unwrap(),
        }
    }
    ledger.into_inner()
}

proptest! {
    #[test]
    fn what_is_written_is_read(entries in prop::collection::vec(entry(), 0..40)) {
        let bytes = written(&entries);
        let reader = Reader::new(&bytes[..]).unwrap();
        prop_assert_eq!(reader.header(), Header::from(Settings::default()));
        let read: Vec<Entry> = reader.collect::<Result<_, _>>().unwrap();
        prop_assert_eq!(read, entries);
    }

    /// A ledger that is cut short gives what was whole, and says that it is.
    #[test]
    fn a_ledger_cut_short_is_read_as_far_as_it_goes(
        entries in prop::collection::vec(entry(), 1..10), cut: prop::sample::Index,
    ) {
        let bytes = written(&entries);
        let from = written(&[]).len();
        let end = from + cut.index(bytes.len() - from);
        let mut read = Vec::new();
        for entry in Reader::new(&bytes[..end]).unwrap() {
            match entry {
                Ok(entry) => read.push(entry),
                Err(LedgerError::CutShort { record }) => prop_assert_eq!(record, read.len() as u64),
                Err(error) => prop_assert!(false, "{}", error),
            }
        }
        prop_assert_eq!(&entries[..read.len()], &read[..]);
        prop_assert!(read.len() < entries.len());
    }

    /// Whatever the bytes, reading ends, with what is written as it is read or an error.
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Reader::new(&bytes[..]).is_err());
        let mut ledger = written(&[]);
        ledger.extend(&bytes);
        let read = Reader::new(&ledger[..]).unwrap();
        prop_assert!(read.count() <= bytes.len());
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let said = |bytes: &[u8]| {
        let mut ledger = written(&[]);
        ledger.extend(bytes);
        Reader::new(&ledger[..]).unwrap().find_map(Result::err).unwrap().to_string()
    };
    assert_eq!(said(&[99]), "record 0: there is no such record");
    assert_eq!(said(&[7, 1, 255]), "record 0: a text is not in UTF-8");
    assert_eq!(said(&[7, 255, 255, 255, 255, 1]), "record 0: a text is too long");
    assert_eq!(said(&[3, 0, 0, 100]), "record 0: no such reason");
    assert_eq!(said(&[9, 0, 0, 2]), "record 0: no such cause");
    assert_eq!(said(&[10, 0, 0, 0, 4]), "record 0: no such flags");
    assert_eq!(said(&[9, 0, 0, 0, 255, 255, 255, 255, 15]), "record 0: no such flags");
    assert_eq!(said(&[4, 0, 0, 4, 255]), "it ends within record 1: those before are whole");
    let large = [4, 0, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1];
    assert_eq!(said(&large), "record 0: a number is too large");
    let refused = |bytes: &[u8]| Reader::new(bytes).map(|_| ()).unwrap_err().to_string();
    let other = "it is a ledger of version 4, and versions 2 and 3 are read here: replay it with the Laxity that wrote it";
    assert_eq!(refused(b"laxity ledger 4\n"), other);
    for none in
        [&b"laxity ledger 2"[..], b"laxity ledger x\n", b"\xa1\xb2\xc3\xd4 a capture of frames"]
    {
        assert_eq!(refused(none), "it is no ledger: one begins with `laxity ledger 3`");
    }
}

/// What was written by each version is read as it was meant, or refused with its version.
#[test]
fn a_ledger_of_each_version() {
    let first = include_bytes!("../../tests/ledgers/1");
    let refused = Reader::new(&first[..]).map(|_| ()).unwrap_err();
    assert!(matches!(refused, LedgerError::OtherVersion(1)), "{refused}");
    let second = include_bytes!("../../tests/ledgers/2");
    let third = include_bytes!("../../tests/ledgers/3");
    let read = |bytes: &[u8]| -> Vec<Entry> {
        Reader::new(bytes).unwrap().collect::<Result<_, _>>().expect("whole")
    };
    let [second, third] = [read(second), read(third)];
    for entries in [&second, &third] {
        let [arrived, sent, dropped] = [
            count(entries, |event| matches!(event, Event::Arrived(_))),
            count(entries, |event| matches!(event, Event::Sent(_))),
            count(entries, |event| matches!(event, Event::Dropped(_))),
        ];
        assert!(matches!(&entries[0], Entry::Plan(text) if text.contains("class.call")));
        assert!(sent > 0 && arrived == sent + dropped, "{arrived} {sent} {dropped}");
    }
    let waits = |event: &Event| match event {
        Event::Arrived(arrived) => arrived.arrived < arrived.time,
        Event::Sent(sent) => sent.unseen() == Nanos(7_000) && sent.held == Nanos(12_345),
        _ => false,
    };
    assert_eq!(count(&second, waits), 0, "version 2 knows nothing of that");
    assert!(count(&third, waits) > 10);
    let [.., gap, Entry::Event(Event::Resumed { arrived: 40, queued: 0, .. })] = &third[..] else {
        panic!("it goes on after a gap: {:?}", third.last());
    };
    assert_eq!(*gap, Entry::Gap { lost: 5 });
}

/// How many events of a ledger are such ones.
fn count(entries: &[Entry], is_one: fn(&Event) -> bool) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Event(event) if is_one(event))).count()
}
