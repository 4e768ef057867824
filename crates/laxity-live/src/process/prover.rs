//! Plans that are read and proved again while others are followed.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender, TryRecvError};
use std::thread::{self, Thread};
use std::time::Duration;

use laxity_linux::sandbox::Sandbox;

use crate::confined;
use crate::error::StartError;
use crate::reservations::{self, Order, Why};

/// Who waits for the answer to a reload.
pub(crate) type Answer = Sender<Result<(), String>>;

/// Who waits for the answer to an order.
pub(crate) type OrderAnswer = Sender<reservations::Answer>;

/// The most orders that wait.
const ORDERS: usize = 64;
/// How long it waits at once where plans never change by themselves.
const LOOK: Duration = Duration::from_secs(3600);

/// What the thread does.
pub(crate) trait Prove: Send + 'static {
    /// Plans that are proved.
    type Next: Send + 'static;

    /// Reads plans again.
    fn read(&mut self) -> Self::Next;

    /// Carries out an order. Plans follow if they are others now.
    fn order(&mut self, _: Order) -> (Option<Self::Next>, reservations::Answer) {
        (None, reservations::Answer::none_taken())
    }

    /// How long plans stay as they are, unless orders come.
    fn patience(&self) -> Option<Duration> {
        None
    }

    /// The plans as they are now.
    fn present(&mut self) -> Self::Next {
        self.read()
    }
}

/// What a thread does that reads plans alone.
#[cfg(test)]
pub(crate) struct Reading<F>(pub(crate) F);

#[cfg(test)]
impl<N: Send + 'static, F: FnMut() -> N + Send + 'static> Prove for Reading<F> {
    type Next = N;

    fn read(&mut self) -> N {
        (self.0)()
    }
}

/// What the thread is asked for.
enum Ask {
    Read,
    Order(Box<Order>),
    Present,
}

/// What the thread has done.
enum Done<N> {
    Read(N),
    Ordered(Option<N>, reservations::Answer),
    Changed(N),
}

/// What has been proved, and who waits for it to be followed.
pub(crate) enum Proved<N> {
    /// Plans were read again.
    Read(Result<N, Gone>, Vec<Answer>),
    /// An order was carried out. The plans are others now, or stay.
    Ordered(Option<N>, reservations::Answer, OrderAnswer),
    /// Plans changed by themselves, or are to be followed once more.
    Changed(N),
}

/// A thread that reads and proves plans: a large one takes many seconds, in which packets are
/// counted and statuses answered as ever. It alone may open files.
pub(crate) struct Prover<N> {
    ask: Sender<Ask>,
    done: Receiver<Done<N>>,
    /// Who waits for what is being read now, if anything is.
    underway: Option<Vec<Answer>>,
    /// Who asked since, when files may have been changed again.
    next: Option<Vec<Answer>>,
    /// Who waits for orders, in their order.
    orders: VecDeque<OrderAnswer>,
}

/// The thread has ended.
#[derive(Debug)]
pub(crate) struct Gone;

impl<N: Send + 'static> Prover<N> {
    /// Starts the thread, which may read these files and folders. Whenever it has done something,
    /// the calling thread is unparked.
    ///
    /// # Errors
    /// If the thread cannot be had, or does not get rid of its privileges.
    pub(crate) fn start(
        readable: Vec<PathBuf>,
        prove: impl Prove<Next = N>,
    ) -> Result<Self, StartError> {
        let (ask, asked) = mpsc::channel();
        let (tell, done) = mpsc::channel();
        let asker = thread::current();
        // What is refused is told in tables that fit the terminal.
        let sandbox = Sandbox::new().terminal().call(libc::SYS_fdatasync).call(libc::SYS_ftruncate);
        let sandbox = readable.into_iter().fold(sandbox, Sandbox::read);
        confined::spawn("prover", sandbox, move || run(prove, &asked, &tell, &asker))?;
        Ok(Prover { ask, done, underway: None, next: None, orders: VecDeque::new() })
    }

    /// Has plans read again, at once or after those that are being read, and `answer` told what
    /// comes of it. All who ask in the meantime are told of the same.
    pub(crate) fn ask(&mut self, answer: Option<Answer>) {
        if self.underway.is_some() {
            self.next.get_or_insert_default().extend(answer);
        } else {
            self.underway = Some(answer.into_iter().collect());
            // A thread that is gone is noticed where its answer is looked for.
            let _ = self.ask.send(Ask::Read);
        }
    }

    /// Has an order carried out, and `answer` told what came of it once that is followed.
    pub(crate) fn order(&mut self, order: Order, answer: OrderAnswer) {
        let refused = if self.orders.len() >= ORDERS {
            reservations::Answer::refused(
                Why::TooMany,
                format!("{ORDERS} orders wait already: ask again"),
            )
        } else if self.ask.send(Ask::Order(Box::new(order))).is_err() {
            reservations::Answer::refused(
                Why::Unavailable,
                "the thread that proves plans has ended",
            )
        } else {
            return self.orders.push_back(answer);
        };
        // Who asked may have gone.
        let _ = answer.send(refused);
    }

    /// Has the plans as they are now made ready once more, since the last ones were not followed.
    pub(crate) fn ask_for_present(&mut self) {
        // A thread that is gone is noticed where its answer is looked for.
        let _ = self.ask.send(Ask::Present);
    }

    /// What has been proved since.
    pub(crate) fn proved(&mut self) -> Option<Proved<N>> {
        match self.done.try_recv() {
            Ok(Done::Read(next)) => self.read(Ok(next)),
            Ok(Done::Ordered(next, answer)) => {
                Some(Proved::Ordered(next, answer, self.orders.pop_front()?))
            }
            Ok(Done::Changed(next)) => Some(Proved::Changed(next)),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Disconnected) => {
                // Who waits for an order learns that nobody answers.
                self.orders.clear();
                self.read(Err(Gone))
            }
        }
    }

    fn read(&mut self, next: Result<N, Gone>) -> Option<Proved<N>> {
        let answers = self.underway.take()?;
        if let Some(next) = self.next.take() {
            self.underway = Some(next);
            let _ = self.ask.send(Ask::Read);
        }
        Some(Proved::Read(next, answers))
    }

    /// Whether plans are being read.
    pub(crate) fn is_busy(&self) -> bool {
        self.underway.is_some()
    }
}

