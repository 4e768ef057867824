//! A progress bar for long work, when someone is there to watch.

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity::units::Nanos;

/// Progress through simulated time; hidden unless standard error is a terminal.
pub fn through(what: &str, duration: Option<Nanos>) -> ProgressBar {
    let bar = match duration {
        Some(duration) => ProgressBar::new(duration.0)
            .with_style(style("{prefix} {wide_bar} {percent:>3} % of simulated time, {eta} left")),
        None => ProgressBar::new_spinner().with_style(style("{prefix} {spinner} {elapsed}")),
    };
    bar.set_prefix(what.to_string());
    show(&bar);
    bar
}

/// Progress through so many seconds.
#[cfg(target_os = "linux")]
pub fn seconds(what: &str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count).with_style(style("{prefix} {wide_bar} {pos}/{len} s"));
    bar.set_prefix(what.to_string());
    show(&bar);
    bar
}

/// Progress through a number of things.
pub fn steps(what: &str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count).with_style(style("{prefix} {wide_bar} {pos}/{len}"));
    bar.set_prefix(what.to_string());
    show(&bar);
    bar
}

fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).expect("the template is well formed")
}

fn show(bar: &ProgressBar) {
    if stderr().is_terminal() {
        bar.enable_steady_tick(Duration::from_millis(200));
    } else {
        bar.set_draw_target(ProgressDrawTarget::hidden());
    }
}
