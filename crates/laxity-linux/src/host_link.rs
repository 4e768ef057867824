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
//! process ends: then frames pass as before. That takes links of programs at traffic control (tcx),
//! which kernels have from 6.6 on. On an older one, from 5.12 on, the programs are filters of
//! a qdisc `clsact`. They pass every frame as soon as the device is gone, and a second process, the
//! [guardian](guard), takes them off.
//!
//! Opening needs `CAP_NET_ADMIN`, `CAP_BPF` and `CAP_NET_RAW`; later nothing does: an interface
//! that comes back gets its programs anew from a thread that may do nothing else, or from the
//! guardian.

mod attachment;
mod clsact;
mod filters;
mod links;
mod prefix;
mod program;
mod tap_device;

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;

use laxity::units::Nanos;

use crate::bpf::NEEDS;
use crate::error::{Doing, Error, refused};
use crate::frames::{BATCH, Backend, Handle, Pool, Port, Side, Statistics, VnetHeader};
use crate::interface::{Interface, LinkHeader};
use crate::packet::{self, PLACE, Transmitter};
use crate::sys;
use attachment::{Attachment, Hook, Programs};
use filters::Filters;
use links::Links;
use prefix::Prefix;
use program::{Destination, Scheduled};
use tap_device::TapDevice;

pub use filters::guard;

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

/// How programs get to the interface.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever knows the command")]
pub struct Hooks {
    /// Starts a process that calls [`guard`]; only used without tcx.
    pub guardian: Command,
    /// Goes without tcx even where the kernel has it.
    pub without_tcx: bool,
}

/// Where a frame is read to in its place: what is undone comes first, then its prefix.
const START: usize = VnetHeader::SIZE;

/// Before this one, a program could make no frame longer than the interface's MTU (Linux
/// 6306c1189e77).
const FILTERS_SINCE: [u32; 2] = [5, 12];

const _: () = assert!(PLACE >= START + Prefix::LONGEST + 65_535 + 14 + 14 + 8);

impl HostLink {
    /// Gets ready to take what the host sends at the interface, and what arrives there as well if
    /// `arriving`, in the network namespace of the calling thread. Frames pass as before until it
    /// [takes hold](Backend::take_hold). `options` are those of the socket that sends,
    /// and how many frames there is room for. What sockets with the numbers of `passing` send is
    /// not taken, such as [probes](crate::ping::Pinger::cookies).
    ///
    /// # Errors
    /// Without the capabilities, on a kernel before 5.12, or if frames at the interface begin with
    /// a header that is not known.
    pub fn open(
        interface: &Interface,
        arriving: bool,
        options: &packet::Options,
        passing: &[u64],
        hooks: Hooks,
    ) -> Result<Self, Error> {
        let name = &interface.name;
        if interface.header == LinkHeader::Other {
            let why = "its frames begin neither with an Ethernet header nor with a packet of IP";
            return Err(refused(format!("take what is sent at {name}"), why));
        }
        let host = TapDevice::new()?;
        let wire = arriving.then(TapDevice::new).transpose()?;
        let transmitter = Transmitter::open(interface, options)?;
        let tap = host.interface().index;
        let load = || format!("load programs for {name}");
        let has_tcx = !hooks.without_tcx && links::has_tcx(tap).privileged(load(), NEEDS)?;
        if !has_tcx && kernel_version().is_some_and(|version| version < FILTERS_SINCE) {
            return Err(refused(load(), "it takes Linux 5.12 or newer"));
        }
        let [magic, mark] = [(); 2].map(|()| sys::random());
        let program = |scheduled: Scheduled<'_>, device: &TapDevice| {
            let tap = device.interface().index;
            let map = if has_tcx { None } else { Some(program::presence(tap)?) };
            let is_ethernet = interface.header == LinkHeader::Ethernet;
            let presence = map.as_ref().map(AsFd::as_fd);
            program::taking(scheduled, Destination { tap, magic, is_ethernet, presence })
        };
        let loaded = || {
            let sockets = [&transmitter.cookies()?, passing].concat();
            let sent = Scheduled::Sockets(&sockets);
            let mut own = vec![(Hook::Egress, program(sent, &host)?)];
            let mut returning = None;
            if let Some(wire) = &wire {
                // None has the mark 0 that most frames have.
                let mark = mark as u32 | 1;
                own.push((Hook::Ingress, program(Scheduled::Mark(mark), wire)?));
                let map = program::arrival_map()?;
                returning = Some((program::returning(map.as_fd(), mark)?, map));
            }
            Ok(Programs { own, returning, tap })
        };
        let programs = loaded().privileged(load(), NEEDS)?;
        let attachment = if has_tcx {
            Attachment::Links(Links::start(programs).doing("start a thread")?)
        } else {
            let filters = Filters::start(hooks.guardian, &programs);
            Attachment::Filters(filters.doing("start the guardian of the interface")?)
        };
        Ok(HostLink {
            attachment,
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

    fn limit_queue(&mut self, at: impl Into<Port>, bytes: u32) -> io::Result<()> {
        if at.into() == Side::B.into() { self.transmitter.limit_queue(bytes) } else { Ok(()) }
    }

    fn holding(&self, at: impl Into<Port>) -> Nanos {
        if at.into() == Side::B.into() { self.transmitter.holding() } else { Nanos::ZERO }
    }

    fn is_refused(&self, at: impl Into<Port>) -> bool {
        at.into() == Side::B.into() && self.transmitter.is_refused()
    }

    /// # Errors
    /// If the interface is gone, or has filters that are in the way.
    fn take_hold(&mut self) -> Result<(), Error> {
        let Interface { index, name, .. } = &self.interface;
        let attached = self.attachment.attach(*index);
        attached.privileged(format!("attach programs to {name}"), NEEDS).map_err(hinted)
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

/// The first two numbers of the kernel's version, if it says them.
fn kernel_version() -> Option<[u32; 2]> {
    let release = std::fs::read_to_string("/proc/sys/kernel/osrelease").ok()?;
    let mut numbers = release.split(|at: char| !at.is_ascii_digit()).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

/// What helps where programs are refused.
fn hinted(error: Error) -> Error {
    match error.cause().raw_os_error() {
        Some(libc::EEXIST) => error.with_hint(
            "before Linux 6.6 they take the place of its qdisc `ingress`: take that off first, and \
             whatever made it",
        ),
        Some(libc::EBUSY) => error.with_hint(
            "before Linux 6.6 they are filters of priority 1, which others have: give those \
             a higher number",
        ),
        _ => error,
    }
}
