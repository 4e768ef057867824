//! Commands that could not be carried out.

use std::fmt::Display;
use std::io::{self, IsTerminal, Write};
use std::ops::Range;
use std::path::Path;

use laxity_api::{Error, Refusal};
use laxity_plan::{PlanError, UnknownScheduler};
use laxity_report::visible::visible;
use laxity_sim::error::SimError;
use miette::{LabeledSpan, MietteDiagnostic, MietteHandlerOpts, NamedSource, Report};

/// Has failures wrapped for a terminal only. To be called before there is any.
pub(crate) fn wrap_for_terminals() {
    let options = MietteHandlerOpts::new().wrap_lines(io::stderr().is_terminal());
    let set = miette::set_hook(Box::new(move |_| Box::new(options.clone().build())));
    set.expect("nothing else sets it");
}

/// Why a command did nothing.
#[derive(Debug)]
pub(crate) struct Failure {
    report: Report,
    code: u8,
}

impl Failure {
    /// Bad input or usage: exit code 2.
    pub(crate) fn input(message: impl Display) -> Self {
        Failure::new(message, 2)
    }

    /// The system refused: exit code 3.
    pub(crate) fn refused(what: impl Display, error: &io::Error) -> Self {
        Failure::new(format!("{what}: {error}"), 3)
    }

    /// The system is not as the command needs it: exit code 3.
    #[cfg(target_os = "linux")]
    pub(crate) fn system(message: impl Display) -> Self {
        Failure::new(message, 3)
    }

    /// A folder that results cannot be written to: exit code 2, for it is the user's choice.
    pub(crate) fn unwritable(folder: &Path, error: &io::Error) -> Self {
        Failure::input(format!(
            "cannot write to the output folder {}: {error}; give --out a folder that can be \
             created or written",
            folder.display()
        ))
    }

    fn new(message: impl Display, code: u8) -> Self {
        Failure { report: Report::msg(visible(&message.to_string()).into_owned()), code }
    }

    /// Prints the failure and tells the exit code. What it holds is visible already, and its
    /// colours are its own.
    pub(crate) fn report(self) -> u8 {
        // Nobody is left to be told where standard error cannot be written.
        let _ = writeln!(io::stderr().lock(), "{:?}", self.report);
        self.code
    }
}

impl From<&Refusal> for Failure {
    /// What Linux has no counterpart for: exit code 2, with what to do instead.
    fn from(refusal: &Refusal) -> Self {
        let shown = |text: &str| visible(text).into_owned();
        let mut diagnostic = MietteDiagnostic::new(shown(&refusal.to_string()));
        diagnostic.help = Some(shown(&refusal.instead));
        Failure { report: Report::new(diagnostic), code: 2 }
    }
}

impl From<PlanError> for Failure {
    fn from(error: PlanError) -> Self {
        let code = match error.io_kind() {
            Some(io::ErrorKind::NotFound | io::ErrorKind::IsADirectory) | None => 2,
            Some(_) => 3,
        };
        let span = error.span().filter(|span| is_short_around(error.text(), span));
        let message = match span {
            Some(_) => visible(error.message()).into_owned(),
            None => visible(&error.to_string()).into_owned(),
        };
        let mut diagnostic = MietteDiagnostic::new(message);
        diagnostic.help = error.help().map(|help| visible(help).into_owned());
        let shown = |at: usize| visible(&error.text()[..at]).len();
        let shown = span.map(|span| shown(span.start)..shown(span.end));
        diagnostic.labels = shown.map(|span| vec![LabeledSpan::underline(span)]);
        let source = NamedSource::new(visible(error.name()), visible(error.text()).into_owned());
        Failure { report: Report::new(diagnostic).with_source_code(source), code }
    }
}

/// Whether the line of a span can be shown with those before and after it. Columns past 65535 are
/// more than the report can count, and thousands are more than a reader can.
fn is_short_around(text: &str, span: &Range<usize>) -> bool {
    const LONGEST: usize = 4096;
    let start = text[..span.start].rmatch_indices('\n').nth(1).map_or(0, |(at, _)| at);
    let end =
        text[span.end..].match_indices('\n').nth(1).map_or(text.len(), |(at, _)| span.end + at);
    end - start <= LONGEST
}

impl From<SimError> for Failure {
    fn from(error: SimError) -> Self {
        let code = if error.is_bad_input() { 2 } else { 3 };
        Failure::new(error, code)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::Plan(error) => error.into(),
            Error::Scheduler(error) => error.into(),
            Error::Simulation(error) => error.into(),
            Error::Edit(error) => Failure::input(error),
            Error::Run { run, error } => match *error {
                Error::Simulation(error) if !error.is_bad_input() => error.into(),
                error => Failure::input(format!("{run}: {error}")),
            },
            Error::Io { path, error } if error.kind() == io::ErrorKind::NotFound => {
                Failure::input(format!("{}: {error}", path.display()))
            }
            error @ (Error::Io { .. } | Error::Store { .. } | Error::Stopped) => {
                Failure::new(error, 3)
            }
            Error::NothingDrawn { drawing } => Failure::input(format!(
                "--seeds repeats random draws, and there are none: a recording is the same with every \
                 seed, and no queue of the plan is {drawing}. Leave --seeds out"
            )),
            Error::NothingToFit => Failure::input(
                "the plan's source is not one recording: give the one to fit with --arrivals FILE",
            ),
            Error::NothingArrives => Failure::input(
                "the plan has no [[source]], so nothing would arrive: add one, or give --arrivals FILE",
            ),
            Error::Question(message) => Failure::input(message),
        }
    }
}

impl From<UnknownScheduler> for Failure {
    fn from(error: UnknownScheduler) -> Self {
        Failure::input(error)
    }
}
