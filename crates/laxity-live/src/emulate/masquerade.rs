//! The way on from an emulated link to other machines.

use std::fs;
use std::io::{self, Write};
use std::net::Ipv4Addr;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};

use super::place::{PREFIX, Place};

/// Packets of a command leave this machine under its address.
///
/// The table of nftables that does so belongs to a process, `nft`, which waits for more until its
/// standard input is closed. The kernel removes the table with that process, so that nothing stays
/// however the emulation ends.
#[derive(Debug)]
pub struct Masquerade {
    _nft: Child,
}

/// Whether this machine passes packets on to others.
pub fn is_forwarding() -> bool {
    let said = fs::read_to_string("/proc/sys/net/ipv4/ip_forward").unwrap_or_default();
    said.trim() == "1"
}

impl Masquerade {
    /// Begins in the network namespace of the calling thread, which is that outside.
    ///
    /// # Errors
    /// If there is no `nft`, or it refuses.
    pub fn begin(place: &Place) -> io::Result<Masquerade> {
        let table = format!("laxity-{}", place.name);
        let mut nft = Command::new("nft");
        // What is typed at the terminal is not meant for it.
        nft.arg("-i").process_group(0);
        nft.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let mut nft = nft.spawn()?;
        let rules = rules(&table, &place.name, place.gateway());
        let written = nft.stdin.as_mut().map(|stdin| stdin.write_all(rules.as_bytes()));
        written.unwrap_or(Ok(()))?;
        let masquerade = Masquerade { _nft: nft };
        if !is_there(&table)? {
            return Err(io::Error::other("nft refuses a table of its own that masquerades"));
        }
        Ok(masquerade)
    }
}

fn rules(table: &str, interface: &str, network: Ipv4Addr) -> String {
    format!(
        "table ip {table} {{ flags owner; \
         chain postrouting {{ type nat hook postrouting priority srcnat; \
         ip saddr {network}/{PREFIX} oifname != \"{interface}\" masquerade; }}; }}\n"
    )
}

/// Whether a table comes to be there soon.
fn is_there(table: &str) -> io::Result<bool> {
    for _ in 0..100 {
        let mut list = Command::new("nft");
        list.args(["list", "table", "ip", table]);
        if list.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status()?.success()
        {
            return Ok(true);
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    Ok(false)
}
