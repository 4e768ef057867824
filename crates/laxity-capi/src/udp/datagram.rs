//! What crosses for a datagram that is sent.

use std::ffi::c_void;
use std::net::{IpAddr, SocketAddr};

use laxity::deadline_queue::Datagram as Asked;
use laxity::packet::{ClassId, FlowId, Packet};
use laxity_engine::Terms;
use laxity_udp::Datagram;
use socket2::SockAddr;

use super::outgoing::Payload;
use crate::deadline_queue::lx_datagram;
use crate::error::Failure;
use crate::packet::ecn;
use crate::sized::{read_by, sized};
use crate::status::lx_status::*;

/// The most bytes that UDP carries over IPv4 without options.
const LONGEST: u32 = 65_507;

/// A datagram and where it goes. Its bytes are copied once, so that they may be freed at once.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct lx_udp_datagram {
    /// `sizeof(lx_udp_datagram)`.
    pub size: u32,
    /// How many bytes it carries, at most 65 507.
    pub length: u32,
    /// The bytes; may be NULL if there are none.
    pub bytes: *const c_void,
    /// Where it goes: a `struct sockaddr_in` or `struct sockaddr_in6`.
    pub to: *const c_void,
    /// When it is due, when it expires, and its rank, where no plan orders datagrams. `length` and
    /// `handle` of it are not looked at. NULL if it only has a share of what others leave.
    pub terms: *const lx_datagram,
    /// The caller's own mark, which events have.
    pub handle: u64,
    /// The size of what `to` points to.
    pub to_length: u32,
    /// The number of its class, where a plan orders datagrams; else 0.
    pub class_id: u32,
    /// The flow within the class, as the caller numbers it.
    pub flow: u32,
    /// What it takes of the link in bytes; 0 for its length and the headers of UDP and IP, 28 or 48
    /// bytes.
    pub link_length: u32,
    /// The number of the socket that sends it, in the order of the settings.
    pub socket: u32,
    /// The differentiated services code point, 0 to 63. With 0, and no ECN, the socket's own
    /// setting counts.
    pub dscp: u8,
    /// An `lx_ecn`: the two bits of the IP header.
    pub ecn: u8,
    /// Zero.
    pub reserved: u16,
}

sized! {
    lx_udp_datagram = 64, "datagram";
}

impl lx_udp_datagram {
    /// The datagram as the engine takes it, for a sink of this many sockets.
    ///
    /// # Safety
    /// Its pointers are NULL or point to what stands beside them.
    pub(super) unsafe fn checked(
        &self,
        sockets: u32,
    ) -> Result<(Packet, Datagram<Payload>), Failure> {
        // SAFETY: as the caller promises.
        let (bytes, to, asked) = unsafe { (self.payload()?, self.destination()?, self.terms()?) };
        if self.socket >= sockets {
            let message = format!("there is no socket {}: there are {sockets}", self.socket);
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        if self.dscp > 63 || self.reserved != 0 {
            let message = format!(
                "the datagram's dscp is {} and its reserved {}: dscp is 0 to 63, reserved 0",
                self.dscp, self.reserved
            );
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        let Some(ecn) = ecn(self.ecn) else {
            let message = format!("the datagram's ecn is {}: it is an lx_ecn", self.ecn);
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        };
        let headers = if matches!(to.ip().to_canonical(), IpAddr::V4(_)) { 28 } else { 48 };
        let packet = Packet {
            class: ClassId(self.class_id),
            flow: FlowId(self.flow),
            length: if self.link_length == 0 { self.length + headers } else { self.link_length },
            ecn,
            handle: self.handle,
            ..Packet::default()
        };
        let Asked { rank, deadline, expires, .. } = asked;
        let terms = Terms { deadline, expires, rank };
        let (socket, dscp) = (self.socket as usize, self.dscp);
        Ok((packet, Datagram { socket, dscp, terms, ..Datagram::new(Payload::copied(bytes), to) }))
    }

    /// # Safety
    /// As for [`checked`](Self::checked).
    unsafe fn payload(&self) -> Result<&[u8], Failure> {
        if self.length > LONGEST {
            let message = format!("the datagram has {} bytes: at most {LONGEST}", self.length);
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        }
        if self.length == 0 {
            return Ok(&[]);
        }
        if self.bytes.is_null() {
            return Err(Failure::new(LX_ERR_NULL, "the datagram's bytes are NULL"));
        }
        // SAFETY: as the caller promises.
        Ok(unsafe { std::slice::from_raw_parts(self.bytes.cast(), self.length as usize) })
    }

    /// # Safety
    /// As for [`checked`](Self::checked).
    unsafe fn destination(&self) -> Result<SocketAddr, Failure> {
        if self.to.is_null() {
            return Err(Failure::new(LX_ERR_NULL, "the datagram's destination is NULL"));
        }
        let from = self.to.cast::<u8>();
        // SAFETY: what is copied is there, as the caller promises, and fits.
        let read = unsafe {
            SockAddr::try_init(|storage, length| {
                *length = self.to_length.min(*length);
                storage.cast::<u8>().copy_from_nonoverlapping(from, *length as usize);
                Ok(())
            })
        };
        // An address that ends early has no port, or no end of its host.
        let least = |to: &SocketAddr| if to.is_ipv4() { 16 } else { 28 };
        let to = read.ok().and_then(|((), to)| to.as_socket());
        to.filter(|to| self.to_length >= least(to)).ok_or_else(|| {
            let message = "the datagram's destination is no struct sockaddr_in or sockaddr_in6";
            Failure::new(LX_ERR_ARGUMENT, message)
        })
    }

    /// # Safety
    /// As for [`checked`](Self::checked).
    unsafe fn terms(&self) -> Result<Asked, Failure> {
        if self.terms.is_null() {
            return Ok(Asked::default());
        }
        // SAFETY: as the caller promises.
        unsafe { read_by(self.terms, lx_datagram::terms) }?
    }
}
