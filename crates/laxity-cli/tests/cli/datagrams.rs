//! Datagrams that tests wait for.

use std::io;

/// A receive that is repeated while it is interrupted. A wait with a time limit ends early when the
/// process is stopped and continued, as signal(7) says.
pub(crate) fn uninterrupted<T>(mut receive: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        match receive() {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            received => return received,
        }
    }
}
