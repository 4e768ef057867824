//! The entrance: does a packet keep to what its class promises, and what becomes of it if not?

use laxity::packet::Packet;
use laxity::police::Meter;
use laxity_plan::model::{Plan, Police};

/// The meters of all classes.
#[derive(Clone, Debug)]
pub(crate) struct Entrance {
    gates: Vec<Gate>,
}

#[derive(Clone, Debug)]
struct Gate {
    meter: Option<Meter>,
    police: Police,
    nonconforming: u64,
}

impl Entrance {
    pub fn new(plan: &Plan) -> Self {
        let gate = |class: &laxity_plan::model::Class| Gate {
            meter: class.arrival.as_ref().map(|arrival| arrival.meter()),
            police: class.police,
            nonconforming: 0,
        };
        Entrance { gates: plan.classes.iter().map(gate).collect() }
    }

    /// Meters a packet at its arrival and demotes it if that is what becomes of it. Says whether it is
    /// let in.
    #[inline]
    pub fn admit(&mut self, packet: &mut Packet) -> bool {
        let gate = &mut self.gates[packet.class.index()];
        let conforms =
            gate.meter.as_mut().is_none_or(|meter| meter.admit(packet.arrival, packet.length));
        if conforms {
            return true;
        }
        gate.nonconforming += 1;
        match gate.police {
            Police::Count => {}
            Police::Demote => packet.demoted = true,
            Police::Drop => return false,
        }
        true
    }

    /// Meters a packet that was let in before and stays: it is demoted where others would be dropped,
    /// and counted no more.
    pub fn keep(&mut self, packet: &mut Packet) {
        if packet.demoted {
            return;
        }
        let counted = self.gates[packet.class.index()].nonconforming;
        packet.demoted = !self.admit(packet) || packet.demoted;
        self.gates[packet.class.index()].nonconforming = counted;
    }

    /// How many packets broke their contract, by class number.
    pub fn nonconforming(&self) -> impl Iterator<Item = u64> + '_ {
        self.gates.iter().map(|gate| gate.nonconforming)
    }
}
