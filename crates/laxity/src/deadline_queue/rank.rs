//! Ranks, and those of protocols.

/// Where a datagram stands among others.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by callers")]
pub struct Rank {
    /// Lower levels go first, whatever waits in higher ones.
    pub level: u32,
    /// The stream that has a share of the level. Datagrams with a deadline need none.
    pub stream: u64,
    /// The place within the stream: the least goes first, of equal ones the first to come.
    /// Datagrams with a deadline need none.
    pub order: u128,
}

/// Which group of a track is sent first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "as in the protocol")]
pub enum GroupOrder {
    /// The oldest one.
    Ascending,
    /// The newest one.
    Descending,
}

impl Rank {
    /// The rank of an object of Media over QUIC Transport (draft-ietf-moq-transport, Scheduling
    /// Algorithm): by the priority of the subscriber, then by that of the publisher, where 0 is
    /// the highest; in a track by its group order and then by the number of the object or subgroup.
    /// Tracks of the same priorities share alike, which the protocol leaves open.
    ///
    /// With a delivery timeout as [expiry](super::Datagram::expires) every object leaves in time.
    /// Without one, lower priorities wait for as long as higher ones have something, and old groups
    /// in descending order for as long as newer ones come.
    pub fn moq(
        [subscriber, publisher]: [u8; 2],
        track: u64,
        group_order: GroupOrder,
        group: u64,
        object: u64,
    ) -> Rank {
        let group = match group_order {
            GroupOrder::Ascending => group,
            GroupOrder::Descending => u64::MAX - group,
        };
        Rank {
            level: u32::from(subscriber) << 8 | u32::from(publisher),
            stream: track,
            order: u128::from(group) << 64 | u128::from(object),
        }
    }

    /// The rank of what a response of HTTP sends (RFC 9218 section 10): by urgency, from 0, the
    /// highest, to 7; higher values count as 7. Responses that are not incremental go one after
    /// another, by the number of their stream. Each incremental response of an urgency, and all
    /// others together, have equal shares: none waits for another without end, which the RFC leaves
    /// open.
    ///
    /// Higher urgencies wait for as long as lower ones have something.
    pub fn http(urgency: u8, is_incremental: bool, stream: u64) -> Rank {
        // Numbers of streams are below 2^62.
        let share = if is_incremental { stream } else { u64::MAX };
        let order = if is_incremental { 0 } else { stream.into() };
        Rank { level: urgency.min(7).into(), stream: share, order }
    }
}
