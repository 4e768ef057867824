//! Namespaces for tests, cables whose ends the test holds itself, and a bridge without a scheduler.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::wait::Waiter;
use laxity_linux::xdp::{self, Xdp};

/// A namespace with nothing in it. None where that is not allowed, and then it says so.
pub fn namespace() -> Option<Namespace> {
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error) if error.is_permission() => {
            eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// An interface whose other end is in the test's hand, byte for byte.
pub struct Tap {
    file: File,
}

impl Tap {
    pub fn new(within: &Namespace, name: &str, mtu: u32) -> Tap {
        Tap::of_kind(within, name, mtu, libc::IFF_TAP | libc::IFF_NO_PI)
    }

    /// One whose frames come with ten bytes before them that say what is still to do,
    /// `struct virtio_net_hdr`.
    pub fn unfinished(within: &Namespace, name: &str, mtu: u32) -> Tap {
        let kind = libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR;
        Tap::of_kind(within, name, mtu, kind)
    }

    /// One whose packets have no header of a link.
    pub fn tunnel(within: &Namespace, name: &str, mtu: u32) -> Tap {
        Tap::of_kind(within, name, mtu, libc::IFF_TUN | libc::IFF_NO_PI)
    }

    fn of_kind(within: &Namespace, name: &str, mtu: u32, kind: libc::c_int) -> Tap {
        let file = within.run(|| {
            // The kernel's own frames would come in between.
            std::fs::write("/proc/sys/net/ipv6/conf/default/disable_ipv6", "1").expect("written");
            Tap::open(name, kind).expect("a tap")
        });
        within.mtu(name, mtu).expect("its MTU");
        within.switch(name, true).expect("up");
        Tap { file: file.expect("entered") }
    }

    fn open(name: &str, kind: libc::c_int) -> io::Result<File> {
        let file = File::options().read(true).write(true).open("/dev/net/tun")?;
        // SAFETY: zeros are a name of no bytes and no flags.
        let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
        for (place, byte) in request.ifr_name.iter_mut().zip(name.bytes()) {
            *place = byte as libc::c_char;
        }
        request.ifr_ifru.ifru_flags = kind as i16;
        // SAFETY: this takes a name that ends in a zero, and flags.
        match unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF, &request) } {
            0 => Ok(file),
            _ => Err(io::Error::last_os_error()),
        }
    }

    pub fn write(&self, frame: &[u8]) {
        assert_eq!((&self.file).write(frame).expect("written"), frame.len());
    }

    /// Writes a frame, unless the interface is down.
    pub fn try_write(&self, frame: &[u8]) {
        let _down = (&self.file).write(frame);
    }

    /// The next frame that comes out, if one does within a second.
    pub fn read(&self) -> Option<Vec<u8>> {
        let until = Clock::Monotonic.now() + Nanos(1_000_000_000);
        self.read_until(until)
    }

    pub fn read_until(&self, until: Nanos) -> Option<Vec<u8>> {
        let mut waiter = Waiter::default();
        waiter.wait([self.file.as_fd()], Some(until)).expect("waited");
        let mut frame = vec![0; 70_000];
        let length = waiter.is_ready(0).then(|| (&self.file).read(&mut frame).expect("read"))?;
        frame.truncate(length);
        Some(frame)
    }
}

/// A namespace that taps can be made in.
pub fn namespace_for_taps() -> Option<Namespace> {
    let here = namespace()?;
    if !std::path::Path::new("/dev/net/tun").exists() {
        eprintln!("SKIPPED: there is no /dev/net/tun");
        return None;
    }
    Some(here)
}

/// Two taps in one namespace, `a` and `b`.
pub fn taps(mtu: u32) -> Option<(Namespace, [Tap; 2])> {
    let here = namespace_for_taps()?;
    let taps = ["a", "b"].map(|name| Tap::new(&here, name, mtu));
    Some((here, taps))
}

/// Two hosts, `10.0.0.1` and `10.0.0.2`, and between them a namespace with an interface to each,
/// `a` and `b`.
pub fn hosts(mtu: u32) -> Option<(Namespace, [Namespace; 2])> {
    let between = namespace()?;
    let hosts = [("a", [10, 0, 0, 1]), ("b", [10, 0, 0, 2])].map(|(name, address)| {
        let host = Namespace::new().expect("a host");
        between.veth(name, &host, "eth").expect("a cable");
        between.mtu(name, mtu).expect("its MTU");
        host.mtu("eth", mtu).expect("its MTU");
        host.address("eth", address.into(), 24).expect("an address");
        host
    });
    Some((between, hosts))
}

/// Two interfaces of a namespace for AF_XDP, or why not.
pub fn xdp(ends: [&Interface; 2], options: &xdp::Options) -> Option<Xdp> {
    match Xdp::open(ends, options) {
        Ok(xdp) => Some(xdp),
        // The latter is a limit for locked memory.
        Err(error)
            if error.is_permission() || error.cause().raw_os_error() == Some(libc::ENOBUFS) =>
        {
            eprintln!("SKIPPED: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

/// The interfaces `a` and `b` of a namespace.
pub fn ends(within: &Namespace) -> [Interface; 2] {
    let find = || ["a", "b"].map(|name| Interface::named(name).expect("it is there"));
    within.run(find).expect("entered")
}

/// What the bridge has forwarded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forwarded {
    pub frames: usize,
    pub longest: usize,
    pub undone: usize,
}

/// Forwards all arriving frames, both ways, until `stop` is set.
pub fn bridge<B: Backend>(backend: &mut B, stop: &AtomicBool) -> Forwarded {
    let mut waiter = Waiter::default();
    let mut frames = Vec::new();
    let mut forwarded = Forwarded::default();
    while !stop.load(Ordering::Relaxed) {
        let mut waiting = 0;
        for side in Side::BOTH {
            backend.receive(side, &mut frames).expect("received");
            for frame in frames.drain(..) {
                forwarded.frames += 1;
                forwarded.longest = forwarded.longest.max(backend.pool().bytes(frame).len());
                let undone = backend.pool().undone(frame);
                let is_any = undone.checksum().is_some() || undone.segments().is_some();
                forwarded.undone += usize::from(is_any);
                backend.send(side.other(), frame);
            }
            waiting += backend.flush(side.other()).expect("sent");
        }
        let wait = Nanos(if waiting > 0 { 20_000 } else { 10_000_000 });
        let descriptors = Side::BOTH.into_iter().flat_map(|side| backend.descriptors(side));
        waiter.wait(descriptors, Some(Clock::Monotonic.now() + wait)).expect("waited");
    }
    forwarded
}

/// Does something while the backend bridges.
pub fn bridged<B: Backend + Send, T>(
    backend: &mut B,
    something: impl FnOnce() -> T,
) -> (Forwarded, T) {
    let stop = AtomicBool::new(false);
    struct Stop<'a>(&'a AtomicBool);
    impl Drop for Stop<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    std::thread::scope(|scope| {
        let bridge = scope.spawn(|| bridge(backend, &stop));
        let result = {
            let _stopped_even_by_a_panic = Stop(&stop);
            something()
        };
        (bridge.join().expect("it bridges"), result)
    })
}

/// Waits until something holds, some seconds at most.
pub fn eventually(what: &str, mut holds: impl FnMut() -> bool) {
    let until = Instant::now() + Duration::from_secs(5);
    while !holds() {
        assert!(Instant::now() < until, "{what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
