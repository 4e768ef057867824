//! `laxity replay`: a live link's ledger again, in the simulator.

use std::fs::File;
use std::io::BufReader;

use laxity_api::{Repetition, repeat};
use laxity_report::quantity::count;

use crate::args::Replay;
use crate::failure::Failure;
use crate::{Promises, show};

/// Carries the command out.
pub(crate) fn run(arguments: &Replay) -> Result<Promises, Failure> {
    let path = arguments.ledger.display();
    let at = |error: &dyn std::fmt::Display| Failure::input(format!("{path}: {error}"));
    let file = File::open(&arguments.ledger).map_err(|error| at(&error))?;
    let repeated = repeat(BufReader::new(file)).map_err(|error| at(&error))?;
    show(arguments.json, &repeated, || text(&repeated))?;
    Ok(Promises::kept_if(repeated.difference.is_none()))
}

fn text(repeated: &Repetition) -> String {
    let Repetition { arrived, sent, dropped, reloads, .. } = *repeated;
    let mut text = format!(
        "{} packets arrived, {} were sent and {} dropped, under {} plans.\n",
        count(arrived),
        count(sent),
        count(dropped),
        count(reloads + 1)
    );
    if repeated.cut_short {
        text += "The ledger ends within a record, as when its writer is killed.\n";
    }
    text += &match &repeated.difference {
        None => {
            "The simulator sends and drops the same, every packet at the same time.\n".to_string()
        }
        Some(difference) => {
            let said = |what: &Option<String>| what.clone().unwrap_or_else(|| "nothing".into());
            format!(
                "The next packet differs.\n  ledger:    {}\n  simulator: {}\n",
                said(&difference.ledger),
                said(&difference.simulator)
            )
        }
    };
    text
}
