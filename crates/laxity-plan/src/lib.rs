//! Laxity plans: one TOML file becomes a typed [`Plan`], or an error that points at its line.
//!
//! A plan is read in two steps. `raw` mirrors the file key by key, and its types are also the
//! plan's JSON Schema; `read` resolves names, fills in defaults and refuses what makes no sense.
//! What comes out, [`model`], is valid by construction, so nothing downstream checks it again.
//!
//! ```
//! use std::path::Path;
//!
//! let text = r#"
//!     version = 1
//!     link = { rate = "10mbit" }
//!     scheduler = { kind = "fifo" }
//!     class.all = {}
//! "#;
//! let plan = laxity_plan::Plan::parse(text, "example.toml", Path::new("."))?;
//! assert_eq!(plan.classes[0].name, "all");
//! # Ok::<(), laxity_plan::PlanError>(())
//! ```
#![deny(missing_docs)]

pub mod acks;
pub mod aqm;
mod autorate;
mod build;
pub mod calls;
pub mod classify;
pub mod discipline;
pub mod edit;
pub mod encapsulation;
pub mod error;
pub mod file;
mod guarantees;
mod keys;
pub mod matching;
pub mod model;
pub mod nesting;
pub mod network;
pub mod parallel;
pub mod paths;
pub mod random;
pub mod rate_trace;
mod raw;
mod read;
pub mod reader;
mod recorded_calls;
pub mod rewrite;
mod schema;
mod settling;
mod shares;
mod source;
pub mod tdp;
pub mod topology;
pub mod wire;
pub mod written;

pub use build::{Tails, has_memory};
pub use discipline::UnknownScheduler;
pub use error::PlanError;
pub use model::Plan;
pub use schema::schema;
