//! `laxity live`: frames between two interfaces under a plan.

use std::path::Path;
use std::sync::mpsc;

use laxity_api::check;
use laxity_linux::frames::Side;
use laxity_linux::interface::Interface;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_linux::xdp::{self, Xdp};
use laxity_live::daemon::{Keeper, PlanText, Reread, folder_of};
use laxity_live::log::Period;
use laxity_live::server::control_socket_of;
use laxity_live::status::Status;
use laxity_live::{Daemon, LiveError, Options};
use laxity_plan::Plan;

use super::{demo, routers};
use crate::args::{FrameBackend, Live};
use crate::failure::Failure;
use crate::report::Report;
use crate::{Promises, control_socket, input, measured, print, terminal};

/// Carries the command out.
pub(crate) fn run(arguments: &Live) -> Result<Promises, Failure> {
    let Some(plan) = &arguments.plan else { return demo::run(arguments) };
    let (Some(from), Some(to)) = (&arguments.from, &arguments.to) else {
        return routers::run(arguments, plan);
    };
    let paths = [Some(plan.as_path()), arguments.back.as_deref()];
    let mut plans = [None, None];
    for (plan, path) in plans.iter_mut().zip(paths) {
        let Some(path) = path else { continue };
        let (read, text) = Plan::read_with_text(path)?;
        let checked = check(&read)?;
        if checked.admitted() == Some(false) {
            print(&checked.text(&read))?;
            return Ok(Promises::Broken);
        }
        *plan = Some(PlanText { plan: read, text });
    }
    let named = |name: &String| Interface::named(name).map_err(Failure::input);
    let interfaces = [named(from)?, named(to)?];
    let (ask, requests) = mpsc::channel();
    let report = Report::begin(arguments.monitoring.report.as_deref())?;
    let server =
        control_socket::serve(&arguments.monitoring, &control_socket_of(&[from, to]), ask)?;
    let daemon = Daemon {
        interfaces,
        plans,
        options: options(arguments),
        duration: arguments.duration,
        reread: reread(paths),
        ledger: arguments.ledger.clone(),
        capture: arguments.capture.clone(),
        requests,
    };
    let mut keeper = Terminal { kept: true, printed: Ok(()), report };
    let ended = forward(daemon, arguments.backend, &mut keeper)?;
    drop(server);
    let Terminal { kept, printed, report } = keeper;
    let report = report.map(|report| report.write(&ended)).transpose()?;
    printed?;
    print(&(measured::of_losses(&ended) + &report.unwrap_or_default()))?;
    Ok(Promises::kept_if(kept))
}

/// How the thread runs that forwards.
pub(crate) fn options(arguments: &Live) -> Options {
    let priority = (arguments.priority > 0).then_some(arguments.priority);
    Options { priority, core: arguments.core, awake: arguments.awake, ..Options::default() }
}

fn forward(
    daemon: Daemon,
    backend: FrameBackend,
    keeper: &mut Terminal,
) -> Result<Status, LiveError> {
    let [from, to] = &daemon.interfaces;
    let ends = [from, to];
    match backend {
        FrameBackend::Ring => {
            let frames = Ring::open(ends, &packet::Options::default())?;
            daemon.run(frames, keeper)
        }
        FrameBackend::Packet => {
            let frames = Mmsg::open(ends, &packet::Options::default())?;
            daemon.run(frames, keeper)
        }
        FrameBackend::Xdp => {
            let frames = Xdp::open(ends, &xdp::Options::default())?;
            daemon.run(frames, keeper)
        }
    }
}

/// Looks after the process from a terminal, or from where a service is looked after.
struct Terminal {
    /// Whether what was promised was kept under all plans.
    kept: bool,
    printed: Result<(), Failure>,
    report: Option<Report>,
}

/// Reads the plans of both directions again, by the side whose frames they are for.
fn reread(paths: [Option<&Path>; 2]) -> Reread {
    let paths = paths.map(|path| path.map(Path::to_path_buf));
    let readable = paths.iter().flatten().map(|path| folder_of(path)).collect();
    let plan = move |at: Side| {
        read_again(paths[at.index()].as_deref().ok_or("there is none for this direction")?)
    };
    Reread { plan: Box::new(plan), readable }
}

/// Reads a plan again and proves it; what stands against it is said in a sentence.
pub(crate) fn read_again(path: &Path) -> Result<PlanText, String> {
    if input::is_stdin(path) {
        return Err("it came by standard input, which is read but once".into());
    }
    let (plan, text) = Plan::read_with_text(path).map_err(|error| error.to_string())?;
    let checked = check(&plan).map_err(|error| error.to_string())?;
    match checked.admitted() {
        Some(false) => Err(checked.text(&plan)),
        _ => Ok(PlanText { plan, text }),
    }
}

impl Keeper for Terminal {
    fn say(&mut self, what: &str) {
        terminal::remark(&format!("laxity: {what}\n"));
    }

    fn ended(&mut self, period: &Period) {
        let way = period.status();
        self.kept &= way.is_kept();
        if let Some(report) = &mut self.report {
            report.add(&period.plan, &way, period.history());
        }
        let printed = print(&measured::of_way(&way));
        self.printed = std::mem::replace(&mut self.printed, Ok(())).and(printed);
    }
}
