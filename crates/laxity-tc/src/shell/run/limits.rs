//! Limits of a script: steps, values, work on patterns and depth.

use laxity_plan::error::Fault;

use crate::error::Span;
use crate::shell::run::Shell;
use crate::words::command::{RUN, doubted};

/// The most steps that a script takes: commands, turns of loops, and so on.
const MOST_STEPS: usize = 500_000;
/// What all values of a script may come to, in bytes.
const MOST_EXPANDED: usize = 64 << 20;
/// The most work on patterns: characters of patterns times those that they are compared with.
const MOST_WORK: usize = 256 << 20;
/// How deep commands, functions and expansions may be inside each other.
const DEEPEST: usize = 100;

/// Steps, bytes, work and depth of a script so far.
#[derive(Debug, Default)]
pub(crate) struct Usage {
    steps: usize,
    expanded: usize,
    worked: usize,
    depth: usize,
}

impl Usage {
    /// Counts bytes of values. The next [`step`](Shell::step) fails if they are too many.
    pub(crate) fn expand(&mut self, bytes: usize) {
        self.expanded = self.expanded.saturating_add(bytes);
    }
}

impl Shell<'_> {
    /// Counts a step and the bytes that it makes.
    pub(crate) fn step(&mut self, span: &Span, bytes: usize) -> Result<(), Fault> {
        self.usage.steps += 1;
        self.usage.expand(bytes);
        if self.usage.steps > MOST_STEPS {
            let message = format!("the script takes more than {MOST_STEPS} steps up to here");
            let fault = Fault::at(span, message)
                .help(format!("give the commands without such a loop; {RUN}"));
            return Err(doubted(fault, self.asked.as_deref()));
        }
        if self.usage.expanded > MOST_EXPANDED {
            let message = format!(
                "the values up to here come to more than {} MiB, the most that is read",
                MOST_EXPANDED >> 20
            );
            return Err(Fault::at(span, message));
        }
        Ok(())
    }

    /// Counts work on a pattern.
    pub(crate) fn work(&mut self, span: &Span, work: usize) -> Result<(), Fault> {
        self.usage.worked = self.usage.worked.saturating_add(work);
        if self.usage.worked > MOST_WORK {
            return Err(Fault::at(span, "patterns and braces up to here are too long together"));
        }
        Ok(())
    }

    /// Goes one level deeper for as long as something is done.
    pub(crate) fn deeper<T>(
        &mut self,
        span: &Span,
        done: impl FnOnce(&mut Self) -> Result<T, Fault>,
    ) -> Result<T, Fault> {
        if self.usage.depth == DEEPEST {
            let message = format!("more than {DEEPEST} functions and commands inside each other");
            return Err(Fault::at(span, message).help("a function that calls itself has to end"));
        }
        self.usage.depth += 1;
        let done = done(self);
        self.usage.depth -= 1;
        done
    }
}
