//! Progress bars for long work, when someone is there to watch.

mod simulating;

pub(crate) use simulating::Simulating;

use std::io::{IsTerminal, stderr};
use std::ops::ControlFlow;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use laxity_api::sweep::{Listener, StudyProgress};

/// Does long work, `what`, behind a bar that shows the progress that it reports.
pub(crate) fn during<T>(what: &str, work: impl FnOnce(Listener<'_>) -> T) -> T {
    let bar = steps(what, 0);
    let done = work(&|StudyProgress { runs, done }| {
        bar.set_length(runs as u64);
        bar.set_position(done as u64);
        ControlFlow::Continue(())
    });
    bar.finish_and_clear();
    done
}

/// Does something with each of `all` behind a bar that counts them.
pub(crate) fn each<T, U, C: FromIterator<U>>(
    what: &str,
    all: Vec<T>,
    mut one: impl FnMut(T) -> U,
) -> C {
    let bar = steps(what, all.len() as u64);
    let done = all.into_iter().map(|next| {
        bar.inc(1);
        one(next)
    });
    let done = done.collect();
    bar.finish_and_clear();
    done
}

/// Progress through a number of things.
pub(crate) fn steps(what: &str, count: u64) -> ProgressBar {
    bar(what, count, "{prefix} {wide_bar} {pos}/{len}")
}

/// Progress through a number of seconds.
#[cfg(target_os = "linux")]
pub(crate) fn seconds(what: &str, count: u64) -> ProgressBar {
    bar(what, count, "{prefix} {wide_bar} {pos}/{len} s")
}

fn bar(what: &str, count: u64, template: &str) -> ProgressBar {
    let bar = ProgressBar::new(count).with_style(style(template));
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
