//! Reservations by RSVP, at a router whose link is forwarded over.
//!
//! The kernel forwards the flows' packets, and `laxity live` serves the link. This agent, a process
//! of its own, keeps the states of RSVP ([`laxity_rsvp`]) and asks that link for what is to be
//! reserved, by its control socket. Every reservation is a lease: nothing stays if the agent ends.

mod machine;

use std::io;
use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::time::Duration;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::interface::Interface;
use laxity_linux::rsvp::{Packet, RsvpSocket};
use laxity_linux::sandbox::drop_capabilities;
use laxity_linux::wait::Waiter;
use laxity_plan::Plan;
use laxity_rsvp::router::{Arrival, Datagram, Discard};
use laxity_rsvp::{Router, Settings};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use thiserror::Error;

use crate::client::{Client, ClientError};
use crate::process::wall_clock;
use machine::Machine;

/// What an agent works with.
#[derive(Debug)]
#[expect(clippy::exhaustive_structs, reason = "the command line has these")]
pub struct AgentOptions {
    /// The interface whose link is forwarded over.
    pub interface: Interface,
    /// The link that reserves.
    pub client: Client,
    /// The mean time between two refreshes.
    pub refresh: Nanos,
    /// How much later than the plan says packets may be, as they are if the process that forwards
    /// is late.
    pub lateness: Nanos,
}

/// Why an agent does not run, or no longer.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum AgentError {
    /// The system refuses.
    #[error(transparent)]
    System(#[from] laxity_linux::Error),
    /// The link does not answer.
    #[error(transparent)]
    Client(#[from] ClientError),
    /// The link takes no reservations.
    #[error("the link at {0} takes no reservations: see laxity live --reservations")]
    NoReservations(String),
    /// A plan of a network has several links.
    #[error("the plan is of a network: give the one that `laxity live` has at the interface")]
    Network,
    /// The link guarantees nothing.
    #[error("the plan says nothing that is sure of its link's rate, so no delay can be promised")]
    Unsure,
    /// Signals cannot be heard.
    #[error("cannot hear signals: {0}")]
    Signals(io::Error),
    /// The socket or the wait for it failed.
    #[error("cannot receive messages of RSVP: {0}")]
    Socket(io::Error),
}

/// RSVP at a router.
#[derive(Debug)]
pub struct Agent {
    router: Router,
    socket: RsvpSocket,
    machine: Machine,
    signals: Signals,
}

/// A message that was followed.
struct Followed {
    /// Where it came from.
    source: Ipv4Addr,
    /// What is to be sent, or why it was not used.
    out: Result<Vec<Datagram>, Discard>,
}

/// How long it waits without looking for signals.
const LOOKS: Nanos = Nanos(200_000_000);
/// How many messages are followed before what is due is looked at.
const AT_ONCE: usize = 64;
/// Messages that are not used are said at most as often.
const SAYS: Nanos = Nanos(1_000_000_000);

impl Agent {
    /// Opens what it needs, and gives up all privileges. `plan` is that of the link.
    ///
    /// # Errors
    /// If the system refuses, or the link takes no reservations or is sure of nothing.
    pub fn start(plan: &Plan, options: AgentOptions) -> Result<Agent, AgentError> {
        let AgentOptions { interface, client, refresh, lateness } = options;
        let signals = Signals::new([SIGINT, SIGTERM]).map_err(AgentError::Signals)?;
        let socket = RsvpSocket::open()?;
        let machine = Machine::new(plan, interface, client, lateness)?;
        drop_capabilities()?;
        let seed = wall_clock().as_nanos() as u64;
        let router = Router::new(Settings { refresh, seed });
        Ok(Agent { router, socket, machine, signals })
    }

    /// Follows messages until a signal asks for the end. Then it gives back all that is reserved.
    /// `say` is given what happens, in sentences.
    ///
    /// # Errors
    /// If the socket cannot be used any more.
    pub fn run(mut self, say: &mut dyn FnMut(&str)) -> Result<(), AgentError> {
        let (mut waiter, mut said_at) = (Waiter::default(), None::<Nanos>);
        while self.signals.pending().next().is_none() {
            let out = self.router.tick(Clock::Monotonic.now(), &mut self.machine);
            self.send(&out);
            for _ in 0..AT_ONCE {
                let Some(followed) = self.follow().map_err(AgentError::Socket)? else { break };
                let Followed { source, out } = followed;
                match out {
                    Ok(out) => self.send(&out),
                    Err(discard) => {
                        let now = Clock::Monotonic.now();
                        if said_at.is_none_or(|at| now >= at.saturating_add(SAYS)) {
                            said_at = Some(now);
                            say(&format!("a message of {source} is not used: {discard}"));
                        }
                    }
                }
            }
            self.machine.told().iter().for_each(|what| say(what));
            let soon = Clock::Monotonic.now().saturating_add(LOOKS);
            let until = self.router.next_timer().map_or(soon, |due| due.min(soon));
            waiter.wait([self.socket.as_fd()], Some(until)).map_err(AgentError::Socket)?;
        }
        let out = self.router.end(&mut self.machine);
        self.send(&out);
        self.machine.told().iter().for_each(|what| say(what));
        Ok(())
    }

    /// Follows the next message; `None` if there is none.
    fn follow(&mut self) -> io::Result<Option<Followed>> {
        let Some(Packet { source, ttl, message, .. }) = self.socket.receive()? else {
            return Ok(None);
        };
        let arrival = Arrival { source, ttl, bytes: message };
        let out = self.router.receive(Clock::Monotonic.now(), arrival, &mut self.machine);
        Ok(Some(Followed { source, out }))
    }

    fn send(&self, out: &[Datagram]) {
        for Datagram { source, destination, is_alert, ttl, bytes } in out {
            let source = source.unwrap_or(Ipv4Addr::UNSPECIFIED);
            let (destination, ttl, is_alert) = (*destination, *ttl, *is_alert);
            // What is lost is sent again with the next refresh.
            let _lost =
                self.socket.send(Packet { source, destination, ttl, is_alert, message: bytes });
        }
    }
}

/// How long an answer about what is left of the link counts.
const COUNTS: Duration = Duration::from_secs(1);
