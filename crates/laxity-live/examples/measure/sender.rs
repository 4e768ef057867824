//! Who sends frames.

use std::net::Ipv4Addr;

use laxity::units::Nanos;
use laxity_linux::Error;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{BATCH, Backend, Port};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Mmsg, Options};

use crate::place::Place;

/// Where a frame says when it was sent.
const SENT_AT: std::ops::Range<usize> = 44..52;

/// To whom frames go, in turns.
pub(crate) struct Receivers(pub Vec<(Ipv4Addr, u16)>);

impl Receivers {
    /// Each class of the plan by its port.
    pub(crate) fn classes() -> Self {
        Receivers((5000..5004).map(|port| (Ipv4Addr::new(10, 0, 0, 2), port)).collect())
    }
}

/// The lengths of the frames that are sent, in turns, without their checksums.
#[derive(Clone, Copy)]
pub(crate) struct Lengths(pub &'static [usize]);

impl Lengths {
    /// The smallest of Ethernet, 64 bytes with their checksums.
    pub(crate) const SMALLEST: Lengths = Lengths(&[60]);
    /// The "simple IMIX": seven of 64 bytes and four of 594 to one of 1518, with their checksums.
    pub(crate) const IMIX: Lengths =
        Lengths(&[60, 590, 60, 60, 590, 60, 1514, 60, 590, 60, 590, 60]);
}

/// Sends datagrams.
pub(crate) struct Sender {
    sockets: Mmsg,
    frame: [u8; 1514],
    to: Receivers,
    lengths: Lengths,
    sent: usize,
}

impl Sender {
    pub(crate) fn new(place: &Place, to: Receivers, lengths: Lengths) -> Result<Sender, Error> {
        let host: Interface = Place::host(&place.sender)?;
        let open = || Mmsg::among(&[(host, None)], &Options::default());
        Ok(Sender { sockets: place.sender.run(open)??, frame: frame(), to, lengths, sent: 0 })
    }

    /// Sends a batch, and says of how many.
    pub(crate) fn batch(&mut self) -> u64 {
        (0..BATCH).for_each(|_| self.hand_over());
        while self.sockets.flush(Port(0)).expect("sent") > 0 {}
        BATCH as u64
    }

    /// Sends one frame that says when it is sent.
    pub(crate) fn stamped(&mut self) {
        self.frame[SENT_AT].copy_from_slice(&Clock::Realtime.now().0.to_ne_bytes());
        self.hand_over();
        while self.sockets.flush(Port(0)).expect("sent") > 0 {}
    }

    fn hand_over(&mut self) {
        let Receivers(to) = &self.to;
        let (address, port) = to[self.sent % to.len()];
        let Lengths(lengths) = self.lengths;
        let frame = &mut self.frame[..lengths[self.sent % lengths.len()]];
        let datagram = frame.len() as u16 - 14;
        frame[16..18].copy_from_slice(&datagram.to_be_bytes());
        frame[30..34].copy_from_slice(&address.octets());
        frame[36..38].copy_from_slice(&port.to_be_bytes());
        frame[38..40].copy_from_slice(&(datagram - 20).to_be_bytes());
        seal(frame);
        self.sent += 1;
        let pool = self.sockets.pool_mut();
        let place = pool.add(Port(0), frame.len()).expect("all before are sent");
        pool.bytes_mut(place).copy_from_slice(frame);
        self.sockets.send(Port(0), place);
    }
}

/// When the frame was sent, if it is one that says so.
pub(crate) fn sent_at(frame: &[u8]) -> Option<Nanos> {
    Some(Nanos(u64::from_ne_bytes(frame.get(SENT_AT)?.try_into().ok()?)))
}

/// A datagram between addresses that no host here has, still without its length.
fn frame() -> [u8; 1514] {
    let mut frame = [0; 1514];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17]);
    frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
    frame
}

/// Computes the checksum of the header of IP.
fn seal(frame: &mut [u8]) {
    frame[24..26].fill(0);
    let sum =
        (14..34).step_by(2).map(|at| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]])));
    let sum: u32 = sum.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    frame[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
