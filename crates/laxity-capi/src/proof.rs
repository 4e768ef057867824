//! What is proved of a plan.

use std::ffi::{CString, c_char};

use laxity_api::{CheckResult, check};

use crate::entry::{Handle, enter_shared, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::plan::{NamedPlan, lx_plan};
use crate::pointer::{Out, c_text};
use crate::status::lx_status::{self, *};

/// What is proved of a plan. It never changes: any number of threads may use one.
pub struct lx_proof(Handle<Proof>);
held!(lx_proof(Proof), b"prof", "proof");

/// Whether everything that a plan promises holds.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_admission {
    /// It does not.
    LX_REFUSED = 0,
    /// It does: this is proved.
    LX_ADMITTED = 1,
    /// It is not known.
    LX_UNKNOWN = 2,
}

/// A proof in the forms that C reads.
pub struct Proof {
    admitted: Option<bool>,
    statement: CString,
    json: CString,
    /// The bound of each class in ns, if it has one.
    bounds: Vec<Option<u64>>,
}

impl Proof {
    fn new(plan: &NamedPlan) -> Result<Proof, Failure> {
        let checked = check(&plan.plan)?;
        let mut bounds = vec![None; plan.plan.classes.len()];
        if let CheckResult::Link(proof) = &checked {
            for class in &proof.classes {
                bounds[class.id.index()] = class.bound_ns;
            }
        }
        let json = serde_json::to_string_pretty(&checked);
        let json = json.map_err(|error| Failure::new(LX_ERR_UNSUPPORTED, error))?;
        let statement = c_text(&checked.statement());
        Ok(Proof { admitted: checked.admitted(), statement, json: c_text(&json), bounds })
    }
}

/// Proves what can be proved of a plan, as `laxity check` does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_check(
    plan: *const lx_plan,
    proof: *mut *mut lx_proof,
    error: *mut *mut lx_error,
) -> lx_status {
    // SAFETY: the caller gives NULL or a plan that is not freed.
    make(proof, error, || Proof::new(unsafe { shared(plan) }?))
}

/// Frees a proof; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_proof_free(proof: *mut lx_proof) {
    // SAFETY: the caller gives NULL or a proof that is not freed, and that no call uses.
    unsafe { free(proof) };
}

/// Whether everything that the plan promises holds: writes an `lx_admission`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_proof_admission(
    proof: *const lx_proof,
    admission: *mut lx_admission,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |proof: &Proof| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(admission) }?.write(match proof.admitted {
            Some(true) => lx_admission::LX_ADMITTED,
            Some(false) => lx_admission::LX_REFUSED,
            None => lx_admission::LX_UNKNOWN,
        });
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a proof that is not freed.
    unsafe { enter_shared(proof, error, body) }
}

/// Why, in a few sentences, which live as long as the proof.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_proof_statement(
    proof: *const lx_proof,
    statement: *mut *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |proof: &Proof| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(statement) }?.write(proof.statement.as_ptr());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a proof that is not freed.
    unsafe { enter_shared(proof, error, body) }
}

/// The whole proof: the JSON of `laxity check --json`, which lives as long as the proof.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_proof_json(
    proof: *const lx_proof,
    json: *mut *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |proof: &Proof| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(json) }?.write(proof.json.as_ptr());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a proof that is not freed.
    unsafe { enter_shared(proof, error, body) }
}

/// The delay of a class that no conforming packet exceeds, in ns. `LX_NONE` without one, and in a
/// network, where bounds are of paths: the JSON has them.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_proof_bound(
    proof: *const lx_proof,
    class_id: u32,
    bound: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |proof: &Proof| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(bound) }?;
        let Some(bound) = proof.bounds.get(class_id as usize) else {
            let message =
                format!("the plan has no class {class_id}: it has {}", proof.bounds.len());
            return Err(Failure::new(LX_ERR_ARGUMENT, message));
        };
        let Some(bound) = bound else { return Ok(LX_NONE) };
        out.write(*bound);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a proof that is not freed.
    unsafe { enter_shared(proof, error, body) }
}
