//! Random networks of perfect clocks.

use super::drawn::{Drawn, drawn};
use super::*;

/// How many packets were checked at outputs, and how many classes had frames and how many had not.
fn keeps_its_promises(drawn: &Drawn, cycles: u64) -> [usize; 3] {
    let plan = plan(&drawn.text());
    let (summary, trips) = travel(&plan, drawn.duration(cycles), 1);
    let reference = Reference::new(&plan);
    let checked = reference.check_frames(&trips);
    reference.check_order(&trips);
    reference.check_ledger();
    reference.check_promises(&summary, Nanos::ZERO);
    let classes = (0..drawn.flows.len() as u32).map(ClassId);
    let admitted = classes.filter(|&class| reference.is_admitted(class)).count();
    [checked, admitted, drawn.flows.len() - admitted]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Whatever else is sent, admitted packets are sent in their frames, are not lost, and keep to
    /// their bounds.
    #[test]
    fn admitted_packets_leave_in_their_frames(drawn in drawn()) {
        keeps_its_promises(&drawn, 60);
    }
}

/// The networks that are drawn do admit flows, and not always all of them.
#[test]
fn many_flows_are_admitted() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut sums = [0; 3];
    for _ in 0..40 {
        let drawn = drawn().new_tree(&mut runner).unwrap().current();
        let counts = keeps_its_promises(&drawn, 10);
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    let [checked, admitted, others] = sums;
    assert!(checked > 5_000 && admitted > 80 && others > 10, "{checked} {admitted} {others}");
}
