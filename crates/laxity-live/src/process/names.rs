//! Names of addresses, looked up beside all else.

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::mpsc::{self, Receiver, SyncSender};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use laxity::units::Nanos;
use laxity_linux::host::name_of;
use laxity_linux::sandbox::drop_capabilities;

use crate::error::StartError;

/// Looks up names, on threads of its own: a resolver may take seconds to give up. These threads
/// keep the files and calls that resolvers need, but no capability.
pub(crate) struct Names {
    known: HashMap<IpAddr, Name>,
    questions: SyncSender<IpAddr>,
    answers: Receiver<(IpAddr, Option<String>)>,
}

/// What is known of an address.
enum Name {
    /// It is being looked up.
    Sought,
    /// Its name, if it has one, and until when that counts.
    Found(Option<String>, Nanos),
}

/// How many names are looked up at once.
const THREADS: usize = 4;
/// How many addresses may wait.
const ROOM: usize = 64;
/// How many addresses are remembered.
const MOST: usize = 4_096;
/// How long a name counts, and how long none.
const LASTS: Nanos = Nanos(3_600_000_000_000);
const NONE_LASTS: Nanos = Nanos(600_000_000_000);

impl Names {
    /// Starts the threads. Call it before the calling thread gives up its privileges.
    ///
    /// # Errors
    /// If there are none.
    pub(crate) fn start() -> Result<Self, StartError> {
        Names::by(name_of)
    }

    fn by(find: fn(IpAddr) -> Option<String>) -> Result<Self, StartError> {
        let (questions, asked) = mpsc::sync_channel(ROOM);
        let (tell, answers) = mpsc::channel();
        let asked = Arc::new(Mutex::new(asked));
        for _ in 0..THREADS {
            let (asked, tell) = (Arc::clone(&asked), tell.clone());
            thread::Builder::new().name("names".into()).spawn(move || {
                if drop_capabilities().is_err() {
                    return;
                }
                let next = || asked.lock().unwrap_or_else(PoisonError::into_inner).recv();
                while let Ok(address) = next() {
                    if tell.send((address, find(address))).is_err() {
                        return;
                    }
                }
            })?;
        }
        Ok(Names { known: HashMap::new(), questions, answers })
    }

    /// The names of these addresses that are known; the others are looked up for the next time.
    pub(crate) fn names(
        &mut self,
        addresses: impl IntoIterator<Item = IpAddr>,
        now: Nanos,
    ) -> BTreeMap<IpAddr, String> {
        for (address, name) in self.answers.try_iter() {
            let lasts = if name.is_some() { LASTS } else { NONE_LASTS };
            self.known.insert(address, Name::Found(name, now.saturating_add(lasts)));
        }
        let mut names = BTreeMap::new();
        for address in addresses {
            match self.known.get(&address) {
                Some(Name::Found(name, until)) if *until > now => {
                    names.extend(name.clone().map(|name| (address, name)));
                }
                Some(Name::Sought) => {}
                Some(Name::Found(..)) | None => self.seek(address, now),
            }
        }
        names
    }

    /// Has an address looked up, unless too many wait.
    fn seek(&mut self, address: IpAddr, now: Nanos) {
        if self.known.len() >= MOST {
            self.known.retain(|_, name| match name {
                Name::Sought => true,
                Name::Found(_, until) => *until > now,
            });
        }
        if self.known.len() < MOST && self.questions.try_send(address).is_ok() {
            self.known.insert(address, Name::Sought);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};
    use std::time::{Duration, Instant};

    use super::*;

    static ASKED: AtomicUsize = AtomicUsize::new(0);

    fn find(address: IpAddr) -> Option<String> {
        ASKED.fetch_add(1, Ordering::Relaxed);
        let IpAddr::V4(address) = address else { return None };
        (address.octets()[3] % 2 == 0).then(|| format!("host-{address}"))
    }

    #[test]
    fn each_address_is_asked_for_once_until_that_is_old() {
        let mut names = Names::by(find).expect("threads");
        let addresses = [2, 3].map(|last| IpAddr::from([10, 0, 0, last]));
        assert!(names.names(addresses, Nanos(1)).is_empty(), "nobody waits");
        let begun = Instant::now();
        let found = loop {
            let found = names.names(addresses, Nanos(2));
            if !found.is_empty() && ASKED.load(Ordering::Relaxed) == 2 {
                break found;
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        };
        assert_eq!(found, BTreeMap::from([(addresses[0], "host-10.0.0.2".to_string())]));
        (0..100).for_each(|_| drop(names.names(addresses, NONE_LASTS)));
        assert_eq!(ASKED.load(Ordering::Relaxed), 2);
        while ASKED.load(Ordering::Relaxed) < 4 {
            names.names(addresses, Nanos(3 * LASTS.0));
            assert!(begun.elapsed() < Duration::from_secs(60));
        }
        let many = (0..u32::from(u16::MAX)).map(|number| IpAddr::from(number.to_be_bytes()));
        names.names(many, Nanos(3 * LASTS.0));
        assert!(names.known.len() <= MOST);
    }
}
