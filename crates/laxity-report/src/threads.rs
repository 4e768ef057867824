//! Links that several threads serve.

use laxity_plan::Plan;

use crate::quantity::{rate, time};

/// What is said of a proof of such a link.
pub(crate) fn proved(plan: &Plan) -> Option<String> {
    let threads = plan.link.threads?;
    Some(format!(
        "{} threads serve a link of {}. The proof holds for what each can count on, {}, which it has {} after it got \
         something to send; all bounds count that and a packet of each other thread.",
        threads.count,
        rate(threads.rate.0 as f64),
        rate(threads.share().0 as f64),
        time(threads.patience(plan.link.max_packet).0 as f64),
    ))
}
