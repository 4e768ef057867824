//! Frames of any bytes at a host's cable.

use laxity_linux::frames::{Backend, Side};
use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{self, Mmsg};

/// Whether a test made the frame, and not a host's kernel.
fn is_ours(frame: &[u8]) -> bool {
    frame[6..8] == [6, 0xc0]
}

/// Both ends of a host's cable: frames go out at the first side, and come in there.
pub(crate) fn wire(host: &Namespace) -> Mmsg {
    host.run(|| {
        let [cable, other] = ["eth", "lo"].map(|name| Interface::named(name).expect("there"));
        Mmsg::open([&cable, &other], &packet::Options::default()).expect("sockets")
    })
    .expect("entered")
}

/// Hands a frame over, which goes out with the next flush.
pub(crate) fn send(wire: &mut Mmsg, frame: &[u8]) {
    let place = wire.pool_mut().add(Side::A, frame.len()).expect("room");
    wire.pool_mut().bytes_mut(place).copy_from_slice(frame);
    wire.send(Side::A, place);
}

/// Takes in what has come, as far as tests made it.
pub(crate) fn receive(wire: &mut Mmsg, into: &mut Vec<Vec<u8>>) {
    let mut frames = Vec::new();
    wire.receive(Side::A, &mut frames).expect("received");
    for frame in frames {
        let bytes = wire.pool().bytes(frame);
        if is_ours(bytes) {
            into.push(bytes.to_vec());
        }
        wire.release(frame);
    }
}
