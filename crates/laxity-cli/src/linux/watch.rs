//! `laxity watch`: any shaper, measured from outside beside a plan.

use std::sync::mpsc;

use laxity_api::check;
use laxity_linux::interface::Interface;
use laxity_live::process::Results;
use laxity_live::server::watch_socket_of;
use laxity_live::status::{Status, WayStatus};
use laxity_live::watch::{Behind, Settings, Watch};

use super::report::Report;
use super::{control_socket, measurement};
use crate::args::Watch as Arguments;
use crate::failure::Failure;
use crate::{Promises, input, show, terminal};

/// Carries the command out.
pub(super) fn run(arguments: &Arguments) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let is_admitted = check(&plan)?.admitted() != Some(false);
    let Arguments { from, to, monitoring, .. } = arguments;
    let named = |name: &String| Interface::named(name).map_err(Failure::input);
    let interfaces = [named(from)?, named(to)?];
    let mut report = Report::begin(monitoring.report.as_deref())?;
    let (ask, requests) = mpsc::channel();
    let server = control_socket::serve(monitoring, &watch_socket_of([from, to]), None, ask)?;
    let watch = Watch {
        interfaces,
        behind: if arguments.mirror { Behind::Arriving } else { Behind::Sent },
        plan: plan.clone(),
        settings: Settings {
            timeout: arguments.timeout,
            translated: arguments.nat,
            ..Settings::default()
        },
        duration: arguments.duration,
        requests,
    };
    let watched = watch.run(&mut |text| terminal::remark(&format!("laxity: {text}\n")))?;
    drop(server);
    let status = &watched.status;
    if let (Some(report), [way]) = (&mut report, &status.ways[..]) {
        let (way, history) = (way.clone(), watched.history);
        report.add(&Results { plan: &plan, way, network: None, history });
    }
    let written = report.map(|report| report.write(status)).transpose()?;
    show(arguments.json, status, || text(is_admitted, status) + &written.unwrap_or_default())?;
    let verdict = |way: &WayStatus| way.verdict(None, Some(is_admitted));
    Ok(Promises::kept_if(status.ways.iter().all(|way| verdict(way).is_kept())))
}

fn text(is_admitted: bool, status: &Status) -> String {
    let mut text: String = status.ways.iter().map(measurement::way_text).collect();
    if !is_admitted {
        text += "The plan is not admitted: laxity check says why.\n";
    }
    text += &measurement::losses_text(status);
    if let (true, Some(to)) = (status.ways.iter().all(is_deaf), status.interfaces.last()) {
        text += &format!(
            "Nothing was seen at {}. Frames that are sent past its queueing discipline, as by AF_XDP, are \
             seen where they arrive: give that with --mirror.\n",
            to.name
        );
    }
    text
}

/// Whether packets arrived and nothing at all was seen to leave.
fn is_deaf(way: &WayStatus) -> bool {
    let unpaired = way.watched.map_or(0, |watched| watched.unpaired);
    let arrived: u64 = way.classes.iter().map(|class| class.arrived).sum();
    arrived > 0 && way.classes.iter().map(|class| class.sent).sum::<u64>() + unpaired == 0
}
