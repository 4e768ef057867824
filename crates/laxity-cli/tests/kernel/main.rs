//! Plans that the kernel carries out, in a kernel of the tests' own.
#![cfg(target_os = "linux")]

mod bounds;
mod cake;
mod confirm;
mod emulated;
mod filters;
mod imported;
mod ingress;
mod kills;
mod lab;
mod load;
mod scale;
mod setups;
mod shown;
mod traffic;
mod uml;
