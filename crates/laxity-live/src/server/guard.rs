//! By which names a server on TCP may be asked.

use std::net::{IpAddr, SocketAddr};

use laxity_linux::host::host_name;

/// The names by which browsers and others may ask for it.
///
/// A page from elsewhere could have its own name lead here, and its scripts then read what this
/// server answers as if it were theirs (DNS rebinding). They cannot ask by an address, for
/// then what is read belongs to that address, nor by the names that lead here anyway.
#[derive(Debug)]
pub(super) struct Names {
    machine: Option<String>,
}

impl Names {
    /// Of a server that listens there.
    pub(super) fn new(address: SocketAddr) -> Self {
        // From this machine it is not asked by the machine's name.
        let machine = (!address.ip().is_loopback())
            // Not from /proc, which a service may see only its own part of.
            .then(host_name)
            .and_then(Result::ok);
        Names { machine: machine.map(|name| name.to_ascii_lowercase()) }
    }

    /// Whether the server answers requests with this `Host` header.
    pub(super) fn allow(&self, host: &str) -> bool {
        let name = match host.rsplit_once(':') {
            Some((name, port)) if port.parse::<u16>().is_ok() && !name.ends_with(':') => name,
            _ => host,
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']'));
        let name = name.to_ascii_lowercase();
        let of_machine = |machine: &String| {
            name == *machine || name.strip_suffix(".local").is_some_and(|name| name == machine)
        };
        bare.unwrap_or(&name).parse::<IpAddr>().is_ok()
            || name == "localhost"
            || self.machine.as_ref().is_some_and(of_machine)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_and_own_names_alone() {
        let near = Names::new(SocketAddr::from(([127, 0, 0, 1], 80)));
        for host in
            ["127.0.0.1", "127.0.0.1:9464", "[::1]:9464", "[::1]", "localhost:1", "LOCALHOST"]
        {
            assert!(near.allow(host), "{host}");
        }
        let others =
            ["", ":", "evil.example", "127.0.0.1.evil.example:80", "localhost.evil", "[::1", "::x"];
        let far = Names { machine: Some("router".into()) };
        for host in others.into_iter().chain(["router.evil.example"]) {
            assert!(!near.allow(host) && !far.allow(host), "{host}");
        }
        assert!(far.allow("Router:9464") && far.allow("router.local") && !near.allow("router"));
    }
}
