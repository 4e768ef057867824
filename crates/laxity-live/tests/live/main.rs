//! A bridge at work between two hosts in namespaces of the test's own, and what is
//! shown of it. Making namespaces takes root or `unshare -Urn`; without, tests say that they were skipped.
#![cfg(target_os = "linux")]

mod corpus;
mod demo;
mod exposed;
mod hosts;
mod page;
mod repeated;
mod sample;
mod server;
mod shapers;
mod traffic;
mod watched;
mod watcher;
