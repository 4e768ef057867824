//! Classes come and go while packets are held and queued.

use std::fmt::Write;
use std::path::Path;

use laxity::packet::ClassId;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_forward::router::{Differs, agree_beside_classes};
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_plan::model::{Hop, LinkId};
use laxity_search::Generator;
use proptest::prelude::*;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};

use crate::network::{World, datagram};
use crate::plans;

const LEFT: Hop = Hop { link: LinkId(0), backward: false };
const MS: u64 = 1_000_000;

/// What a plan has of a class.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Presence {
    /// Packets come and are queued.
    Active,
    /// Packets are queued, and go elsewhere when they come.
    Leaving,
    Absent,
}

/// A router between two hosts, with these classes in this order.
fn plan(kind: &str, classes: &[(usize, Presence)]) -> Plan {
    let mut text = format!(
        "version = 1\nlink = {{ rate = '5mbit', max-packet = '700b', min-packet = '64b' }}\n\
         scheduler.kind = '{kind}'\n[network]\n\
         left = {{ between = ['a', 'r1'] }}\nright = {{ between = ['r1', 'b'], regulate = true }}\n",
    );
    for (class, presence) in classes {
        let matching = match presence {
            Presence::Active => format!("udp dport {}", plans::port(*class)),
            Presence::Leaving => "tcp and udp".to_string(),
            Presence::Absent => continue,
        };
        let _ = writeln!(
            text,
            "[class.c{class}]\nmatch = '{matching}'\ndeadline = '{}ms'\npolice = 'count'\n\
             arrival = {{ bucket = '{}b', rate = '{}kbit' }}\n\
             [[source]]\nclass = 'c{class}'\nmodel = 'constant'\nrate = '1mbit'\npacket = '100b'\n\
             path = ['a', 'r1', 'b']",
            5 + 7 * class,
            700 + 300 * class,
            300 + 500 * class,
        );
    }
    Plan::parse(&(text + "[class.rest]\n"), "plan.toml", Path::new("")).expect("a plan")
}

/// The name of the class that a packet is to have.
fn name(plan: &Plan, class: ClassId) -> &str {
    &plan.classes[class.index()].name
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Each packet is sent once, in its class for as long as that is there, and in order within it,
    /// at no time before the regulator lets it go on.
    #[test]
    fn packets_keep_their_classes(kind in prop::sample::select(vec!["fifo", "edf", "wfq"]), seed: u64) {
        let draw = &mut Generator::seed_from_u64(seed);
        let all = |present: Presence| (0..4).map(|class| (class, present)).collect::<Vec<_>>();
        let mut classes = all(Presence::Active);
        let mut followed = vec![plan(kind, &classes)];
        let mut world = World::new(&followed[0]);
        let (mut now, mut count, mut labels) = (MS, 0, Vec::<String>::new());
        let mut sent = 0;
        for _ in 0..30 {
            for _ in 0..draw.random_range(0..20) {
                now += draw.random_range(0..300_000);
                let class = draw.random_range(0..4);
                let length = draw.random_range(64..=700);
                world.put_in(LEFT, Nanos(now), datagram(count, plans::port(class), length));
                let is_active = classes.contains(&(class, Presence::Active));
                labels.push(if is_active { format!("c{class}") } else { "rest".into() });
                count += 1;
            }
            world.run(Nanos(now + 1), || Nanos::ZERO);
            for fate in &world.fates[sent..] {
                prop_assert_eq!(name(&followed[0], fate.sent.packet.class), &labels[fate.number]);
                labels[fate.number] = format!("{} has left", labels[fate.number]);
            }
            sent = world.fates.len();
            for (_, presence) in &mut classes {
                *presence = match draw.random_range(0..4) {
                    0 => Presence::Active,
                    1 => Presence::Leaving,
                    2 => Presence::Absent,
                    _ => *presence,
                };
            }
            classes.shuffle(draw);
            let next = plan(kind, &classes);
            prop_assert_eq!(agree_beside_classes(&followed[0], &next), Ok(()));
            world.reload(&next, Nanos(now + 1));
            let gone = |label: &str| !next.classes.iter().any(|class| class.name == label);
            labels.iter_mut().filter(|label| !label.contains(' ') && gone(label)).for_each(|label| {
                *label = "rest".into();
            });
            followed = vec![next];
        }
        world.run(Nanos(now + 20_000 * MS), || Nanos::ZERO);
        for fate in &world.fates[sent..] {
            prop_assert_eq!(name(&followed[0], fate.sent.packet.class), &labels[fate.number]);
            labels[fate.number] = format!("{} has left", labels[fate.number]);
        }
        prop_assert_eq!((world.queued(), world.dropped.len(), world.fates.len()), (0, 0, count));
        prop_assert!(labels.iter().all(|label| label.ends_with(" has left")));
        for class in 0..4 {
            let label = format!("c{class} has left");
            let of_it = world.fates.iter().filter(|fate| labels[fate.number] == label);
            let numbers: Vec<usize> = of_it.map(|fate| fate.number).collect();
            prop_assert!(numbers.is_sorted(), "{label}: {numbers:?}");
        }
    }
}

