//! `laxity watch`: any shaper, measured from outside beside a plan.

use laxity_api::check;
use laxity_linux::interface::Interface;
use laxity_live::watch::{Behind, ClassWatched, Settings, Watch, Watched};
use laxity_plan::Plan;
use laxity_report::quantity;

use crate::args::Watch as Arguments;
use crate::by_class::{ClassRow, Delays, by_class};
use crate::failure::Failure;
use crate::{Promises, input, print, print_json, terminal};

/// Carries the command out.
pub fn run(arguments: &Arguments) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let is_admitted = check(&plan)?.admitted() != Some(false);
    let [from, to] = [&arguments.from, &arguments.to].map(|name| Interface::named(name));
    let watch = Watch {
        interfaces: [from.map_err(Failure::input)?, to.map_err(Failure::input)?],
        behind: if arguments.mirror { Behind::Arriving } else { Behind::Sent },
        plan: plan.clone(),
        settings: Settings {
            timeout: arguments.timeout,
            translated: arguments.nat,
            ..Settings::default()
        },
        duration: arguments.duration,
    };
    let watched = watch.run(&mut |text| terminal::remark(&format!("laxity: {text}\n")))?;
    if arguments.json {
        print_json(&watched)?;
    } else {
        print(&text(&plan, is_admitted, arguments, &watched))?;
    }
    Ok(Promises::kept_if(is_admitted && watched.keeps_bounds()))
}

fn text(plan: &Plan, is_admitted: bool, arguments: &Arguments, watched: &Watched) -> String {
    let rows: Vec<_> = watched.classes.iter().map(row).collect();
    let mut lines = vec![
        format!("{} at {}", plan.scheduler.name(), plan.link.rate),
        String::new(),
        by_class("lost", &["above", "Mbit/s"], &rows),
        String::new(),
        format!("At the busiest, {} left for 100 ms.", quantity::rate(watched.busiest_bps)),
    ];
    lines.push(match (is_admitted, watched.keeps_bounds()) {
        (false, _) => "The plan is not admitted: laxity check says why.".into(),
        (true, true) => "No packet took longer than its bound.".into(),
        (true, false) => {
            let above: u64 = watched.classes.iter().map(|class| class.bound_misses).sum();
            format!("{above} packets took longer than their bound.")
        }
    });
    lines.extend(remarks(arguments, watched));
    lines.join("\n")
}

/// What there is to know of figures.
fn remarks(arguments: &Arguments, watched: &Watched) -> Vec<String> {
    let Arguments { from, to, .. } = arguments;
    let all = |count: fn(&ClassWatched) -> u64| watched.classes.iter().map(count).sum::<u64>();
    let (queued, forgotten) = (all(|class| class.queued), all(|class| class.forgotten));
    let nonconforming = all(|class| class.nonconforming);
    let [missed_in, missed_out] = watched.missed;
    let Watched { unclassed, unpaired, alike, .. } = watched;
    let is_deaf = all(|class| class.arrived) > 0 && all(|class| class.sent) + unpaired == 0;
    let remarks = [
        (queued > 0, format!("{queued} packets had not left at the end.")),
        (
            nonconforming > 0,
            format!("{nonconforming} packets broke the arrival curve of their class."),
        ),
        (*unclassed > 0, format!("{unclassed} packets are of no class: no `match` takes them.")),
        (
            *unpaired > 0,
            format!(
                "{unpaired} packets left and were not seen to arrive: made, copied or changed in \
                     between, or there before."
            ),
        ),
        (
            *alike > 0,
            format!(
                "{alike} packets left while another of the same content waited: they count as \
                     leaving in order."
            ),
        ),
        (
            forgotten > 0,
            format!(
                "{forgotten} packets were forgotten, as too many waited: a shorter --timeout needs \
                     fewer."
            ),
        ),
        (
            missed_in + missed_out > 0,
            format!(
                "{missed_in} frames at {from} and {missed_out} at {to} passed unseen: packets that \
                     are lost here may have been unseen."
            ),
        ),
        (
            is_deaf,
            format!(
                "Nothing was seen at {to}. Frames that are sent past its queueing discipline, as by \
                     AF_XDP, are seen where they arrive: give that with --mirror."
            ),
        ),
    ];
    remarks.into_iter().filter_map(|(holds, text)| holds.then_some(text)).collect()
}

fn row(class: &ClassWatched) -> ClassRow {
    let delays = class.delay_ns.map(|of| Delays {
        mean: of.mean,
        p50: of.p50,
        p99: of.p99,
        p99_9: of.p99_9,
        max: of.max,
    });
    let above = class.bound_ns.map_or(quantity::NOTHING.into(), |_| class.bound_misses.to_string());
    ClassRow {
        name: class.name.clone(),
        arrived: class.arrived,
        sent: class.sent,
        gone: class.lost,
        delays,
        bound: class.bound_ns,
        is_broken: class.bound_misses > 0,
        more: vec![above, quantity::megabits(class.throughput_bps)],
    }
}
