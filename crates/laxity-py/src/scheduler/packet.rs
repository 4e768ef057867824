//! Packets as Python sees them.

use std::sync::atomic::{AtomicU64, Ordering};

use laxity::units::Nanos;
use pyo3::prelude::*;
use pyo3::types::PyString;

use super::Classes;

/// No scheduler holds these packets.
pub(super) const NO_RUN: (u64, u32) = (u64::MAX, 0);

/// A packet. Times are nanoseconds of the simulation.
#[pyclass(frozen, module = "laxity")]
pub struct Packet {
    /// Its number in the order of arrival, from 0.
    #[pyo3(get)]
    seq: u64,
    /// Its class's name.
    #[pyo3(get)]
    class_name: Py<PyString>,
    /// The flow within the class.
    #[pyo3(get)]
    flow: u32,
    /// Bytes on the link.
    #[pyo3(get)]
    length: u32,
    /// When its last bit arrived.
    #[pyo3(get)]
    arrival: u64,
    /// When it is due, if its class has a deadline.
    #[pyo3(get)]
    deadline: Option<u64>,
    /// Whether it broke its class's contract and travels as best effort.
    #[pyo3(get)]
    demoted: bool,
    eligible: AtomicU64,
    /// The run that it is of, and its place among the packets that are held there.
    pub(super) of: (u64, u32),
}

#[pymethods]
impl Packet {
    /// A packet of no run, which no scheduler may send.
    #[new]
    #[expect(clippy::too_many_arguments, reason = "all that it is")]
    fn seen(
        seq: u64,
        class_name: Py<PyString>,
        flow: u32,
        length: u32,
        arrival: u64,
        deadline: Option<u64>,
        demoted: bool,
        eligible: u64,
    ) -> Packet {
        let (eligible, of) = (AtomicU64::new(eligible), NO_RUN);
        Packet { seq, class_name, flow, length, arrival, deadline, demoted, eligible, of }
    }

    /// What another process makes it of.
    fn __getnewargs__(
        &self,
        py: Python<'_>,
    ) -> (u64, Py<PyString>, u32, u32, u64, Option<u64>, bool, u64) {
        let Packet { seq, flow, length, arrival, deadline, demoted, .. } = *self;
        let class_name = self.class_name.clone_ref(py);
        (seq, class_name, flow, length, arrival, deadline, demoted, self.eligible())
    }

    /// It is not sent before; its arrival unless the scheduler says more.
    #[getter]
    pub fn eligible(&self) -> u64 {
        self.eligible.load(Ordering::Relaxed)
    }

    #[setter]
    fn set_eligible(&self, eligible: u64) {
        self.eligible.store(eligible, Ordering::Relaxed);
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        let Packet { seq, class_name, length, arrival, .. } = self;
        let class = class_name.to_str(py).unwrap_or_default();
        format!("<laxity.Packet {seq} of {class}, {length} B, arrived at {arrival} ns>")
    }
}

impl Packet {
    /// What Python sees of a packet.
    pub(super) fn new(
        py: Python<'_>,
        packet: &laxity::packet::Packet,
        classes: &Classes,
        of: (u64, u32),
    ) -> Packet {
        Packet {
            seq: packet.handle,
            class_name: classes.name(py, packet.class),
            flow: packet.flow.0,
            length: packet.length,
            arrival: packet.arrival.0,
            deadline: classes.due(packet).map(|due: Nanos| due.0),
            demoted: packet.demoted,
            eligible: AtomicU64::new(packet.arrival.0),
            of,
        }
    }

    /// Its number in the order of arrival.
    pub(super) fn seq(&self) -> u64 {
        self.seq
    }
}