/// Another class that comes gives nobody a second burst at the entrance.
#[test]
fn what_meters_have_counted_stays() {
    let text = "version = 1
link = { rate = '100mbit', max-packet = '700b', min-packet = '64b' }
scheduler.kind = 'edf'
[class.flow]
deadline = '5ms'
police = 'drop'
arrival = { bucket = '200b', rate = '8kbit' }
match = 'udp dport 5000'
[class.rest]
[network]
left = { between = ['a', 'r1'] }
right = { between = ['r1', 'b'] }
[[source]]
class = 'flow'
model = 'constant'
rate = '8kbit'
packet = '100b'
path = ['a', 'r1', 'b']
";
    let plan = |text: &str| Plan::parse(text, "plan.toml", Path::new("")).expect("a plan");
    let extra = "[class.extra]\ndeadline = '5ms'\narrival = { bucket = '200b', rate = '8kbit' }\n\
                 match = 'udp dport 6000'\n[class.flow]";
    let (alone, beside) = (plan(text), plan(&text.replace("[class.flow]", extra)));
    let larger = plan(&text.replace("'200b'", "'300b'"));
    let after = |next: &Plan| {
        let mut world = World::new(&alone);
        for number in 0..5 {
            let comes = Nanos(MS * (1 + 2 * (number as u64 / 2)));
            world.put_in(LEFT, comes, datagram(number, 5000, 100));
        }
        world.run(Nanos(2 * MS), || Nanos::ZERO);
        world.reload(next, Nanos(2 * MS));
        world.run(Nanos(20 * MS), || Nanos::ZERO);
        assert!(world.dropped.iter().all(|lost| lost.reason == DropReason::Contract));
        world.fates.len()
    };
    assert_eq!([&alone, &beside, &larger].map(after), [2, 2, 5]);
}

#[test]
fn classes_come_and_go_where_nothing_else_does() {
    let text = |kind: &str, link: &str| {
        format!(
            "version = 1\nlink = {{ rate = '{link}', max-packet = '700b', min-packet = '64b' }}\n\
             scheduler = {{ {kind} }}\n[class.rest]\n[network]\nleft = {{ between = ['a', 'r1'] }}\n"
        )
    };
    let plan = |kind: &str, link: &str| {
        Plan::parse_for(&text(kind, link), "plan.toml", Path::new(""), Kind::ALL).expect("a plan")
    };
    let fifo = plan("kind = 'fifo'", "100mbit");
    assert_eq!(agree_beside_classes(&fifo, &plan("kind = 'edf'", "100mbit")), Ok(()));
    let slower = plan("kind = 'fifo'", "50mbit");
    assert_eq!(agree_beside_classes(&fifo, &slower), Err(Differs::Link));
    let frames = plan("kind = 'tdp', frame = '250us', frames = 8", "100mbit");
    assert_eq!(agree_beside_classes(&frames, &fifo), Err(Differs::Frames));
    let more = plan("kind = 'tdp', frame = '250us', frames = 9", "100mbit");
    assert_eq!(agree_beside_classes(&frames, &more), Err(Differs::Frames));
    assert_eq!(agree_beside_classes(&frames, &frames), Ok(()));
}
