//! The bar of a simulation: simulated time, time left, and how fast it goes.

use std::fmt::Write;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};

use indicatif::style::ProgressTracker;
use indicatif::{HumanDuration, ProgressBar, ProgressState};
use laxity::units::Nanos;
use laxity_api::{Plan, Progress, ProgressPoint};
use laxity_report::quantity;

use super::{show, style};

/// A bar through simulated time, with how many packets the links send in a second of the clock on
/// the wall; hidden unless standard error is a terminal.
pub(crate) struct Simulating {
    bar: ProgressBar,
    hops: Arc<AtomicU64>,
}

impl Simulating {
    /// Simulates one run of a plan behind a bar. It lasts for `last`; without that nothing is said
    /// of time left.
    pub(crate) fn one<T>(
        plan: &Plan,
        last: Option<Nanos>,
        simulate: impl FnOnce(Progress<'_>) -> T,
    ) -> T {
        Simulating::several(plan.scheduler.name(), plan, last, |bar| simulate(&mut bar.moving()))
    }

    /// Simulates several runs behind a bar. They last for `last` together.
    pub(crate) fn several<T>(
        what: &str,
        plan: &Plan,
        last: Option<Nanos>,
        simulate: impl FnOnce(&Simulating) -> T,
    ) -> T {
        let unit = if plan.network.is_some() { "hops/s" } else { "packets/s" };
        let bar = Simulating::new(what, unit, last);
        show(&bar.bar);
        let simulated = simulate(&bar);
        bar.bar.finish_and_clear();
        simulated
    }

    fn new(what: &str, unit: &'static str, last: Option<Nanos>) -> Simulating {
        let hops = Arc::new(AtomicU64::new(0));
        let (bar, template) = match last {
            Some(whole) => (
                ProgressBar::new(whole.0),
                "{prefix} {wide_bar} {simulated}, {percent} %{left}{speed}",
            ),
            None => (ProgressBar::no_length(), "{prefix} {spinner} {simulated}{sent}{speed}"),
        };
        let sent = hops.clone();
        let style = style(template)
            .with_key("simulated", simulated)
            .with_key("left", left)
            .with_key("sent", move |_: &ProgressState, to: &mut dyn Write| {
                let unit = unit.trim_end_matches("/s");
                let _ = write!(to, ", {} {unit}", quantity::scaled(sent.load(Relaxed) as f64));
            })
            .with_key("speed", Speed { hops: hops.clone(), unit, since: None, a_second: None });
        bar.set_style(style);
        bar.set_prefix(what.to_string());
        Simulating { bar, hops }
    }

    /// Moves the bar of one run.
    fn moving(&self) -> impl FnMut(ProgressPoint) -> ControlFlow<()> {
        |reached| {
            self.hops.store(reached.hops, Relaxed);
            self.bar.set_position(reached.now.0);
            ControlFlow::Continue(())
        }
    }

    /// One of several runs has gone on by so much.
    pub(crate) fn gone_on(&self, by: ProgressPoint) -> ControlFlow<()> {
        self.hops.fetch_add(by.hops, Relaxed);
        self.bar.inc(by.now.0);
        ControlFlow::Continue(())
    }
}

/// Where simulated time is, and where it ends if that is known. Packets may still wait at the end
/// of traffic.
fn simulated(state: &ProgressState, to: &mut dyn Write) {
    let time = |ns: u64| quantity::time(ns as f64);
    let _ = match state.len() {
        Some(whole) => write!(to, "{} of {}", time(state.pos().min(whole)), time(whole)),
        None => write!(to, "{} simulated", time(state.pos())),
    };
}

/// How much time is left, once that can be told.
fn left(state: &ProgressState, to: &mut dyn Write) {
    if state.pos() > 0 && state.per_sec() > 0.0 {
        let _ = write!(to, ", {:#} left", HumanDuration(state.eta()));
    }
}

/// Counts what is sent from one second to the next.
#[derive(Clone)]
struct Speed {
    hops: Arc<AtomicU64>,
    unit: &'static str,
    /// When the present second began, and how many had been sent by then.
    since: Option<(Instant, u64)>,
    a_second: Option<f64>,
}

impl Speed {
    fn look(&mut self, now: Instant) {
        let hops = self.hops.load(Relaxed);
        let Some((since, before)) = self.since else {
            self.since = (hops > 0).then_some((now, hops));
            return;
        };
        let took = now.saturating_duration_since(since);
        if took >= Duration::from_secs(1) {
            self.a_second = Some(hops.saturating_sub(before) as f64 / took.as_secs_f64());
            self.since = Some((now, hops));
        }
    }

