//! Routers while they are looked after.

use laxity::units::Nanos;
use laxity_forward::Settings;
use laxity_forward::router::{Router, agree};
use laxity_linux::clock::Clock;
use laxity_plan::Plan;
use laxity_plan::model::NodeId;
use laxity_plan::tdp::Assigned;

use super::host::Counts;
use super::measured::{Measured, Reports};
use super::running::Running;
use super::service::Keeper;
use super::shown::Shown;
use crate::daemon::LiveError;
use crate::forwarding::Stopped;
use crate::links::Links;
use crate::process::Task;
use crate::status::Status;

/// Routers at work, as they are looked after.
pub(super) struct Attended<'k, K> {
    pub running: Running,
    pub keeper: &'k mut K,
    pub seen: Seen,
}

/// A plan that was read again and proved, with the routers that follow it.
pub(super) struct Next {
    plan: Plan,
    routers: Vec<Router>,
    measured: Measured,
}

impl Next {
    /// The routers of these nodes, by their places in the network. `settings` are what the plan
    /// does not say.
    pub(super) fn new(plan: Plan, nodes: &[NodeId], settings: Settings) -> Result<Next, String> {
        let networked = plan.networked().ok_or("the plan is of one link")?;
        let on = networked.assigned();
        let routers = nodes.iter().map(|node| Router::new(&on, *node, settings));
        let routers = routers.collect::<Result<_, _>>().map_err(|why| why.to_string())?;
        let measured = Measured::new(&on);
        Ok(Next { routers, measured, plan })
    }
}

/// What has been seen of them.
pub(super) struct Seen {
    names: Vec<String>,
    links: Links,
    reports: Reports,
    /// What was measured under the plan that is followed.
    plan: Plan,
    measured: Measured,
    since: Nanos,
    started: Nanos,
    real_time: bool,
    /// Plans that were followed, and those that were refused.
    reloads: [u64; 2],
}

impl<K: Keeper> Attended<'_, K> {
    /// Follows the plan that was read again, if that is for a host alone to do.
    fn go_on(&mut self, next: Result<Next, String>) -> Result<(), String> {
        let Attended { running, keeper, seen } = self;
        let Next { plan, routers, measured } = next?;
        agree(&seen.plan, &plan).map_err(|why| {
            format!("{why}, which all routers change at once: start them again with the new plan")
        })?;
        let stopped = |why: Stopped| why.to_string();
        running.reload(routers).map_err(stopped)?;
        keeper.ended(&seen.status(&running.counts().map_err(stopped)?));
        seen.begin(plan, measured);
        Ok(())
    }

    /// Sends what is under way, as far as that does not take too long, and ends.
    pub(super) fn end(self) -> Result<Status, LiveError> {
        let Attended { running, keeper, mut seen, .. } = self;
        let status = seen.status(&running.end()?);
        keeper.ended(&status);
        Ok(status)
    }
}

impl<K: Keeper> Task for Attended<'_, K> {
    type Next = Result<Next, String>;

    fn is_running(&self) -> bool {
        self.running.is_running()
    }

    fn look(&mut self) -> Result<(), Stopped> {
        let Attended { running, keeper, seen, .. } = self;
        seen.read();
        let reattach = |at, to| running.reattach(at, to);
        seen.links.follow(reattach, &mut |what| keeper.say(what))
    }

    fn status(&mut self) -> Result<Status, Stopped> {
        Ok(self.seen.status(&self.running.counts()?))
    }

    fn follow(&mut self, next: Self::Next) -> Result<(), String> {
        let followed = self.go_on(next);
        self.seen.reloads[usize::from(followed.is_err())] += 1;
        self.keeper.say(&match &followed {
            Ok(()) => "the plan is reloaded".to_string(),
            Err(why) => format!("the plan is not reloaded: {why}"),
        });
        followed
    }
}

impl Seen {
    /// Nothing yet, of routers that have just begun.
    pub(super) fn new(
        on: &Assigned<'_>,
        names: Vec<String>,
        links: Links,
        reports: Reports,
        real_time: bool,
    ) -> Self {
        let now = Clock::Monotonic.now();
        Seen {
            names,
            links,
            reports,
            plan: on.plan.clone(),
            measured: Measured::new(on),
            since: now,
            started: now,
            real_time,
            reloads: [0; 2],
        }
    }

    /// Counts what has happened.
    fn read(&mut self) {
        let Seen { reports, measured, .. } = self;
        reports.read(|happened| measured.add(happened));
    }

    /// From now on it happens under this plan.
    fn begin(&mut self, plan: Plan, measured: Measured) {
        (self.plan, self.measured, self.since) = (plan, measured, Clock::Monotonic.now());
    }

    /// What they are like when this was counted.
    fn status(&mut self, counts: &Counts) -> Status {
        self.read();
        let now = Clock::Monotonic.now();
        let Seen { names, plan, measured, .. } = &*self;
        let shown = Shown { plan, measured, counts, lasted: now.saturating_sub(self.since) };
        let [reloads, reloads_refused] = self.reloads;
        Status {
            version: env!("CARGO_PKG_VERSION").to_string(),
            uptime_ns: now.saturating_sub(self.started).0,
            real_time: Some(self.real_time),
            reloads: Some(reloads),
            reloads_refused: Some(reloads_refused),
            events_lost: Some(self.reports.missed),
            interfaces: self.links.status(&counts.interfaces, &counts.cut),
            ways: vec![shown.way()],
            network: Some(shown.network(names.clone())),
        }
    }
}
