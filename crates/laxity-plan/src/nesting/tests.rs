//! What is proved of schedulers inside shares, they keep: at the edge of admission, whatever those
//! who are promised nothing send.

use std::fmt::Write;
use std::path::Path;

use laxity::link::Link;
use laxity::packet::Packet;
use laxity::scheduler::{Criterion, Dispatch, DropReason, Scheduler};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;

use super::*;
use crate::model::{BestEffort, QueueSpec};

/// The longest packet of all.
const LONGEST: u64 = 1500;

fn plan(text: &str) -> Plan {
    Plan::parse(&format!("version = 1\n{text}"), "plan.toml", Path::new("")).unwrap()
}

/// A real-time class in proportion to its share.
#[derive(Clone, Debug)]
struct Due {
    packet: u64,
    /// Of how many packets a burst is.
    burst: u64,
    /// Its rate, per mille of the share over the number of classes.
    rate: u64,
    /// In times of the longest packet at the share's rate, beyond the shortest that is admitted.
    spare: u64,
    demotes: bool,
}

/// A share with EDF.
#[derive(Clone, Debug)]
struct Share {
    weight: u64,
    way: BestEffort,
    order: &'static str,
    due: Vec<Due>,
    /// The longest packets of best effort.
    rest: Vec<u64>,
}

/// Shares with EDF, beside each other or one level down, and one of long packets.
#[derive(Clone, Debug)]
struct Nesting {
    rate: u64,
    /// What the class of long packets weighs, and whether it is in a group with the first share.
    beside: (u64, bool),
    shares: Vec<Share>,
}

fn due() -> impl Strategy<Value = Due> {
    let spare = prop_oneof![2 => Just(0), 1 => 0..20u64];
    (64..=LONGEST, 1..=4u64, 50..=900u64, spare, prop::bool::weighted(0.2)).prop_map(
        |(packet, burst, rate, spare, demotes)| Due { packet, burst, rate, spare, demotes },
    )
}

fn share() -> impl Strategy<Value = Share> {
    let way = prop::sample::select(&BestEffort::ALL[..]);
    let order = prop::sample::select(&["fifo", "wfq"][..]);
    (1..=9u64, way, order, vec(due(), 1..=3), vec(64..=LONGEST, 1..=2))
        .prop_map(|(weight, way, order, due, rest)| Share { weight, way, order, due, rest })
}

fn nested() -> impl Strategy<Value = Nesting> {
    let rate = prop_oneof![Just(1_000_000u64), 100_000..100_000_000u64];
    (rate, (1..=9u64, any::<bool>()), vec(share(), 1..=2))
        .prop_map(|(rate, beside, shares)| Nesting { rate, beside, shares })
}

impl Nesting {
    /// The plan's text, without deadlines that mean anything.
    fn text(&self) -> String {
        let (weight, grouped) = self.beside;
        let group = if grouped { "\nparent = 'group'" } else { "" };
        let mut text = format!(
            "link = {{ rate = '{}bit', max-packet = '{LONGEST}b' }}\nscheduler.kind = 'wf2q'\n\
             [class.beside]\nweight = {weight}{group}\n",
            self.rate
        );
        if grouped {
            writeln!(text, "[class.group]\nweight = 3").unwrap();
        }
        for (number, Share { weight, way, order, due, rest }) in self.shares.iter().enumerate() {
            let group = if number == 0 { group } else { "" };
            let way = way.name();
            writeln!(
                text,
                "[class.share-{number}]\nweight = {weight}{group}\n\
                 scheduler = {{ kind = 'edf', best-effort = '{way}', best-effort-order = '{order}' }}"
            )
            .unwrap();
            let whole = self.rate_of(number) / due.len() as u64;
            for (at, Due { packet, burst, rate, demotes, .. }) in due.iter().enumerate() {
                let police = if *demotes { "demote" } else { "count" };
                writeln!(
                    text,
                    "[class.due-{number}-{at}]\nparent = 'share-{number}'\ndeadline = '1000s'\n\
                     police = '{police}'\narrival = {{ bucket = '{}b', rate = '{}bit', packet = '{packet}b' }}",
                    packet * burst,
                    (whole * rate / 2000).max(8),
                )
                .unwrap();
            }
            for (at, packet) in rest.iter().enumerate() {
                writeln!(
                    text,
                    "[class.rest-{number}-{at}]\nparent = 'share-{number}'\n\
                     arrival = {{ bucket = '{packet}b', rate = '1bit', packet = '{packet}b' }}"
                )
                .unwrap();
            }
        }
        text
    }

