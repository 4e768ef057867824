//! The clock that solvers limit themselves by, in place of the crate `web-time`, which brings
//! wasm-bindgen with it: elsewhere that of the standard library, in a page the page's own.

#[cfg(not(all(target_arch = "wasm32", target_os = "unknown")))]
pub use std::time::*;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use page::Instant;
#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
pub use std::time::Duration;

#[cfg(all(target_arch = "wasm32", target_os = "unknown"))]
#[allow(unsafe_code)]
mod page {
    use std::ops::Sub;
    use std::time::Duration;

    #[link(wasm_import_module = "host")]
    unsafe extern "C" {
        /// How long the page is open, in ms.
        safe fn now() -> f64;
    }

    /// A moment since the page was opened.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
    pub struct Instant(Duration);

    impl Instant {
        /// This moment.
        pub fn now() -> Instant {
            Instant(Duration::from_secs_f64(now().max(0.0) / 1e3))
        }

        /// How long ago it was.
        pub fn elapsed(&self) -> Duration {
            Instant::now().duration_since(*self)
        }

        /// The moment that is so much later, if there is one.
        pub fn checked_add(&self, later: Duration) -> Option<Instant> {
            self.0.checked_add(later).map(Instant)
        }

        /// How long it is behind an earlier one; nothing if that is later.
        pub fn duration_since(&self, earlier: Instant) -> Duration {
            self.0.saturating_sub(earlier.0)
        }
    }

    impl Sub for Instant {
        type Output = Duration;

        fn sub(self, earlier: Instant) -> Duration {
            self.duration_since(earlier)
        }
    }
}
