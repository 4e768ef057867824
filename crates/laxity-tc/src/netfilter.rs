//! Rules of netfilter that set what filters and qdiscs of `tc` go by: marks, classes and code
//! points (iptables-extensions(8)).

mod iptables;
mod nft;
pub mod restore;
mod rules;
mod states;

use crate::notes::NotMapped;
use crate::words::command::Command;

pub use rules::Netfilter;
pub use states::State;

impl Netfilter {
    /// Takes a command; the reasons if something of it does not count.
    pub fn take(&mut self, command: &Command) -> Vec<String> {
        if command.program() == "nft" {
            let words: Vec<&str> =
                command.words[1..].iter().map(|word| word.text.as_str()).collect();
            let unknown = command
                .words
                .iter()
                .any(|word| word.doubt.as_ref().is_some_and(|doubt| doubt.is_unknown));
            return if unknown {
                vec!["a word of it is not known".into()]
            } else {
                nft::read(self, &words.join(" "), command.line)
            };
        }
        iptables::read(self, command).err().map(|NotMapped(why)| why).into_iter().collect()
    }
}