    /// The rate that a share has of the link.
    fn rate_of(&self, number: usize) -> u64 {
        let (beside, grouped) = self.beside;
        let first = self.shares[0].weight + beside;
        let others = self.shares[1..].iter().map(|share| share.weight).sum::<u64>();
        let weight = self.shares[number].weight;
        match (number, grouped) {
            (0, true) => self.rate * 3 / (3 + others) * weight / first,
            (_, true) => self.rate * weight / (3 + others),
            (_, false) => self.rate * weight / (first + others),
        }
    }

    /// The plan with every deadline as short as it can be beside those before it, but for what is
    /// to spare.
    fn at_the_edge(&self) -> Plan {
        let mut plan = plan(&self.text());
        for (number, share) in self.shares.iter().enumerate() {
            for (at, due) in share.due.iter().enumerate() {
                let class = plan.class(&format!("due-{number}-{at}")).unwrap();
                let shortest = shortest_deadline(&plan, number, at);
                let unit = Rate(self.rate / 20).time_for(Bytes(due.packet));
                let deadline = shortest.saturating_add(Nanos(unit.0 * due.spare));
                plan.classes[class.index()].deadline = Some(deadline);
            }
        }
        plan
    }
}

/// The shortest deadline of a share's class with which everything is admitted, to the nanosecond.
fn shortest_deadline(plan: &Plan, share: usize, class: usize) -> Nanos {
    let holds =
        |inner: &&InnerPlan| plan.classes[inner.class.index()].name == format!("share-{share}");
    let nested = plan.nested();
    let inner = nested.inner.iter().find(holds).expect("it has EDF");
    let shortest = inner.plan.edf_system().shortest_admitted_deadline(class);
    shortest.expect("half of every share is left")
}

/// How a class sends: when it begins, in thousandths of the longest deadline, and the longest pause
/// between two packets beyond what its contract asks for.
#[derive(Clone, Copy, Debug)]
struct Phase {
    start: u64,
    pause: u64,
    /// Whether all of its packets are as long as they can be.
    is_long: bool,
}

fn phases() -> impl Strategy<Value = Vec<Phase>> {
    let start = prop_oneof![3 => Just(0), 1 => 0..1000u64];
    let pause = prop_oneof![4 => Just(0), 1 => 0..300u64];
    let phase = (start, pause, prop::bool::weighted(0.8))
        .prop_map(|(start, pause, is_long)| Phase { start, pause, is_long });
    vec(phase, 16)
}

/// What arrives when every class sends in its phase: those with a contract as much as that allows,
/// the others many packets at once. Of what comes at one instant, that of the classes which are
/// promised nothing comes first.
fn arrivals(plan: &Plan, phases: &[Phase]) -> Vec<Packet> {
    let longest = plan.classes.iter().filter_map(|class| class.deadline).max();
    let longest = longest.unwrap_or_default().0.max(1);
    let mut packets = Vec::new();
    for ((class, spec), phase) in plan.leaves().zip(phases) {
        let length = plan.max_packet(spec).0 as u32;
        let mut arrival = Nanos(1 + phase.start * longest / 1000);
        let mut meter = plan.meter(spec).filter(|_| spec.deadline.is_some());
        for number in 0..60u32 {
            let length = if phase.is_long {
                length
            } else {
                (1 + (number * 7919) % length).max(plan.min_packet(spec).0 as u32)
            };
            if let Some(meter) = &mut meter {
                arrival = meter.earliest(arrival, length).expect("a bucket holds a packet");
                assert!(meter.consume(arrival, length));
            }
            if arrival.0 > 2 * longest {
                break;
            }
            packets.push(Packet { class, length, arrival, ..Packet::default() });
            arrival.0 += u64::from(number % 3) * phase.pause * longest / 300_000;
        }
    }
    packets.sort_by_key(|packet| {
        (packet.arrival, plan.classes[packet.class.index()].deadline.is_some())
    });
    packets
}

