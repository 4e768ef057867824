//! Namespaces for tests.

use laxity_linux::namespace::Namespace;

/// A namespace with nothing in it. None where that is not allowed, and then it says so.
pub fn namespace() -> Option<Namespace> {
    match Namespace::new() {
        Ok(namespace) => Some(namespace),
        Err(error) if error.is_permission() => {
            eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
            None
        }
        Err(error) => panic!("{error}"),
    }
}
