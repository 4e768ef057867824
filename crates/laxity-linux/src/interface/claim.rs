//! One process to an interface: two that forward between the same interfaces would double every
//! frame.

use std::io;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixListener};

use crate::error::{Doing, Error, refused};

/// An interface that this process alone forwards from, until the value is dropped or the process
/// ends, however it ends.
///
/// It is an abstract Unix socket (unix(7)), whose name is unique within a network namespace.
#[derive(Debug)]
pub struct Claim(#[expect(dead_code, reason = "it is held, not listened at")] UnixListener);

impl Claim {
    /// Claims the interface of a name in the network namespace of the calling thread.
    ///
    /// # Errors
    /// If another process, or this one, has claimed it.
    pub fn new(interface: &str) -> Result<Claim, Error> {
        let what = || format!("forward between interfaces of which {interface} is one");
        let address = SocketAddr::from_abstract_name(format!("laxity/{interface}")).doing(what())?;
        match UnixListener::bind_addr(&address) {
            Ok(listener) => Ok(Claim(listener)),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Err(refused(
                what(),
                "it is forwarded from already: name each interface once, and run one process for it",
            )),
            Err(error) => Err(error).doing(what()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_claimed_once() {
        let name = format!("test{}", std::process::id());
        let claim = Claim::new(&name).unwrap();
        assert!(Claim::new(&name).unwrap_err().to_string().contains("forwarded from already"));
        Claim::new(&format!("{name}x")).unwrap();
        drop(claim);
        Claim::new(&name).unwrap();
    }
}
