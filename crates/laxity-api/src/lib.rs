//! One door to Laxity for every front end: a command, a notebook, a page in a browser.
//!
//! Each verb is a function from a typed question to a typed answer, which serialises to the JSON
//! that the command prints. A front end parses what it is asked, calls the verb and shows the
//! answer. What is the same for all (how long sources send by default, when a verdict is kept, what
//! a class could change to pass) is decided here or below, never in front of the door.
//!
//! | verb | question | answer |
//! | --- | --- | --- |
//! | [`check()`] | a plan | [`CheckResult`]: what is proved of it |
//! | [`is_admitted`] | the same | whether it is admitted, alone |
//! | [`breakdown()`](breakdown::breakdown) | a plan, classes, [`Traffic`] | [what their bounds are made of](breakdown::Breakdowns), and how much of it packets use |
//! | [`admit_streams`] | a network, streams that are asked for | the status of each, and the plan with those that are admitted |
//! | [`limits()`] | a network | what each link and class could be for everything to hold |
//! | [`worst_case`] | a plan, an [`Effort`] | [`WorstCases`]: the longest delays that were found, and under which packets |
//! | [`check_for_linux`] | a plan, [what is known of a machine](Linux) | the same, as Linux carries the plan out |
//! | [`export`] | a plan, an interface, a [format](ExportFormat) | what Linux is given for it |
//! | [`run()`], [`run_compared`] | a plan, [`Traffic`], who watches | [`RunResult`]: what was measured, and the verdict; several are a [`Comparison`] |
//! | [`run_calls`] | a plan whose calls come and go | how many were refused, and what all sent |
//! | [`run_custom`] | the same, with schedulers that a program brings | the same |
//! | [`choices`] | a plan, [`Traffic`] | its link, asking somebody else for every packet |
//! | [`over_seeds`] | plans, [`Traffic`], seeds | a mean and an interval of every figure |
//! | [`sweep()`](sweep::sweep) | a study: a plan, what varies in it, seeds | a store of tables, and a [`sweep::Summary`] |
//! | [`tune()`](tune::tune) | a plan, what is to be small in it, what has to hold | a plan, and [what binds](tune::TuneResult) |
//! | [`why()`](why::why) | a plan, with or without traffic, and which packets | [why they were delayed](why::WhyResult) |
//! | [`fit`](mod@fit) | a plan and a recording | arrival curves |
//! | [`repeat`] | a live link's ledger | whether the simulator does the same |
//! | [`household::Household::plans`] | a link, its rates and what matters | a plan for each direction, admitted |
//! | [`household::read_router`] | the settings of a router that shapes its link | the link, its rates and rules |
//! | [`import`] | a script of tc | a plan's text |
//! | [`exchange`] | a network in the file of another tool, or a plan | a plan's text, or such a file |
//!
//! A plan is asked about under its own scheduler; [`Plan::under`] gives it another.
//!
//! ```
//! use laxity_api::{CheckResult, Plan, Traffic, check, run};
//!
//! let plan = Plan::parse(
//!     r#"
//!     version = 1
//!     link = { rate = "10mbit" }
//!     scheduler = { kind = "edf" }
//!     class.voice.deadline = "5ms"
//!     class.voice.arrival = { bucket = "300b", rate = "80kB/s", packet = "300b" }
//!     class.web = {}
//!     source = [{ class = "voice", model = "constant", packet = "200b", rate = "64kB/s" },
//!               { class = "web", model = "poisson", packet = "1500b", rate = "1MB/s" }]
//!     "#,
//!     "example.toml",
//!     std::path::Path::new("."),
//! )?;
//! assert_eq!(check(&plan)?.admitted(), Some(true));
//! let result = run(&plan, &Traffic::default(), &mut (), &mut laxity_api::to_the_end)?;
//! assert!(result.judged.verdict.kept);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
#![deny(missing_docs)]

#[cfg(feature = "pages")]
pub mod breakdown;
mod calls;
mod check;
mod custom;
mod error;
#[cfg(feature = "pages")]
mod explanation;
pub mod fit;
pub mod household;
mod linux;
#[cfg(feature = "pages")]
mod pages;
mod repeat;
mod result;
mod run;
mod seeds;
mod streams;
pub mod sweep;
mod traffic;
pub mod tune;
#[cfg(feature = "pages")]
pub mod why;
mod worst;

pub use calls::run_calls;
pub use check::{CheckResult, check, exactly, is_admitted, limits};
pub use custom::{Custom, run_custom, with_custom};
pub use error::Error;
#[cfg(feature = "pages")]
pub use explanation::run_explained;
pub use laxity_answers::reservations::calls::CallsSummary;
pub use laxity_answers::verdict::{HeldTo, JudgedRun, Verdict};
pub use laxity_answers::worst::WorstCase;
pub use laxity_exchange as exchange;
pub use laxity_plan::parallel::on_all_cores;
pub use laxity_plan::{Plan, PlanError, UnknownScheduler};
#[cfg(feature = "pages")]
pub use laxity_report::html::NamedFigure;
pub use laxity_report::json::Json;
pub use laxity_sim::{Progress, ProgressPoint, to_the_end};
pub use laxity_tc::export::Format as ExportFormat;
pub use laxity_tc::linux::{Filters, Linux, Refusal};
pub use laxity_tc::{Import, Options as ImportOptions, import};
pub use linux::{
    Corrections, LinuxCheck, LinuxExport, check_for_linux, export, export_both, nearest,
};
#[cfg(feature = "pages")]
pub use pages::{Delays, curves};
pub use repeat::{
    Difference, LedgerGap, RepeatError, Repetition, WireRepetition, repeat, repeat_traced,
};
pub use result::{Comparison, RunResult};
pub use run::{choices, run, run_compared};
pub use seeds::over_seeds;
pub use streams::{StreamsResult, admit_streams};
pub use traffic::{DEFAULT_DURATION, Opener, Traffic, remarks};
pub use worst::{DEFAULT_PACKETS, Effort, WorstCases, worst_case};
