//! A process that forwards, between its first signal and its last.

mod adviser;
mod interfaces;
mod keeper;
mod names;
mod plan_text;
mod printer;
pub(crate) mod prover;
mod request;
mod supervisor;
mod systemd;

use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use laxity::units::Nanos;
use laxity_linux::clock::Clock;
use laxity_linux::sandbox::Sandbox;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use self::prover::{Gone, Proved, Prover};
use self::systemd::Service;
use crate::archive::PastAnswer;
use crate::error::{LiveError, WorkerError};
use crate::reservations::{Answer, Order, Why};
use crate::status::{PastSpan, Status};

pub use self::adviser::Advise;
pub(crate) use self::adviser::Adviser;
pub use self::interfaces::{End, Links};
pub use self::keeper::{Keeper, Results};
pub(crate) use self::names::Names;
pub use self::plan_text::PlanText;
pub(crate) use self::plan_text::{frames_for, secret, settings};
pub use self::printer::{Printer, Text};
pub use self::request::Request;
pub(crate) use self::supervisor::{Reloads, Supervisor, Task};

/// Reservations that could not be followed are followed once more after this time.
const AGAIN: Nanos = Nanos(1_000_000_000);
/// So often what happened is read.
const LOOK: Duration = Duration::from_millis(20);

/// The time since 1970.
pub(crate) fn wall_clock() -> Duration {
    // A clock that is set to before 1970 counts as that.
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

/// The work that a process looks after.
trait Work {
    /// Plans that are read again and proved.
    type Next: Send + 'static;

    /// Whether it goes on.
    fn is_running(&self) -> bool;

    /// Takes note of what has happened.
    fn look(&mut self) -> Result<(), WorkerError>;

    /// What it is like now.
    fn status(&mut self) -> Result<Status, WorkerError>;

    /// Has told what there is of a history.
    fn past(&mut self, span: PastSpan, most: u64, answer: PastAnswer);

    /// Follows plans that were read again, and says what came of it.
    fn follow(&mut self, next: Self::Next) -> Result<(), String>;

    /// Counts an order by its answer.
    fn count(&mut self, answer: &'static str);

    /// Follows the same plans with other reservations, and goes on with its books.
    fn go_on_with(&mut self, next: Self::Next) -> Result<(), String>;
}

/// What a process hears from outside, and tells of itself.
pub(crate) struct Process {
    signals: Signals,
    requests: Receiver<Request>,
    service: Service,
    /// Whether the service was told by a signal to read its plans again, and has not yet.
    is_reloading: bool,
    has_command: bool,
    /// When the plans with all reservations are to be followed that could not be.
    again_at: Option<Nanos>,
}

impl Process {
    /// Hears of signals from now on. Call it before there are other threads, so that these leave
    /// signals to this one. If it has a command in the foreground, SIGINT is left to that, and
    /// SIGHUP ends it.
    pub(crate) fn begin(requests: Receiver<Request>, has_command: bool) -> Result<Self, LiveError> {
        let signals = Signals::new([SIGHUP, SIGINT, SIGTERM]).map_err(LiveError::Signals)?;
        let service = Service::from_environment();
        let (is_reloading, again_at) = (false, None);
        Ok(Process { signals, requests, service, is_reloading, has_command, again_at })
    }

    /// Looks after a task, which has `begun` so, until a signal asks for the end, the time is over,
    /// or it ends by itself. `prover` reads its plans again.
    fn look_after<T: Work>(
        &mut self,
        task: &mut T,
        prover: &mut Prover<T::Next>,
        begun: &str,
        duration: Option<Nanos>,
    ) -> Result<(), WorkerError> {
        self.service.ready(begun);
        let end = duration.map(|duration| Clock::Monotonic.now().saturating_add(duration));
        while task.is_running() && end.is_none_or(|end| Clock::Monotonic.now() < end) {
            // What has been proved is followed at once.
            thread::park_timeout(LOOK);
            task.look()?;
            self.service.alive();
            let ends = self.answer(task, prover)?;
            let signals: Vec<i32> = self.signals.pending().collect();
            if ends || signals.iter().any(|signal| self.ends_by(*signal)) {
                break;
            }
            if signals.contains(&SIGHUP) {
                self.reload(prover);
            }
            if self.again_at.take_if(|at| *at <= Clock::Monotonic.now()).is_some() {
                prover.ask_for_present();
            }
            self.follow(task, prover, begun);
        }
        self.service.stopping();
        Ok(())
    }

    fn ends_by(&self, signal: i32) -> bool {
        signal != if self.has_command { SIGINT } else { SIGHUP }
    }

    /// Answers requests; returns whether the end is asked for.
    fn answer<T: Work>(
        &self,
        task: &mut T,
        prover: &mut Prover<T::Next>,
    ) -> Result<bool, WorkerError> {
        for request in self.requests.try_iter() {
            match request {
                Request::End => return Ok(true),
                // Who asked may have gone.
                Request::Status(answer) => drop(answer.send(task.status()?)),
                Request::Past { span, most, answer } => task.past(span, most, answer),
                Request::Reload(answer) => prover.ask(Some(answer)),
                Request::Order(order, answer) => prover.order(order, answer),
            }
        }
        Ok(false)
    }

    fn reload<N: Send + 'static>(&mut self, prover: &mut Prover<N>) {
        if !self.is_reloading {
            self.service.reloading();
            self.is_reloading = true;
        }
        prover.ask(None);
    }

    /// Follows what has been proved since it was last asked.
    fn follow<T: Work>(&mut self, task: &mut T, prover: &mut Prover<T::Next>, begun: &str) {
        while let Some(proved) = prover.proved() {
            match proved {
                Proved::Read(next, answers) => {
                    let followed = match next {
                        Ok(next) => task.follow(next),
                        Err(Gone) => Err("the thread that proves plans has ended".to_string()),
                    };
                    for answer in answers {
                        // Who asked may have gone.
                        let _ = answer.send(followed.clone());
                    }
                }
                Proved::Ordered(next, answer, waits) => {
                    let followed = next.map_or(Ok(()), |next| self.go_on(task, next));
                    if let (Err(_), Answer::Granted(granted)) = (&followed, &answer) {
                        // What cannot be kept is not promised. Nobody waits for that.
                        let name = granted.name.clone();
                        prover.order(Order::Release { name }, mpsc::channel().0);
                    }
                    let refused = |why| Answer::refused(Why::Unavailable, why);
                    let answer = followed.map_or_else(refused, |()| answer);
                    answer.name().into_iter().for_each(|name| task.count(name));
                    let _ = waits.send(answer);
                }
                Proved::Changed(next) => drop(self.go_on(task, next)),
            }
        }
        if self.is_reloading && !prover.is_busy() {
            self.is_reloading = false;
            self.service.ready(begun);
        }
    }

    /// Follows plans with other reservations, later if not now: what was released is to be free
    /// and what begins to be there, whatever kept it for a while.
    fn go_on<T: Work>(&mut self, task: &mut T, next: T::Next) -> Result<(), String> {
        let followed = task.go_on_with(next);
        self.again_at = followed.is_err().then(|| Clock::Monotonic.now().saturating_add(AGAIN));
        followed
    }
}

/// Shuts off what the thread does not need that looks after the others.
fn close() -> Result<(), LiveError> {
    let sandbox = Sandbox::new().terminal().call(libc::SYS_recvfrom).call(libc::SYS_sendto);
    sandbox.enter()?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Sender;
    use std::time::Instant;

    use super::prover::Reading;
    use super::*;

    /// Ends once it follows a plan.
    #[derive(Default)]
    struct Link {
        looks: u64,
        followed: Option<u8>,
    }

    impl Work for Link {
        type Next = u8;

        fn is_running(&self) -> bool {
            self.followed.is_none()
        }

        fn look(&mut self) -> Result<(), WorkerError> {
            self.looks += 1;
            Ok(())
        }

        fn status(&mut self) -> Result<Status, WorkerError> {
            Ok(Status { uptime_ns: self.looks, ..Status::default() })
        }

        fn past(&mut self, _: PastSpan, _: u64, answer: PastAnswer) {
            answer.send(None).unwrap();
        }

        fn follow(&mut self, next: u8) -> Result<(), String> {
            self.followed = Some(next);
            Err("as it is".to_string())
        }

        fn count(&mut self, _: &'static str) {}

        fn go_on_with(&mut self, next: u8) -> Result<(), String> {
            self.follow(next)
        }
    }

    fn ask<T>(requests: &Sender<Request>, request: impl FnOnce(Sender<T>) -> Request) -> T {
        let (answer, answered) = mpsc::channel();
        requests.send(request(answer)).unwrap();
        answered.recv_timeout(Duration::from_secs(60)).expect("an answer")
    }

    fn process(requests: Receiver<Request>) -> Process {
        Process {
            signals: Signals::new([] as [i32; 0]).unwrap(),
            requests,
            service: Service::from_environment(),
            is_reloading: false,
            has_command: false,
            again_at: None,
        }
    }

    /// Follows the plan of a release only when it is asked for the third time.
    #[derive(Default)]
    struct Stubborn {
        asked: Vec<u8>,
    }

    impl Work for Stubborn {
        type Next = u8;

        fn is_running(&self) -> bool {
            self.asked.len() < 3
        }

        fn look(&mut self) -> Result<(), WorkerError> {
            Ok(())
        }

        fn status(&mut self) -> Result<Status, WorkerError> {
            Ok(Status::default())
        }

        fn past(&mut self, _: PastSpan, _: u64, _: PastAnswer) {}

        fn follow(&mut self, _: u8) -> Result<(), String> {
            Ok(())
        }

        fn count(&mut self, _: &'static str) {}

        fn go_on_with(&mut self, next: u8) -> Result<(), String> {
            self.asked.push(next);
            if self.asked.len() < 3 { Err("not now".to_string()) } else { Ok(()) }
        }
    }

    /// Plans by orders: 1 with an order, 2 as they are.
    struct Ordering;

    impl prover::Prove for Ordering {
        type Next = u8;

        fn read(&mut self) -> u8 {
            2
        }

        fn order(&mut self, _: Order) -> (Option<u8>, Answer) {
            (Some(1), Answer::Done)
        }
    }

    #[test]
    fn what_cannot_be_followed_is_followed_later() {
        let (requests, asked) = mpsc::channel();
        let mut prover = Prover::start(Vec::new(), Ordering).unwrap();
        let (answer, answered) = mpsc::channel();
        let order = Order::Release { name: "film".to_string() };
        requests.send(Request::Order(order, answer)).unwrap();
        let mut task = Stubborn::default();
        process(asked).look_after(&mut task, &mut prover, "", Some(Nanos(60_000_000_000))).unwrap();
        assert_eq!(task.asked, [1, 2, 2]);
        assert!(matches!(answered.recv().unwrap(), Answer::Refused(_)));
    }

    #[test]
    fn while_a_plan_is_proved_all_else_goes_on() {
        let (requests, asked) = mpsc::channel();
        let mut process = process(asked);
        let (go_on, may_go_on) = mpsc::channel::<u8>();
        let mut prover =
            Prover::start(Vec::new(), Reading(move || may_go_on.recv().unwrap())).unwrap();
        let operator = thread::spawn(move || {
            let (answer, reloaded) = mpsc::channel();
            requests.send(Request::Reload(answer)).unwrap();
            let begun = Instant::now();
            while ask(&requests, Request::Status).uptime_ns < 10 {
                assert!(begun.elapsed() < Duration::from_secs(60));
            }
            assert!(reloaded.try_recv().is_err(), "it is not proved yet");
            go_on.send(7).unwrap();
            reloaded.recv_timeout(Duration::from_secs(60)).unwrap()
        });
        let mut link = Link::default();
        process.look_after(&mut link, &mut prover, "", Some(Nanos(60_000_000_000))).unwrap();
        assert_eq!(link.followed, Some(7));
        assert_eq!(operator.join().unwrap(), Err("as it is".to_string()));
    }
}
