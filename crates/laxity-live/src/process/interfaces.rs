//! Interfaces while they come and go.

use laxity_linux::frames::{Port, Statistics};
use laxity_linux::interface::{Change, Changes, Claim, Interface};
use laxity_linux::namespace::Namespace;

use crate::cut::Cut;
use crate::error::{ReattachError, WorkerError};
use crate::status::{InterfaceStatus, by_reason};

/// The interfaces that are forwarded between, as they are.
///
/// One that is switched off or unplugged is waited for, and what is sent there meanwhile is lost.
/// One that is renamed is the same. One that is removed is waited for under the name that it had
/// last, in its network namespace.
pub struct Links {
    networks: Vec<Network>,
    /// In the order of the backend.
    ends: Vec<End>,
}

/// What happens in a network namespace, and the ports that have their interfaces there.
struct Network {
    namespace: Option<Namespace>,
    changes: Changes,
    ports: Vec<Port>,
    claims: Vec<Claim>,
}

/// An interface that is to be followed.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever has interfaces")]
pub struct End {
    /// Which port it is, if it has a name beside that of the interface, such as `r1:r2`.
    pub port: Option<String>,
    /// The interface as it was when it was looked up.
    pub interface: Interface,
    /// The network namespace that it is in; `None` for the one of the caller.
    pub namespace: Option<Namespace>,
    /// Whether it is there.
    pub is_there: bool,
}

/// Goes on with an interface that has come back.
type Reattach<'a> = &'a dyn Fn(Port, Interface) -> Result<(), ReattachError>;

impl Links {
    /// Hears from now on what becomes of interfaces, which stand in the order of the backend.
    ///
    /// # Errors
    /// If changes cannot be heard of, or one of them is forwarded from already.
    pub fn new(ends: impl IntoIterator<Item = End>) -> Result<Self, laxity_linux::Error> {
        let ends: Vec<End> = ends.into_iter().collect();
        let mut networks: Vec<Network> = Vec::new();
        for (port, End { namespace, .. }) in (0..).map(Port).zip(&ends) {
            match networks.iter_mut().find(|network| network.namespace == *namespace) {
                Some(network) => network.ports.push(port),
                None => networks.push(Network::new(namespace.clone(), port)?),
            }
        }
        for network in &mut networks {
            network.claim(&ends)?;
        }
        Ok(Links { networks, ends })
    }

    /// Names of the interfaces, each behind that of its port, in the order of the backend.
    pub fn names(&self) -> Vec<String> {
        self.ends.iter().map(End::name).collect()
    }

    /// Follows what has become of the interfaces, and says it.
    ///
    /// # Errors
    /// If forwarding has ended, or changes cannot be heard of any more.
    pub fn follow(
        &mut self,
        reattach: impl Fn(Port, Interface) -> Result<(), ReattachError>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), WorkerError> {
        for Network { changes, ports, .. } in &mut self.networks {
            while let Some(change) = changes.hear().map_err(WorkerError::new)? {
                for port in &*ports {
                    self.ends[port.index()].follow(*port, &change, &reattach, say)?;
                }
            }
        }
        Ok(())
    }

    /// What is counted of them, in the order of the backend.
    pub fn status(&self, counted: &[Statistics], cut: &[Cut]) -> Vec<InterfaceStatus> {
        let ends = self.ends.iter().zip(counted).zip(cut);
        ends.map(|((end, counted), cut)| end.status(counted, cut)).collect()
    }
}

impl Network {
    fn new(namespace: Option<Namespace>, port: Port) -> Result<Self, laxity_linux::Error> {
        let changes = match &namespace {
            Some(namespace) => namespace.run(Changes::new)??,
            None => Changes::new()?,
        };
        Ok(Network { namespace, changes, ports: vec![port], claims: Vec::new() })
    }

    /// Makes sure that nobody else forwards from these interfaces.
    fn claim(&mut self, ends: &[End]) -> Result<(), laxity_linux::Error> {
        let names = self.ports.iter().map(|port| ends[port.index()].interface.name.as_str());
        let claim = || names.map(Claim::new).collect::<Result<_, _>>();
        self.claims = match &self.namespace {
            Some(namespace) => namespace.run(claim)??,
            None => claim()?,
        };
        Ok(())
    }
}

impl End {
    /// An interface that is there, in the namespace of the caller.
    pub fn here(interface: Interface) -> Self {
        End { port: None, interface, namespace: None, is_there: true }
    }

    /// Its name, behind that of its port.
    fn name(&self) -> String {
        self.called(&self.interface.name)
    }

    fn called(&self, interface: &str) -> String {
        match &self.port {
            Some(port) => format!("{port}={interface}"),
            None => interface.to_string(),
        }
    }

    fn follow(
        &mut self,
        at: Port,
        change: &Change,
        reattach: Reattach<'_>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), WorkerError> {
        let name = self.name();
        let is_it = |other: &Interface| self.is_there && other.index == self.interface.index;
        match change {
            Change::Up(it) if is_it(it) => say(&format!("{name} is up")),
            Change::Down(it) if is_it(it) => {
                say(&format!("{name} is down: what is sent there until it is up is lost"));
            }
            Change::Renamed { from, to } if is_it(to) => {
                say(&format!("{} is now called {}", self.called(from), to.name));
            }
            Change::Removed(it) if is_it(it) => {
                say(&format!("{name} is gone: what is sent there until it is back is lost"));
                self.is_there = false;
                return Ok(());
            }
            Change::Appeared(it) | Change::Renamed { to: it, .. }
                if !self.is_there && it.name == self.interface.name =>
            {
                return self.go_on(at, it, reattach, say);
            }
            _ => return Ok(()),
        }
        if let Change::Up(it) | Change::Down(it) | Change::Renamed { to: it, .. } = change {
            self.interface = it.clone();
        }
        Ok(())
    }

    /// Goes on with an interface that has come back.
    fn go_on(
        &mut self,
        at: Port,
        with: &Interface,
        reattach: Reattach<'_>,
        say: &mut dyn FnMut(&str),
    ) -> Result<(), WorkerError> {
        let name = self.name();
        match reattach(at, with.clone()) {
            Ok(()) => say(&format!("{name} is back")),
            Err(ReattachError::Stopped(stopped)) => return Err(stopped),
            Err(ReattachError::Refused(why)) => {
                say(&format!("{name} is back, but not used: {why}"));
                return Ok(());
            }
        }
        (self.interface, self.is_there) = (with.clone(), true);
        Ok(())
    }

    fn status(&self, counted: &Statistics, cut: &Cut) -> InterfaceStatus {
        let lost = [
            ("missed", counted.missed),
            ("unreadable", counted.unreadable),
            ("uncuttable", cut.uncuttable),
            ("no-room", cut.crowded_out),
            ("refused", counted.refused),
            ("down", counted.down),
        ];
        InterfaceStatus {
            name: self.name(),
            up: Some(self.is_there && self.interface.up),
            received: Some(counted.received),
            sent: Some(counted.sent),
            unseen: None,
            held_ns: counted.held.map(|held| held.0),
            lost: by_reason(lost),
        }
    }
}
