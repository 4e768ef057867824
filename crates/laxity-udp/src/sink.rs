//! The sink: sockets, and what waits for them until the next flush.

use std::net::UdpSocket;
use std::time::Instant;

use laxity::packet::Packet;
use laxity::scheduler::{Dispatch, DropReason};
use laxity::units::Nanos;
use laxity_engine::Sink;

use crate::batch::Waiting;
use crate::outlet::{Outcome, Outlet, Shared};
use crate::settings::SocketError;
use crate::times::Times;
use crate::{Datagram, Loss, Observer, UdpSettings, UdpStatistics, sys};

/// Sends the datagrams that an engine lets out.
///
/// It works on the engine's thread: it collects what is due together, and hands it to the kernel
/// in as few calls as there can be. It never waits but for room in a socket's buffer, and for that
/// at most [`UdpSettings::patience`]. The thread is woken as close to its times as the kernel can.
#[derive(Debug)]
pub struct UdpSink<B, O = ()> {
    ports: Vec<Port<B>>,
    shared: Shared,
    observer: O,
    /// Of the datagrams that are flushed; empty but for then.
    outcomes: Vec<Outcome>,
}

/// A socket, and what waits for it.
#[derive(Debug)]
struct Port<B> {
    outlet: Outlet,
    waiting: Vec<Waiting<B>>,
}

impl<B: AsRef<[u8]>> UdpSink<B> {
    /// A sink that sends by these sockets, bound, and of any family. Others may receive by the
    /// same sockets.
    ///
    /// # Errors
    /// If a socket does not take what the settings ask for.
    pub fn new(
        sockets: impl IntoIterator<Item = UdpSocket>,
        settings: UdpSettings,
    ) -> Result<Self, SocketError> {
        let open = |(number, socket)| {
            let outlet = Outlet::open(number, socket, &settings)?;
            Ok(Port { outlet, waiting: Vec::new() })
        };
        let ports = sockets.into_iter().enumerate().map(open).collect::<Result<_, _>>()?;
        let (times, statistics) = (Times::default(), UdpStatistics::default());
        let shared = Shared { settings, times, statistics };
        Ok(UdpSink { ports, shared, observer: (), outcomes: Vec::new() })
    }

    /// The same, with somebody who hears what becomes of each datagram.
    pub fn with_observer<O: Observer<B>>(self, observer: O) -> UdpSink<B, O> {
        let UdpSink { ports, shared, outcomes, .. } = self;
        UdpSink { ports, shared, observer, outcomes }
    }
}

impl<B: AsRef<[u8]>, O: Observer<B>> UdpSink<B, O> {
    /// What it has counted.
    pub fn statistics(&self) -> &UdpStatistics {
        &self.shared.statistics
    }

    /// Who hears what becomes of each datagram.
    pub fn observer(&self) -> &O {
        &self.observer
    }

    /// Its sockets, by their numbers.
    pub fn sockets(&self) -> impl Iterator<Item = &UdpSocket> {
        self.ports.iter().map(|port| port.outlet.socket())
    }

    /// Reads what the kernel has said of datagrams that have left. Each flush does so; call this
    /// for the last ones, when the engine has ended.
    pub fn read_reports(&mut self) {
        for port in &mut self.ports {
            let departed = |departure| self.observer.departed(departure);
            port.outlet.read_reports(&mut self.shared, departed);
        }
    }
}

impl<B: AsRef<[u8]>, O: Observer<B>> Sink<Datagram<B>> for UdpSink<B, O> {
    fn start(&mut self, started: Instant) {
        self.shared.times = Times::since(started);
        sys::wake_on_time();
    }

    fn sent(&mut self, dispatch: Dispatch, starts_at: Nanos, datagram: Datagram<B>) {
        let packet = dispatch.packet;
        self.shared.statistics.taken += 1;
        match self.ports.get_mut(datagram.socket) {
            Some(port) => port.waiting.push(Waiting { packet, starts_at, datagram }),
            None => {
                self.shared.statistics.lose(Loss::NoSocket);
                self.observer.lost(packet, datagram, Loss::NoSocket);
            }
        }
    }

    fn dropped(&mut self, packet: Packet, reason: DropReason, datagram: Datagram<B>) {
        self.shared.statistics.dropped += 1;
        self.observer.dropped(packet, reason, datagram);
    }

    fn flush(&mut self) {
        for Port { outlet, waiting } in &mut self.ports {
            if waiting.is_empty() {
                continue;
            }
            outlet.send(waiting, &mut self.shared, &mut self.outcomes);
            for (sent, outcome) in waiting.drain(..).zip(self.outcomes.drain(..)) {
                match outcome {
                    Ok(()) => self.observer.sent(sent.packet, sent.datagram),
                    Err(loss) => {
                        self.shared.statistics.lose(loss);
                        self.observer.lost(sent.packet, sent.datagram, loss);
                    }
                }
            }
        }
        self.read_reports();
    }
}
