//! Who delays a class.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// How long packets of a class have waited in all, and what the link did meanwhile.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(clippy::exhaustive_structs, reason = "as for `Status`")]
pub struct WaitStatus {
    /// While a packet of a class was sent, in ns, by the name of that class; classes that delayed
    /// none are left out.
    pub sent_ns: BTreeMap<String, u64>,
    /// While nothing was sent, in ns: the link woke up late, or the discipline held packets back.
    pub idle_ns: u64,
}

/// A part of what a class waits for.
#[derive(Clone, Debug, PartialEq)]
#[expect(clippy::exhaustive_structs, reason = "read by who asks")]
pub struct Delayer {
    /// The class that was sent; `None` if nothing was.
    pub class: Option<String>,
    /// Its share of all waiting, from 0 to 1.
    pub share: f64,
}

impl WaitStatus {
    /// Adds what packets of the class waited elsewhere on the same link.
    pub(crate) fn add(&mut self, other: WaitStatus) {
        self.idle_ns += other.idle_ns;
        for (class, time) in other.sent_ns {
            *self.sent_ns.entry(class).or_default() += time;
        }
    }

    /// Who delayed the class between two moments, the greatest share first.
    pub fn since(&self, before: Option<&WaitStatus>) -> Vec<Delayer> {
        let old = |class: &String| {
            before.and_then(|before| before.sent_ns.get(class)).copied().unwrap_or(0)
        };
        let sent = self
            .sent_ns
            .iter()
            .map(|(class, now)| (Some(class.clone()), now.saturating_sub(old(class))));
        let idle = self.idle_ns.saturating_sub(before.map_or(0, |before| before.idle_ns));
        let mut times: Vec<_> = sent.chain([(None, idle)]).filter(|(_, time)| *time > 0).collect();
        times.sort_by_key(|(_, time)| std::cmp::Reverse(*time));
        let all = times.iter().map(|(_, time)| *time as f64).sum::<f64>();
        let delayer = |(class, time)| Delayer { class, share: time as f64 / all };
        times.into_iter().map(delayer).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_what_is_new() {
        let waits = |idle_ns, sent: &[(&str, u64)]| WaitStatus {
            sent_ns: sent.iter().map(|(class, time)| (class.to_string(), *time)).collect(),
            idle_ns,
        };
        let before = waits(7, &[("call", 100), ("web", 50)]);
        let now = waits(17, &[("call", 100), ("upload", 60), ("web", 80)]);
        let delayer = |class: Option<&str>, share| Delayer { class: class.map(Into::into), share };
        let expected =
            [delayer(Some("upload"), 0.6), delayer(Some("web"), 0.3), delayer(None, 0.1)];
        assert_eq!(now.since(Some(&before)), expected);
        assert_eq!(before.since(Some(&before)), []);
        assert_eq!(waits(5, &[]).since(None), [delayer(None, 1.0)]);
    }
}
