//! What is proved of paths over networks at the edge of admission, against what is found to happen
//! there.

use std::path::Path;

use laxity_adversary::worst::{Place, longest};
use laxity_plan::Plan;
use laxity_search::discipline::Discipline;
use laxity_search::draft::Draft;
use laxity_search::tandems::Tandem;
use laxity_search::{case, edge};

/// Networks that are drawn, and packets that are sent in search of each path's longest delay: a
/// thousand times and more the packets of a handful of bursts.
const NETWORKS: u64 = 40;
const PACKETS: u64 = 20_000;

/// A network at the edge of what is admitted, if it can be brought there.
fn network(number: u64) -> Option<Draft> {
    let mut draw = case::generator(Discipline::Network, 7, number);
    let draft = edge::loosened(Discipline::Network.draw(&mut draw)?)?;
    Some(edge::pushed(draft, 12, &mut draw).inside)
}

/// How near each path's longest delay comes to its bound.
fn nearness(number: u64) -> Vec<f64> {
    let Some(draft) = network(number) else { return Vec::new() };
    let text = draft.text();
    let plan = Plan::parse(&text, "drawn.toml", Path::new(".")).expect("what is drawn is a plan");
    let on = plan.network_plan().expect("links").analysis();
    let place = Place::Network(&on);
    let near = |target| {
        let found = longest(&place, &target, PACKETS, number).expect("it is simulated")?;
        assert!(
            found.delay <= target.bound,
            "network {number}: {} of class {} along {:?}, proved {}\n{text}",
            found.delay,
            target.class.index(),
            target.path,
            target.bound
        );
        Some(found.delay.0 as f64 / target.bound.0 as f64)
    };
    place.targets().into_iter().filter_map(near).collect()
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs optimisation: cargo test --release -p laxity-search")]
fn nothing_that_is_found_exceeds_what_is_proved() {
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get() as u64);
    let mut near: Vec<f64> = std::thread::scope(|scope| {
        let part = |first| (first..NETWORKS).step_by(threads as usize).flat_map(nearness).collect();
        let parts: Vec<_> = (0..threads).map(|first| scope.spawn(move || part(first))).collect();
        parts
            .into_iter()
            .flat_map(|part: std::thread::ScopedJoinHandle<'_, Vec<f64>>| part.join().unwrap())
            .collect()
    });
    near.sort_by(f64::total_cmp);
    let median = near[near.len() / 2];
    println!("{} paths: median {median:.3}, nearest {:.4}", near.len(), near[near.len() - 1]);
    assert!(near.len() > 40 && median > 0.6, "{} paths, median {median}", near.len());
}

/// The bounds of FIFO tandems are close to what happens there: for half of them, of two seeds,
/// what a short search finds is at least five sixths of the bound.
#[test]
#[cfg_attr(debug_assertions, ignore = "needs optimisation: cargo test --release -p laxity-search")]
fn bounds_of_tandems_are_nearly_reached() {
    for seed in [1, 2] {
        let ratio = |number| {
            let tandem = Tandem::draw(seed, number);
            let ratio = tandem.compared(100_000, seed).expect("it is simulated").ratio();
            assert!(
                ratio.is_finite() && ratio >= 1.0,
                "tandem {number} of seed {seed}: {ratio}\n{}",
                tandem.text()
            );
            ratio
        };
        let mut ratios: Vec<f64> = (0..30).map(ratio).collect();
        ratios.sort_by(f64::total_cmp);
        let median = ratios[ratios.len() / 2];
        println!("seed {seed}: median {median:.3}");
        assert!(median <= 1.2, "seed {seed}: median {median}");
    }
}
