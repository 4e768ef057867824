//! Classes of htb as service curves (iproute2, tc/q_htb.c; Linux, net/sched/sch_htb.c).

mod class;
mod flooded;
mod lending;

pub(super) use lending::{lend, note_rest};
