//! The crate against the kernel, in network namespaces that each test makes for itself. What has no
//! right to make one says that it skips, and why.
#![cfg(target_os = "linux")]

mod bypass;
mod connections;
mod flaps;
mod host_link;
mod interfaces;
mod kinds;
mod laboratory;
mod sandbox;
mod spread;
mod taps;
mod traffic;
mod undone;
