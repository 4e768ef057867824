//! Progress bars for long work, when someone is there to watch.

mod simulating;

pub(crate) use simulating::Simulating;

use std::io::{IsTerminal, stderr};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Progress through a number of seconds.
#[cfg(target_os = "linux")]
pub(crate) fn seconds(what: &str, count: u64) -> ProgressBar {
    let bar = ProgressBar::new(count).with_style(style("{prefix} {wide_bar} {pos}/{len} s"));
    bar.set_prefix(what.to_string());
    show(&bar);
    bar
}

/// Progress through a number of things.
pub(crate) fn steps(what: &str, count: u64) -> ProgressBar {
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
