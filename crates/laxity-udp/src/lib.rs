//! x
#![cfg(target_os = "linux")]
