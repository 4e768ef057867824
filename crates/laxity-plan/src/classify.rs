//! Which class a frame belongs to, and what makes a flow: the same for captures and for live
//! traffic.

use std::collections::{BTreeSet, HashMap};
use std::net::IpAddr;

use laxity::packet::ClassId;

use crate::matching::{End, Headers, Match, Net};
use crate::model::{Class, Plan};

/// Finds the class of frames: the first one of the plan whose `match` holds.
///
/// Where a match cannot hold but for frames from or to certain networks, it is looked up by these,
/// so that the number of such classes costs nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    matches: Vec<(ClassId, Match)>,
    /// Which matches to test for a frame from or to a network, in their order.
    by_network: HashMap<(End, Net), Vec<u32>>,
    /// The lengths of the prefixes of these networks, at each end.
    prefixes: Vec<(End, u8)>,
    /// The matches that have to be tested for any frame, in their order.
    others: Vec<u32>,
}

impl Classifier {
    /// The classes of a plan that have a `match`, in their order.
    pub fn new(plan: &Plan) -> Self {
        let matching =
            |(id, class): (ClassId, &Class)| class.matching.clone().map(|matching| (id, matching));
        let numbered = (0..).map(ClassId).zip(&plan.classes);
        Classifier::from_matches(numbered.filter_map(matching).collect())
    }

    /// Of classes and their matches, in their order.
    fn from_matches(matches: Vec<(ClassId, Match)>) -> Self {
        let (mut by_network, mut others) = (HashMap::<_, Vec<u32>>::new(), Vec::new());
        for (number, (_, matching)) in (0..).zip(&matches) {
            let Some(mut networks) = matching.expr().networks() else {
                others.push(number);
                continue;
            };
            networks.sort_unstable();
            networks.dedup();
            for network in networks {
                by_network.entry(network).or_default().push(number);
            }
        }
        let prefixes = by_network.keys().map(|(end, network)| (*end, network.prefix()));
        let prefixes = prefixes.collect::<BTreeSet<_>>().into_iter().collect();
        Classifier { matches, by_network, prefixes, others }
    }

    /// The class of a frame; `None` if no match holds. Allocates nothing; takes as long as the
    /// matches that begin with no address, up to the one that holds, and those of the networks that
    /// the frame is from or to.
    pub fn class(&self, headers: &Headers) -> Option<ClassId> {
        let holds = |number: &&u32| self.matches[**number as usize].1.matches(headers);
        let mut first = self.others.iter().find(holds).copied();
        let ip = headers.ip.iter();
        let networks = ip.flat_map(|ip| {
            self.prefixes.iter().map(|(end, prefix)| {
                let address = match end {
                    End::Source => ip.source,
                    End::Destination => ip.destination,
                };
                (*end, Net::new(address, *prefix))
            })
        });
        for numbers in networks.filter_map(|network| self.by_network.get(&network)) {
            let mut sooner =
                numbers.iter().take_while(|number| first.is_none_or(|first| **number < first));
            first = sooner.find(holds).copied().or(first);
        }
        first.map(|number| self.matches[number as usize].0)
    }
}

impl Plan {
    /// The first class whose `match` tests what only a host knows of its own packets.
    pub fn host_class(&self) -> Option<&Class> {
        let needs_host = |class: &&Class| {
            class.matching.as_ref().is_some_and(|matching| matching.expr().needs_host())
        };
        self.classes.iter().find(needs_host)
    }

    /// Looks up the numbers of all control groups that matches name by their paths.
    ///
    /// # Errors
    /// Those of `number`, with the class that names the group.
    pub fn find_cgroups<E>(
        &mut self,
        mut number: impl FnMut(&str) -> Result<u64, E>,
    ) -> Result<(), (String, E)> {
        for class in &mut self.classes {
            if let Some(matching) = &mut class.matching {
                matching.find_cgroups(&mut number).map_err(|error| (class.name.clone(), error))?;
            }
        }
        Ok(())
    }
}

/// What tells flows apart: the frames of a class that have the same addresses, protocol and ports
/// are one flow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Conversation {
    /// Source and destination address and the protocol, of what is IP.
    pub ends: Option<(IpAddr, IpAddr, u8)>,
    /// Source and destination port, if there are ports.
    pub ports: Option<(u16, u16)>,
}

impl Conversation {
    /// That of a frame.
    pub fn new(headers: &Headers) -> Self {
        Conversation {
            ends: headers.ip.map(|ip| (ip.source, ip.destination, ip.protocol)),
            ports: headers.ports.map(|ports| (ports.source, ports.destination)),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::matching::{IpHeaders, Ports};

    /// Tests that meet often, of addresses and of others.
    fn any_match() -> impl Strategy<Value = String> {
        let address = prop::sample::select(vec![
            "10.0.0.1",
            "10.0.0.2",
            "10.0.0.0/30",
            "10.0.0.0/8",
            "{10.0.0.1, 10.1.0.0/16}",
            "fd00::1",
            "fd00::/16",
            "::/0",
        ]);
        let end = prop::sample::select(vec!["saddr", "daddr", "addr"]);
        let test = prop_oneof![
            4 => (end, address).prop_map(|(end, address)| format!("{end} {address}")),
            1 => Just("udp".to_owned()),
            1 => Just("dport 1-2".to_owned()),
            1 => Just("any".to_owned()),
        ];
        test.prop_recursive(3, 8, 3, |inner| {
            prop_oneof![
                inner.clone().prop_map(|test| format!("not ({test})")),
                prop::collection::vec(inner.clone(), 2..4).prop_map(|tests| tests.join(" and ")),
                prop::collection::vec(inner, 2..4)
                    .prop_map(|tests| format!("({})", tests.join(" or "))),
            ]
        })
    }

    fn any_headers() -> impl Strategy<Value = Headers> {
        let pairs = prop::sample::select(vec![
            ("10.0.0.1", "10.0.0.2"),
            ("10.0.0.2", "10.0.0.9"),
            ("10.1.2.3", "192.0.2.1"),
            ("fd00::1", "fd00::2"),
            ("::1", "fd00::1"),
        ]);
        let ip = pairs.prop_map(|(source, destination)| IpHeaders {
            source: source.parse().unwrap(),
            destination: destination.parse().unwrap(),
            protocol: 17,
            dscp: 0,
            ecn: 0,
        });
        let ports = (0..4u16).prop_map(|port| Ports { source: 1, destination: port });
        (prop::option::weighted(0.9, ip), prop::option::of(ports)).prop_map(|(ip, ports)| Headers {
            ip,
            ports,
            ..Headers::default()
        })
    }

    proptest! {
        #[test]
        fn the_first_match_that_holds_decides(
            matches in prop::collection::vec(any_match(), 1..12),
            frames in prop::collection::vec(any_headers(), 1..20),
        ) {
            let matches = matches.iter().map(|text| text.parse().unwrap());
            let matches: Vec<(ClassId, Match)> = (0..).map(ClassId).zip(matches).collect();
            let classifier = Classifier::from_matches(matches.clone());
            for headers in &frames {
                let first = matches.iter().find(|(_, matching)| matching.matches(headers));
                prop_assert_eq!(classifier.class(headers), first.map(|(class, _)| *class));
            }
        }
    }
}
