//! Who sends the smallest frames.

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

/// Sends datagrams of 64 bytes.
pub(crate) struct Sender {
    sockets: Mmsg,
    frame: [u8; 60],
    to: Receivers,
    sent: usize,
}

impl Sender {
    pub(crate) fn new(place: &Place, to: Receivers) -> Result<Sender, Error> {
        let host: Interface = Place::host(&place.sender)?;
        let open = || Mmsg::among(&[(host, None)], &Options::default());
        Ok(Sender { sockets: place.sender.run(open)??, frame: frame(), to, sent: 0 })
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
        self.frame[30..34].copy_from_slice(&address.octets());
        self.frame[36..38].copy_from_slice(&port.to_be_bytes());
        seal(&mut self.frame);
        self.sent += 1;
        let pool = self.sockets.pool_mut();
        let place = pool.add(Port(0), self.frame.len()).expect("all before are sent");
        pool.bytes_mut(place).copy_from_slice(&self.frame);
        self.sockets.send(Port(0), place);
    }
}

/// When the frame was sent, if it is one that says so.
pub(crate) fn sent_at(frame: &[u8]) -> Option<Nanos> {
    Some(Nanos(u64::from_ne_bytes(frame.get(SENT_AT)?.try_into().ok()?)))
}

/// A datagram of 60 bytes, 64 with the checksum of the frame, between addresses that no host here
/// has.
fn frame() -> [u8; 60] {
    let mut frame = [0; 60];
    frame[..12].copy_from_slice(&[2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
    frame[12..24].copy_from_slice(&[8, 0, 0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    frame[26..30].copy_from_slice(&[10, 0, 0, 1]);
    frame[38..40].copy_from_slice(&26_u16.to_be_bytes());
    frame
}

/// Computes the checksum of the header of IP.
fn seal(frame: &mut [u8; 60]) {
    frame[24..26].fill(0);
    let sum =
        (14..34).step_by(2).map(|at| u32::from(u16::from_be_bytes([frame[at], frame[at + 1]])));
    let sum: u32 = sum.sum();
    let folded = (sum & 0xffff) + (sum >> 16);
    let folded = (folded & 0xffff) + (folded >> 16);
    frame[24..26].copy_from_slice(&(!(folded as u16)).to_be_bytes());
}
