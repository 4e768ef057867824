//! `laxity why` of the ledger of a live link.

use std::path::Path;

use laxity_api::why::{Ledger, PlanSource};

use super::{answer, changes, kinds, packets, question, refuse_traffic};
use crate::Promises;
use crate::args::Why;
use crate::failure::Failure;
use crate::progress::Simulating;

/// Carries the command out.
pub(super) fn run(arguments: &Why) -> Result<Promises, Failure> {
    refuse_traffic(arguments, "a ledger")?;
    let kinds = kinds(arguments);
    let ledger = Ledger::read(&arguments.plan, &kinds)?;
    let plan = ledger.plan();
    let source = PlanSource {
        text: ledger.text(),
        name: "ledger",
        folder: Path::new(""),
        others: &kinds,
        under: None,
    };
    let mut changes = changes(arguments, plan, source)?;
    if !changes.is_empty() || arguments.propose {
        changes.insert(0, ledger.never_late());
    }
    let packets = packets(arguments);
    let question = question(arguments, &packets, &changes, source);
    let result = Simulating::one(plan, None, |progress| ledger.why(question, progress))?;
    answer(arguments, result)
}
