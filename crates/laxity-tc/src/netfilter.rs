//! Rules of netfilter that set what filters and qdiscs of `tc` go by: marks, classes and code
//! points (iptables-extensions(8)).

mod iptables;
mod nft;
pub(crate) mod restore;
mod rules;
mod states;

use crate::notes::NotMapped;
use crate::words::command::Command;

pub(crate) use rules::Netfilter;
pub(crate) use states::State;

impl Netfilter {
    /// Takes a command; the reasons if something of it does not count.
    pub(crate) fn take(&mut self, command: &Command) -> Vec<String> {
        if command.program() == "nft" {
            if command.unknown_word().is_some() {
                return vec!["a word of it is not known".into()];
            }
            return nft::read(self, &command.texts()[1..].join(" "), command.line);
        }
        iptables::read(self, command).err().map(|NotMapped(why)| why).into_iter().collect()
    }
}
