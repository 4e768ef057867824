//! Probes that are under way.

use alloc::collections::VecDeque;

use crate::units::Nanos;

/// A probe that has no answer after so long is lost.
const LOST: Nanos = Nanos(2_000_000_000);
/// The most probes that are remembered.
const MOST: usize = 1024;

/// A probe to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Probe {
    /// Its number, which its answer carries.
    pub number: u64,
    /// The reflector to send it to, by number.
    pub reflector: u32,
}

/// The path of a probe, when it was sent, and the bytes that the shaper had sent by then.
type Sent = (u32, Nanos, u64);

/// Probes that are under way, in the order of their numbers.
#[derive(Clone, Debug)]
pub(super) struct Probes {
    reflectors: u32,
    /// The number of the first one below.
    first: u64,
    waiting: VecDeque<Waiting>,
    /// All below this number were sent before one that came back.
    passed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    path: u32,
    sent: Nanos,
    carried: u64,
    is_answered: bool,
}

impl Probes {
    pub(super) fn new(reflectors: u32) -> Self {
        Probes { reflectors, first: 0, waiting: VecDeque::new(), passed: 0 }
    }

    pub(super) fn reflectors(&self) -> u32 {
        self.reflectors
    }

    /// Whether there are reflectors that were never probed.
    pub(super) fn is_first_round(&self) -> bool {
        self.first + (self.waiting.len() as u64) < u64::from(self.reflectors)
    }

    /// The next probe, sent now.
    pub(super) fn send(&mut self, now: Nanos, carried: u64) -> Option<Probe> {
        if self.reflectors == 0 {
            return None;
        }
        if self.waiting.len() == MOST {
            self.drop_first();
        }
        let number = self.first + self.waiting.len() as u64;
        let path = (number % u64::from(self.reflectors)) as u32;
        self.waiting.push_back(Waiting { path, sent: now, carried, is_answered: false });
        Some(Probe { number, reflector: path })
    }

    /// Takes an answer; returns what its probe was.
    pub(super) fn answered(&mut self, number: u64) -> Option<Sent> {
        let place = usize::try_from(number.checked_sub(self.first)?).ok()?;
        let probe = self.waiting.get_mut(place).filter(|probe| !probe.is_answered)?;
        probe.is_answered = true;
        let sent = (probe.path, probe.sent, probe.carried);
        self.passed = self.passed.max(number + 1);
        while self.waiting.front().is_some_and(|first| first.is_answered) {
            self.drop_first();
        }
        Some(sent)
    }

    /// Forgets probes that are lost.
    pub(super) fn forget(&mut self, now: Nanos) {
        let is_lost = |probe: &Waiting| now.saturating_sub(probe.sent) > LOST;
        while self.waiting.front().is_some_and(is_lost) {
            self.drop_first();
        }
    }

    /// The second probe behind the last one that came back: it waits at least for so long as it is
    /// under way. The first one may be lost.
    pub(super) fn overdue(&self) -> Option<Sent> {
        let place = self.passed.saturating_sub(self.first).saturating_add(1);
        let probe = self.waiting.get(usize::try_from(place).ok()?)?;
        Some((probe.path, probe.sent, probe.carried))
    }

    fn drop_first(&mut self) {
        self.waiting.pop_front();
        self.first += 1;
    }
}
