//! What interfaces do by themselves: offloads, queues, drivers.

use std::ffi::{CStr, c_char};
use std::io;
use std::os::fd::AsRawFd;

use crate::error::{Doing, Error, refused};
use crate::sys::{self, Plain, done, plain, zeroed};

/// Work that an interface or the kernel in front of it does on many packets at once. A forwarder
/// wants it off where packets are to be scheduled one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offload {
    /// Checksums are filled in at the very end: frames that are captured before have none yet.
    TransmitChecksums,
    /// TCP hands over up to 64 kB, which the interface cuts.
    TcpSegmentation,
    /// The same, cut by the kernel.
    Segmentation,
    /// Packets that arrive in a row are joined.
    Receive,
}

impl Offload {
    /// Every one.
    pub const ALL: [Offload; 4] = [
        Offload::TransmitChecksums,
        Offload::TcpSegmentation,
        Offload::Segmentation,
        Offload::Receive,
    ];

    /// As `ethtool -K` calls it.
    pub fn name(self) -> &'static str {
        self.names().0
    }

    /// As `ethtool -K` calls it, and `ETHTOOL_G...`; the one that sets it is the next number.
    fn names(self) -> (&'static str, u32) {
        match self {
            Offload::TransmitChecksums => ("tx", 0x16),
            Offload::TcpSegmentation => ("tso", 0x1e),
            Offload::Segmentation => ("gso", 0x23),
            Offload::Receive => ("gro", 0x2b),
        }
    }
}

/// Whether the interface does this.
pub fn offload(interface: &str, which: Offload) -> Result<bool, Error> {
    let mut value = Value { command: which.names().1, value: 0 };
    let asked = call(interface, &mut value);
    asked.doing(format!("ask {interface} for its offload {}", which.name()))?;
    Ok(value.value != 0)
}

/// Lets the interface do this or not.
///
/// # Errors
/// Without `CAP_NET_ADMIN`, or if the interface's driver cannot change it.
pub fn set_offload(interface: &str, which: Offload, on: bool) -> Result<(), Error> {
    if offload(interface, which)? == on {
        return Ok(());
    }
    let mut value = Value { command: which.names().1 + 1, value: on.into() };
    let word = if on { "on" } else { "off" };
    let what = format!("turn {} {word} at {interface}", which.name());
    call(interface, &mut value).privileged(&what, "CAP_NET_ADMIN")?;
    if offload(interface, which)? == on {
        return Ok(());
    }
    Err(refused(what, "its driver does not change it"))
}

/// The interface's driver, such as `veth`.
pub fn driver(interface: &str) -> Result<String, Error> {
    let mut info = zeroed::<DriverInfo>();
    info.command = 0x03;
    call(interface, &mut info).doing(format!("ask {interface} for its driver"))?;
    let name = CStr::from_bytes_until_nul(&info.driver).unwrap_or_default();
    Ok(name.to_string_lossy().into_owned())
}

/// How many bits a second the interface carries, if it says so.
pub fn speed(interface: &str) -> Option<u64> {
    let mut settings = zeroed::<LinkSettings>();
    settings.command = 0x01;
    call(interface, &mut settings).ok()?;
    let megabits = u32::from(settings.speed) | u32::from(settings.speed_high) << 16;
    // All ones where it does not know.
    let is_known = megabits > 0 && megabits != u32::MAX && megabits != u32::from(u16::MAX);
    is_known.then(|| u64::from(megabits) * 1_000_000)
}

/// In how many queues frames arrive, if the interface says so; it may use fewer than it has.
pub(super) fn receive_queues(interface: &str) -> Option<u32> {
    let mut channels = zeroed::<Channels>();
    channels.command = 0x3c;
    call(interface, &mut channels).ok()?;
    let [receive, _transmit, _other, combined] = channels.count;
    Some(receive.saturating_add(combined)).filter(|queues| *queues > 0)
}

#[derive(Clone, Copy)]
#[repr(C)]
struct Value {
    command: u32,
    value: u32,
}

/// `struct ethtool_drvinfo`.
#[derive(Clone, Copy)]
#[repr(C)]
struct DriverInfo {
    command: u32,
    driver: [u8; 32],
    version: [u8; 32],
    firmware: [u8; 32],
    bus: [u8; 32],
    reserved: [u8; 44],
    lengths: [u32; 5],
}

/// `struct ethtool_channels`: for each kind, receive, transmit, other and combined.
#[derive(Clone, Copy)]
#[repr(C)]
struct Channels {
    command: u32,
    most: [u32; 4],
    count: [u32; 4],
}

/// `struct ethtool_cmd`.
#[derive(Clone, Copy)]
#[repr(C)]
struct LinkSettings {
    command: u32,
    supported: u32,
    advertised: u32,
    speed: u16,
    port: [u8; 6],
    most: [u32; 2],
    speed_high: u16,
    wiring: [u8; 2],
    partner: u32,
    reserved: [u32; 2],
}

const _: () = assert!(size_of::<LinkSettings>() == 44);

plain!(Value, DriverInfo, Channels, LinkSettings);

/// `SIOCETHTOOL`.
fn call<T: Plain>(interface: &str, argument: &mut T) -> io::Result<()> {
    let mut name: [c_char; libc::IFNAMSIZ] = [0; libc::IFNAMSIZ];
    if interface.len() >= name.len() {
        return Err(io::Error::from_raw_os_error(libc::ENODEV));
    }
    for (place, byte) in name.iter_mut().zip(interface.bytes()) {
        *place = byte as c_char;
    }
    let data = std::ptr::from_mut(argument).cast();
    let request =
        libc::ifreq { ifr_name: name, ifr_ifru: libc::__c_anonymous_ifr_ifru { ifru_data: data } };
    let socket = sys::socket(libc::AF_INET, libc::SOCK_DGRAM, 0)?;
    // SAFETY: the request carries a name that ends in a zero, and points to the argument, which is
    // of the kind and size that its command asks for.
    done(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL, &request) })
}
