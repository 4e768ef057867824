//! Signals that end the command: what is unfinished is removed first.

use std::path::Path;

use laxity_api::sweep::{self, Store};

/// What is said where it was removed.
pub(crate) const REMOVED: &str = "what it had not finished is removed";

/// The runs in a folder, which are whole whenever a signal ends the command.
///
/// # Errors
/// If the folder cannot be made.
pub(crate) fn store(folder: &Path) -> Result<Store, laxity_api::Error> {
    watch(|| {
        sweep::stop_writing();
        sweep::KEPT
    });
    Store::open(folder)
}

#[cfg(not(unix))]
pub fn watch(_: fn() -> &'static str) {}

#[cfg(unix)]
pub(crate) use unix::watch;

#[cfg(unix)]
mod unix {
    use std::fs;
    use std::io::{IsTerminal, Write, stderr};
    use std::sync::Once;
    use std::thread;

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::iterator::Signals;
    use signal_hook::low_level::{emulate_default_handler, signal_name};

    /// From now on a signal that asks the process to end has it abandon what is unfinished, and
    /// then end as by that signal. `abandon` says what became of it, or nothing. A thread waits for
    /// signals, so that none is missed during the work of the command.
    pub(crate) fn watch(abandon: fn() -> &'static str) {
        static WATCH: Once = Once::new();
        WATCH.call_once(|| {
            let ignored = ignored();
            let heard = [SIGHUP, SIGINT, SIGTERM];
            let heard = heard.into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
            // Without it signals still end the process, and the next run clears up.
            let Ok(mut signals) = Signals::new(heard) else { return };
            thread::spawn(move || signals.forever().next().map(|signal| end(signal, abandon)));
        });
    }

    fn end(signal: i32, abandon: fn() -> &'static str) {
        let said = abandon();
        let mut stderr = stderr();
        let before = if stderr.is_terminal() { "\n" } else { "" };
        let name = signal_name(signal).unwrap_or("a signal");
        let after = if said.is_empty() { "" } else { "; " };
        let _ = writeln!(stderr, "{before}laxity: stopped by {name}{after}{said}");
        let _ = emulate_default_handler(signal);
        std::process::exit(128 + signal);
    }

    /// The signals that were ignored when the command was started, as by `nohup`: bit n - 1 is
    /// signal n (proc(5), SigIgn). Zero if the system does not say.
    fn ignored() -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(0)
    }
}
