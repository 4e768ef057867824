//! A scheduler with methods in Python, held to the contract of schedulers at every call.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use laxity::packet::Packet as Plain;
use laxity::scheduler::{Backlog, Criterion, Dispatch, DropReason, DropSink, Place, Withdraw};
use laxity::units::Nanos;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use slab::Slab;

use super::{Classes, FirstError, Packet, broken, time};

/// The base of schedulers: what they drop.
#[pyclass(frozen, subclass, module = "laxity._laxity")]
pub struct Scheduler {
    dropped: Mutex<Vec<Py<Packet>>>,
}

#[pymethods]
impl Scheduler {
    #[new]
    #[pyo3(signature = (*_arguments, **_keywords))]
    fn new(_arguments: &Bound<'_, PyTuple>, _keywords: Option<&Bound<'_, PyDict>>) -> Scheduler {
        Scheduler { dropped: Mutex::new(Vec::new()) }
    }

    /// Drops a packet that the scheduler holds, within `enqueue` or `dequeue`; it is not sent any
    /// more.
    fn drop(&self, packet: Py<Packet>) {
        self.dropped.lock().unwrap_or_else(PoisonError::into_inner).push(packet);
    }
}

impl Scheduler {
    fn take_dropped(&self) -> Vec<Py<Packet>> {
        std::mem::take(&mut self.dropped.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// The object as a scheduler.
pub(super) struct Object {
    object: Py<Scheduler>,
    name: String,
    enqueue: Py<PyAny>,
    dequeue: Py<PyAny>,
    next_ready: Py<PyAny>,
    classes: Classes,
    held: Slab<Plain>,
    backlog: Backlog,
    /// No other run has this number.
    run: u64,
    raised: FirstError,
}

/// Numbers runs.
static RUNS: AtomicU64 = AtomicU64::new(0);

impl Object {
    /// Of an object that holds nothing.
    pub(super) fn new(
        py: Python<'_>,
        object: &Py<Scheduler>,
        classes: Classes,
        raised: FirstError,
    ) -> PyResult<Object> {
        let method = |name| object.getattr(py, name);
        object.get().take_dropped();
        Ok(Object {
            name: object.getattr(py, "name")?.extract(py)?,
            enqueue: method(intern!(py, "enqueue"))?,
            dequeue: method(intern!(py, "dequeue"))?,
            next_ready: method(intern!(py, "next_ready"))?,
            object: object.clone_ref(py),
            classes,
            held: Slab::new(),
            backlog: Backlog::default(),
            run: RUNS.fetch_add(1, Ordering::Relaxed),
            raised,
        })
    }

    /// What came of a call; nothing if it was raised.
    fn kept<T>(&self, called: PyResult<T>) -> Option<T> {
        called.map_err(|error| self.raised.keep(error)).ok()
    }

    /// Lets go of a packet that the object gave.
    fn release(&mut self, packet: &Packet, how: &str) -> PyResult<Plain> {
        let (run, slot) = packet.of;
        let held = self.held.get(slot as usize).filter(|held| held.handle == packet.seq());
        if run != self.run || held.is_none() {
            let why = if run == self.run {
                "which it does not hold any more"
            } else {
                "which is of another run"
            };
            return Err(broken(format!("{}: {how} packet {}, {why}", self.name, packet.seq())));
        }
        let plain = self.held.remove(slot as usize);
        self.backlog.remove(plain.length);
        Ok(plain)
    }

    /// Tells of what the object has dropped.
    fn tell_dropped(&mut self, drops: &mut dyn DropSink) -> PyResult<()> {
        for packet in self.object.get().take_dropped() {
            let plain = self.release(packet.get(), "it drops")?;
            drops.dropped(plain, DropReason::Scheduler);
        }
        Ok(())
    }

    fn take_in(&mut self, now: Nanos, packet: Plain, drops: &mut dyn DropSink) -> PyResult<usize> {
        let slot = self.held.insert(packet);
        self.backlog.add(packet.length);
        Python::attach(|py| {
            let seen = Packet::new(py, &packet, &self.classes, (self.run, slot as u32));
            let returned = self.enqueue.call1(py, (now.0, Py::new(py, seen)?))?;
            if !returned.is_none(py) {
                let what = returned.bind(py).repr()?;
                return Err(broken(format!(
                    "{}: `enqueue` returned {what}; it returns nothing, and `self.drop(packet)` drops one",
                    self.name
                )));
            }
            self.tell_dropped(drops)?;
            Ok(slot)
        })
    }

    fn choose(&mut self, now: Nanos, drops: &mut dyn DropSink) -> PyResult<Option<Dispatch>> {
        Python::attach(|py| {
            let returned = self.dequeue.call1(py, (now.0,))?;
            self.tell_dropped(drops)?;
            if returned.is_none(py) {
                return Ok(None);
            }
            let Ok(packet) = returned.bind(py).cast::<Packet>() else {
                let what = returned.bind(py).repr()?;
                return Err(broken(format!(
                    "{}: `dequeue` returned {what}; it returns a packet or None",
                    self.name
                )));
            };
            let packet = packet.get();
            let plain = self.release(packet, "`dequeue` returned")?;
            if packet.eligible() > now.0 {
                return Err(broken(format!(
                    "{}: `dequeue` returned packet {} at {now}, and it is not eligible before {}",
                    self.name,
                    packet.seq(),
                    Nanos(packet.eligible()),
                )));
            }
            let deadline = self.classes.due(&plain);
            Ok(Some(Dispatch { packet: plain, deadline, criterion: Criterion::Rank }))
        })
    }

    /// When there is something to send again.
    fn waits_until(&self, now: Nanos) -> PyResult<Nanos> {
        let packets = self.backlog.packets;
        let said = Python::attach(|py| {
            let said = self.next_ready.call1(py, (now.0,))?;
            let said = said.bind(py);
            (!said.is_none()).then(|| time(said, "`next_ready` gives")).transpose()
        })?;
        match said {
            Some(later) if later > now => Ok(later),
            Some(no_later) => Err(broken(format!(
                "{}: `dequeue` returned None at {now}, and `next_ready` says {no_later}; it says a later time",
                self.name
            ))),
            None => Err(broken(format!(
                "{}: `dequeue` returned None at {now} while {packets} packets wait; a scheduler that holds packets \
                 back has a `next_ready`",
                self.name
            ))),
        }
    }
}

impl laxity::scheduler::Scheduler for Object {
    fn enqueue(&mut self, now: Nanos, packet: Plain, drops: &mut dyn DropSink) {
        self.place(now, packet, drops);
    }

    fn dequeue(&mut self, now: Nanos, drops: &mut dyn DropSink) -> Option<Dispatch> {
        if self.raised.is_there() || self.backlog.packets == 0 {
            return None;
        }
        let chosen = self.choose(now, drops);
        self.kept(chosen).flatten()
    }

    fn next_ready(&self, now: Nanos) -> Option<Nanos> {
        if self.raised.is_there() || self.backlog.packets == 0 {
            return None;
        }
        self.kept(self.waits_until(now))
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    /// What Python holds besides is not known.
    fn footprint(&self) -> usize {
        self.held.capacity() * size_of::<Plain>()
    }
}

impl Withdraw for Object {
    fn place(&mut self, now: Nanos, packet: Plain, drops: &mut dyn DropSink) -> Option<Place> {
        if self.raised.is_there() || packet.class.0 >= self.classes.len() {
            drops.dropped(packet, DropReason::NoClass);
            return None;
        }
        let taken = self.take_in(now, packet, drops);
        let slot = self.kept(taken)?;
        let is_held = self.held.get(slot).is_some_and(|held| held.handle == packet.handle);
        is_held.then_some(Place(slot as u32))
    }

    fn withdraw(&mut self, _: Nanos, _: Place, _: u64, _: &mut dyn DropSink) -> Option<Plain> {
        self.raised.keep(broken(format!(
            "{}: the plan's queue management takes packets out of the middle, which only Laxity's own schedulers let \
             it do: give the plan another",
            self.name
        )));
        None
    }
}
