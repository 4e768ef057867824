//! What is shown of a link, to whom, and what programs make of it that look at it. Apart from tests
//! in which time counts: browsers take all of a machine.
#![cfg(target_os = "linux")]

mod exposed;
mod page;
mod sample;
mod server;
