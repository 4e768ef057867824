//! Why packets are dropped and chosen, in numbers that stay.

use std::ffi::{CStr, c_char};

use laxity::scheduler::{Criterion, DropReason};

use crate::status::named;

/// Why a packet was not sent.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_drop_reason {
    /// The queue's limit was reached.
    LX_DROP_QUEUE_FULL = 0,
    /// It broke its class's arrival curve, and the plan says to drop such packets.
    LX_DROP_CONTRACT = 1,
    /// Its class takes no packets: there is none of this number, it is not a leaf, or was removed.
    LX_DROP_NO_CLASS = 2,
    /// Its deadline had passed, and its class or stream does not want late packets.
    LX_DROP_LATE = 3,
    /// Random early detection: its queue was long on average.
    LX_DROP_RED = 4,
    /// CHOKe: it and another packet of its flow met.
    LX_DROP_CHOKE = 5,
    /// CoDel: packets had been waiting for too long.
    LX_DROP_CODEL = 6,
    /// It missed its time frame, or there is none that it can be sent in.
    LX_DROP_FRAME = 7,
    /// It is longer than any packet that is expected of its class.
    LX_DROP_TOO_LONG = 8,
    /// The scheduler wants it no more, for a reason of its own.
    LX_DROP_SCHEDULER = 9,
    /// PIE: packets wait for too long, and chance chose it.
    LX_DROP_PIE = 10,
    /// DualPI2: packets of its queue wait for too long, or marks are not enough any more.
    LX_DROP_DUALPI2 = 11,
    /// COBALT: packets had been waiting for too long, or too many had come before.
    LX_DROP_COBALT = 12,
    /// A later acknowledgement of its flow made it superfluous.
    LX_DROP_ACK_FILTER = 13,
    /// It had been demoted, and there was no room left for it.
    LX_DROP_DEMOTED = 14,
}
use lx_drop_reason::*;

/// The rule by which a packet was chosen.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum lx_criterion {
    /// It had arrived first.
    LX_CHOSEN_ARRIVAL_ORDER = 0,
    /// It had the earliest deadline.
    LX_CHOSEN_EARLIEST_DEADLINE = 1,
    /// It had the smallest virtual finishing time.
    LX_CHOSEN_VIRTUAL_FINISH = 2,
    /// It had the smallest virtual finishing time of those that the fluid would have begun to
    /// serve.
    LX_CHOSEN_ELIGIBLE_VIRTUAL_FINISH = 3,
    /// It was its class's turn.
    LX_CHOSEN_ROUND_ROBIN = 4,
    /// Nothing was waiting on a level before its own.
    LX_CHOSEN_PRIORITY = 5,
    /// Its leaf was eligible and its deadline the earliest.
    LX_CHOSEN_REAL_TIME = 6,
    /// From the root down, its classes had the smallest virtual times.
    LX_CHOSEN_LINK_SHARING = 7,
    /// Nothing with a guarantee was waiting.
    LX_CHOSEN_BACKGROUND = 8,
    /// Its stream came first by loss tolerance and deadline.
    LX_CHOSEN_WINDOW_CONSTRAINT = 9,
    /// The time frame in which it is to be sent had begun.
    LX_CHOSEN_RESERVED_FRAME = 10,
    /// It had the least rank.
    LX_CHOSEN_RANK = 11,
    /// A rule that this version has no number for.
    LX_CHOSEN_OTHER = 12,
}
use lx_criterion::*;

/// Every reason, with its word and what it stands for.
const REASONS: [(lx_drop_reason, DropReason, &CStr); DropReason::ALL.len()] = [
    (LX_DROP_QUEUE_FULL, DropReason::QueueFull, c"queue-full"),
    (LX_DROP_CONTRACT, DropReason::Contract, c"contract"),
    (LX_DROP_NO_CLASS, DropReason::NoClass, c"no-class"),
    (LX_DROP_LATE, DropReason::Late, c"late"),
    (LX_DROP_RED, DropReason::Red, c"red"),
    (LX_DROP_CHOKE, DropReason::Choke, c"choke"),
    (LX_DROP_CODEL, DropReason::CoDel, c"codel"),
    (LX_DROP_FRAME, DropReason::Frame, c"frame"),
    (LX_DROP_TOO_LONG, DropReason::TooLong, c"too-long"),
    (LX_DROP_SCHEDULER, DropReason::Scheduler, c"scheduler"),
    (LX_DROP_PIE, DropReason::Pie, c"pie"),
    (LX_DROP_DUALPI2, DropReason::DualPi2, c"dualpi2"),
    (LX_DROP_COBALT, DropReason::Cobalt, c"cobalt"),
    (LX_DROP_ACK_FILTER, DropReason::AckFilter, c"ack-filter"),
    (LX_DROP_DEMOTED, DropReason::Demoted, c"demoted"),
];

