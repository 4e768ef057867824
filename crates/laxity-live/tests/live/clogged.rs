//! An interface that takes no more frames.

use std::cell::Cell;
use std::io;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::BorrowedFd;
use std::rc::Rc;
use std::thread;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_forward::{Event, Forwarder, Settings};
use laxity_linux::Error;
use laxity_linux::frames::{Backend, Handle, Pool, Port, Side, Statistics};
use laxity_linux::interface::Interface;
use laxity_live::bridge::Observer;
use laxity_live::{Bridge, Way};

use crate::hosts::{A, B, Hosts, plan};

const COUNT: u8 = 5;

/// Takes no frame in one direction for as long as it is closed.
struct Clogged<B> {
    inner: B,
    waiting: Vec<Handle>,
    is_closed: Rc<Cell<bool>>,
    is_refused: bool,
}

impl<B: Backend> Backend for Clogged<B> {
    fn pool(&self) -> &Pool {
        self.inner.pool()
    }

    fn pool_mut(&mut self) -> &mut Pool {
        self.inner.pool_mut()
    }

    fn receive(&mut self, at: impl Into<Port>, into: &mut Vec<Handle>) -> io::Result<usize> {
        self.inner.receive(at, into)
    }

    fn send(&mut self, at: impl Into<Port>, frame: Handle) {
        let at = at.into();
        if at == Side::B.into() { self.waiting.push(frame) } else { self.inner.send(at, frame) }
    }

    fn flush(&mut self, at: impl Into<Port>) -> io::Result<usize> {
        let at = at.into();
        if at != Side::B.into() {
            return self.inner.flush(at);
        }
        if !self.is_closed.get() {
            self.waiting.drain(..).for_each(|frame| self.inner.send(at, frame));
            return self.inner.flush(at);
        }
        Ok(self.waiting.len())
    }

    fn is_refused(&self, _: impl Into<Port>) -> bool {
        self.is_refused
    }

    fn descriptors(&self, at: impl Into<Port>) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.inner.descriptors(at)
    }

    fn statistics(&mut self, at: impl Into<Port>) -> io::Result<Statistics> {
        self.inner.statistics(at)
    }

    fn reattach(&mut self, at: impl Into<Port>, to: &Interface) -> Result<(), Error> {
        self.inner.reattach(at, to)
    }
}

/// Counts what has arrived and what was chosen.
#[derive(Debug, Default)]
struct Counted {
    arrived: usize,
    chosen: usize,
}

impl Observer for Counted {
    fn observe(&mut self, at: Side, event: &Event, _: &Pool) {
        match event {
            Event::Arrived(_) if at == Side::A => self.arrived += 1,
            Event::Sent(_) if at == Side::A => self.chosen += 1,
            _ => {}
        }
    }

    fn handed_over(&mut self, _: Side, _: Nanos, _: Nanos) {}
}

/// Frames that wait behind a full interface keep their order until they are chosen. One that was
/// refused by itself does not hold up the next.
#[test]
fn nothing_is_chosen_for_a_full_interface_and_one_frame_behind_a_refused_one() {
    for (is_refused, most) in [(false, 1), (true, 2)] {
        let Some(hosts) = Hosts::new() else { return };
        let is_closed = Rc::new(Cell::new(false));
        let (inner, waiting) = (hosts.mmsg(), Vec::new());
        let clogged = Clogged { inner, waiting, is_closed: is_closed.clone(), is_refused };
        let mut bridge = Bridge::new(clogged, [one_at_a_time(), Way::Plain]);
        let [sender, receiver] = sockets(&hosts);
        let time = bridge.time();
        let turn = |bridge: &mut Bridge<_>, counted: &mut Counted| {
            thread::sleep(Duration::from_millis(1));
            bridge.turn(&mut || time.elapsed(), counted).expect("forwarded");
        };
        // The next that comes to the other host while the interface is open.
        let next = |bridge: &mut Bridge<_>| {
            let mut datagram = [0; 600];
            let came = (0..5000).any(|_| {
                turn(bridge, &mut Counted::default());
                receiver.recv(&mut datagram).is_ok()
            });
            assert!(came, "it comes");
            datagram[0]
        };
        // Then both hosts know each other.
        sender.send(&[9; 500]).expect("sent");
        assert_eq!(next(&mut bridge), 9);

        is_closed.set(true);
        for number in 0..COUNT {
            sender.send(&[number; 500]).expect("sent");
        }
        let mut counted = Counted::default();
        (0..200).for_each(|_| turn(&mut bridge, &mut counted));
        assert!(counted.arrived >= usize::from(COUNT) && counted.chosen == most, "{counted:?}");
        let held = bridge.counts().expect("counted").interfaces[Side::B.index()].held;
        assert!(held.is_some_and(|held| held > Nanos(100_000_000)), "{held:?}");

        is_closed.set(false);
        assert!((0..COUNT).all(|number| next(&mut bridge) == number), "in order");
    }
}

/// A link that makes up for no time in which it was late.
fn one_at_a_time() -> Way {
    let settings = Settings { catch_up: Nanos::ZERO, ..Settings::default() };
    Way::Scheduled(Box::new(Forwarder::new(plan("fifo"), settings).expect("a link")))
}

/// One that sends to the other, which does not wait.
fn sockets(hosts: &Hosts) -> [UdpSocket; 2] {
    let address = SocketAddr::new(B, 6000);
    let sender = hosts.a.run(|| UdpSocket::bind(SocketAddr::new(A, 0)).expect("a socket"));
    let sender = sender.expect("entered");
    sender.connect(address).expect("an address");
    let receiver = hosts.b.run(|| UdpSocket::bind(address).expect("a socket")).expect("entered");
    receiver.set_nonblocking(true).expect("set");
    [sender, receiver]
}