/// Sends them all, and tells when each packet's last bit leaves.
fn send(mut scheduler: impl Scheduler, rate: Rate, packets: &[Packet]) -> Vec<(Dispatch, Nanos)> {
    let mut link = Link::new(rate);
    let mut drops = |packet: Packet, _: DropReason| panic!("{packet:?} is dropped");
    let mut sent = Vec::new();
    let mut packets = packets.iter().peekable();
    loop {
        let idle = scheduler.backlog().packets == 0;
        let Some(now) = (match packets.peek() {
            Some(next) if idle => Some(link.free_at().max(next.arrival)),
            None if idle => None,
            _ => Some(link.free_at()),
        }) else {
            return sent;
        };
        // A link that is free when the first of several packets comes has chosen that one.
        let first = packets.next_if(|next| idle && next.arrival >= link.free_at());
        let due = first.into_iter().chain(std::iter::from_fn(|| {
            packets.next_if(|next| next.arrival < now || (first.is_none() && next.arrival <= now))
        }));
        due.for_each(|packet| scheduler.enqueue(packet.arrival, *packet, &mut drops));
        if let Some(dispatch) = scheduler.dequeue(now, &mut drops) {
            sent.push((dispatch, link.transmit(now, dispatch.packet.length)));
        }
    }
}

