//! A bridge at work between two hosts in namespaces of the test's own. Needs the right to make
//! these: run as root or within `unshare -Urn`; without it every test says that it was skipped.
#![cfg(target_os = "linux")]

mod arrivals;
mod clogged;
mod congestion;
mod corpus;
mod demo;
mod found;
mod held;
mod hosts;
#[path = "../../examples/ring/laboratory.rs"]
mod laboratory;
mod repeated;
mod ring;
mod shapers;
mod traffic;
mod watched;
mod watcher;
mod wire;
