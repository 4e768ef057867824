//! `laxity live`: frames between two interfaces under a plan.

use std::path::Path;

use laxity::port::Account;
use laxity_api::check;
use laxity_linux::frames::Side;
use laxity_linux::interface::Interface;
use laxity_linux::packet::{self, Mmsg, Ring};
use laxity_linux::xdp::{self, Xdp};
use laxity_live::daemon::{Period, folder_of};
use laxity_live::{Daemon, Ended, LiveError, Options};
use laxity_plan::Plan;
use laxity_report::quantity;

use crate::args::{FrameBackend, Live};
use crate::by_class::{ClassRow, Delays, by_class};
use crate::failure::Failure;
use crate::{Promises, input, print, terminal};

/// Carries the command out.
pub fn run(arguments: &Live) -> Result<Promises, Failure> {
    let paths = [Some(arguments.plan.as_path()), arguments.back.as_deref()];
    let mut plans = [None, None];
    for (plan, path) in plans.iter_mut().zip(paths) {
        let Some(path) = path else { continue };
        let read = input::plan(path, None)?;
        let checked = check(&read)?;
        if checked.admitted() == Some(false) {
            print(&checked.text(&read))?;
            return Ok(Promises::Broken);
        }
        *plan = Some(read);
    }
    let interfaces = [&arguments.from, &arguments.to].map(|name| Interface::named(name));
    let [from, to] = interfaces;
    let interfaces = [from.map_err(Failure::input)?, to.map_err(Failure::input)?];
    let daemon = Daemon {
        interfaces,
        plans,
        options: Options {
            priority: (arguments.priority > 0).then_some(arguments.priority),
            ..Options::default()
        },
        duration: arguments.duration,
        readable: paths.into_iter().flatten().map(folder_of).collect(),
    };
    let ended = forward(daemon, arguments.backend, paths)?;
    print(&text(&ended))?;
    let broken: u64 = ended.periods.iter().map(|period| period.measured.broken).sum();
    Ok(Promises::kept_if(broken == 0))
}

fn forward(
    daemon: Daemon,
    backend: FrameBackend,
    paths: [Option<&Path>; 2],
) -> Result<Ended, LiveError> {
    let reread = &mut |at: Side| match paths[at.index()] {
        Some(path) => read_again(path),
        None => Err("there is none for this direction".into()),
    };
    let say = &mut |text: &str| terminal::remark(&format!("laxity: {text}\n"));
    let [from, to] = &daemon.interfaces;
    let ends = [from, to];
    match backend {
        FrameBackend::Ring => {
            let frames = Ring::open(ends, &packet::Options::default())?;
            daemon.run(frames, reread, say)
        }
        FrameBackend::Packet => {
            let frames = Mmsg::open(ends, &packet::Options::default())?;
            daemon.run(frames, reread, say)
        }
        FrameBackend::Xdp => {
            let frames = Xdp::open(ends, &xdp::Options::default())?;
            daemon.run(frames, reread, say)
        }
    }
}

/// A plan that is to be followed from now on.
fn read_again(path: &Path) -> Result<Plan, String> {
    let plan = Plan::read(path).map_err(|error| error.to_string())?;
    let checked = check(&plan).map_err(|error| error.to_string())?;
    match checked.admitted() {
        Some(false) => Err(checked.text(&plan)),
        _ => Ok(plan),
    }
}

fn text(ended: &Ended) -> String {
    let mut text = String::new();
    for period in &ended.periods {
        let way = match period.at {
            Side::A => "out",
            Side::B => "back",
        };
        let Period { plan, measured, .. } = period;
        let rows: Vec<_> = plan
            .leaves()
            .map(|(id, class)| row(&class.name, &measured.accounts()[id.index()]))
            .collect();
        let latest = quantity::time(measured.latest.0 as f64);
        text += &format!(
            "{way}: {} at {}\n\n{}\n\nWaking up was at most {latest} late.",
            plan.scheduler.name(),
            plan.link.rate,
            by_class("dropped", &[], &rows)
        );
        text += &match measured.broken {
            0 => " Every packet kept its bound and that.\n\n".to_string(),
            broken => format!(" {broken} packets took longer than their bound and that.\n\n"),
        };
    }
    if ended.lost > 0 {
        text += &format!("{} events came too fast to be counted.\n", ended.lost);
    }
    text
}

fn row(name: &str, account: &Account) -> ClassRow {
    let delay = &account.delay;
    let delays = (delay.count() > 0).then(|| Delays {
        mean: delay.mean(),
        p50: delay.quantile(1, 2).0,
        p99: delay.quantile(99, 100).0,
        p99_9: delay.quantile(999, 1000).0,
        max: delay.max().0,
    });
    ClassRow {
        name: name.to_string(),
        arrived: account.arrived,
        sent: account.sent,
        gone: account.dropped().iter().sum(),
        delays,
        bound: account.promise.bound.map(|bound| bound.0),
        // A bound holds with what was late, which is said below.
        is_broken: false,
        more: Vec::new(),
    }
}