/// The first packet that a scheduler sends later than is proved of the plan.
fn broken(plan: &Plan, scheduler: impl Scheduler, packets: &[Packet]) -> Option<String> {
    let bounds = plan.bounds();
    send(scheduler, plan.link.rate, packets).into_iter().find_map(|(dispatch, departure)| {
        let packet = dispatch.packet;
        let class = &plan.classes[packet.class.index()];
        let bound = bounds[packet.class.index()].ok().filter(|_| class.deadline.is_some())?;
        assert!(class.deadline.is_some_and(|deadline| bound <= deadline));
        let delay = departure - packet.arrival;
        (delay > bound).then(|| format!("{}: {delay} beyond {bound}, {packet:?}", class.name))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn proved_delays_hold_at_the_edge(nested in nested(), phases in vec(phases(), 4)) {
        let plan = nested.at_the_edge();
        for phases in phases {
            let built = plan.build_scheduler(1);
            let broken = broken(&plan, built, &arrivals(&plan, &phases));
            prop_assert_eq!(broken, None, "{}", nested.text());
        }
    }
}

/// Schedulers that take their shares for links which are never late break what is proved.
#[test]
fn a_latency_that_only_the_proof_knows_is_found() {
    let mut runner = TestRunner::deterministic();
    let plans = (nested(), vec(phases(), 4));
    let found = (0..60).filter(|_| {
        let (nested, phases) = plans.new_tree(&mut runner).unwrap().current();
        let plan = nested.at_the_edge();
        phases.iter().any(|phases| {
            let mut nested = plan.nested();
            nested.inner.iter_mut().for_each(|inner| inner.plan.link.latency = Some(Nanos::ZERO));
            let built = nested.hierarchy(plan.link.rate, 1);
            broken(&plan, built, &arrivals(&plan, phases)).is_some()
        })
    });
    let found = found.count();
    assert!(found >= 3, "{found} of 60 plans");
}

/// Best effort inside a share gets what remains of the share's guaranteed service. That service
/// starts late.
#[test]
fn best_effort_waits_for_what_a_share_is_sure_of() {
    let plan = plan(
        "link = { rate = '1mbit', max-packet = '1500b' }
        scheduler.kind = 'wf2q'
        class.m.curve = '100kbit'
        class.x = { curve = '900kbit', scheduler = { kind = 'edf', best-effort = 'exact' } }
        [class.r]
        parent = 'x'
        deadline = '16744us'
        arrival = { bucket = '200b', rate = '540kbit', packet = '200b' }
        [class.b]
        parent = 'x'
        arrival = { bucket = '100b', rate = '1mbit', packet = '100b' }",
    );
    let guarantees = plan.inner_guarantees();
    assert!(guarantees.edf[0].1.admitted);
    assert_eq!(guarantees.bounds[2], Ok(Nanos(16_744_000)));
    let [m, r, b] = ["m", "r", "b"].map(|name| plan.class(name).unwrap());
    let packet = |class, length| Packet { class, length, arrival: Nanos(1), ..Packet::default() };
    let mut packets = vec![packet(m, 1500)];
    packets.extend([packet(b, 100); 4]);
    packets.push(packet(r, 200));
    let built = || plan.build_scheduler(1);
    let sent = send(built(), plan.link.rate, &packets);
    let order: Vec<_> = sent.iter().map(|(dispatch, _)| dispatch.packet.class).collect();
    assert_eq!(order, [m, r, b, b, b, b]);
    assert_eq!(broken(&plan, built(), &packets), None);
}

/// Where more is promised than there is nothing is known to be left, and best effort waits for all
/// that has a deadline.
#[test]
fn best_effort_is_in_the_background_of_an_overbooked_share() {
    for way in BestEffort::ALL.map(BestEffort::name) {
        let text = format!(
            "link = {{ rate = '1mbit', max-packet = '1500b' }}
            scheduler.kind = 'wf2q'
            class.m.curve = '200kbit'
            class.x = {{ curve = '900kbit', scheduler = {{ kind = 'edf', best-effort = '{way}' }} }}
            [class.r]
            parent = 'x'
            deadline = '1s'
            arrival = {{ bucket = '200b', rate = '10kbit', packet = '200b' }}
            [class.b]
            parent = 'x'"
        );
        let plan = plan(&text);
        let [r, b] = ["r", "b"].map(|name| plan.class(name).unwrap());
        assert_eq!(plan.inner_guarantees().bounds[r.index()], Err(Unbounded::NotAdmitted));
        let packet = |class| Packet { class, length: 200, arrival: Nanos(1), ..Packet::default() };
        let built = plan.build_scheduler(1);
        let sent = send(built, plan.link.rate, &[b, b, r, b, r].map(packet));
        let order = sent.iter().map(|(dispatch, _)| dispatch.packet.class);
        assert_eq!(order.collect::<Vec<_>>(), [b, r, r, b, b], "{way}");
        let criteria = sent.iter().map(|(dispatch, _)| dispatch.criterion);
        assert_eq!(criteria.filter(|rule| *rule == Criterion::Background).count(), 3, "{way}");
    }
}

/// The deadlines of the random plans are at the edge: one a nanosecond shorter is refused, but
/// where it is no longer than a packet takes.
#[test]
fn the_edge_is_the_edge() {
    let mut runner = TestRunner::deterministic();
    for _ in 0..10 {
        let nested = nested().new_tree(&mut runner).unwrap().current();
        let plan = plan(&nested.text());
        for (share, drawn) in nested.shares.iter().enumerate() {
            let class = plan.class(&format!("due-{share}-0")).unwrap();
            let admits = |deadline| {
                let mut plan = plan.clone();
                plan.classes[class.index()].deadline = Some(deadline);
                plan.inner_guarantees().edf.iter().all(|(_, edf)| edf.admitted)
            };
            let shortest = shortest_deadline(&plan, share, 0);
            assert!(admits(shortest), "{drawn:?}");
            assert!(!admits(Nanos(shortest.0 - 1)), "{drawn:?}");
        }
    }
}

/// A queue inside a share computes its packet transmission time from the share's rate. It may
/// belong to the share or to one of its classes.
#[test]
fn queues_in_a_share_see_its_rate() {
    let red = "{ kind = 'red', min = 10, max = 30, limit = 60 }";
    let plan = plan(&format!(
        "link = {{ rate = '10mbit', max-packet = '1500b' }}
        scheduler.kind = 'wf2q'
        class.rest.curve = '9mbit'
        class.x = {{ curve = '1mbit', scheduler = {{ kind = 'fifo', queue = {red} }} }}
        class.y = {{ parent = 'x', queue = {red} }}"
    ));
    let inside = &plan.nested().inner[1].plan;
    assert_eq!(inside.classes[0].queue.as_deref(), inside.queue.as_ref());
    let Some(QueueSpec::Red(red)) = inside.queue else { panic!("{:?}", inside.queue) };
    assert_eq!(red.transmission, Nanos(12_000_000));
}
