//! Every fault that is planted is found.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use laxity_search::campaign::budget;
use laxity_search::case;
use laxity_search::discipline::Discipline;
use laxity_search::faults::{ALL, Fault};

/// Plans that are searched for one fault before it counts as missed.
const MOST: u64 = 400;

/// The number of the case in which a fault shows.
fn found(fault: &'static Fault, seed: u64) -> Option<u64> {
    (0..MOST).find(|number| {
        case::run(fault.discipline, seed, *number, budget(fault.discipline), Some(fault))
            .broken
            .is_some()
    })
}

#[test]
#[cfg_attr(debug_assertions, ignore = "needs optimisation: cargo test --release -p laxity-search")]
fn every_planted_fault_is_found() {
    let (next, missed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some(fault) = ALL.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let begin = std::time::Instant::now();
                    let number = found(fault, 1);
                    let took = begin.elapsed();
                    println!("{} {}: {number:?} {took:.1?}", fault.discipline, fault.name);
                    if number.is_none() {
                        missed.lock().unwrap().push((fault.discipline, fault.name));
                    }
                }
            });
        }
    });
    assert!(missed.lock().unwrap().is_empty(), "not found: {missed:?}");
}

/// A search that finds nothing says something only where it would find a fault.
#[test]
fn everything_that_is_searched_has_a_planted_fault() {
    let has_none = |of: &Discipline| ALL.iter().all(|fault| fault.discipline != *of);
    assert_eq!(Discipline::all().find(has_none), None);
}
