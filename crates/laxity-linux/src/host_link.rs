//! Frames between the host's own stack and one of its interfaces.
//!
//! The interface keeps its addresses, and the host its routes, firewall and connections. A program
//! at the interface's egress takes each frame to a TAP device, from which it is received; it is
//! sent by a packet socket, whose frames the program lets pass. If what arrives is to be taken,
//! too, a program at its ingress takes frames to a second TAP device. They are sent by being
//! written to the first one, whose program has them arrive at the interface again, where they now
//! pass.
//!
//! ```text
//! stack ── egress ─> laxity0 ─ receive A ...... send B ─ packet socket ── egress ─> wire
//! stack <─ ingress ─ laxity0 ──── send A ...... receive B ─ laxity1 <── ingress ── wire
//! ```
//!
//! The devices are gone, and the programs with them, when their descriptors are closed, however the
//! process ends: then frames pass as before. It takes links of programs at traffic control (tcx),
//! which kernels have from 6.6 on.
//!
//! Opening needs `CAP_NET_ADMIN`, `CAP_BPF` and `CAP_NET_RAW`; later nothing does: an interface
//! that comes back gets its programs anew from a thread that may do nothing else.

mod attachment;
mod prefix;
mod program;
mod tap_device;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};

use laxity::units::Nanos;

use crate::bpf::NEEDS;
use crate::error::{Doing, Error, refused};
use crate::frames::{BATCH, Backend, Handle, Pool, Port, Side, Statistics, VnetHeader};
use crate::interface::{Interface, LinkHeader};
use crate::packet::{self, PLACE, Transmitter};
use crate::sys;
use attachment::{Attachment, Hook, Programs};
use prefix::Prefix;
use program::{Destination, Scheduled};
use tap_device::TapDevice;

/// Frames between the host, side A, and the wire behind one of its interfaces, side B.
#[derive(Debug)]
pub struct HostLink {
    // Frames pass before the devices are gone that they would be taken to.
    attachment: Attachment,
    interface: Interface,
    /// Takes what the host sends; what is written to it the host receives.
    host: TapDevice,
    /// Takes what arrives, if that is to be taken.
    wire: Option<TapDevice>,
    transmitter: Transmitter,
    /// Frames that are to be received by the host.
    returning: VecDeque<Handle>,
    pool: Pool,
    magic: u64,
    /// By side; what is sent to the wire the transmitter counts.
    statistics: [Statistics; 2],
}

/// Where a frame is read to in its place: what is undone comes first, then its prefix.
const START: usize = VnetHeader::SIZE;

const _: () = assert!(PLACE >= START + Prefix::LONGEST + 65_535 + 14 + 14 + 8);

impl HostLink {
    /// Gets ready to take what the host sends at the interface, and what arrives there as well if
    /// `arriving`, in the network namespace of the calling thread. Frames pass as before until it
    /// [takes hold](Backend::take_hold). `options` are those of the socket that sends,
    /// and how many frames there is room for. What sockets with the numbers of `passing` send is
    /// not taken, such as [probes](crate::ping::Pinger::cookies).
    ///
    /// # Errors
    /// Without the capabilities, or if frames at the interface begin with a header that is not
    /// known.
    pub fn open(
        interface: &Interface,
        arriving: bool,
        options: &packet::Options,
        passing: &[u64],
    ) -> Result<Self, Error> {
        let name = &interface.name;
        if interface.header == LinkHeader::Other {
            let why = "its frames begin neither with an Ethernet header nor with a packet of IP";
            return Err(refused(format!("take what is sent at {name}"), why));
        }
        let host = TapDevice::new()?;
        let wire = arriving.then(TapDevice::new).transpose()?;
        let transmitter = Transmitter::open(interface, options)?;
        let [magic, mark] = [(); 2].map(|()| sys::random());
        let is_ethernet = interface.header == LinkHeader::Ethernet;
        let to =
            |device: &TapDevice| Destination { tap: device.interface().index, magic, is_ethernet };
        let loaded = || {
            let sockets = [&transmitter.cookies()?, passing].concat();
            let sent = Scheduled::Sockets(&sockets);
            let mut own = vec![(Hook::Egress, program::taking(sent, to(&host))?)];
            let mut returning = None;
            if let Some(wire) = &wire {
                // None has the mark 0 that most frames have.
                let mark = mark as u32 | 1;
                own.push((Hook::Ingress, program::taking(Scheduled::Mark(mark), to(wire))?));
                let map = program::arrival_map()?;
                returning =
                    Some((host.interface().index, program::returning(map.as_fd(), mark)?, map));
            }
            Ok(Programs { own, returning })
        };
        let programs = loaded().privileged(format!("load programs for {name}"), NEEDS)?;
        Ok(HostLink {
            attachment: Attachment::start(programs).doing("start a thread")?,
            interface: interface.clone(),
            host,
            wire,
            transmitter,
            returning: VecDeque::with_capacity(BATCH),
            pool: Pool::new(2, options.frames, PLACE)?.with_origins(),
            magic,
            statistics: [Statistics::default(); 2],
        })
    }

    /// The device by which what the host sends is taken.
    pub fn host_device(&self) -> &Interface {
        self.host.interface()
    }

    fn device(&self, at: Port) -> Option<&TapDevice> {
        if at == Side::A.into() { Some(&self.host) } else { self.wire.as_ref() }
    }

