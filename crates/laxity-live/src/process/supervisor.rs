//! A worker, its interfaces and its books, as a process looks after them.

use std::collections::BTreeMap;
use std::sync::PoisonError;

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::frames::Port;

use super::Process;
use super::interfaces::Links;
use super::keeper::Keeper;
use super::prover::Prover;
use crate::archive::PastAnswer;
use crate::error::{LiveError, WorkerError};
use crate::status::{NetworkStatus, PastSpan, PromisedBoard, PromisedStatus, Status, WayStatus};
use crate::worker::Counts;
use crate::workers::Workers;

/// What bridges and routers do differently while a process looks after them.
pub(crate) trait Task {
    /// A plan that was read again and proved.
    type Next: Send + 'static;
    /// The part of it that goes to a thread.
    type Plan: Send + 'static;

    /// How long what is queued may take at the end.
    const PATIENCE: Nanos;

    /// Notes what has happened.
    fn read(&mut self, keeper: &mut dyn Keeper);

    /// What was measured under the present plans.
    fn status(&mut self, counts: &Counts) -> (Vec<WayStatus>, Option<NetworkStatus>);

    /// Events that came too fast to be counted.
    fn lost(&self) -> u64;

    /// Has told what there is of a history.
    fn past(&mut self, span: PastSpan, most: u64, answer: PastAnswer);

    /// Follows a plan.
    ///
    /// # Errors
    /// Why it is not followed, in a sentence.
    fn reload(
        &mut self,
        next: Self::Next,
        workers: &Workers<Self::Plan>,
        keeper: &mut dyn Keeper,
    ) -> Result<(), String>;

    /// Has ledgers go on after a gap.
    fn mend(&mut self, _: &Workers<Self::Plan>, _: &mut dyn Keeper) {}

    /// The plan that is followed next is the present one with other classes: what is measured of
    /// those that stay goes on.
    fn keep_books(&mut self) {}

    /// Hands over the results of the present plans, and finishes files.
    fn end(self, counts: &Counts, keeper: &mut dyn Keeper);
}

/// Plans that were read again, or why they cannot be followed, in sentences.
pub(crate) type Reloads<T> = Vec<Result<<T as Task>::Next, String>>;

/// A task with the threads that forward.
pub(crate) struct Supervisor<'k, T: Task> {
    workers: Workers<T::Plan>,
    task: T,
    links: Links,
    keeper: &'k mut dyn Keeper,
    started: Nanos,
    /// Plans that were followed, and plans that were refused.
    reloads: [u64; 2],
    /// Orders, by their answer.
    orders: BTreeMap<String, u64>,
    /// What is promised, where orders are taken.
    board: Option<PromisedBoard>,
}

impl<'k, T: Task> Supervisor<'k, T> {
    /// Supervises threads that have just started.
    pub(crate) fn new(
        workers: Workers<T::Plan>,
        task: T,
        links: Links,
        keeper: &'k mut dyn Keeper,
    ) -> Self {
        let started = Clock::Monotonic.now();
        let (reloads, orders) = ([0; 2], BTreeMap::new());
        Supervisor { workers, task, links, keeper, started, reloads, orders, board: None }
    }

    /// The same where reservations are taken and shown at this place.
    pub(crate) fn with_board(self, board: Option<PromisedBoard>) -> Self {
        Supervisor { board, ..self }
    }

    /// Gives up privileges, and forwards until a signal asks for the end, `duration` is over, or
    /// a thread ends by itself. Then what is queued is sent.
    pub(crate) fn run(
        mut self,
        process: &mut Process,
        prover: &mut Prover<Reloads<T>>,
        begun: &str,
        duration: Option<Nanos>,
    ) -> Result<Status, LiveError> {
        let costs = [self.workers.cost_of_no_priority(), self.workers.cost_of_no_lock()];
        costs.iter().flatten().for_each(|cost| self.keeper.say(cost));
        super::close()?;
        self.keeper.begun();
        self.keeper.say(begun);
        process.look_after(&mut self, prover, begun, duration)?;
        let Supervisor { workers, mut task, links, keeper, started, reloads, orders, board } = self;
        let is_real_time = workers.is_real_time();
        keeper.ending();
        let counts = workers.drain(T::PATIENCE)?;
        task.read(keeper);
        let status = status(&mut task, &counts, &links, (started, is_real_time, reloads));
        let status = Status { orders, promised: promised(board.as_ref()), ..status };
        left(&status).into_iter().for_each(|left| keeper.say(&left));
        task.end(&counts, keeper);
        Ok(status)
    }
}

