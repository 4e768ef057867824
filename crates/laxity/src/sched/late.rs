//! The treatment of late packets.

/// How packets are treated after their deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a packet is sent or it is not")]
pub enum Late {
    /// They are dropped.
    Drop,
    /// They are sent late. Under DWCS their deadline moves on by T.
    Send,
}
