//! What came of a plan's promises, decided here once for links and networks: terminal, JSON, HTML
//! and exit code are made from the same [`Verdict`].

mod broken;
mod measured;

use std::fmt;

use laxity_plan::Plan;
use laxity_plan::model::SchedulerSpec;
use serde::Serialize;

use crate::admission::{self, AdmissionView};

pub use broken::{Broken, Promise};
pub(crate) use broken::{Owed, broken_by, promised_a_delay, too_late};
pub use measured::Measured;

/// What came of a plan's promises under a scheduler. `Display` says it in lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Whether nothing stands against the scheduler: a command ends with exit code 0 if all its
    /// verdicts say so, and with 1 otherwise.
    pub kept: bool,
    /// What the scheduler is held to.
    pub held_to: HeldTo,
    /// Whether the admission test admits the plan; absent without a test, and where it cannot tell.
    pub admitted: Option<bool>,
    /// The test's answer in a few sentences.
    pub statement: Option<String>,
    /// Whether any class was promised a delay or windows.
    pub promised: bool,
    /// What was promised and not kept, in the plan's order.
    pub broken: Vec<Broken>,
}

/// What a scheduler is held to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum HeldTo {
    /// All that the plan promises: it has to be admitted, and nothing may be missed.
    Plan,
    /// What is proved under it: a reference of a comparison, which may refuse the plan and be late.
    Proofs,
}

impl HeldTo {
    /// In a comparison the plan's `own` scheduler is held to the plan, and so are those that exist to
    /// keep promises. The others are there to be compared with.
    pub fn in_comparison(own: SchedulerSpec, compared: SchedulerSpec) -> HeldTo {
        match compared.room().is_held_to_promises || compared == own {
            true => HeldTo::Plan,
            false => HeldTo::Proofs,
        }
    }
}

impl Verdict {
    /// Of what was asked before, promised, and found broken.
    pub(crate) fn new(
        held_to: HeldTo,
        admission: Option<&AdmissionView>,
        promised: bool,
        broken: Vec<Broken>,
    ) -> Verdict {
        let admitted = admission.and_then(|admission| admission.admitted);
        let kept = match held_to {
            HeldTo::Plan => admitted != Some(false) && broken.is_empty(),
            HeldTo::Proofs => !broken.iter().any(|broken| broken.proved),
        };
        let statement = admission.map(|admission| admission.statement.clone());
        Verdict { kept, held_to, admitted, statement, promised, broken }
    }

    /// Whether the admission test does not admit the plan.
    pub fn is_refused(&self) -> bool {
        self.admitted == Some(false)
    }

    /// What is said before the list of broken promises, if anything: that the plan is not admitted,
    /// or that nothing was broken.
    pub fn headline(&self) -> Option<String> {
        let refusal = self.is_refused().then(|| {
            let statement = self.statement.as_deref().unwrap_or_default();
            admission::line(self.admitted, statement)
        });
        let unbroken = match (self.is_refused(), self.promised) {
            _ if !self.broken.is_empty() => None,
            (true, true) => Some("This time nothing was missed."),
            (true, false) => None,
            (false, true) => Some("Every promise was kept."),
            (false, false) => Some("No class was promised a delay."),
        };
        let parts: Vec<_> = refusal.into_iter().chain(unbroken.map(str::to_owned)).collect();
        (!parts.is_empty()).then(|| parts.join(" "))
    }

    /// Everything that is said, line by line.
    pub fn lines(&self) -> impl Iterator<Item = String> {
        self.headline().into_iter().chain(self.broken.iter().map(Broken::line))
    }

    /// Whether more is said against the scheduler than it is held to.
    fn is_excused(&self) -> bool {
        self.held_to == HeldTo::Proofs
            && self.kept
            && (self.is_refused() || !self.broken.is_empty())
    }
}

impl fmt::Display for Verdict {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.lines().try_for_each(|line| writeln!(f, "{line}"))
    }
}

/// What was measured, with what came of the promises; its JSON is that of the results with `verdict`
/// beside.
#[derive(Clone, Debug, Serialize)]
pub struct Judged<S> {
    /// What was measured.
    #[serde(flatten)]
    pub summary: S,
    /// What came of the promises.
    pub verdict: Verdict,
}

impl<S: Measured> Judged<S> {
    /// Results of a plan of which the admission test, if there is one, gave this answer.
    pub fn new(
        plan: &Plan,
        held_to: HeldTo,
        admission: Option<&AdmissionView>,
        summary: S,
    ) -> Judged<S> {
        let verdict =
            Verdict::new(held_to, admission, summary.promised(plan), summary.broken(plan));
        Judged { summary, verdict }
    }
}

/// The schedulers of a comparison with their verdicts.
pub fn named<S: Measured>(runs: &[Judged<S>]) -> Vec<(&str, &Verdict)> {
    runs.iter().map(|run| (run.summary.scheduler(), &run.verdict)).collect()
}

/// The verdicts of a comparison, line by line, each under its scheduler's name.
pub fn compared(runs: &[(&str, &Verdict)]) -> Vec<String> {
    let lines = runs.iter().flat_map(|(scheduler, verdict)| {
        verdict.lines().map(move |line| format!("{scheduler}: {line}"))
    });
    lines.chain(excused(runs)).collect()
}

/// Which schedulers of a comparison are not held to what is said of them, as a sentence.
pub(crate) fn excused(runs: &[(&str, &Verdict)]) -> Option<String> {
    let excused = runs.iter().filter(|(_, verdict)| verdict.is_excused());
    let names: Vec<_> = excused.map(|(scheduler, _)| *scheduler).collect();
    (!names.is_empty()).then(|| {
        format!(
            "Compared as references, held only to what is proved under them: {}.",
            names.join(", ")
        )
    })
}