impl<T: Task> super::Work for Supervisor<'_, T> {
    type Next = Reloads<T>;

    fn is_running(&self) -> bool {
        self.workers.is_running()
    }

    fn look(&mut self) -> Result<(), WorkerError> {
        let Supervisor { workers, task, links, keeper, .. } = self;
        task.read(*keeper);
        task.mend(workers, *keeper);
        let reattach = |at: Port, to| workers.reattach(at, &to);
        links.follow(reattach, &mut |what| keeper.say(what))
    }

    fn status(&mut self) -> Result<Status, WorkerError> {
        let counts = self.workers.counts()?;
        let Supervisor { workers, task, links, keeper, started, reloads, orders, board } = self;
        task.read(*keeper);
        let status = status(task, &counts, links, (*started, workers.is_real_time(), *reloads));
        let promised = promised(board.as_ref());
        Ok(Status { orders: orders.clone(), promised, ..status })
    }

    fn past(&mut self, span: PastSpan, most: u64, answer: PastAnswer) {
        self.task.past(span, most, answer);
    }

    fn follow(&mut self, next: Reloads<T>) -> Result<(), String> {
        let Supervisor { workers, task, keeper, reloads, .. } = self;
        let mut all = Ok(());
        for next in next {
            let followed = next.and_then(|next| task.reload(next, workers, *keeper));
            reloads[usize::from(followed.is_err())] += 1;
            keeper.say(&match &followed {
                Ok(()) => "the plan is reloaded".to_string(),
                Err(why) => format!("the plan is not reloaded: {why}"),
            });
            all = all.and(followed);
        }
        all
    }

    fn count(&mut self, answer: &'static str) {
        *self.orders.entry(answer.to_string()).or_default() += 1;
    }

    fn go_on_with(&mut self, next: Reloads<T>) -> Result<(), String> {
        let Supervisor { workers, task, keeper, .. } = self;
        let mut all = Ok(());
        for next in next {
            let followed = next.and_then(|next| {
                task.keep_books();
                task.reload(next, workers, *keeper)
            });
            if let Err(why) = &followed {
                keeper.say(&format!("the reservations are not followed: {why}"));
            }
            all = all.and(followed);
        }
        all
    }
}

/// What was not sent when the time for that was over, in a sentence. `None` if all was, or if books
/// are short of events, so that nobody knows.
fn left(status: &Status) -> Option<String> {
    if status.events_lost != Some(0) {
        return None;
    }
    let classes = status.ways.iter().flat_map(|way| &way.classes);
    let queued = classes.filter_map(|class| Some((&class.name, class.queued?)));
    let left: Vec<_> = queued.filter(|(_, count)| *count > 0).collect();
    let count: u64 = left.iter().map(|(_, count)| count).sum();
    let named = |(name, count): &(&String, u64)| format!("{name} {count}");
    let classes = left.iter().take(NAMED).map(named).collect::<Vec<_>>().join(", ");
    let others = if left.len() > NAMED { ", and others" } else { "" };
    (count > 0)
        .then(|| format!("at the end {count} packets were left that waited: {classes}{others}"))
}

/// As many classes are named in a sentence.
const NAMED: usize = 8;

fn promised(board: Option<&PromisedBoard>) -> Option<PromisedStatus> {
    Some(board?.lock().unwrap_or_else(PoisonError::into_inner).clone())
}

fn status<T: Task>(
    task: &mut T,
    counts: &Counts,
    links: &Links,
    (started, is_real_time, [reloads, reloads_refused]): (Nanos, bool, [u64; 2]),
) -> Status {
    let (ways, network) = task.status(counts);
    Status {
        version: env!("CARGO_PKG_VERSION").to_string(),
        uptime_ns: Clock::Monotonic.now().saturating_sub(started).0,
        real_time: Some(is_real_time),
        reloads: Some(reloads),
        reloads_refused: Some(reloads_refused),
        events_lost: Some(task.lost()),
        connections_unheard: counts.connections_unheard,
        interfaces: links.status(&counts.interfaces, &counts.cut),
        ways,
        network,
        orders: BTreeMap::new(),
        promised: None,
    }
}

#[cfg(test)]
mod tests {
    use laxity::port::Promise;

    use super::*;
    use crate::bridge::WayMeasurement;
    use crate::bridge::samples::plan;

    #[test]
    fn what_is_left_is_said_by_class_where_books_are_whole() {
        let measured = WayMeasurement::new([Promise::default(); 2]);
        let mut way = WayStatus::new("out", &plan(), &measured);
        let status = |way: &WayStatus, lost| Status {
            events_lost: Some(lost),
            ways: vec![way.clone()],
            ..Status::default()
        };
        assert_eq!(left(&status(&way, 0)), None);
        way.classes[1].queued = Some(7);
        let said = left(&status(&way, 0)).expect("some are left");
        assert_eq!(said, "at the end 7 packets were left that waited: rest 7");
        way.classes[0].queued = Some(1);
        let said = left(&status(&way, 0)).expect("some are left");
        assert!(said.contains("8 packets") && said.contains("call 1, rest 7"), "{said}");
        assert_eq!(left(&status(&way, 3)), None);
    }
}
