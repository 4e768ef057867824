//! Plans.

use std::ffi::{CString, c_char};
use std::path::{Path, PathBuf};

use laxity::packet::ClassId;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;

use crate::entry::{Handle, enter_shared, free, held, make, shared};
use crate::error::{Failure, lx_error};
use crate::pointer::{Out, c_text, text, text_or_empty};
use crate::status::lx_status::{self, *};

/// A plan, whole and right. It never changes: any number of threads may use one at a time, and it
/// may be freed as soon as no call uses it. What is built of it keeps what it needs.
pub struct lx_plan(Handle<NamedPlan>);
held!(lx_plan(NamedPlan), b"plan", "plan");

/// A plan and where it is from.
pub struct NamedPlan {
    pub(crate) plan: Plan,
    pub(crate) text: String,
    pub(crate) name: String,
    pub(crate) folder: PathBuf,
    /// By class number.
    names: Vec<CString>,
    scheduler: CString,
}

impl NamedPlan {
    pub(crate) fn new(plan: Plan, text: String, name: String, folder: PathBuf) -> NamedPlan {
        let names = plan.classes.iter().map(|class| c_text(&class.name)).collect();
        let scheduler = c_text(plan.scheduler.name());
        NamedPlan { plan, text, name, folder, names, scheduler }
    }

    fn under(&self, scheduler: &str) -> Result<NamedPlan, Failure> {
        // Classes may have keys that mean something to the other one alone.
        let other = Kind::named(scheduler).ok();
        let plan = Plan::parse_for(&self.text, &self.name, &self.folder, other.as_slice())?;
        let plan = plan.under(scheduler).map_err(|error| Failure::new(LX_ERR_ARGUMENT, error))?;
        Ok(NamedPlan::new(plan, self.text.clone(), self.name.clone(), self.folder.clone()))
    }
}

/// Reads a plan from its text, which ends with a NUL. `name` stands before the line in messages.
/// Files that the plan names are looked for from `folder`; NULL is the current one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_parse(
    toml: *const c_char,
    name: *const c_char,
    folder: *const c_char,
    plan: *mut *mut lx_plan,
    error: *mut *mut lx_error,
) -> lx_status {
    make(plan, error, || {
        // SAFETY: the caller gives NULL or texts that end.
        let (toml, name, folder) =
            unsafe { (text(toml, "text")?, text(name, "name")?, text_or_empty(folder, "folder")?) };
        let plan = Plan::parse(toml, name, Path::new(folder))?;
        Ok(NamedPlan::new(plan, toml.to_string(), name.to_string(), folder.into()))
    })
}

/// Reads a plan from a file.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_read(
    path: *const c_char,
    plan: *mut *mut lx_plan,
    error: *mut *mut lx_error,
) -> lx_status {
    make(plan, error, || {
        // SAFETY: the caller gives NULL or a text that ends.
        let path = Path::new(unsafe { text(path, "path") }?);
        let (plan, text) = Plan::read_with_text(path, &[])?;
        let folder = path.parent().map(Path::to_path_buf).unwrap_or_default();
        Ok(NamedPlan::new(plan, text, path.display().to_string(), folder))
    })
}

/// The same plan under another discipline, which is called as in plans: "edf", "wf2q", "cake".
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_under(
    plan: *const lx_plan,
    scheduler: *const c_char,
    other: *mut *mut lx_plan,
    error: *mut *mut lx_error,
) -> lx_status {
    make(other, error, || {
        // SAFETY: the caller gives NULL or a plan that is not freed, and NULL or a text that ends.
        unsafe { shared(plan)?.under(text(scheduler, "scheduler")?) }
    })
}

/// Frees a plan; NULL is none.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_free(plan: *mut lx_plan) {
    // SAFETY: the caller gives NULL or a plan that is not freed, and that no call uses.
    unsafe { free(plan) };
}

/// The number of classes. Their numbers are below.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_classes(
    plan: *const lx_plan,
    count: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |plan: &NamedPlan| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(count) }?.write(plan.names.len() as u32);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a plan that is not freed.
    unsafe { enter_shared(plan, error, body) }
}

/// The name of a class, which lives as long as the plan. `LX_NONE` if no class has the number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_class_name(
    plan: *const lx_plan,
    class_id: u32,
    name: *mut *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |plan: &NamedPlan| {
        // SAFETY: the caller gives NULL or a place that can be written.
        let out = unsafe { Out::new(name) }?;
        let Some(name) = plan.names.get(class_id as usize) else { return Ok(LX_NONE) };
        out.write(name.as_ptr());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a plan that is not freed.
    unsafe { enter_shared(plan, error, body) }
}

/// The number of the class of a name. `LX_NONE` if no class is called so.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_class(
    plan: *const lx_plan,
    name: *const c_char,
    class_id: *mut u32,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |plan: &NamedPlan| {
        // SAFETY: the caller gives NULL, or a place that can be written and a text that ends.
        let (out, name) = unsafe { (Out::new(class_id)?, text(name, "name")?) };
        let Some(ClassId(number)) = plan.plan.class(name) else { return Ok(LX_NONE) };
        out.write(number);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a plan that is not freed.
    unsafe { enter_shared(plan, error, body) }
}

/// The name of the plan's discipline, which lives as long as the plan.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_scheduler(
    plan: *const lx_plan,
    name: *mut *const c_char,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |plan: &NamedPlan| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(name) }?.write(plan.scheduler.as_ptr());
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a plan that is not freed.
    unsafe { enter_shared(plan, error, body) }
}

/// The rate of the plan's link, in bits per second.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn lx_plan_rate(
    plan: *const lx_plan,
    bits_per_second: *mut u64,
    error: *mut *mut lx_error,
) -> lx_status {
    let body = |plan: &NamedPlan| {
        // SAFETY: the caller gives NULL or a place that can be written.
        unsafe { Out::new(bits_per_second) }?.write(plan.plan.link.rate.0);
        Ok(LX_OK)
    };
    // SAFETY: the caller gives NULL or a plan that is not freed.
    unsafe { enter_shared(plan, error, body) }
}
