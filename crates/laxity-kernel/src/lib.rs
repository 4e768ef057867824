//! The kernel's own disciplines under a plan: what an interface has is read, changed and put back.
//!
//! | module | what it holds |
//! | --- | --- |
//! | [`objects`] | what a device has: its qdiscs, classes and filters |
//! | [`setup`] | what an interface has for both directions, and from one such set-up to another |
//! | [`device`] | an interface, as the kernel shows and changes it |
//! | [`steps`] | from the objects of a device to others, and what that drops |
//! | [`apply`] | the steps taken, verified, and taken back where the kernel refuses |
//! | [`record`] | what is remembered of it: the set-up before, the plan, whether it is settled |
//! | [`guardian`] | a second process, which ends what a first one began |
//! | [`status`] | what has passed each class, beside what its plan promises |
#![cfg(target_os = "linux")]
#![deny(missing_docs)]

pub mod apply;
pub mod device;
pub mod guardian;
pub mod objects;
pub mod record;
pub mod setup;
pub mod status;
pub mod steps;
