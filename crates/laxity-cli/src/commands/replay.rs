//! `laxity replay`: a live link's ledger again, in the simulator.

use std::fs::File;
use std::io::BufReader;

use laxity::units::Nanos;
use laxity_api::{Repetition, WireRepetition, repeat, repeat_traced};
use laxity_report::quantity::count;

use crate::args::Replay;
use crate::failure::Failure;
use crate::input::Inputs;
use crate::trace_file::TraceFile;
use crate::{Promises, show};

/// Carries the command out.
pub(crate) fn run(arguments: &Replay) -> Result<Promises, Failure> {
    let path = arguments.ledger.display();
    let at = |error: &dyn std::fmt::Display| Failure::input(format!("{path}: {error}"));
    let file = File::open(&arguments.ledger).map_err(|error| at(&error))?;
    let ledger = BufReader::new(file);
    let repeated = match &arguments.trace {
        None => repeat(ledger).map_err(|error| at(&error))?,
        Some(path) => {
            let inputs = Inputs::ledger(&arguments.ledger);
            let (file, target) = TraceFile::create(path, &inputs)?;
            let (repeated, written) = repeat_traced(ledger, target).map_err(|error| at(&error))?;
            file.finish(written)?;
            repeated
        }
    };
    show(arguments.json, &repeated, || text(&repeated))?;
    Ok(Promises::kept_if(repeated.difference.is_none()))
}

fn text(repeated: &Repetition) -> String {
    let Repetition { arrived, sent, dropped, reloads, .. } = *repeated;
    let plans = reloads + 1;
    let mut text = format!(
        "{} packets arrived, {} were sent and {} dropped, under {} plan{}.\n",
        count(arrived),
        count(sent),
        count(dropped),
        count(plans),
        if plans == 1 { "" } else { "s" }
    );
    if let Some(WireRepetition { delivered, copies, lost }) = repeated.wire {
        text += &format!(
            "The wire delivered {}, {} of them copies, and lost {}.\n",
            count(delivered),
            count(copies),
            count(lost)
        );
    }
    for gap in &repeated.gaps {
        let from = Nanos(gap.from_ns);
        let until = gap.until_ns.map_or("its end".to_string(), |until| Nanos(until).to_string());
        text += &format!(
            "The ledger has a gap from {from} to {until}: {} events came too fast for it.\n",
            count(gap.events)
        );
    }
    if !repeated.gaps.is_empty() {
        text += "What is between gaps was repeated by itself.\n";
    }
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
