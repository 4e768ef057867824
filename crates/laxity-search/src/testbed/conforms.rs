//! Whether packets keep to their contracts.

use std::collections::HashMap;

use laxity_adversary::arrival::{Allowance, Arrival};

use crate::subject::Subject;

/// Whether arrivals in the order of time keep to all contracts that count, the rogues' excepted.
pub(crate) fn conforms(subject: &Subject, arrivals: &[Arrival], rogues: u64) -> bool {
    let mut allowances: HashMap<usize, Allowance> = HashMap::new();
    let mut last = 0;
    arrivals.iter().all(|arrival| {
        let in_order = arrival.time >= std::mem::replace(&mut last, arrival.time);
        let Some(feed) = subject.feed(arrival.feed) else { return false };
        let contract = &subject.contracts[feed.class];
        if !in_order || !(contract.shortest..=contract.longest).contains(&arrival.length) {
            return false;
        }
        if rogues >> feed.class & 1 == 1 {
            return true;
        }
        let allowance =
            allowances.entry(feed.class).or_insert_with(|| Allowance::new(&contract.conduct));
        allowance.grant(arrival.time, arrival.flow, arrival.length) == arrival.time
    })
}
