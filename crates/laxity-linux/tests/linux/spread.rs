//! Frames that are spread over the backends of several threads.

use laxity_linux::Error;
use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::packet::{Mmsg, Options, Packets, Receive, Ring};

use crate::laboratory::{Tap, ends, eventually, taps};

const FLOWS: u16 = 32;

/// A datagram between two hosts, in the one direction or the other.
fn datagram(flow: u16, is_back: bool) -> Vec<u8> {
    let (mut addresses, mut ports) = ([[10, 0, 0, 1], [10, 0, 0, 2]], [1_000 + flow, 53]);
    if is_back {
        addresses.reverse();
        ports.reverse();
    }
    let mut frame = vec![2, 0, 0, 0, 0, 0x0b, 2, 0, 0, 0, 0, 0x0a, 8, 0];
    frame.extend([0x45, 0, 0, 28, 0, 0, 0, 0, 64, 17, 0, 0]);
    frame.extend(addresses.concat());
    frame.extend(ports.map(u16::to_be_bytes).concat());
    frame.extend([0, 8, 0, 0]);
    frame
}

/// The flows of the frames that a backend has taken in at a side, by the port that is not 53.
fn flows<R: Receive>(backend: &mut Packets<R>, at: Side) -> Vec<u16> {
    let mut frames = Vec::new();
    while backend.receive(at, &mut frames).expect("received") > 0 {}
    let port = |frame: &[u8], at| u16::from_be_bytes([frame[at], frame[at + 1]]);
    let flow = |frame: &[u8]| port(frame, 34).max(port(frame, 36)) - 1_000;
    let flows = frames.iter().map(|frame| flow(backend.pool().bytes(*frame))).collect();
    frames.into_iter().for_each(|frame| backend.release(frame));
    flows
}

/// Opens backends.
type Spread<B> = fn([&Interface; 2], &Options, u16) -> Result<Vec<B>, Error>;

fn every_frame_comes_once<R: Receive + Send>(spread: Spread<Packets<R>>) {
    let Some((here, [a, b])) = taps(1500) else { return };
    let ends = ends(&here);
    let options = Options { frames: 256, ..Options::default() };
    let open = || spread([&ends[0], &ends[1]], &options, 2).expect("opened");
    let mut backends = here.run(open).expect("entered");
    let mut came = [[vec![], vec![]], [vec![], vec![]]];
    let send = |tap: &Tap, is_back| {
        (0..FLOWS).for_each(|flow| (0..2).for_each(|_| tap.write(&datagram(flow, is_back))));
    };
    send(&a, false);
    send(&b, true);
    eventually("all frames come", || {
        for (backend, came) in backends.iter_mut().zip(&mut came) {
            for at in Side::BOTH {
                came[at.index()].extend(flows(backend, at));
            }
        }
        came.iter().flatten().map(Vec::len).sum::<usize>() >= usize::from(4 * FLOWS)
    });
    came.iter_mut().flatten().for_each(|flows| flows.sort_unstable());
    let [[first, first_back], [second, second_back]] = &came;
    assert!(!first.is_empty() && !second.is_empty(), "{came:?}");
    assert_eq!((first, second), (first_back, second_back), "both directions of a flow");
    let mut all = [first.as_slice(), second].concat();
    all.sort_unstable();
    assert_eq!(all, (0..FLOWS).flat_map(|flow| [flow; 2]).collect::<Vec<_>>());
    assert!(first.iter().all(|flow| !second.contains(flow)), "a flow stays together");
    // What is sent at an interface does not come in there.
    a.write(&datagram(0, false));
    let mut frames = Vec::new();
    eventually("a frame comes", || {
        backends.reverse();
        backends[0].receive(Side::A, &mut frames).expect("received") > 0
    });
    backends[0].send(Side::B, frames[0]);
    assert_eq!(backends[0].flush(Side::B).expect("sent"), 0);
    assert_eq!(b.read(), Some(datagram(0, false)));
    assert!(backends.iter_mut().all(|backend| flows(backend, Side::B).is_empty()));
}

#[test]
fn every_frame_comes_once_by_recvmmsg() {
    every_frame_comes_once(Mmsg::spread);
}

#[test]
fn every_frame_comes_once_by_the_ring() {
    every_frame_comes_once(Ring::spread);
}
