//! From a question to its answer.

mod check;
#[cfg(feature = "simulation")]
mod packets;
#[cfg(feature = "simulation")]
mod simulate;

use laxity_api::Plan;
use laxity_plan::discipline::Kind;
use laxity_report::visible;
use serde::Serialize;

use crate::fault::Fault;
use crate::files::Files;
use crate::message::Message;
use crate::question::{Question, Verb};

/// The name of the plan in errors, and of the file that it is downloaded as.
const PLAN: &str = "plan.toml";

/// What came of a question: its JSON, and the bytes of a file that was asked for.
type Answered = Result<(Answer, Vec<u8>), Fault>;

/// What a page shows.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Answer {
    /// What there is.
    About { version: &'static str, schedulers: Vec<&'static str>, schema: String },
    /// What a verb of the command prints with `--json`, and the same as a page.
    Result {
        /// Whether what is promised holds, if that is known.
        kept: Option<bool>,
        json: String,
        page: String,
        /// What is to be known besides, a sentence each.
        notes: Vec<String>,
    },
    /// The packets follow as bytes.
    Packets,
    /// Why there is no answer.
    Fault(Fault),
}

/// Answers a question. `progress` hears now and then which share of a simulation is done.
pub fn answer(question: &[u8], progress: &mut dyn FnMut(f64)) -> Vec<u8> {
    let (answer, bytes) = match answered(question, progress) {
        Ok(answered) => answered,
        Err(fault) => (Answer::Fault(fault), Vec::new()),
    };
    let json = serde_json::to_vec(&answer).unwrap_or_default();
    Message { json, bytes }.written()
}

fn answered(question: &[u8], progress: &mut dyn FnMut(f64)) -> Answered {
    let unread = || Fault::new("the page asked what Laxity does not understand: load it again");
    let message = Message::read(question).map_err(|_| unread())?;
    let Question { verb, files } = serde_json::from_slice(&message.json).map_err(|_| unread())?;
    let files = Files::new(files, &message.bytes).ok_or_else(unread)?;
    match verb {
        Verb::Check { plan } => check::answer(&read(&plan, &files, &[])?),
        #[cfg(not(feature = "simulation"))]
        _ => Err(unread()),
        #[cfg(feature = "simulation")]
        Verb::About => Ok((about(), Vec::new())),
        #[cfg(feature = "simulation")]
        Verb::Run(asked) => simulate::run(&asked, &files, progress),
        #[cfg(feature = "simulation")]
        Verb::Compare { simulated, schedulers } => {
            simulate::compare(&simulated, &schedulers, &files, progress)
        }
    }
}

#[cfg(feature = "simulation")]
fn about() -> Answer {
    Answer::About {
        version: env!("CARGO_PKG_VERSION"),
        schedulers: Kind::ALL.iter().map(|kind| kind.word()).collect(),
        schema: serde_json::to_string(&laxity_plan::schema()).unwrap_or_default(),
    }
}

fn read(text: &str, files: &Files, others: &[Kind]) -> Result<Plan, Fault> {
    Ok(Plan::parse_beside(text, PLAN, &files.texts(), others)?)
}

/// A result as the command prints it with `--json`.
fn json(result: &impl Serialize) -> String {
    let text = serde_json::to_string_pretty(result).unwrap_or_default();
    visible::json(&text).into_owned() + "\n"
}
