//! What a browser's module exports: `question` gives room for a question, `ask` answers it, and
//! `answer` is where the answer lies.
//!
//! The module imports two functions: `progress`, the share of the work that is done, and
//! `panicked`, the text of a fault of Laxity's own. After a fault the module is of no use.
#![allow(unsafe_code)]

use std::sync::{Mutex, MutexGuard, PoisonError};

/// The question, and in its place the answer.
static BUFFER: Mutex<Vec<u8>> = Mutex::new(Vec::new());

fn buffer() -> MutexGuard<'static, Vec<u8>> {
    BUFFER.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a question of this many bytes, and gives its place; null if there is no room.
#[unsafe(no_mangle)]
pub extern "C" fn question(length: usize) -> *mut u8 {
    let mut buffer = buffer();
    *buffer = Vec::new();
    if buffer.try_reserve_exact(length).is_err() {
        return std::ptr::null_mut();
    }
    buffer.resize(length, 0);
    buffer.as_mut_ptr()
}

/// Answers the question that was written there, and gives the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn ask() -> usize {
    #[cfg(target_arch = "wasm32")]
    std::panic::set_hook(Box::new(|fault| host::say_panicked(&fault.to_string())));
    let question = std::mem::take(&mut *buffer());
    let answer = crate::answer(&question, &mut report);
    let mut buffer = buffer();
    *buffer = answer;
    buffer.len()
}

/// Where the answer lies until the next question.
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> *const u8 {
    buffer().as_ptr()
}

#[cfg(target_arch = "wasm32")]
use host::report;

/// Nobody listens outside of a browser.
#[cfg(not(target_arch = "wasm32"))]
fn report(_: f64) {}

#[cfg(target_arch = "wasm32")]
mod host {
    mod imported {
        #[link(wasm_import_module = "host")]
        unsafe extern "C" {
            pub(super) safe fn progress(share: f64);
            pub(super) fn panicked(text: *const u8, length: usize);
        }
    }

    pub(super) fn report(share: f64) {
        imported::progress(share);
    }

    pub(super) fn say_panicked(text: &str) {
        // SAFETY: the text lives until the function returns.
        unsafe { imported::panicked(text.as_ptr(), text.len()) }
    }
}
