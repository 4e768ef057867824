//! The routers of a host: nodes of a plan's network, each at interfaces of this machine, all on one
//! thread.
//!
//! The common time of time-driven priority is `CLOCK_TAI`. The thread wakes at the beginning of
//! every frame, sends what is due in it at all ports, and takes in what has come, by the kernel's
//! stamps of when it did. A packet that crosses several routers of the host is followed from where
//! it came in to where it leaves.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`wiring`] | which interface is which port |
//! | `host` | the routers over a backend |
//! | `time` | the common time of all hosts |
//! | `passage` | packets followed from router to router |
//! | `thread` | the thread that runs them |
//! | [`measurement`] | what was measured, by class, beside what is promised |
//! | `task` | books and files of a process that runs them |

mod host;
pub mod measurement;
mod passage;
mod status;
pub(crate) mod task;
mod thread;
mod time;
pub mod wiring;

pub use host::Host;
pub use measurement::NetworkMeasurement;
pub use thread::Running;
pub use wiring::{NodeWiring, PortName};
