//! Settings of `AF_PACKET` sockets.

/// Settings of sockets.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "users make it from the default")]
pub struct Options {
    /// Room for frames that have arrived at an interface.
    pub frames: u32,
    /// Receive frames to any address, as a bridge does.
    pub promiscuous: bool,
    /// Room in the kernel for frames that have not been received, in bytes. More than the system's
    /// `rmem_max` needs `CAP_NET_ADMIN`; without it there is less.
    pub receive_buffer: u32,
    /// Send past the interface's queueing discipline and past packet captures. Frames that are cut
    /// into segments never do.
    pub bypass_qdisc: bool,
    /// Let the kernel stamp arriving frames. In the first milliseconds it may stamp none.
    pub stamps: bool,
    /// Receive nothing before frames are [spread](crate::packet::Packets::spread) over this and
    /// other sockets.
    pub spread: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            frames: 8192,
            promiscuous: true,
            receive_buffer: 16 << 20,
            bypass_qdisc: false,
            stamps: true,
            spread: false,
        }
    }
}
