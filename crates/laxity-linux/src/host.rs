//! The names of machines.

use std::ffi::CStr;
use std::io;
use std::net::IpAddr;
use std::ptr;

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

/// The name of an address, as the machine's resolver finds it (getnameinfo(3)): from files, by DNS
/// or whatever it is set up for. It blocks until that answers or gives up, for some seconds.
pub fn name_of(address: IpAddr) -> Option<String> {
    // SAFETY: all bytes zero are an address of no kind.
    let mut storage: libc::sockaddr_storage = unsafe { std::mem::zeroed() };
    let place = ptr::from_mut(&mut storage);
    let length = match address {
        IpAddr::V4(address) => {
            let s_addr = u32::from_ne_bytes(address.octets());
            let family = libc::AF_INET as libc::sa_family_t;
            let place: *mut libc::sockaddr_in = place.cast();
            // SAFETY: there is room and alignment for an address of any kind.
            unsafe {
                (*place).sin_family = family;
                (*place).sin_addr.s_addr = s_addr;
            }
            size_of::<libc::sockaddr_in>()
        }
        IpAddr::V6(address) => {
            let family = libc::AF_INET6 as libc::sa_family_t;
            let place: *mut libc::sockaddr_in6 = place.cast();
            // SAFETY: as above.
            unsafe {
                (*place).sin6_family = family;
                (*place).sin6_addr.s6_addr = address.octets();
            }
            size_of::<libc::sockaddr_in6>()
        }
    };
    let mut name = [0u8; libc::NI_MAXHOST as usize];
    // SAFETY: the address is as long as is said, and at most as much as there is room for is
    // written, with a zero at its end.
    let failed = unsafe {
        libc::getnameinfo(
            place.cast_const().cast(),
            length as libc::socklen_t,
            name.as_mut_ptr().cast(),
            name.len() as libc::socklen_t,
            ptr::null_mut(),
            0,
            libc::NI_NAMEREQD,
        )
    };
    if failed != 0 {
        return None;
    }
    let name = CStr::from_bytes_until_nul(&name).ok()?;
    Some(name.to_str().ok()?.to_string())
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

    #[test]
    fn the_machine_itself_has_a_name() {
        let hosts = std::fs::read_to_string("/etc/hosts").unwrap_or_default();
        if !hosts.lines().any(|line| line.starts_with("127.0.0.1")) {
            eprintln!("skipped: /etc/hosts does not name 127.0.0.1");
            return;
        }
        let name = name_of(IpAddr::from([127, 0, 0, 1])).expect("it is in /etc/hosts");
        assert!(hosts.contains(&name) && !name.is_empty());
    }
}
