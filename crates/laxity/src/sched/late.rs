//! What becomes of packets that are late.

/// What becomes of packets whose deadline has passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a packet is sent or it is not")]
pub enum Late {
    /// They are dropped.
    Drop,
    /// They are sent late. Under DWCS their deadline moves on by T.
    Send,
}
