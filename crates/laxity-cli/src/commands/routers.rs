//! `laxity live --port`: nodes of a network.

use std::path::Path;

use laxity::units::Nanos;
use laxity_api::check;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_live::routers::measured::OfClass;
use laxity_live::routers::service::{Ended, Service};
use laxity_live::routers::wiring::wire;
use laxity_plan::Plan;
use laxity_plan::tdp::Assigned;
use laxity_report::{quantity, table};

use super::live::options;
use crate::args::{FrameBackend, Live};
use crate::failure::Failure;
use crate::{Promises, input, print, terminal};

/// How many frames that arrived at each interface may wait: there may be dozens of these.
const FRAMES: u32 = 4096;
/// How many bytes of frames the kernel keeps for each.
const RECEIVE_BUFFER: u32 = 8 << 20;

/// Carries the command out.
pub fn run(arguments: &Live, plan: &Path) -> Result<Promises, Failure> {
    let plan = input::plan(plan, None)?;
    let Some(networked) = plan.networked() else {
        return Err(Failure::input(
            "--port is for networks, and the plan is of one link: name its ends with --in and --out",
        ));
    };
    let checked = check(&plan)?;
    if checked.admitted() == Some(false) {
        print(&checked.text(&plan))?;
        return Ok(Promises::Broken);
    }
    let wired = wire(networked.network, &arguments.port).map_err(Failure::input)?;
    let on = networked.assigned();
    let options = options(arguments);
    let service = Service { on: &on, wired: &wired, options, duration: arguments.duration };
    let ports: Vec<_> = wired.iter().flat_map(|wired| wired.ports.clone()).collect();
    let sockets = packet::Options {
        frames: FRAMES,
        receive_buffer: RECEIVE_BUFFER,
        stamps: true,
        ..packet::Options::default()
    };
    let system = laxity_live::LiveError::System;
    let say = &mut |text: &str| terminal::remark(&format!("laxity: {text}\n"));
    let ended = match arguments.backend {
        FrameBackend::Ring => service.run(Ring::among(&ports, &sockets).map_err(system)?, say)?,
        FrameBackend::Packet => service.run(Mmsg::among(&ports, &sockets).map_err(system)?, say)?,
        FrameBackend::Xdp => {
            return Err(Failure::input(
                "--backend xdp is for two interfaces: routers take ring or packet",
            ));
        }
    };
    print(&text(&plan, &on, &ended))?;
    Ok(Promises::kept_if(is_kept(&on, &ended)))
}

/// Jitter stays below this, for who is in its frames.
fn jitter(on: &Assigned<'_>) -> Nanos {
    let frame = on.framing.as_ref().map(|framing| framing.framed.spec.time.frame);
    frame.map_or(Nanos::MAX, |frame| Nanos(2 * frame.0))
}

fn is_kept(on: &Assigned<'_>, ended: &Ended) -> bool {
    ended.measured.is_kept(jitter(on))
}

fn text(plan: &Plan, on: &Assigned<'_>, ended: &Ended) -> String {
    let Ended { measured, lasted, missed } = ended;
    let rows: Vec<_> =
        plan.leaves().map(|(id, class)| row(&class.name, &measured.classes[id.index()])).collect();
    let mut text = format!("{}\n\n{}\n\n", plan.scheduler.name(), table::table(&HEADER, &rows));
    if let Some(framing) = &on.framing {
        let frames = lasted.0 / framing.framed.spec.time.frame.0;
        let share = measured.skipped as f64 / frames.max(1) as f64;
        text += &format!(
            "Of {frames} frames {} were skipped at some port ({}). ",
            measured.skipped,
            quantity::percent(share)
        );
        text += match is_kept(on, ended) {
            true => {
                "Every packet that met none of them kept its bound, and its jitter below two frames.\n"
            }
            false => {
                "Packets that met none of them broke their bound, or had a jitter of two frames or more.\n"
            }
        };
        if measured.losses > 0 {
            text += &format!(
                "Inputs were out of step {} times, and {} packets came of no known frame.\n",
                measured.losses, measured.unknown
            );
        }
    }
    if measured.missed > 0 {
        text += &format!("{} frames came faster than they were taken in.\n", measured.missed);
    }
    if measured.uncut > 0 {
        text +=
            &format!("{} frames could not be cut into what goes over a wire.\n", measured.uncut);
    }
    if *missed > 0 {
        text += &format!("{missed} events came too fast to be counted.\n");
    }
    text
}

const HEADER: [&str; 13] = [
    "class",
    "arrived",
    "left",
    "dropped",
    "lost",
    "late",
    "delay ms p50",
    "p99",
    "max",
    "bound",
    "jitter ms p99",
    "max",
    "in frames",
];

fn row(name: &str, class: &OfClass) -> Vec<String> {
    let millis = |nanos: Nanos| quantity::millis(nanos.0 as f64);
    let nothing = || quantity::NOTHING.to_string();
    let of_left = |shown: String| if class.left > 0 { shown } else { nothing() };
    let of_transit = |shown: String| if class.transit.count() > 0 { shown } else { nothing() };
    vec![
        name.to_string(),
        class.arrived.to_string(),
        class.left.to_string(),
        class.dropped.iter().sum::<u64>().to_string(),
        class.lost.to_string(),
        class.bound.map_or_else(nothing, |_| class.disturbed.to_string()),
        of_left(millis(class.delay.quantile(1, 2))),
        of_left(millis(class.delay.quantile(99, 100))),
        of_left(millis(class.delay.max())),
        class.bound.map_or_else(nothing, millis),
        of_transit(millis(class.jitter_of(99, 100))),
        of_transit(millis(class.jitter_of(1, 1))),
        class.bound.map_or_else(nothing, |_| millis(class.jitter())),
    ]
}
