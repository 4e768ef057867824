//! Households of routers that shape their link today.

use std::fmt;
use std::str::FromStr;

use laxity::units::Rate;
use laxity_exchange::Error;
use laxity_exchange::router::{self, Router, Shaper};
use laxity_plan::PlanError;

use super::{Direction, Side};

/// Whose settings are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "a front end has a word for each")]
pub enum Tool {
    /// Command lines of `tc` with cake or cake_mq.
    Cake,
    /// sqm-scripts, `/etc/config/sqm`.
    Sqm,
    /// qosify, `/etc/config/qosify`.
    Qosify,
    /// QoSmate, `/etc/config/qosmate`.
    Qosmate,
}

impl Tool {
    /// All tools.
    pub const ALL: [Tool; 4] = [Tool::Cake, Tool::Sqm, Tool::Qosify, Tool::Qosmate];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            Tool::Cake => "cake",
            Tool::Sqm => "sqm",
            Tool::Qosify => "qosify",
            Tool::Qosmate => "qosmate",
        }
    }
}

impl fmt::Display for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

/// No tool is called so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not known: settings are read of {}", Tool::ALL.map(Tool::word).join(", "))]
pub struct UnknownTool;

impl FromStr for Tool {
    type Err = UnknownTool;

    fn from_str(word: &str) -> Result<Tool, UnknownTool> {
        Tool::ALL.into_iter().find(|tool| tool.word() == word).ok_or(UnknownTool)
    }
}

/// Why settings are not read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RouterError {
    /// A script is none that is followed.
    #[error(transparent)]
    Script(#[from] PlanError),
    /// A setting is wrong, or there is nothing to read.
    #[error(transparent)]
    Setting(#[from] Error),
}

/// Reads what a router is set to. `name` is what the text is called in errors.
///
/// # Errors
/// At the first line that the tool would not read either, or if the text shapes no link.
pub fn read_router(tool: Tool, text: &str, name: &str) -> Result<Router, RouterError> {
    Ok(match tool {
        Tool::Cake => router::cake(&commands(text, name)?)?,
        Tool::Sqm => router::sqm(text)?,
        Tool::Qosify => router::qosify(text)?,
        Tool::Qosmate => router::qosmate(text)?,
    })
}

/// The words of the commands of a script, or of what `tc qdisc show` printed.
fn commands(text: &str, name: &str) -> Result<Vec<Vec<String>>, PlanError> {
    let is_shown = text.lines().any(|line| line.starts_with("qdisc "));
    if is_shown {
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect();
        return Ok(text.lines().map(words).collect());
    }
    laxity_tc::words(text, name)
}

impl Side {
    /// The side of a link that a router shapes, with the rate that is `given` or else its own.
    /// `None` without either.
    pub fn from_router(
        shaper: &Shaper,
        given: Option<Rate>,
        tool: Tool,
        direction: Direction,
    ) -> Option<Side> {
        let reason = match given {
            Some(_) => "The rate that was asked for.".into(),
            None => format!("The rate to which {tool} shapes {direction}."),
        };
        Some(Side {
            link: given.or(shaper.rate)?,
            percent: 100,
            overhead: shaper.overhead,
            queues: shaper.queues,
            promise: shaper.promise,
            reasons: vec![reason],
        })
    }
}
