//! Every fault that is planted is found.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use laxity_search::campaign::budget;
use laxity_search::case;
use laxity_search::plants::{ALL, Plant};

/// Plans that are searched for one fault before it counts as missed.
const MOST: u64 = 400;

/// The number of the case in which a fault shows.
fn found(plant: &'static Plant, seed: u64) -> Option<u64> {
    (0..MOST).find(|number| {
        case::run(plant.discipline, seed, *number, budget(plant.discipline), Some(plant))
            .broken
            .is_some()
    })
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "needs optimisation: cargo test --profile search -p laxity-search"
)]
fn every_planted_fault_is_found() {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(plant) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = std::time::Instant::now();
                    let number = found(plant, 1);
                    let took = begin.elapsed();
                    println!("{} {}: {number:?} {took:.1?}", plant.discipline, plant.name);
                    if number.is_none() {
                        missed.lock().unwrap().push((plant.discipline, plant.name));
                    }
                }
            });
        }
    });
    assert!(missed.lock().unwrap().is_empty(), "not found: {missed:?}");
}
