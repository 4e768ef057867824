//! `laxity status`: what a link that is forwarded over is like, or routers, or what the kernel
//! shapes.

use laxity_live::status::Status;

use super::{control_socket, kernel, measurement, past};
use crate::args::Status as Arguments;
use crate::failure::Failure;
use crate::{Promises, show};

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> Result<Promises, Failure> {
    let Arguments { instance, interface, over, history, back, json } = arguments;
    if let Some(history) = history {
        return past::run(history, (*back).into(), *json);
    }
    if let Some(interface) = interface {
        return kernel::run(interface, *over, *json);
    }
    let running = control_socket::running(instance.control.as_deref())?;
    let status = running.status().map_err(Failure::system)?;
    show(*json, &status, || text(&status))?;
    Ok(Promises::kept_if(status.is_kept()))
}

fn text(status: &Status) -> String {
    let mut text = measurement::heading(status);
    for (count, what) in [(status.reloads, "followed"), (status.reloads_refused, "refused")] {
        if let Some(count @ 1..) = count {
            text += &format!(", {} {what} since then", measurement::plans(count));
        }
    }
    let orders = status.orders.iter().map(|(answer, count)| format!("{count} {answer}"));
    let orders: Vec<String> = orders.collect();
    if !orders.is_empty() {
        text += &format!("; orders: {}", orders.join(", "));
    }
    text += "\n\n";
    text + &measurement::ways_text(status.network.as_ref(), &status.ways)
        + &measurement::losses_text(status)
}
