//! Gives the shared library the name under which programs find it once it is installed.

fn main() {
    println!("cargo:rerun-if-changed=build.rs");
    if std::env::var("CARGO_CFG_TARGET_OS").is_ok_and(|system| system == "linux") {
        // The number is that of the binary interface: `LX_ABI_VERSION`.
        println!("cargo:rustc-cdylib-link-arg=-Wl,-soname,liblaxity.so.0");
    }
}
