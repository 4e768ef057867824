//! A laboratory: two hosts with real traffic between them, over a link that is too small for it.
//!
//! What the traffic gets is seen at the receiving host, by stamps that the sender puts in it and by
//! those of the kernel: a measurement that shares nothing with the forwarder between the hosts.
//!
//! | module | what it is |
//! | --- | --- |
//! | [`laboratory`] | the hosts and the link's two interfaces |
//! | [`scenario`] | a link, and what the one host sends over it to the other |
//! | [`traffic`] | that traffic, as it is sent |
//! | [`listener`] | what comes of it, and how late |
//! | [`trial`] | all of it for some time, with the forwarder between |

pub mod laboratory;
pub mod listener;
mod load;
pub mod scenario;
pub mod traffic;
pub mod trial;

pub use laboratory::Laboratory;
pub use listener::{Listener, Reception};
pub use load::LinkLoad;
pub use scenario::Scenario;
pub use traffic::{Stream, Traffic};
pub use trial::{Outcome, Trial};
