//! Work whose parts do not depend on one another.
//!
//! Threads stay once they are started, with the rights that the process had then, and may not be
//! had later. So nothing here starts any unless it is asked to: who forwards packets analyses paths
//! on a thread of its own.

/// Does something with all cores at hand for [`side_by_side`].
#[cfg(feature = "parallel")]
pub fn on_all_cores<T: Send>(something: impl FnOnce() -> T + Send) -> T {
    rayon::scope(|_| something())
}

/// Does something.
#[cfg(not(feature = "parallel"))]
pub fn on_all_cores<T>(something: impl FnOnce() -> T) -> T {
    something()
}

/// What follows for each number below `count`, on all cores where they are [at hand](on_all_cores).
#[cfg(feature = "parallel")]
pub fn side_by_side<T: Send>(count: usize, of: impl Fn(usize) -> T + Sync + Send) -> Vec<T> {
    use rayon::prelude::*;
    match rayon::current_thread_index() {
        Some(_) => (0..count).into_par_iter().map(of).collect(),
        None => (0..count).map(of).collect(),
    }
}

/// What follows for each number below `count`.
#[cfg(not(feature = "parallel"))]
pub fn side_by_side<T>(count: usize, of: impl Fn(usize) -> T) -> Vec<T> {
    (0..count).map(of).collect()
}
