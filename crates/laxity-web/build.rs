//! How much memory a page's module may take.

/// 1 GiB: a plan that needs more ends the module, and not the browser's tab.
const MOST_MEMORY: u64 = 1 << 30;

/// As much as a program's first thread has elsewhere.
const STACK: u64 = 8 << 20;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_ARCH").is_ok_and(|target| target == "wasm32") {
        println!("cargo::rustc-link-arg-cdylib=--max-memory={MOST_MEMORY}");
        println!("cargo::rustc-link-arg-cdylib=-zstack-size={STACK}");
    }
}
