//! `laxity status`: what a link that is forwarded over is like.

use laxity_live::status::Status;

use crate::args::Asked;
use crate::failure::Failure;
use crate::{Promises, measured, print, print_json, sight};

/// Carries the command out.
pub fn run(asked: &Asked, json: bool) -> Result<Promises, Failure> {
    let status = sight::running(asked.control.as_deref())?.status()?;
    if json {
        print_json(&status)?
    } else {
        print(&text(&status))?
    }
    Ok(Promises::kept_if(status.ways.iter().all(|way| way.broken == 0)))
}

fn text(status: &Status) -> String {
    let mut text = measured::heading(status);
    for (count, what) in [(status.reloads, "followed"), (status.reloads_refused, "refused")] {
        if let Some(count @ 1..) = count {
            text += &format!(", {} {what} since then", measured::plans(count));
        }
    }
    text += "\n\n";
    text.extend(status.ways.iter().map(measured::of_way));
    text + &measured::of_losses(status)
}
