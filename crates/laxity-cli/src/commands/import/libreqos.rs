//! `laxity import libreqos`: a provider's network and circuits.

use laxity_api::exchange::libreqos::{CircuitGrant, File, Import, LinkRates, import};
use laxity_api::exchange::{Error, LARGEST};
use laxity_report::table::table;

use crate::args::ImportLibreqos;
use crate::failure::Failure;
use crate::output::write_all_new;
use crate::{Promises, input, show, terminal};

/// Carries the command out.
pub(super) fn run(arguments: &ImportLibreqos) -> Result<Promises, Failure> {
    let text = |file| input::text(file, LARGEST as u64);
    let (network, devices) = (text(&arguments.network)?, text(&arguments.devices)?);
    let rates = LinkRates { down: arguments.down, up: arguments.up };
    let imported = import(&network, &devices, rates).map_err(|(file, errors)| {
        let file = match file {
            File::Network => &arguments.network,
            File::Devices => &arguments.devices,
        };
        wrong(&input::shown(file), &errors)
    })?;
    let files = [("down.toml", imported.down.as_str()), ("up.toml", imported.up.as_str())];
    write_all_new(&arguments.out, &files)?;
    if !arguments.json {
        terminal::notes(&imported.notes);
    }
    show(arguments.json, &imported, || {
        let [down, up] = files.map(|(name, _)| arguments.out.join(name));
        format!("{}\nPlans: {} and {}\n", circuits(&imported), down.display(), up.display())
    })?;
    Ok(Promises::Kept)
}

/// All that is wrong with a file, a line each.
fn wrong(file: &str, errors: &[Error]) -> Failure {
    let lines = errors.iter().map(|error| match error.place() {
        Some(_) => format!("{file}:{error}"),
        None => format!("{file}: {error}"),
    });
    Failure::input(lines.collect::<Vec<_>>().join("\n"))
}

/// What each circuit is guaranteed.
fn circuits(imported: &Import) -> String {
    let header = [
        "circuit",
        "name",
        "node",
        "down, guaranteed [Mbit/s]",
        "at most",
        "up, guaranteed [Mbit/s]",
        "at most",
    ];
    let megabits = |bits: u64| format!("{:.3}", bits as f64 / 1e6);
    let row = |circuit: &CircuitGrant| {
        let CircuitGrant { id, name, node, down, up, .. } = circuit;
        vec![
            id.clone(),
            name.clone(),
            node.clone().unwrap_or_default(),
            megabits(down.guaranteed_bps),
            megabits(down.maximum_bps),
            megabits(up.guaranteed_bps),
            megabits(up.maximum_bps),
        ]
    };
    table(&header, &imported.circuits.iter().map(row).collect::<Vec<_>>())
}
