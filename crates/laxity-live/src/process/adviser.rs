//! What to change in a plan, worked out beside all else.

use std::sync::mpsc::{self, Receiver, Sender};

use laxity::units::Nanos;
use laxity_answers::advice::Measured;
use laxity_linux::clock::Clock;
use laxity_linux::frames::Side;
use laxity_linux::sandbox::Sandbox;
use laxity_plan::Plan;

use crate::confined;
use crate::error::StartError;

/// What to change in a plan, in a sentence; none if there is nothing to say.
pub type Advise = fn(&Plan, &Measured) -> Option<String>;

/// A thread that works out advice: to prove a large plan several times takes a while. It ends when
/// this is dropped, after what it is at.
pub(crate) struct Adviser {
    questions: Sender<Question>,
    answers: Receiver<Answer>,
    is_busy: bool,
    /// When it may be asked again, on the time of the bridge.
    next: Nanos,
}

struct Question {
    about: Topic,
    plan: Plan,
    measured: Measured,
}

/// What advice is about: the side at which frames arrive, and the number of the plan there.
pub(crate) type Topic = (Side, u32);

/// Advice about something.
pub(crate) struct Answer {
    pub(crate) about: Topic,
    pub(crate) sentence: Option<String>,
    /// How long it took.
    took: Nanos,
}

/// The shortest time between two questions.
const PAUSE: Nanos = Nanos(5_000_000_000);
/// It rests this many times as long as it worked.
const REST: u64 = 20;

impl Adviser {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the thread cannot be had, or does not get rid of its privileges.
    pub(crate) fn start(advise: Advise) -> Result<Self, StartError> {
        let (ask, asked) = mpsc::channel::<Question>();
        let (tell, answers) = mpsc::channel();
        confined::spawn("adviser", Sandbox::new(), move || {
            while let Ok(Question { about, plan, measured }) = asked.recv() {
                let begun = Clock::Monotonic.now();
                let sentence = advise(&plan, &measured);
                let took = Clock::Monotonic.now().saturating_sub(begun);
                if tell.send(Answer { about, sentence, took }).is_err() {
                    return;
                }
            }
        })?;
        Ok(Adviser { questions: ask, answers, is_busy: false, next: PAUSE })
    }

    /// Whether it may be asked something.
    pub(crate) fn is_free(&self, now: Nanos) -> bool {
        !self.is_busy && now >= self.next
    }

    /// Lets it be asked nothing for a while.
    pub(crate) fn pause(&mut self, now: Nanos) {
        self.next = now.saturating_add(PAUSE);
    }

    /// Asks what to change in a plan under which this was measured.
    pub(crate) fn ask(&mut self, about: Topic, plan: Plan, measured: Measured) {
        // A thread that is gone stays busy, and is asked no more.
        let _ = self.questions.send(Question { about, plan, measured });
        self.is_busy = true;
    }

    /// What it has worked out since.
    pub(crate) fn answer(&mut self, now: Nanos) -> Option<Answer> {
        let answer = self.answers.try_recv().ok()?;
        self.is_busy = false;
        let rest = Nanos(answer.took.0.saturating_mul(REST)).max(PAUSE);
        self.next = now.saturating_add(rest);
        Some(answer)
    }
}
