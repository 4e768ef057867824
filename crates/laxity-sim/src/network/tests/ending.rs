//! Runs that end while packets are under way.

use super::*;
use crate::link::Run;

/// When packets set out and when they were heard of last, at the first link and at the receiver.
#[derive(Default)]
struct Times {
    /// When each came to the first link, and when it had left that; none if it waited at the end.
    first: Vec<(Nanos, Option<Nanos>)>,
    /// Packets that waited for the second link at the end: when they came there.
    second: Vec<(Nanos, Option<Nanos>)>,
    /// By flow, how long those took that have come, in the order in which they set out.
    received: Vec<Nanos>,
}

impl Observer for Times {
    fn record(&mut self, record: &Record) {
        let left = match record.fate {
            Fate::Sent { departure, .. } => Some(departure),
            Fate::Queued => None,
            Fate::Dropped(reason) => panic!("dropped: {reason:?}"),
        };
        let at = if record.hop.unwrap().link.0 == 0 { &mut self.first } else { &mut self.second };
        at.push((record.packet.arrival, left));
    }

    fn delivered(&mut self, packet: &Packet, _: u64, now: Nanos) {
        self.received.push(now - packet.arrival);
    }
}

/// How many took longer than this, or have taken longer by the end.
fn late(times: &[(Nanos, Option<Nanos>)], end: Nanos, limit: Nanos) -> u64 {
    let is_late = |&&(from, to): &&(Nanos, Option<Nanos>)| to.unwrap_or(end) - from > limit;
    times.iter().filter(is_late).count() as u64
}

proptest! {
    /// What waits past its deadline has missed it, though it is never sent; what still waits within
    /// it has not.
    #[test]
    fn deadlines_that_pass_before_the_end_are_missed(
        kind in prop::sample::select(kinds::sending_all()),
        rates in [1_000..20_000u64, 1_000..20_000, 1_000..20_000], delay in 0..3_000u64,
        deadline in 500..30_000u64, whole in 500..60_000u64, end in 1_000..80_000u64, seed: u64,
        warm_up in prop_oneof![Just(0u64), 0..40_000u64],
    ) {
        let [first, second, sent] = rates;
        let plan = plan(&format!(
            r#"
            link = {{ rate = "{first}kbit", delay = "{delay}us", max-packet = "1000b" }}
            scheduler.kind = "{}"
            run.warm-up = "{}us"
            network.one.between = ["a", "b"]
            network.two = {{ between = ["b", "c"], rate = "{second}kbit" }}
            [class.voice]
            deadline = "{deadline}us"
            end-to-end = "{whole}us"
            [[source]]
            class = "voice"
            model = "poisson"
            rate = "{sent}kbit"
            packet = "1000b"
            path = ["a", "b", "c"]
            "#,
            kind.word(),
            warm_up.min(end),
        ));
        let (mut times, end) = (Times::default(), Nanos(end * 1_000));
        let on = plan.network_plan().unwrap().analysis();
        let run = NetworkRun::new(&on, Some(end), seed);
        let summary = run.simulate(&mut times, &mut crate::to_the_end).unwrap().summary;
        let from = plan.run.warm_up;
        let [deadline, whole] = [deadline, whole].map(|us| Nanos(us * 1_000));
        // One flow: packets come in the order in which they set out.
        times.first.sort();
        let set_out = times.first.iter().map(|&(set_out, _)| set_out);
        let ends = times.received.iter().map(|took| Some(*took)).chain(std::iter::repeat(None));
        let trips: Vec<_> = set_out
            .zip(ends)
            .map(|(set_out, took)| (set_out, took.map(|took| set_out + took)))
            .filter(|trip| trip.0 >= from)
            .collect();
        prop_assert_eq!(summary.ends().classes[0].deadline_misses, late(&trips, end, whole));
        for (from_node, times) in [("a", &times.first), ("b", &times.second)] {
            let measured: Vec<_> = times.iter().copied().filter(|hop| hop.0 >= from).collect();
            // A link that nothing came to is left out.
            let hop = summary.hops.iter().find(|hop| hop.from == from_node);
            let missed = hop.map_or(0, |hop| {
                hop.classes.iter().map(|class| class.deadline_misses).sum()
            });
            prop_assert_eq!(missed, late(&measured, end, deadline), "at {}", from_node);
        }
    }
}

/// A link that is alone sends all that has come, however long after the end of traffic, so that
/// nothing that is late goes uncounted.
#[test]
fn a_link_ends_when_all_have_left() {
    for (kind, seed) in kinds::sending_all().into_iter().map(Kind::word).zip(1..) {
        let plan = plan(&format!(
            r#"
            link = {{ rate = "1mbit", max-packet = "1000b" }}
            scheduler.kind = "{kind}"
            [class.voice]
            deadline = "20ms"
            arrival = {{ bucket = "1000b", rate = "2mbit" }}
            [[source]]
            class = "voice"
            model = "constant"
            rate = "2mbit"
            packet = "1000b"
            "#
        ));
        let run = Run { plan: &plan, duration: Some(Nanos(100 * MS)), seed, feeds: Vec::new() };
        let run = run.with_sources().unwrap();
        let summary = run.simulate(&mut (), &mut crate::to_the_end).unwrap().summary;
        let class = &summary.hops[0].classes[0];
        // One each 4 ms, of 8 ms: the i-th takes 8 + 4 i ms, so that all but four are late.
        assert_eq!((class.arrived, class.sent, class.queued), (25, 25, 0), "{kind}");
        assert_eq!(class.deadline_misses, 25 - 4, "{kind}");
    }
}

/// 1500 classes over a row of 1500 links, and a simulation would keep 4.5 million books.
#[test]
fn what_would_take_too_much_memory_is_refused() {
    let mut text = String::from("link.rate = \"1gbit\"\nscheduler.kind = \"fifo\"\n");
    for number in 0..1500 {
        text += &format!("network.l{number}.between = [\"n{number}\", \"n{}\"]\n", number + 1);
        text += &format!("class.c{number} = {{}}\n");
    }
    text += "[[source]]\nclass = \"c0\"\nmodel = \"constant\"\nrate = \"1mbit\"\n\
             packet = \"1000b\"\npath = [\"n0\", \"n1\"]\n";
    let plan = plan(&text);
    let on = plan.network_plan().unwrap().analysis();
    let run = NetworkRun::new(&on, Some(Nanos(MS)), 1);
    let refused = run.simulate(&mut Diary::default(), &mut crate::to_the_end).unwrap_err();
    let said = refused.to_string();
    assert!(said.starts_with("1500 classes at 3000 outputs of links"), "{said}");
    assert!(refused.is_bad_input() && said.contains("4000000 in a simulation"), "{said}");
}
