//! What pacing does to loss, delay and processor time: two hosts in network namespaces of their
//! own, and between them a link with a shallow buffer. It takes root, or `unshare -Urn`.
#![cfg_attr(not(target_os = "linux"), allow(unused))]

#[cfg(target_os = "linux")]
mod audio;
#[cfg(target_os = "linux")]
mod cost;
#[cfg(target_os = "linux")]
mod expiry;
#[cfg(target_os = "linux")]
mod laboratory;
#[cfg(target_os = "linux")]
mod receiver;
#[cfg(target_os = "linux")]
mod run;
#[cfg(target_os = "linux")]
mod video;

#[cfg(all(test, target_os = "linux"))]
mod tests;

#[cfg(target_os = "linux")]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    run::run()
}

#[cfg(not(target_os = "linux"))]
fn main() {
    eprintln!("this takes Linux");
}
