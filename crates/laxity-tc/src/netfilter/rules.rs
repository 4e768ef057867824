//! Rules of netfilter by their chains.

use std::collections::BTreeMap;

use laxity_plan::matching::Version;

use crate::packets::Packets;
use crate::setup::Handle;

/// The most rules.
const MOST_RULES: usize = 4096;
/// The most states that packets may be left in.
pub(super) const MOST_STATES: usize = 1024;

/// All rules by the version of IP that they are about and by their chain.
#[derive(Debug, Default)]
pub(crate) struct Netfilter {
    pub chains: BTreeMap<(bool, String), Vec<Rule>>,
    /// Where chains of nft are passed, by table and name.
    pub hooks: BTreeMap<String, String>,
    count: usize,
}

/// A rule of a chain.
#[derive(Clone, Debug)]
pub(crate) struct Rule {
    /// The packets that it is about, any of these.
    pub packets: Vec<Packets>,
    /// The mark that they have.
    pub mark: Option<Condition>,
    /// The interface that they go out by, which may end in `+`.
    pub out: Option<String>,
    pub action: Action,
    pub line: usize,
}

/// A mark that is asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Condition {
    pub value: u32,
    pub mask: u32,
    pub negated: bool,
}

/// What a rule does.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Action {
    /// Takes bits out of the mark and turns others.
    Mark {
        cleared: u32,
        turned: u32,
    },
    Class(Handle),
    Dscp(u8),
    /// Goes on behind the rule that called the chain.
    Return,
    Accept,
    Call(String),
}

impl Condition {
    pub(crate) fn holds(&self, mark: u32) -> bool {
        (mark & self.mask == self.value) != self.negated
    }
}

impl Netfilter {
    /// The rules of a chain.
    pub(crate) fn chain(&mut self, version: Version, name: &str) -> &mut Vec<Rule> {
        self.chains.entry((version == Version::V6, name.to_string())).or_default()
    }

    /// Puts a rule into a chain, at its end or before the one of this number. `false` if there are
    /// too many rules already.
    pub(crate) fn add(
        &mut self,
        version: Version,
        chain: &str,
        before: Option<usize>,
        rule: Rule,
    ) -> bool {
        self.count += 1;
        if self.count > MOST_RULES {
            return false;
        }
        let chain = self.chain(version, chain);
        let at = before.map_or(chain.len(), |number| number.saturating_sub(1).min(chain.len()));
        chain.insert(at, rule);
        true
    }
}
