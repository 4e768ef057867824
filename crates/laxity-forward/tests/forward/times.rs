//! When a forwarder wants to be woken, and what is made up for.

use std::path::Path;

use laxity::packet::{ClassId, Ecn};
use laxity::scheduler::{Backlog, DropReason};
use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Frame, Refusal, SentPacket, Settings};
use laxity_plan::Plan;

use crate::world::{headers, reload};

/// One byte a microsecond; audio and the rest.
const PLAN: &str = r#"
    version = 1
    link = { rate = "8mbit", max-packet = "1000b" }
    scheduler = { kind = "edf", best-effort = "background" }
    [class.audio]
    match = "udp dport 1"
    deadline = "5ms"
    arrival = { bucket = "200b", rate = "800kbit", packet = "100b" }
    police = "drop"
    [class.rest]
"#;

fn plan(text: &str) -> Plan {
    Plan::parse(text, "test.toml", Path::new(".")).expect("a plan")
}

fn forwarder(settings: Settings) -> Forwarder {
    Forwarder::new(plan(PLAN), settings).expect("a plan of a link")
}

/// A frame of audio (1) or the rest.
fn frame(port: u16, length: u32, handle: u64) -> Frame {
    Frame { headers: headers(port, 9), ecn: Ecn::NotCapable, length, handle, ..Frame::default() }
}

fn sent(forwarder: &mut Forwarder, now: u64) -> (Vec<SentPacket>, Option<u64>) {
    let mut sent = Vec::new();
    let wake = forwarder.poll(Nanos(now), &mut |event| {
        if let Event::Sent(one) = event {
            sent.push(*one);
        }
    });
    (sent, wake.map(|wake| wake.0))
}

/// Nothing but that it came, and whether it may.
fn nothing(event: &Event) {
    let is_arrival = matches!(event, Event::Arrived(_) | Event::Nonconforming { .. });
    assert!(is_arrival, "{event:?}");
}

#[test]
fn it_wants_to_be_woken_when_the_link_is_free() {
    let mut link = forwarder(Settings::default());
    assert_eq!(sent(&mut link, 0), (vec![], None));
    link.arrive(Nanos(1_000), frame(2, 1000, 7), &mut nothing);
    link.arrive(Nanos(2_000), frame(1, 100, 8), &mut nothing);
    link.arrive(Nanos(2_000), frame(2, 500, 9), &mut nothing);
    let (first, wake) = sent(&mut link, 2_000);
    // Audio has come by the time that it is asked.
    assert_eq!((first[0].packet.handle, wake), (8, Some(101_000)));
    assert_eq!((first[0].lateness, first[0].allowance), (Nanos(1_000), Nanos(1_000)));
    assert_eq!((first[0].departure, first[0].deadline), (Nanos(102_000), Some(Nanos(5_002_000))));
    assert_eq!(sent(&mut link, 100_999), (vec![], Some(101_000)));
    let (second, wake) = sent(&mut link, 101_000);
    assert_eq!((second[0].packet.handle, wake), (7, Some(1_101_000)));
    assert_eq!((second[0].departure, second[0].allowance), (Nanos(1_102_000), Nanos(1_000)));
    let (third, wake) = sent(&mut link, 1_101_000);
    assert_eq!((third[0].packet.handle, wake), (9, None));
}

/// 100 packets of 100 us; the caller sleeps for 5 ms and is 1 ms of packets behind at most.
#[test]
fn a_millisecond_is_made_up_for_and_no_more() {
    let mut link = forwarder(Settings::default());
    for handle in 0..100 {
        link.arrive(Nanos(0), frame(2, 100, handle), &mut nothing);
    }
    assert_eq!(sent(&mut link, 0).1, Some(100_000));
    let (burst, wake) = sent(&mut link, 5_100_000);
    assert_eq!((burst.len(), wake), (11, Some(5_200_000)));
    assert_eq!(burst[0].lateness, Nanos(5_000_000));
    // 4 ms are lost, and the line is 1 ms behind and catches up with no one.
    assert!(burst.iter().all(|sent| sent.allowance == Nanos(5_000_001)));
    let departures = burst.iter().map(|sent| sent.departure.0);
    assert!(departures.eq((1..=11).map(|packet| 5_100_000 + packet * 100_000)));
    let (next, _) = sent(&mut link, 5_200_000);
    assert_eq!((next.len(), next[0].departure), (1, Nanos(6_300_000)));
}

