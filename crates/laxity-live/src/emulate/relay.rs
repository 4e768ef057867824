//! Services of this machine that listen at its own addresses alone, for a command behind an
//! emulated link.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::thread;
use std::time::Duration;

use super::place::Place;

/// Passes TCP connections on that come to a port of the gateway at which a service listens on this
/// machine, and nobody outside the link.
///
/// The link is between the command and the gateway. From there on a connection is another one,
/// which takes no time.
#[derive(Debug)]
pub struct Relays;

/// The most services that are relayed.
const MOST: usize = 256;
/// How often services are looked for.
const EVERY: Duration = Duration::from_millis(200);
/// Memory for what a connection passes on.
const CHUNK: usize = 65_536;

impl Relays {
    /// Relays services of the network namespace of the calling thread, now and as they come, as
    /// long as the process lasts.
    ///
    /// # Errors
    /// If there is no thread.
    pub fn begin(place: &Place) -> io::Result<Relays> {
        let place = place.clone();
        let mut relayed = BTreeSet::new();
        relay_new(&place, &mut relayed);
        thread::Builder::new().name("relays".into()).spawn(move || {
            loop {
                thread::sleep(EVERY);
                relay_new(&place, &mut relayed);
            }
        })?;
        Ok(Relays)
    }
}

/// Relays services that are not relayed yet.
fn relay_new(place: &Place, relayed: &mut BTreeSet<u16>) {
    for port in listening().into_iter().filter(|port| !relayed.contains(port)).collect::<Vec<_>>() {
        let address = SocketAddr::from((place.gateway(), port));
        // Who listens at all addresses needs no relay, and leaves no room for one.
        let Ok(Ok(listener)) = place.outside.run(|| TcpListener::bind(address)) else { continue };
        if relayed.len() < MOST && spawn(move || serve(&listener, port)) {
            relayed.insert(port);
        }
    }
}

/// The ports at which services of this namespace listen.
fn listening() -> BTreeSet<u16> {
    let files = ["/proc/thread-self/net/tcp", "/proc/thread-self/net/tcp6"];
    let texts = files.map(|file| fs::read_to_string(file).unwrap_or_default());
    texts.iter().flat_map(|text| text.lines().skip(1).filter_map(listening_port)).collect()
}

/// The port of a line of `/proc/net/tcp` (proc(5)) of a socket that listens.
fn listening_port(line: &str) -> Option<u16> {
    const LISTENS: &str = "0A";
    let mut words = line.split_whitespace().skip(1);
    let (local, _, state) = (words.next()?, words.next()?, words.next()?);
    let (_, port) = local.rsplit_once(':')?;
    (state == LISTENS).then_some(u16::from_str_radix(port, 16).ok()?)
}

fn serve(listener: &TcpListener, port: u16) {
    while let Ok((stream, _)) = listener.accept() {
        spawn(move || {
            // Who is gone by now is nobody's service.
            if let Ok(service) = TcpStream::connect((Ipv4Addr::LOCALHOST, port)) {
                pass_both_ways(stream, service);
            }
        });
    }
}

fn pass_both_ways(command: TcpStream, service: TcpStream) {
    let (Ok(from_command), Ok(to_command)) = (command.try_clone(), command.try_clone()) else {
        return;
    };
    let (Ok(from_service), Ok(to_service)) = (service.try_clone(), service.try_clone()) else {
        return;
    };
    if spawn(move || pass(&from_command, &to_service)) {
        pass(&from_service, &to_command);
    }
}

/// Passes on until either end is closed, and closes the other.
fn pass(mut from: &TcpStream, mut to: &TcpStream) {
    let mut reader = io::BufReader::with_capacity(CHUNK, &mut from);
    let _ = io::copy(&mut reader, &mut to);
    let _ = to.shutdown(Shutdown::Write);
}

/// Runs something on a thread of its own; returns whether there is one.
fn spawn(work: impl FnOnce() + Send + 'static) -> bool {
    thread::Builder::new().name("relay".into()).spawn(work).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_of_sockets_that_listen_are_read() {
        let line = |state: &str| {
            format!("   0: 0100007F:1F90 00000000:0000 {state} 00000000:00000000 00:00000000")
        };
        assert_eq!(listening_port(&line("0A")), Some(8080));
        assert_eq!(listening_port(&line("01")), None);
        assert_eq!(listening_port("  sl  local_address"), None);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        assert!(listening().contains(&listener.local_addr().unwrap().port()));
    }
}
