//! Which class a frame belongs to, and what makes a flow: the same for captures and for live
//! traffic.

use std::net::IpAddr;

use laxity::packet::ClassId;

use crate::matching::{Headers, Match};
use crate::model::{Class, Plan};

/// Finds the class of frames: the first one of the plan whose `match` holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Classifier {
    matches: Vec<(ClassId, Match)>,
}

impl Classifier {
    /// The classes of a plan that have a `match`, in their order.
    pub fn new(plan: &Plan) -> Self {
        let matching =
            |(id, class): (ClassId, &Class)| class.matching.clone().map(|matching| (id, matching));
        let numbered = (0..).map(ClassId).zip(&plan.classes);
        Classifier { matches: numbered.filter_map(matching).collect() }
    }

    /// The class of a frame; `None` if no match holds. Allocates nothing; takes as long as the
    /// matches up to the one that holds.
    pub fn class(&self, headers: &Headers) -> Option<ClassId> {
        let holds = |(_, matching): &&(ClassId, Match)| matching.matches(headers);
        self.matches.iter().find(holds).map(|(class, _)| *class)
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