/// How many drop reasons there are: their numbers are below.
pub const LX_DROP_REASONS: usize = 15;

const _: () = assert!(LX_DROP_REASONS == DropReason::ALL.len());

/// Every rule with its word.
const CRITERIA: [(lx_criterion, &CStr); 13] = [
    (LX_CHOSEN_ARRIVAL_ORDER, c"arrival-order"),
    (LX_CHOSEN_EARLIEST_DEADLINE, c"earliest-deadline"),
    (LX_CHOSEN_VIRTUAL_FINISH, c"virtual-finish"),
    (LX_CHOSEN_ELIGIBLE_VIRTUAL_FINISH, c"eligible-virtual-finish"),
    (LX_CHOSEN_ROUND_ROBIN, c"round-robin"),
    (LX_CHOSEN_PRIORITY, c"priority"),
    (LX_CHOSEN_REAL_TIME, c"real-time"),
    (LX_CHOSEN_LINK_SHARING, c"link-sharing"),
    (LX_CHOSEN_BACKGROUND, c"background"),
    (LX_CHOSEN_WINDOW_CONSTRAINT, c"window-constraint"),
    (LX_CHOSEN_RESERVED_FRAME, c"reserved-frame"),
    (LX_CHOSEN_RANK, c"rank"),
    (LX_CHOSEN_OTHER, c"other"),
];

/// The number of a reason.
pub(crate) fn drop_reason(reason: DropReason) -> lx_drop_reason {
    let known = REASONS.iter().find(|(_, known, _)| *known == reason);
    known.map_or(LX_DROP_SCHEDULER, |(number, ..)| *number)
}

/// The number of a rule.
#[inline(always)]
pub(crate) fn criterion(criterion: Criterion) -> lx_criterion {
    match criterion {
        Criterion::ArrivalOrder => LX_CHOSEN_ARRIVAL_ORDER,
        Criterion::EarliestDeadline => LX_CHOSEN_EARLIEST_DEADLINE,
        Criterion::VirtualFinish => LX_CHOSEN_VIRTUAL_FINISH,
        Criterion::EligibleVirtualFinish => LX_CHOSEN_ELIGIBLE_VIRTUAL_FINISH,
        Criterion::RoundRobin => LX_CHOSEN_ROUND_ROBIN,
        Criterion::Priority => LX_CHOSEN_PRIORITY,
        Criterion::RealTime => LX_CHOSEN_REAL_TIME,
        Criterion::LinkSharing => LX_CHOSEN_LINK_SHARING,
        Criterion::Background => LX_CHOSEN_BACKGROUND,
        Criterion::WindowConstraint => LX_CHOSEN_WINDOW_CONSTRAINT,
        Criterion::ReservedFrame => LX_CHOSEN_RESERVED_FRAME,
        Criterion::Rank => LX_CHOSEN_RANK,
        _ => LX_CHOSEN_OTHER,
    }
}

/// The word for an `lx_drop_reason`; "unknown" for any other number. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lx_drop_reason_name(reason: u32) -> *const c_char {
    let known = REASONS.iter().find(|(known, ..)| *known as u32 == reason);
    named(known.map(|(.., name)| *name))
}

/// The word for an `lx_criterion`; "unknown" for any other number. It is never freed.
#[unsafe(no_mangle)]
pub extern "C" fn lx_criterion_name(criterion: u32) -> *const c_char {
    let known = CRITERIA.iter().find(|(known, _)| *known as u32 == criterion);
    named(known.map(|(_, name)| *name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_reason_has_its_number_and_its_own_word() {
        for reason in DropReason::ALL {
            let of_reason: Vec<_> =
                REASONS.iter().filter(|(_, known, _)| *known == reason).collect();
            let [(number, _, name)] = of_reason[..] else { panic!("{reason:?}: {of_reason:?}") };
            assert_eq!(name.to_str(), Ok(reason.name()));
            assert_eq!(drop_reason(reason), *number);
            assert!((*number as usize) < LX_DROP_REASONS);
        }
    }
}
