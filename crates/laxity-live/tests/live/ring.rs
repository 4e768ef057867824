//! Four routers in a ring, in time frames and first come, first served.

use std::time::Duration;

use laxity::police::Police;
use laxity::scheduler::DropReason;
use laxity::units::Nanos;
use laxity_answers::verdict::live::keeps_frames;
use laxity_live::routers::measurement::ClassBooks;

use crate::laboratory::{Laboratory, Ran, plan};

const FRAME: Nanos = Nanos(250_000);
/// A packet of each of four flows: 1000 packets a second.
const GAP: Nanos = Nanos(4_000_000);
const BULK: u32 = 60;

fn flows(ran: &Ran) -> &[ClassBooks] {
    &ran.measured.classes[..4]
}

/// What always holds: whatever is late, packets arrive, and those that were in their frames
/// everywhere keep their bound and their jitter.
fn check(ran: &Ran) {
    assert_eq!(ran.missed, 0);
    let arrived: u64 = flows(ran).iter().map(|flow| flow.arrived).sum();
    assert!(arrived > 0 && arrived <= ran.sent, "{arrived} of {}", ran.sent);
    for flow in flows(ran) {
        assert_eq!((flow.left, flow.lost), (flow.arrived, 0), "{:?}", flow.dropped);
        assert!(flow.jitter() < Nanos(2 * FRAME.0), "{}", flow.jitter());
        let bound = flow.bound.expect("it is promised one");
        assert!(flow.longest <= bound, "{} of {bound}", flow.longest);
        assert_eq!(flow.kept.count() + flow.disturbed, flow.left);
        // If fewer than one packet in 200 is disturbed, the 99 % quantile of all packets is a
        // transit time of packets in their frames. Quantiles are exact to one part in 128.
        if flow.disturbed * 200 < flow.left {
            let most = flow.kept.max() + Nanos(flow.kept.max().0 / 128 + 1);
            assert!(flow.transit.quantile(99, 100) <= most);
        }
    }
    assert!(ran.received <= ran.sent);
    assert!(ran.counts.queued.iter().all(|queued| *queued == 0), "{:?}", ran.counts);
}

#[test]
fn packets_that_meet_no_skipped_frame_keep_their_jitter() {
    let Some(laboratory) = Laboratory::new() else { return };
    let frames = laboratory.run(&plan(GAP, "tdp"), GAP, BULK, Duration::from_secs(3));
    check(&frames);
    let skipped = frames.measured.skipped as f64 * FRAME.0 as f64 / frames.lasted.as_nanos() as f64;
    let p99 = |ran: &Ran| flows(ran).iter().map(|flow| flow.jitter_of(99, 100)).max();
    let fifo = laboratory.run(&plan(GAP, "fifo"), GAP, BULK, Duration::from_secs(3));
    assert!(flows(&fifo).iter().all(|flow| flow.left > 0));
    println!(
        "{} packets, {:.3} % of frames skipped, jitter at p99 {:?}; first come, first served {:?}",
        frames.sent,
        100.0 * skipped,
        p99(&frames),
        p99(&fifo)
    );
    if !frames.is_real_time {
        println!(
            "SKIPPED: without real-time priority nothing is said of how many frames are skipped"
        );
    }
}

/// Senders at twice what is reserved for them: whatever becomes of what is too much, no promise
/// counts as broken for it, and it is counted.
#[test]
fn who_breaks_a_contract_breaks_no_promise() {
    let Some(laboratory) = Laboratory::new() else { return };
    for police in [Police::Count, Police::Demote, Police::Drop] {
        let mut plan = plan(GAP, "tdp");
        plan.classes.iter_mut().take(4).for_each(|class| class.police = police);
        let ran = laboratory.run(&plan, Nanos(GAP.0 / 2), BULK, Duration::from_secs(2));
        let kept = keeps_frames(ran.measured.framed(), Some(FRAME));
        assert!(kept, "{police:?}: {:?}", ran.measured);
        assert_eq!(ran.measured.broken(), 0, "{police:?}");
        for flow in flows(&ran) {
            assert!(flow.nonconforming > 50, "{police:?}: {flow:?}");
            assert_eq!(flow.is_forfeit, police == Police::Count);
            let contract = flow.dropped[DropReason::Contract as usize];
            match police {
                Police::Count => assert_eq!((flow.demoted, contract), (0, 0)),
                Police::Demote => assert_eq!((flow.demoted, contract), (flow.nonconforming, 0)),
                Police::Drop => assert_eq!((flow.demoted, contract), (0, flow.nonconforming)),
            }
            assert_eq!(flow.kept.count() + flow.disturbed + flow.demoted, flow.left);
        }
    }
}