    /// Reads a frame into a place. `None` if what was read is none of the interface's, but one that
    /// the host sends at the device itself.
    ///
    /// # Errors
    /// What reading says, such as that there is no frame.
    fn read(&mut self, at: Port, place: Handle) -> io::Result<Option<Handle>> {
        let Some(device) = self.device(at) else { return Err(io::ErrorKind::WouldBlock.into()) };
        let first = self.pool.room_at(place);
        // SAFETY: the place has this many bytes, which were zero at first, and is the backend's
        // alone.
        let bytes = unsafe { std::slice::from_raw_parts_mut(first, PLACE) };
        let read = device.read(bytes)?;
        let Some((undone, frame)) =
            bytes.get(..read).and_then(|bytes| bytes.split_first_chunk::<{ VnetHeader::SIZE }>())
        else {
            return Ok(None);
        };
        let prefix = Prefix::read(frame, self.magic);
        let Some(Prefix { tag, length, origin }) = prefix else { return Ok(None) };
        if frame.len() < length + Pool::ADDRESSES {
            return Ok(None);
        }
        let (start, rest) = (START + length, frame.len() - length);
        let undone = VnetHeader::received(*undone).without(length as u16);
        self.pool.hold(place, start, rest, undone, Nanos(0));
        self.pool.set_origin(place, origin);
        if let Some(tag) = tag {
            self.pool.insert_tag(place, tag);
        }
        Ok(Some(place))
    }

    /// Has the host receive what it is to receive.
    fn give_back(&mut self) {
        let statistics = &mut self.statistics[Side::A.index()];
        for frame in self.returning.drain(..) {
            let (start, length, undone) = self.pool.extent(frame);
            let before = start - VnetHeader::SIZE;
            // SAFETY: every frame has room for this much before it within its place, which is the
            // backend's alone.
            let bytes = unsafe {
                let first = self.pool.room_at(frame).add(before);
                std::slice::from_raw_parts_mut(first, VnetHeader::SIZE + length)
            };
            bytes[..VnetHeader::SIZE].copy_from_slice(undone.bytes());
            match self.host.write(bytes) {
                Ok(()) => statistics.sent += 1,
                Err(_) => statistics.refused += 1,
            }
            self.pool.put_back(frame);
        }
    }
}

impl Backend for HostLink {
    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn pool_mut(&mut self) -> &mut Pool {
        &mut self.pool
    }

    fn receive(&mut self, at: impl Into<Port>, into: &mut Vec<Handle>) -> io::Result<usize> {
        let at = at.into();
        let mut count = 0;
        while count < BATCH
            && let Some(place) = self.pool.take(at)
        {
            match self.read(at, place) {
                Ok(Some(frame)) => {
                    into.push(frame);
                    count += 1;
                }
                Ok(None) => self.pool.put_back(place),
                Err(error) => {
                    self.pool.put_back(place);
                    match error.kind() {
                        io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted => break,
                        _ => return Err(error),
                    }
                }
            }
        }
        self.statistics[at.index()].received += count as u64;
        Ok(count)
    }

    fn send(&mut self, at: impl Into<Port>, frame: Handle) {
        let is_to_host = at.into() == Side::A.into();
        if !is_to_host && self.interface.header == LinkHeader::None {
            self.pool.strip(frame, prefix::ETHERNET as u16);
        }
        self.pool.hand_over(frame);
        if is_to_host {
            self.returning.push_back(frame);
        } else {
            self.transmitter.queue(frame);
        }
    }

    fn flush(&mut self, at: impl Into<Port>) -> io::Result<usize> {
        if at.into() == Side::B.into() {
            return self.transmitter.flush(&mut self.pool);
        }
        self.give_back();
        Ok(0)
    }

    /// # Errors
    /// On a kernel before 6.6; if the interface is gone.
    fn take_hold(&mut self) -> Result<(), Error> {
        let Interface { index, name, .. } = &self.interface;
        let attached = self.attachment.attach(*index);
        attached.privileged(format!("attach programs to {name}"), NEEDS).map_err(
            |error| match error.cause().raw_os_error() {
                Some(libc::EINVAL) => error.with_hint("it takes Linux 6.6 or newer"),
                _ => error,
            },
        )
    }

    fn let_go(&mut self) -> bool {
        // A thread that has ended has taken its programs with it.
        let _ = self.attachment.detach();
        true
    }

    fn descriptors(&self, at: impl Into<Port>) -> impl Iterator<Item = BorrowedFd<'_>> {
        self.device(at.into()).map(AsFd::as_fd).into_iter()
    }

    fn statistics(&mut self, at: impl Into<Port>) -> io::Result<Statistics> {
        let at = at.into();
        let own = self.statistics[at.index()];
        if at == Side::A.into() {
            return Ok(Statistics { missed: self.host.missed()?, ..own });
        }
        let missed = self.wire.as_mut().map(TapDevice::missed).transpose()?.unwrap_or_default();
        let Statistics { received, .. } = own;
        Ok(Statistics { received, missed, ..self.transmitter.statistics() })
    }

    /// # Errors
    /// If it is the host's side, whose device does not come back; if frames begin with another
    /// header at the interface; if the kernel refuses the programs.
    fn reattach(&mut self, at: impl Into<Port>, to: &Interface) -> Result<(), Error> {
        let what = || format!("go on with the interface {}", to.name);
        if at.into() == Side::A.into() {
            return Err(refused(what(), "it is not the device that was made at the start"));
        }
        if to.header != self.interface.header {
            return Err(refused(what(), "its frames begin with another header than before"));
        }
        self.transmitter.reattach(to.index).doing(what())?;
        self.interface = to.clone();
        self.take_hold()
    }
}
