//! What is done with the frames of a router.

use std::ops::Range;

use laxity::packet::Ecn;
use laxity::units::Nanos;
use laxity_forward::ds;
use laxity_forward::router::{Departure, Marking, Outside, RouterEvent, marks};
use laxity_forward::segment::{self, Offload};
use laxity_linux::frames::{Backend, Handle, Port};

use super::super::measurement::{Fate, FrameRecord, HostEvent};
use super::super::passage::{Passage, digest};
use crate::worker::Teller;

/// A port at the backend.
pub(super) struct HostPort {
    pub mac: [u8; 6],
    /// The port at the other end of the link, if that is here, too.
    pub peer: Option<Port>,
}

/// The frames that were skipped by any port, each counted once.
#[derive(Debug, Default)]
pub(super) struct Skips {
    until: u64,
}

impl Skips {
    /// How many of these are new; ports tell of frames in about their order.
    pub(super) fn add(&mut self, frames: Range<u64>) -> u64 {
        let new = frames.end.saturating_sub(frames.start.max(self.until));
        self.until = self.until.max(frames.end);
        new
    }
}

/// The frames of one router.
pub(super) struct RouterFrames<'a, B> {
    pub backend: &'a mut B,
    pub ports: &'a [HostPort],
    pub passages: &'a mut [Passage],
    pub skips: &'a mut Skips,
    pub outgoing: &'a mut Vec<Outgoing>,
    /// Its first port at the backend.
    pub first: Port,
    pub now: Nanos,
    pub teller: &'a mut Teller<HostEvent>,
}

/// Something that is handed over and about to leave.
pub(super) struct Outgoing {
    pub port: Port,
    pub digest: u64,
    /// Its frame, and when that ends.
    pub due: Option<(u64, Nanos)>,
    pub is_framed: bool,
    pub start: Nanos,
    pub departure: Nanos,
    /// What is known of it; nothing of padding.
    pub passage: Option<Passage>,
}

impl<B: Backend> Outside for RouterFrames<'_, B> {
    fn event(&mut self, event: &RouterEvent) {
        match event {
            RouterEvent::Sent(sent) => self.send(sent),
            RouterEvent::Padded { port, mark, start, due, frame } => {
                let port = self.port(*port);
                let padding = marks::padding(*mark, self.ports[port.index()].mac);
                // Without room a frame is silent, which the other end bears.
                let Some(handle) = self.backend.pool_mut().add(port, padding.len()) else { return };
                self.backend.pool_mut().bytes_mut(handle).copy_from_slice(&padding);
                self.backend.send(port, handle);
                self.outgoing.push(Outgoing {
                    port,
                    digest: 0,
                    due: Some((*frame, *due)),
                    is_framed: true,
                    start: *start,
                    departure: *start,
                    passage: None,
                });
            }
            RouterEvent::Nonconforming { class } => {
                self.teller.tell(HostEvent::Nonconforming(*class))
            }
            RouterEvent::Dropped { packet, reason } => {
                let handle = Handle(packet.handle as u32);
                let mut passage = self.passages[handle.0 as usize];
                passage.class = packet.class;
                passage.is_demoted |= packet.demoted;
                self.record(
                    FrameRecord {
                        port: self.backend.pool().port(handle),
                        class: packet.class,
                        time: self.now,
                        delay: self.now.saturating_sub(passage.arrival),
                        dropped: Some(*reason),
                        is_demoted: passage.is_demoted,
                        is_late: false,
                    },
                    handle,
                );
                self.backend.release(handle);
                self.teller.tell(HostEvent::Ended(passage, Fate::Dropped(*reason)));
            }
            RouterEvent::Taken { handle } => {
                let handle = Handle(*handle as u32);
                let passage = self.passages[handle.0 as usize];
                self.backend.release(handle);
                if passage.has_left {
                    self.teller.tell(HostEvent::Ended(passage, Fate::Taken));
                }
            }
            RouterEvent::Skipped { frames, .. } => {
                let frames = self.skips.add(frames.clone());
                self.teller.tell(HostEvent::Skipped(frames));
            }
        }
    }

    fn copy(&mut self, handle: u64) -> Option<u64> {
        let from = Handle(handle as u32);
        let pool = self.backend.pool();
        let (at, bytes) = (pool.port(from), pool.bytes(from).to_vec());
        let offload = Offload::from_header(pool.undone(from).bytes());
        let copy = self.backend.pool_mut().add(at, bytes.len())?;
        let into = self.backend.pool_mut().bytes_mut(copy);
        into.copy_from_slice(&bytes);
        if let Some((start, offset)) = offload.checksum {
            segment::complete(into, start, offset);
        }
        self.passages[copy.0 as usize] = self.passages[from.0 as usize];
        Some(copy.0.into())
    }
}

impl<B: Backend> RouterFrames<'_, B> {
    /// A port of the router, as the backend numbers it.
    fn port(&self, port: usize) -> Port {
        Port(self.first.0 + port as u16)
    }

    /// Tells a frame, if frames are captured.
    fn record(&mut self, record: FrameRecord, handle: Handle) {
        if self.teller.captures() {
            let frame = || Some(self.backend.pool().bytes(handle));
            self.teller.tell_with(HostEvent::Frame(record), frame);
        }
    }

    fn send(&mut self, sent: &Departure) {
        let (port, handle) = (self.port(sent.port), Handle(sent.packet.handle as u32));
        let bytes = self.backend.pool_mut().bytes_mut(handle);
        match sent.mark {
            Marking::Leave => {}
            Marking::Clear => drop(marks::write(bytes, None)),
            Marking::Write(mark) => drop(marks::write(bytes, Some(mark))),
            Marking::Wash => ds::wash(bytes),
        }
        if sent.packet.ecn == Ecn::Experienced {
            ds::experience(bytes);
        }
        let digest = match self.ports[port.index()].peer {
            Some(_) => digest(bytes),
            None => 0,
        };
        let mut passage = self.passages[handle.0 as usize];
        (passage.class, passage.length) = (sent.packet.class, sent.packet.length);
        passage.is_demoted |= sent.packet.demoted;
        let has_none = sent.is_framed && sent.frame.is_none();
        passage.is_disturbed |= has_none || sent.is_late();
        self.record(
            FrameRecord {
                port,
                class: passage.class,
                time: sent.start,
                delay: sent.departure.saturating_sub(passage.arrival),
                dropped: None,
                is_demoted: passage.is_demoted,
                is_late: sent.is_late(),
            },
            handle,
        );
        self.backend.send(port, handle);
        self.outgoing.push(Outgoing {
            port,
            digest,
            due: sent.frame.zip(sent.due).filter(|_| !sent.is_late()),
            is_framed: sent.is_framed,
            start: sent.start,
            departure: sent.departure,
            passage: Some(passage),
        });
    }
}
