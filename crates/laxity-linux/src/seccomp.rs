//! Filters for system calls, for the thread that applies them and what it starts.

use std::collections::BTreeMap;
use std::io;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch,
};

use crate::error::{Doing, Error};

/// Calls, each with the rules by which it is allowed; with none it is always.
pub(crate) type Calls = BTreeMap<i64, Vec<SeccompRule>>;

/// Applies filters in this order, for good.
pub(crate) fn apply(
    programs: impl IntoIterator<Item = Result<BpfProgram, BackendError>>,
) -> Result<(), Error> {
    for program in programs {
        let program = program.map_err(io::Error::other);
        let program = program.doing("write a filter for system calls")?;
        let applied = seccompiler::apply_filter(&program).map_err(io::Error::other);
        applied.doing("restrict system calls")?;
    }
    Ok(())
}

/// Has a call answered with an error, if the other filters allow it.
pub(crate) fn answered(call: i64, error: i32) -> Result<BpfProgram, BackendError> {
    let rules = BTreeMap::from([(call, Vec::new())]);
    let answer = SeccompAction::Errno(error as u32);
    SeccompFilter::new(rules, SeccompAction::Allow, answer, target()?)?.try_into()
}

/// Allows these calls, and does something else at any other.
pub(crate) fn allowing(calls: Calls, other: SeccompAction) -> Result<BpfProgram, BackendError> {
    SeccompFilter::new(calls, other, SeccompAction::Allow, target()?)?.try_into()
}

/// That the lower half of an argument compares so.
pub(crate) fn condition(
    argument: u8,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompCondition, BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
}

fn target() -> Result<TargetArch, BackendError> {
    std::env::consts::ARCH.try_into()
}
