//! `laxity export`: what another system is given for a plan.

use std::path::Path;

use laxity_api::{Plan, Refusal, check_for_linux, exchange, export, export_both, nearest};

use crate::args::{ExportNetwork, ExportTc, ExportTo, ExportTsnkit, Format};
use crate::failure::Failure;
use crate::output::{deliver, write_new};
use crate::{Promises, input, print, terminal};

/// The largest plan that is read a second time, as text.
const LARGEST_PLAN: u64 = 64 << 20;

/// Carries the command out.
pub(crate) fn run(to: &ExportTo) -> Result<Promises, Failure> {
    match to {
        ExportTo::Tc(tc) => to_tc(tc),
        ExportTo::Saihu(network) => to_network(network, exchange::Format::Saihu),
        ExportTo::Wopanet(network) => to_network(network, exchange::Format::Wopanet),
        ExportTo::Tsnkit(tsnkit) => to_tsnkit(tsnkit),
    }
}

fn to_network(arguments: &ExportNetwork, format: exchange::Format) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let carried = exchange::export(&plan, format).map_err(Failure::input)?;
    deliver(&carried.text, arguments.out.as_deref(), "Written", "")?;
    terminal::notes(&carried.notes);
    Ok(Promises::Kept)
}

fn to_tsnkit(arguments: &ExportTsnkit) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let files = exchange::tsnkit::export(&plan).map_err(Failure::input)?;
    write_new(&arguments.streams, &files.streams, "")?;
    write_new(&arguments.topology, &files.topology, "")?;
    print(&format!(
        "Written: {} and {}",
        arguments.streams.display(),
        arguments.topology.display()
    ))?;
    terminal::notes(&files.notes);
    Ok(Promises::Kept)
}

fn to_tc(arguments: &ExportTc) -> Result<Promises, Failure> {
    let plan = input::plan(&arguments.plan, None)?;
    let (linux, device) = (arguments.kernel.linux(), &arguments.dev);
    let (text, admitted) = if let Some(ingress) = &arguments.ingress {
        if arguments.format != Format::Script {
            return Err(Failure::input(
                "with --ingress a script is written, for no other format can make the device that arriving frames \
                 wait at",
            ));
        }
        if input::is_stdin(&arguments.plan) && input::is_stdin(ingress) {
            return Err(Failure::input("one plan alone can come from -: give the other as a file"));
        }
        let ingress = input::plan(ingress, None)?;
        export_both(&plan, &ingress, device, &linux).map_err(|refusal| Failure::from(&refusal))?
    } else {
        match export(&plan, device, arguments.format.into(), &linux) {
            Ok(exported) => (exported.text, exported.checked.checked.admitted() != Some(false)),
            Err(refusal) => return refused(arguments, &refusal),
        }
    };
    deliver(&text, arguments.out.as_deref(), "Written", "")?;
    if !admitted {
        terminal::remark(
            "Not every promise of the plan holds under Linux: `laxity check --for linux` says which.\n",
        );
    }
    Ok(Promises::kept_if(admitted))
}

/// Says why not, and writes the nearest plan if that is asked for.
fn refused(arguments: &ExportTc, refusal: &Refusal) -> Result<Promises, Failure> {
    let Some(file) = arguments.nearest.as_ref().filter(|_| refusal.nearest_is_hfsc) else {
        return Err(Failure::from(refusal));
    };
    if input::is_stdin(&arguments.plan) {
        return Err(Failure::input("--nearest reads the plan twice: give it as a file, not as -"));
    }
    let text = input::text(&arguments.plan, LARGEST_PLAN)?;
    let folder = arguments.plan.parent().unwrap_or(Path::new(""));
    let text = nearest(&text, &input::shown(&arguments.plan), folder)?;
    let plan = Plan::parse(&text, &file.display().to_string(), folder)?;
    let checked =
        check_for_linux(&plan, &arguments.kernel.linux()).map_err(|other| Failure::from(&other))?;
    write_new(file, &text, "")?;
    terminal::remark(&format!("{refusal}.\nThe nearest plan is in {}:\n", file.display()));
    print(&checked.text())?;
    Ok(Promises::kept_if(checked.checked.admitted() != Some(false)))
}