/// Does what is asked for, and what is due, and wakes who asks.
fn run<P: Prove>(
    mut prove: P,
    asked: &Receiver<Ask>,
    tell: &Sender<Done<P::Next>>,
    asker: &Thread,
) {
    loop {
        let patience = prove.patience();
        let done = match asked.recv_timeout(patience.unwrap_or(LOOK)) {
            Ok(Ask::Read) => Done::Read(prove.read()),
            Ok(Ask::Order(order)) => {
                let (next, answer) = prove.order(*order);
                Done::Ordered(next, answer)
            }
            Err(RecvTimeoutError::Timeout) if patience.is_none() => continue,
            Ok(Ask::Present) | Err(RecvTimeoutError::Timeout) => Done::Changed(prove.present()),
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if tell.send(done).is_err() {
            return;
        }
        asker.unpark();
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::*;

    fn wait<N: Send + 'static>(prover: &mut Prover<N>) -> (Result<N, Gone>, Vec<Answer>) {
        let begun = Instant::now();
        loop {
            if let Some(Proved::Read(next, answers)) = prover.proved() {
                return (next, answers);
            }
            assert!(begun.elapsed() < Duration::from_secs(60));
            thread::sleep(Duration::from_millis(1));
        }
    }

    #[test]
    fn nobody_waits_while_it_proves_and_whoever_asks_meanwhile_is_told_of_the_next() {
        let (go_on, may_go_on) = mpsc::channel::<()>();
        let mut calls = 0;
        let proving = move || {
            calls += 1;
            may_go_on.recv().unwrap();
            calls
        };
        let mut prover = Prover::start(Vec::new(), Reading(proving)).unwrap();
        assert!(prover.proved().is_none() && !prover.is_busy());
        let answer = || Some(mpsc::channel().0);
        prover.ask(answer());
        (0..100).for_each(|_| prover.ask(answer()));
        prover.ask(None);
        assert!(prover.proved().is_none() && prover.is_busy());
        (0..2).for_each(|_| go_on.send(()).unwrap());
        let (first, answers) = wait(&mut prover);
        assert_eq!((first.unwrap(), answers.len()), (1, 1));
        let (second, answers) = wait(&mut prover);
        assert_eq!((second.unwrap(), answers.len()), (2, 100));
        assert!(!prover.is_busy());
    }

    #[test]
    fn files_elsewhere_are_out_of_its_reach() {
        let folders = [(); 2].map(|()| tempfile::tempdir().unwrap());
        let paths = folders.each_ref().map(|folder| folder.path().join("plan.toml"));
        paths.iter().for_each(|path| std::fs::write(path, "text").unwrap());
        let readable = vec![folders[0].path().to_path_buf()];
        let reads = move || paths.each_ref().map(|path| std::fs::read(path).is_ok());
        let mut prover = Prover::start(readable, Reading(reads)).unwrap();
        prover.ask(None);
        assert_eq!(wait(&mut prover).0.unwrap(), [true, false]);
        assert!(std::fs::read(folders[1].path().join("plan.toml")).is_ok(), "but within ours");
    }

    #[test]
    fn one_that_has_ended_is_noticed() {
        // Without the words of a panic, which take calls that are shut off.
        let ends = || -> u8 { std::panic::resume_unwind(Box::new("on purpose")) };
        let mut prover = Prover::start(Vec::new(), Reading(ends)).unwrap();
        prover.ask(None);
        assert!(wait(&mut prover).0.is_err());
        prover.ask(None);
        assert!(wait(&mut prover).0.is_err(), "again");
    }
}
