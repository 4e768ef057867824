//! The progress of simulations.

use std::ops::{ControlFlow, Sub};

use laxity::units::Nanos;

/// A point that a simulation has reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ProgressPoint {
    /// The simulated time.
    pub now: Nanos,
    /// Packets sent over links, one at every hop.
    pub hops: u64,
}

impl Sub for ProgressPoint {
    type Output = ProgressPoint;

    /// How far it has gone on since it was `before`.
    fn sub(self, before: ProgressPoint) -> ProgressPoint {
        let now = self.now.saturating_sub(before.now);
        ProgressPoint { now, hops: self.hops.saturating_sub(before.hops) }
    }
}

/// Called now and then with how far a simulation has come; says whether to go on.
pub type Progress<'a> = &'a mut dyn FnMut(ProgressPoint) -> ControlFlow<()>;

/// A progress callback that never stops the run.
pub fn to_the_end(_: ProgressPoint) -> ControlFlow<()> {
    ControlFlow::Continue(())
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::path::Path;

    use laxity_plan::Plan;

    use super::*;
    use crate::link::Run;
    use crate::network::NetworkRun;
    use crate::record::{Fate, Observer, Record};

    /// Counts packets that are sent.
    struct SentCounter<'a>(&'a Cell<u64>);

    impl Observer for SentCounter<'_> {
        fn record(&mut self, record: &Record) {
            self.0.set(self.0.get() + u64::from(matches!(record.fate, Fate::Sent { .. })));
        }
    }

    const SOURCE: &str =
        "source = [{ class = 'a', model = 'poisson', packet = '100b', rate = '6mbit' PATH }]";

    fn plan(text: &str, path: &str) -> Plan {
        let text = format!(
            "version = 1\nclass.a = {{}}\nscheduler = {{ kind = 'fifo' }}\n{}\n{text}",
            SOURCE.replace("PATH", path)
        );
        Plan::parse(&text, "plan.toml", Path::new("")).unwrap()
    }

    /// Runs with an observer that compares the progress with the packets sent, and stops the fifth
    /// time.
    fn heard(run: impl FnOnce(&mut SentCounter<'_>, Progress<'_>) -> bool) {
        let sent = Cell::new(0);
        let (mut last, mut times) = (ProgressPoint::default(), 0);
        let stopped = run(&mut SentCounter(&sent), &mut |reached| {
            assert_eq!(reached.hops, sent.get());
            let on = reached - last;
            assert!(on.now > Nanos::ZERO && on.hops > 10_000, "{on:?}");
            (last, times) = (reached, times + 1);
            if times == 5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert!(stopped && times == 5);
    }

    const LASTS: Nanos = Nanos(60_000_000_000);

    #[test]
    fn a_link_tells_how_much_it_has_sent() {
        let plan = plan("link = { rate = '10mbit' }", "");
        heard(|observer, progress| {
            let run = Run { plan: &plan, duration: Some(LASTS), seed: 1, feeds: Vec::new() };
            run.with_sources().unwrap().simulate(observer, progress).is_err()
        });
    }

    #[test]
    fn a_network_tells_how_many_hops_were_taken() {
        let links = "link = { rate = '10mbit' }
            network.x = { between = ['a', 'b'] }
            network.y = { between = ['b', 'c'] }";
        let plan = plan(links, ", path = ['a', 'b', 'c']");
        let network_plan = plan.network_plan().unwrap();
        heard(|observer, progress| {
            let on = network_plan.analysis();
            let run = NetworkRun::new(&on, Some(LASTS), 1);
            run.simulate(observer, progress).is_err()
        });
    }
}