    fn tell(&self, to: &mut dyn Write) {
        if let Some(a_second) = self.a_second {
            let _ = write!(to, ", {} {}", quantity::scaled(a_second), self.unit);
        }
    }
}

impl ProgressTracker for Speed {
    fn clone_box(&self) -> Box<dyn ProgressTracker> {
        Box::new(self.clone())
    }

    fn tick(&mut self, _: &ProgressState, now: Instant) {
        self.look(now);
    }

    fn reset(&mut self, _: &ProgressState, _: Instant) {
        (self.since, self.a_second) = (None, None);
    }

    fn write(&self, _: &ProgressState, to: &mut dyn Write) {
        self.tell(to);
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Mutex;

    use indicatif::{ProgressDrawTarget, TermLike};

    use super::*;

    /// A terminal that keeps the last line that was drawn.
    #[derive(Clone, Debug, Default)]
    struct LastLine(Arc<Mutex<String>>);

    impl TermLike for LastLine {
        fn width(&self) -> u16 {
            120
        }

        fn move_cursor_up(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_down(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_right(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn move_cursor_left(&self, _: usize) -> io::Result<()> {
            Ok(())
        }

        fn write_line(&self, text: &str) -> io::Result<()> {
            self.write_str(text)
        }

        fn write_str(&self, text: &str) -> io::Result<()> {
            self.0.lock().unwrap().push_str(text);
            Ok(())
        }

        fn clear_line(&self) -> io::Result<()> {
            self.0.lock().unwrap().clear();
            Ok(())
        }

        fn flush(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// What a bar shows.
    fn shown(simulating: &Simulating) -> String {
        let seen = LastLine::default();
        simulating.bar.set_draw_target(ProgressDrawTarget::term_like(Box::new(seen.clone())));
        simulating.bar.tick();
        seen.0.lock().unwrap().replace('\u{a0}', " ").trim().to_string()
    }

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_bar_says_where_simulated_time_is_and_what_is_left() {
        let bar = Simulating::new("edf", "hops/s", Some(Nanos(8 * SECOND)));
        assert!(shown(&bar).ends_with("0 s of 8 s, 0 %"), "{}", shown(&bar));
        let mut moving = bar.moving();
        for (seconds, hops) in [(1, 100), (2, 200)] {
            std::thread::sleep(Duration::from_millis(20));
            let _ = moving(ProgressPoint { now: Nanos(seconds * SECOND), hops });
        }
        let line = shown(&bar);
        assert!(line.starts_with("edf ") && line.contains(" 2 s of 8 s, 25 %, "), "{line}");
        assert!(line.ends_with(" left"), "{line}");
        // What is queued at the end of traffic is still sent.
        let _ = moving(ProgressPoint { now: Nanos(9 * SECOND), hops: 900 });
        assert!(shown(&bar).contains(" 8 s of 8 s, 100 %"), "{}", shown(&bar));
    }

    #[test]
    fn a_run_without_a_known_end_invents_none() {
        let bar = Simulating::new("edf", "packets/s", None);
        let _ = bar.gone_on(ProgressPoint { now: Nanos(SECOND), hops: 1_000 });
        let _ = bar.gone_on(ProgressPoint { now: Nanos(SECOND), hops: 2_500 });
        let line = shown(&bar);
        assert!(line.ends_with(" 2 s simulated, 3.5 k packets"), "{line}");
    }

    #[test]
    fn speed_is_that_of_the_last_second() {
        let hops = Arc::new(AtomicU64::new(0));
        let mut speed = Speed { hops: hops.clone(), unit: "hops/s", since: None, a_second: None };
        let began = Instant::now();
        let mut at = |millis, sent| {
            hops.store(sent, Relaxed);
            speed.look(began + Duration::from_millis(millis));
            let mut told = String::new();
            speed.tell(&mut told);
            told.replace('\u{a0}', " ")
        };
        // Building is no part of it.
        assert_eq!(at(0, 0), "");
        assert_eq!(at(5_000, 1_000), "");
        assert_eq!(at(5_500, 5_000), "");
        assert_eq!(at(7_000, 7_001_000), ", 3.5 M hops/s");
        assert_eq!(at(7_900, 7_001_000), ", 3.5 M hops/s");
        assert_eq!(at(8_000, 7_001_250), ", 250 hops/s");
    }
}
