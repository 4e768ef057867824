//! Processor time: the sink beside a loop that does nothing but send.

use std::error::Error;
use std::io::IoSlice;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::mpsc::{Sender, channel};
use std::time::Instant;

use laxity::packet::Packet;
use laxity::sched::Fifo;
use laxity::scheduler::{Criterion, Dispatch};
use laxity::units::Nanos;
use laxity_engine::{Engine, Pace, Room, Settings, Sink};
use laxity_udp::{Datagram, Observer, UdpSettings, UdpSink};
use nix::sys::resource::{UsageWho, getrusage};
use nix::sys::time::TimeValLike;

use crate::laboratory::Laboratory;

const LENGTH: usize = 1_200;
/// Datagrams that are due together, and those of a message.
const TOGETHER: usize = 64;
const JOINED: usize = 54;

/// Milliseconds of processor time.
pub struct Cost {
    pub plain: f64,
    pub sink: f64,
    pub engine: f64,
}

/// Sends the same datagrams in three ways.
pub fn measure(laboratory: &Laboratory, count: usize) -> Result<Cost, Box<dyn Error>> {
    let receiver = laboratory.receiving()?;
    let to = receiver.local_addr()?;
    Ok(Cost {
        plain: plain(laboratory.sending()?, to, count)?,
        sink: sink(laboratory.sending()?, to, count)?,
        engine: engine(laboratory.sending()?, to, count)?,
    })
}

/// The processor time of this thread.
fn time() -> f64 {
    let usage = getrusage(UsageWho::RUSAGE_THREAD).expect("it is known");
    (usage.user_time() + usage.system_time()).num_microseconds() as f64 / 1e3
}

fn datagrams(to: SocketAddr, count: usize) -> Vec<Datagram<Vec<u8>>> {
    (0..count).map(|_| Datagram::new(vec![1; LENGTH], to)).collect()
}

/// A loop that has all it needs at hand.
fn plain(socket: UdpSocket, to: SocketAddr, count: usize) -> Result<f64, Box<dyn Error>> {
    let datagrams = datagrams(to, count);
    let begun = time();
    for together in datagrams.chunks(TOGETHER) {
        let slices: Vec<_> = together.iter().map(|one| IoSlice::new(&one.bytes)).collect();
        let messages: Vec<_> = slices.chunks(JOINED).collect();
        send_messages(&socket, to, &messages)?;
    }
    drop(datagrams);
    Ok(time() - begun)
}

/// One `sendmmsg`, with segmentation.
fn send_messages(
    socket: &UdpSocket,
    to: SocketAddr,
    messages: &[&[IoSlice<'_>]],
) -> Result<(), Box<dyn Error>> {
    let to = socket2::SockAddr::from(to);
    let mut control = [0_u64; 3];
    let header = libc::cmsghdr {
        cmsg_len: size_of::<libc::cmsghdr>() + 2,
        cmsg_level: libc::SOL_UDP,
        cmsg_type: libc::UDP_SEGMENT,
    };
    // SAFETY: `control` has room for the header and the length behind it, and is aligned for both.
    unsafe {
        control.as_mut_ptr().cast::<libc::cmsghdr>().write(header);
        control.as_mut_ptr().add(2).cast::<u16>().write(LENGTH as u16);
    }
    let headers = messages.iter().map(|slices| {
        // SAFETY: zeros are a header of nothing.
        let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
        header.msg_hdr.msg_name = to.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_namelen = to.len();
        header.msg_hdr.msg_iov = slices.as_ptr().cast_mut().cast();
        header.msg_hdr.msg_iovlen = slices.len();
        header.msg_hdr.msg_control = control.as_mut_ptr().cast();
        header.msg_hdr.msg_controllen = size_of_val(&control);
        header
    });
    let mut headers: Vec<libc::mmsghdr> = headers.collect();
    let (first, count) = (headers.as_mut_ptr(), headers.len() as u32);
    // SAFETY: all that the headers point to lives as long as the call.
    let sent = unsafe { libc::sendmmsg(socket.as_raw_fd(), first, count, 0) };
    match usize::try_from(sent) {
        Ok(sent) if sent == messages.len() => Ok(()),
        _ => Err(std::io::Error::last_os_error().into()),
    }
}

/// The sink in a loop, without an engine.
fn sink(socket: UdpSocket, to: SocketAddr, count: usize) -> Result<f64, Box<dyn Error>> {
    let mut sink = UdpSink::new([socket], UdpSettings::default())?;
    sink.start(Instant::now());
    let mut datagrams = datagrams(to, count).into_iter();
    let packet = Packet { length: LENGTH as u32, ..Packet::default() };
    let dispatch = Dispatch { packet, deadline: None, criterion: Criterion::ArrivalOrder };
    let begun = time();
    while datagrams.len() > 0 {
        let together = datagrams.by_ref().take(TOGETHER);
        together.for_each(|datagram| sink.sent(dispatch, Nanos::ZERO, datagram));
        sink.flush();
    }
    let took = time() - begun;
    all_are_sent(sink.statistics().sent, count)?;
    Ok(took)
}

/// Tells the processor time of the thread when all are sent.
struct Meter {
    left: usize,
    done: Sender<f64>,
}

impl Observer<Vec<u8>> for Meter {
    fn sent(&mut self, _: Packet, datagram: Datagram<Vec<u8>>) {
        drop(datagram);
        self.left -= 1;
        if self.left == 0 {
            self.done.send(time()).expect("it is read");
        }
    }
}

/// The thread of an engine, with all datagrams in its ring.
fn engine(socket: UdpSocket, to: SocketAddr, count: usize) -> Result<f64, Box<dyn Error>> {
    let (done, result) = channel();
    let meter = Meter { left: count, done };
    let sink = UdpSink::new([socket], UdpSettings::default())?.with_observer(meter);
    let burst = TOGETHER as u32;
    let settings = Settings { pace: Pace::Hold, burst, ..Settings::default() };
    let engine = Engine::start(Fifo::new(), sink, settings)?;
    let room = Room { ring: count, backlog: 4_096 };
    let mut producer = engine.handle().producer_with(room)?;
    for datagram in datagrams(to, count) {
        let packet = Packet { length: LENGTH as u32, ..Packet::default() };
        producer.send_or_wait(packet, datagram)?;
    }
    let begun = engine.handle().call(|_, _| time())?;
    engine.handle().set_pace(Pace::Sink)?;
    drop(producer);
    let took = result.recv()? - begun;
    all_are_sent(engine.shutdown()?.sink.statistics().sent, count)?;
    Ok(took)
}

fn all_are_sent(sent: u64, count: usize) -> Result<(), Box<dyn Error>> {
    match sent == count as u64 {
        true => Ok(()),
        false => Err(format!("{sent} of {count} are sent").into()),
    }
}
