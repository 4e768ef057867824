//! `laxity watch`: any shaper, measured from outside beside a plan.

use laxity_api::check;
use laxity_linux::interface::Interface;
use laxity_live::status::ClassStatus;
use laxity_live::watch::{Behind, Settings, Watch, Watched};
use laxity_report::quantity;

use crate::args::Watch as Arguments;
use crate::failure::Failure;
use crate::{Promises, input, measured, print, print_json, terminal};

/// Carries the command out.
pub fn run(arguments: &Arguments) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let is_admitted = check(&plan)?.admitted() != Some(false);
    let [from, to] = [&arguments.from, &arguments.to].map(|name| Interface::named(name));
    let watch = Watch {
        interfaces: [from.map_err(Failure::input)?, to.map_err(Failure::input)?],
        behind: if arguments.mirror { Behind::Arriving } else { Behind::Sent },
        plan,
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
        print(&text(is_admitted, arguments, &watched))?;
    }
    Ok(Promises::kept_if(is_admitted && watched.keeps_bounds()))
}

fn text(is_admitted: bool, arguments: &Arguments, watched: &Watched) -> String {
    let Watched { way, more, busiest_bps, .. } = watched;
    let table = measured::by_class(way, "lost", ["above", "Mbit/s"], |class| {
        let above =
            way.classes[class].bound_ns.map(|_| way.classes[class].bound_misses.to_string());
        let throughput = quantity::megabits(more[class].throughput_bps);
        [above.unwrap_or_else(|| quantity::NOTHING.into()), throughput]
    });
    let busiest = quantity::rate(*busiest_bps);
    let kept = match (is_admitted, way.broken) {
        (false, _) => "The plan is not admitted: laxity check says why.".into(),
        (true, 0) => "No packet took longer than its bound.".into(),
        (true, broken) => format!("{broken} packets took longer than their bound."),
    };
    let mut lines = vec![
        format!("{} at {}\n\n{table}\n", way.scheduler, quantity::rate(way.rate_bps as f64)),
        format!("At the busiest, {busiest} left for 100 ms. {kept}"),
    ];
    lines.extend(remarks(arguments, watched));
    lines.join("\n")
}

/// What there is to know of figures.
fn remarks(arguments: &Arguments, watched: &Watched) -> Vec<String> {
    let Arguments { from, to, .. } = arguments;
    let all = |count: fn(&ClassStatus) -> u64| watched.classes().iter().map(count).sum::<u64>();
    let forgotten = all(|class| class.dropped.get("forgotten").copied().unwrap_or_default());
    let queued = all(|class| class.queued);
    let nonconforming: u64 = watched.more.iter().map(|class| class.nonconforming).sum();
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