#[test]
fn what_was_late_is_over_when_the_link_is_idle() {
    let mut link = forwarder(Settings::default());
    link.arrive(Nanos(0), frame(2, 100, 0), &mut nothing);
    let (late, wake) = sent(&mut link, 9_000_000);
    assert_eq!((late[0].allowance, wake), (Nanos(9_000_001), None));
    link.arrive(Nanos(9_050_000), frame(2, 100, 1), &mut nothing);
    // What is behind has 50 us to send, of what was sent late.
    assert_eq!(sent(&mut link, 9_050_000).0[0].allowance, Nanos(8_050_001));
    link.arrive(Nanos(20_000_000), frame(2, 100, 1), &mut nothing);
    assert_eq!(sent(&mut link, 20_000_000).0[0].allowance, Nanos(0));
}

/// Time that goes back stands still, and the end of time is not passed.
#[test]
fn any_time_is_taken() {
    let mut link = forwarder(Settings::default());
    for (handle, time) in (0..).zip([500, 0, u64::MAX, 7, u64::MAX - 1]) {
        link.arrive(Nanos(time), frame(2, 100, handle), &mut nothing);
    }
    let mut count = 0;
    let mut now = u64::MAX;
    while let (some, Some(wake)) = sent(&mut link, now) {
        count += some.len();
        assert!(count < 6);
        now = wake;
        if some.is_empty() {
            break;
        }
    }
    assert!(count >= 1);
}

#[test]
fn limits_contracts_and_lengths_drop_and_tell() {
    let settings =
        Settings { backlog: Backlog { packets: 4, bytes: 2_570 }, ..Settings::default() };
    let mut link = forwarder(settings);
    let mut told = Vec::new();
    let frames = [
        (2, 1001), // longer than the link's
        (1, 101),  // longer than the class's
        (1, 100),
        (1, 100),
        (1, 100), // beyond the bucket
        (2, 1000),
        (2, 1000),
        (2, 1000), // too many bytes
        (2, 100),  // too many packets
    ];
    for (handle, (port, length)) in (0..).zip(frames) {
        link.arrive(Nanos(0), frame(port, length, handle), &mut |event| match event {
            Event::Dropped(dropped) => told.push((dropped.packet.handle, dropped.reason)),
            _ => nothing(event),
        });
    }
    let (too_long, full) = (DropReason::TooLong, DropReason::QueueFull);
    let contract = DropReason::Contract;
    let expected = [(0, too_long), (1, contract), (4, contract), (7, full), (8, full)];
    assert_eq!(told, expected);
    assert_eq!(link.nonconforming(), [2, 0]);
    assert_eq!(link.accounts().iter().map(|one| one.queued).collect::<Vec<_>>(), [2, 2]);
}

/// What does not say how much it sends shuts nobody out that does.
#[test]
fn audio_has_memory_of_its_own() {
    let settings =
        Settings { backlog: Backlog { packets: 16, bytes: 1 << 30 }, ..Settings::default() };
    let mut link = forwarder(settings);
    for handle in 0..100 {
        link.arrive(Nanos(0), frame(2, 100, handle), &mut |_| {});
    }
    assert_eq!(link.backlog().packets, 14);
    for handle in 100..102 {
        link.arrive(Nanos(0), frame(1, 100, handle), &mut |event| match event {
            Event::Dropped(dropped) => panic!("{dropped:?}"),
            _ => nothing(event),
        });
    }
    assert_eq!(link.backlog().packets, 16);
}

