//! `topology = …`.

use laxity::units::{Nanos, Rate};

use super::outside::Outside;
use crate::edit;
use crate::error::{Fault, Span};
use crate::keys::misplaced;
use crate::raw::{self, At, Count, Quantity, Shape};
use crate::topology::{MOST_HOSTS, MOST_PORTS, Topology, Wire, dumbbell, fat_tree};

/// The topology of a plan.
pub(super) fn read(raw: &At<raw::Topology>, outside: &mut Outside<'_>) -> Result<Topology, Fault> {
    match &raw.value {
        raw::Topology::File(file) => {
            outside.read(edit::Path::new(["topology"]), file, &raw.span, Topology::parse)
        }
        raw::Topology::Drawn(drawn) => self::drawn(drawn, &raw.span),
    }
}

fn drawn(raw: &raw::Drawn, at: &Span) -> Result<Topology, Fault> {
    let Some(shape) = raw.kind.as_ref().map(|kind| kind.value.0) else {
        let kinds = Shape::ALL.iter().map(|shape| format!("`kind = \"{}\"`", shape.word()));
        let help = format!(
            "write {}, or name a file in place of the table",
            kinds.collect::<Vec<_>>().join(" or ")
        );
        return Err(Fault::at(at, "`kind` is missing").help(help));
    };
    check_keys(shape, raw)?;
    let wire = |rate: &Option<Quantity<Rate>>, delay: &Option<Quantity<Nanos>>| Wire {
        rate: rate.as_ref().map(|rate| rate.value.0),
        delay: delay.as_ref().map(|delay| delay.value.0),
    };
    let middle = wire(&raw.rate, &raw.delay);
    match shape {
        Shape::Dumbbell => {
            let hosts = count("hosts", &raw.hosts, 1..=MOST_HOSTS, at)?;
            Ok(dumbbell(hosts, middle, wire(&raw.access_rate, &raw.access_delay)))
        }
        Shape::FatTree => {
            let k = count("k", &raw.k, 2..=MOST_PORTS, at)?;
            if k % 2 == 1 {
                let span = raw.k.as_ref().map_or(at, |k| &k.span);
                return Err(Fault::at(span, format!("`k` is {k}, an odd number"))
                    .help("half of a switch's ports lead up and half lead down"));
            }
            Ok(fat_tree(k, middle))
        }
    }
}

fn count(
    key: &str,
    raw: &Option<At<Count>>,
    fits: std::ops::RangeInclusive<u32>,
    at: &Span,
) -> Result<u32, Fault> {
    let help = format!("it is {} to {}", fits.start(), fits.end());
    let Some(At { value: Count(count), span }) = raw else {
        return Err(Fault::at(at, format!("`{key}` is missing")).help(help));
    };
    match u32::try_from(*count) {
        Ok(count) if fits.contains(&count) => Ok(count),
        _ => Err(Fault::at(span, format!("`{key}` is {count}")).help(help)),
    }
}

/// Refuses the keys of another shape.
fn check_keys(shape: Shape, raw: &raw::Drawn) -> Result<(), Fault> {
    let others = match shape {
        Shape::Dumbbell => &["k"][..],
        Shape::FatTree => &["hosts", "access-rate", "access-delay"],
    };
    let Some((key, span)) = misplaced(raw.written(), |key| !others.contains(&key)) else {
        return Ok(());
    };
    let message = format!("`{key}` does not belong to `kind = \"{}\"`", shape.word());
    Err(Fault::at(span, message).help("leave it out"))
}
