//! The machine that this runs on.

use std::io;

use crate::sys::check;

/// The machine's name in the network (gethostname(2)), also where /proc shows processes alone.
///
/// # Errors
/// If it is not UTF-8, or the system refuses.
pub fn host_name() -> io::Result<String> {
    let mut name = [0u8; 256];
    // SAFETY: the kernel writes at most the length given to the buffer that is there.
    check(unsafe { libc::gethostname(name.as_mut_ptr().cast(), name.len()) })?;
    let length = name.iter().position(|byte| *byte == 0).unwrap_or(name.len());
    String::from_utf8(name[..length].to_vec()).map_err(io::Error::other)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_is_the_one_that_the_kernel_shows() {
        let Ok(shown) = std::fs::read_to_string("/proc/sys/kernel/hostname") else {
            eprintln!("skipped: /proc/sys/kernel/hostname is not there");
            return;
        };
        assert_eq!(host_name().unwrap(), shown.trim());
    }
}