/// Audio keeps its deadline, its place by arrival and its flow; what loses its class goes where it
/// is classified; no limit of the new plan drops any.
#[test]
fn a_reload_takes_everything_over() {
    let mut link = forwarder(Settings { catch_up: Nanos(0), ..Settings::default() });
    for handle in 0..8 {
        link.arrive(Nanos(handle), frame(handle as u16 % 2 + 1, 100, handle), &mut |_| {});
    }
    // Two of the four of audio are within its bucket.
    assert_eq!(link.backlog().packets, 6);
    let other =
        PLAN.replace("class.rest", "class.bulk") + "queue = { kind = \"droptail\", limit = 1 }";
    let before = link.backlog();
    let mut kept = Vec::new();
    let books = reload(&mut link, Nanos(2_000_000), plan(&other), &mut |event| match event {
        Event::Kept { number, class, .. } => kept.push((*number, *class)),
        Event::Reloaded { kept, .. } => assert_eq!(*kept, 6),
        _ => panic!("{event:?}"),
    });
    assert_eq!(link.backlog(), before);
    let queued = books.unwrap().accounts().iter().map(|one| one.queued).collect::<Vec<_>>();
    assert_eq!(queued, [2, 4]);
    let (audio, bulk) = (ClassId(0), ClassId(1));
    let order = [(0, audio), (1, bulk), (2, audio), (3, bulk), (5, bulk), (7, bulk)];
    assert_eq!(kept, order);
    let (first, _) = sent(&mut link, 2_000_000);
    assert_eq!((first[0].number, first[0].deadline), (0, Some(Nanos(5_000_000))));
    let audio = link.plan().bounds()[0].unwrap();
    assert!(first[0].delay() > audio && first[0].keeps(audio));

    // A plan that cannot be followed changes nothing.
    let shorter = PLAN.replace("1000b", "50b").replace("200b", "50b").replace("100b", "50b");
    let refused = reload(&mut link, Nanos(2_000_000), plan(&shorter), &mut nothing).unwrap_err();
    let said = "a packet of 100 bytes is queued for class `rest`, whose longest is of 50: accepted once \
                it is sent, or with longer packets in the plan";
    assert_eq!(refused.to_string(), said);
    let no_default = PLAN.replace("[class.rest]", "");
    let refused = reload(&mut link, Nanos(2_000_000), plan(&no_default), &mut nothing).unwrap_err();
    assert_eq!(refused, Refusal::NoDefault);
    assert_eq!(link.plan().classes[1].name, "bulk");
}

#[test]
fn what_is_queued_is_sent_when_nothing_arrives_any_more() {
    let mut link = forwarder(Settings::default());
    (0..5).for_each(|handle| link.arrive(Nanos(0), frame(2, 1000, handle), &mut nothing));

    let (mut now, mut count) = (Nanos(0), 0);
    while let Some(wake) = link.poll(now, &mut |_| count += 1) {
        now = wake;
    }
    assert_eq!((count, now, link.backlog().packets), (5, Nanos(4_000_000), 0));
    assert_eq!(link.into_books().accounts()[1].sent, 5);
}

/// A flow sends twice what the link has.
#[test]
fn codel_goes_on_dropping_over_a_reload() {
    let queue = "queue = { kind = \"codel\", limit = 1000 }";
    let flows = "scheduler = { kind = \"fq-codel\" }";
    for (kind, key) in
        [("hfsc", queue), ("drr", queue), ("hfsc", flows), ("drr", flows), ("wf2q", flows)]
    {
        let text = format!(
            "version = 1\nlink = {{ rate = \"8mbit\", max-packet = \"1000b\" }}\nscheduler.kind = \"{kind}\"\n\
             [class.one]\nmatch = \"udp dport 1\"\n{key}\n[class.rest]\n"
        );
        let mut link = Forwarder::new(plan(&text), Settings::default()).expect("a plan of a link");
        let drops_until = |link: &mut Forwarder, from: u64, until: u64| {
            let mut drops = 0;
            let mut count = |event: &Event| {
                drops += u64::from(
                    matches!(event, Event::Dropped(one) if one.reason == DropReason::CoDel),
                );
            };
            for half in 2 * from..2 * until {
                let now = Nanos(half * 500_000);
                link.arrive(now, frame(1, 1000, half), &mut count);
                link.poll(now, &mut count);
            }
            drops
        };
        assert!(drops_until(&mut link, 0, 1_000) > 0);
        let other = plan(&text.replace("[class.rest]", "[class.rest]\nweight = 2"));
        reload(&mut link, Nanos(1_000_000_000), other, &mut |_| {}).expect("it fits");
        // A controller that knows nothing yet drops nothing for 100 ms.
        assert!(drops_until(&mut link, 1_000, 1_050) > 0, "{kind}, {key}");
    }
}
