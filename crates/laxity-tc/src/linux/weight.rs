//! Weights of `qfq`, which are whole numbers.

use laxity::sched::hfsc::Curves;
use laxity::units::Bytes;
use laxity_plan::Plan;
use laxity_plan::model::Weight;
use num_integer::gcd;

/// The largest weight (net/sched/sch_qfq.c, QFQ_MAX_WEIGHT), and the largest sum (QFQ_MAX_WSUM).
const QFQ_WEIGHT: u64 = 1 << 10;
const QFQ_WEIGHTS: u64 = 64 * QFQ_WEIGHT;
/// The shortest and the longest of a class's longest packets (QFQ_MIN_LMAX, QFQ_MTU_SHIFT).
pub(super) const QFQ_PACKETS: (u64, u64) = (512, 1 << 16);

/// Gives the classes whole weights that the kernel takes. They come as near to their proportion as
/// they can, and none is less than its share.
pub(super) fn for_qfq(plan: &mut Plan) {
    let weights = plan.flat_weights();
    let leaves: Vec<usize> = plan.leaves().map(|(id, _)| id.index()).collect();
    let largest = leaves.iter().map(|leaf| weights[*leaf]).max().unwrap_or(1);
    let all: u128 = leaves.iter().map(|leaf| u128::from(weights[*leaf])).sum();
    // Where many weigh as much as the largest, their sum is what counts.
    let by_sum = u128::from(QFQ_WEIGHTS - leaves.len().min(1 << 15) as u64) * u128::from(largest);
    let scale = QFQ_WEIGHT.min(u64::try_from(by_sum / all.max(1)).unwrap_or(u64::MAX)).max(1);
    let exact = exact_weights(&leaves, &weights);
    let scaled = |leaf: usize| {
        let scaled = u128::from(weights[leaf]) * u128::from(scale);
        u64::try_from(scaled / u128::from(largest)).unwrap_or(QFQ_WEIGHT).max(1)
    };
    let whole: Vec<u64> = leaves
        .iter()
        .map(|leaf| exact.map_or_else(|| scaled(*leaf), |divisor| weights[*leaf] / divisor))
        .collect();
    // In lowest terms, so that what comes back is written the same again.
    let common = whole.iter().copied().fold(0, gcd).max(1);
    for (leaf, weight) in leaves.into_iter().zip(whole) {
        let weight = weight / common;
        let class = &mut plan.classes[leaf];
        class.weight = Weight(weight as u32 * Weight::ONE.0);
        class.curves = Curves::default();
        if let Some(arrival) = &mut class.arrival {
            let packet = arrival.packet.map_or(plan.link.max_packet.0, |packet| packet.0);
            arrival.packet = Some(Bytes(packet.max(QFQ_PACKETS.0)));
        }
    }
    plan.link.max_packet = plan.link.max_packet.max(Bytes(QFQ_PACKETS.0));
}

/// The greatest number that divides all weights, if the kernel takes what is left of each.
fn exact_weights(leaves: &[usize], weights: &[u64]) -> Option<u64> {
    let divisor = leaves.iter().map(|leaf| weights[*leaf]).fold(0, gcd).max(1);
    let whole = leaves.iter().map(|leaf| weights[*leaf] / divisor);
    let fits =
        whole.clone().all(|weight| weight <= QFQ_WEIGHT) && whole.sum::<u64>() <= QFQ_WEIGHTS;
    fits.then_some(divisor)
}
