use super::*;
use crate::packets::{Field, one};
use laxity_plan::matching::{Headers, IpHeaders, Numbers, Ports};
use proptest::prelude::*;

const CLASSES: usize = 4;

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let ports = || prop::option::of((0u16..5, 0u16..5));
    let rule = (ports(), ports(), prop::option::of(0..CLASSES));
    let rule = rule.prop_map(|(source, destination, class)| {
        let mut packets = Packets::default();
        for (field, range) in [(Field::SourcePort, source), (Field::DestinationPort, destination)] {
            if let Some((a, b)) = range {
                packets.with(field, &Numbers::new(vec![(a.min(b), a.max(b))]));
            }
        }
        Rule { packets, class, line: 1, of: "filter", is_rest: false }
    });
    prop::collection::vec(rule, 0..8)
}

fn takes(packets: &Packets) -> Match {
    reads_back(&packets.expression()).expect("a few tests keep to the limits")
}

fn headers(source: u16, destination: u16) -> Headers {
    let address = [10, 0, 0, 1].into();
    let ip = IpHeaders { source: address, destination: address, protocol: 17, dscp: 0, ecn: 0 };
    let ports = Some(Ports { source, destination });
    Headers { ip: Some(ip), ports, ..Headers::default() }
}

proptest! {
    /// Whatever the rules, the first class of the plan that a packet matches is the one that the
    /// first rule sends it to.
    #[test]
    fn packets_go_where_the_first_rule_sends_them(
        rules in rules(),
        default in prop::option::of(0..CLASSES),
    ) {
        let classes: Vec<usize> = (0..CLASSES).collect();
        let asked: Vec<_> = rules.iter().map(|rule| (takes(&rule.packets), rule.class)).collect();
        let arranged = arrange(rules, &classes, CLASSES, default, &mut Notes::default()).unwrap();
        let mut seen = arranged.order.clone();
        seen.sort_unstable();
        prop_assert_eq!(seen, classes);
        for (source, destination) in (0..6).flat_map(|s| (0..6).map(move |d| (s, d))) {
            let headers = headers(source, destination);
            let taken = |class: &&usize| {
                arranged.matches[**class].as_ref().is_some_and(|rule| rule.matches(&headers))
            };
            let first = asked.iter().find(|(packets, _)| packets.matches(&headers));
            let expected = first.map_or(default, |(_, class)| *class);
            prop_assert_eq!(arranged.order.iter().find(taken).copied(), expected);
        }
    }
}

#[test]
fn a_class_that_takes_the_rest_comes_after_the_others() {
    let (line, of, is_rest) = (1, "filter", false);
    let rule = |packets: Packets, class| Rule { packets, class: Some(class), line, of, is_rest };
    let mut voice = Packets::default();
    voice.with(Field::DestinationPort, &one(4000));
    let rules = vec![rule(voice, 1), rule(Packets::default(), 0)];
    let arranged = arrange(rules, &[0, 1], 2, None, &mut Notes::default()).unwrap();
    assert_eq!(arranged.order, [1, 0]);
    assert_eq!(arranged.matches[0], Some(Match::ANY));
}
