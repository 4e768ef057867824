//! What rules of netfilter leave packets with on their way out.

use laxity_plan::matching::{Numbers, Version};

use super::rules::{Action, MOST_STATES, Netfilter, Rule};
use crate::notes::Notes;
use crate::packets::{Field, Packets};
use crate::setup::Handle;

/// The most looks at states.
const MOST_LOOKS: usize = 1 << 20;
/// How deep chains may call each other.
const DEEPEST: usize = 16;
/// The chains that packets pass on their way out, in their order.
const HOOKS: [&str; 4] = ["PREROUTING", "FORWARD", "OUTPUT", "POSTROUTING"];

/// What netfilter leaves packets with, in an order in which the first that they are among counts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct State {
    pub packets: Packets,
    pub mark: u32,
    pub class: Option<Handle>,
    pub dscp: Option<u8>,
}

/// A state on its way through the chains.
#[derive(Clone, Debug)]
struct Passenger {
    state: State,
    /// How deep the chain is that it is in, or `None` once it passes no more rules of its hook.
    depth: Option<usize>,
}

impl State {
    /// Whether packets of both are left with the same.
    pub(crate) fn is_like(&self, other: &State) -> bool {
        (self.mark, self.class, self.dscp) == (other.mark, other.class, other.dscp)
    }

    /// The packets that something asks for, among those whose code point was set to this state's;
    /// `None` if none are.
    pub(crate) fn seen(&self, packets: &Packets) -> Option<Packets> {
        let Some(dscp) = self.dscp else { return Some(packets.clone()) };
        let place = Field::Dscp as usize;
        let has = |numbers: &Numbers| {
            let dscp = u16::from(dscp);
            numbers.ranges().iter().any(|(from, to)| (*from..=*to).contains(&dscp))
        };
        let mut seen = packets.clone();
        match seen.numbers[place].take() {
            Some(numbers) if !has(&numbers) => None,
            _ => Some(seen),
        }
    }

    fn apply(&mut self, action: &Action) {
        match action {
            Action::Mark { cleared, turned } => self.mark = self.mark & !cleared ^ turned,
            Action::Class(class) => self.class = Some(*class),
            Action::Dscp(dscp) => self.dscp = Some(*dscp),
            Action::Return | Action::Accept | Action::Call(_) => {}
        }
    }
}

impl Netfilter {
    /// What is left of packets that go out by an interface. Nothing if no rule is about them.
    pub(crate) fn states(&self, device: &str, notes: &mut Notes) -> Vec<State> {
        let (mut all, mut early) = (Vec::new(), None);
        for version in [Version::V4, Version::V6] {
            let chain = |hook: &str| self.chains.get(&(version == Version::V6, hook.to_string()));
            let used: Vec<&str> = HOOKS
                .into_iter()
                .filter(|hook| chain(hook).is_some_and(|rules| !rules.is_empty()))
                .collect();
            if used.is_empty() {
                continue;
            }
            let first = chain(used[0]).and_then(|rules| rules.first()).map_or(0, |rule| rule.line);
            let before = used.iter().find(|hook| **hook != HOOKS[3]);
            early = early.or(before.map(|hook| (first, *hook)));
            let mut state = State::default();
            state.packets.require_version(version);
            let passing = vec![Passenger { state, depth: Some(0) }];
            let mut run = Run { netfilter: self, version, device, passing, looks: 0 };
            let done = used.into_iter().all(|hook| {
                for one in &mut run.passing {
                    one.depth = Some(0);
                }
                run.chain(hook, 0)
            });
            if done {
                all.extend(run.passing.into_iter().map(|passing| passing.state));
            } else {
                let text = "rules of netfilter: they leave packets in more states than are followed, so none counts";
                notes.not_mapped(first, text);
            }
        }
        let plain = |state: &State| state.is_like(&State::default());
        if all.iter().all(plain) {
            return Vec::new();
        }
        if let Some((line, hook)) = early {
            let text = format!(
                "rules of netfilter in {hook} as about all packets that go out, whether they come from here or from \
                 elsewhere"
            );
            notes.reading(line, text);
        }
        all.push(State::default());
        while let [.., before, _] = &all[..]
            && plain(before)
        {
            let last = all.len() - 2;
            all.remove(last);
        }
        all
    }
}

/// States on their way through chains.
struct Run<'a> {
    netfilter: &'a Netfilter,
    version: Version,
    device: &'a str,
    passing: Vec<Passenger>,
    looks: usize,
}

impl Run<'_> {
    /// Passes the rules of a chain; `false` if that comes to too many states.
    fn chain(&mut self, name: &str, depth: usize) -> bool {
        let netfilter = self.netfilter;
        let Some(rules) = netfilter.chains.get(&(self.version == Version::V6, name.to_string()))
        else {
            return true;
        };
        if depth > DEEPEST {
            return false;
        }
        for rule in rules {
            let goes_here = rule.out.as_deref().is_none_or(|out| match out.strip_suffix('+') {
                Some(begin) => self.device.starts_with(begin),
                None => self.device == out,
            });
            if goes_here && !self.rule(rule, depth) {
                return false;
            }
        }
        for one in self.passing.iter_mut().filter(|one| one.depth == Some(depth)) {
            one.depth = depth.checked_sub(1);
        }
        true
    }

    fn rule(&mut self, rule: &Rule, depth: usize) -> bool {
        let mut next: Vec<Passenger> = Vec::with_capacity(self.passing.len() + 1);
        for one in std::mem::take(&mut self.passing) {
            self.looks += rule.packets.len();
            let asked = one.depth == Some(depth)
                && rule.mark.is_none_or(|condition| condition.holds(one.state.mark));
            let mut all_taken = false;
            for packets in rule.packets.iter().filter(|_| asked) {
                let Some(seen) = one.state.seen(packets) else { continue };
                let both = one.state.packets.and(&seen);
                if both.is_empty {
                    continue;
                }
                all_taken |= seen.contains(&one.state.packets);
                let mut taken = one.clone();
                taken.state.packets = both;
                taken.state.apply(&rule.action);
                taken.depth = match rule.action {
                    Action::Return => depth.checked_sub(1),
                    Action::Accept => None,
                    Action::Call(_) => Some(depth + 1),
                    _ => taken.depth,
                };
                next.push(taken);
            }
            if !all_taken {
                next.push(one);
            }
        }
        self.passing = next;
        let fits = self.passing.len() <= MOST_STATES && self.looks <= MOST_LOOKS;
        match &rule.action {
            Action::Call(chain) if fits => self.chain(chain, depth + 1),
            _ => fits,
        }
    }
}
