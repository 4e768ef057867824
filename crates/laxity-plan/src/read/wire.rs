//! What happens to packets under way: keys of `[link]` and of `[network.NAME]`.

use laxity::units::Nanos;

use crate::error::Fault;
use crate::model::{Dist, Reorder, WireLoss};
use crate::raw::{self, At, Distribution, Number, Table};
use crate::source::values::longer;

pub(super) fn jitter(raw: &At<Distribution<Nanos>>) -> Result<Dist<Nanos>, Fault> {
    longer("jitter", raw)
}

pub(super) fn loss(Table(raw): &Table<raw::WireLoss>) -> Result<WireLoss, Fault> {
    let At { value: Number(share), span } = &raw.share;
    if !(1e-9..=0.999).contains(share) {
        return Err(Fault::at(span, format!("`share` is {share}"))
            .help("it is more than 0 and less than 1, such as 0.01"));
    }
    let Some(At { value: Number(run), span }) = &raw.run else {
        return Ok(WireLoss { share: *share, run: 1.0 / (1.0 - share) });
    };
    // Between two runs there is a packet at least that is not lost.
    let shortest = (share / (1.0 - share)).max(1.0);
    if !(shortest..=1e6).contains(run) {
        return Err(Fault::at(span, format!("`run` is {run}"))
            .help(format!("for this `share` it is at least {shortest} and at most 1000000")));
    }
    Ok(WireLoss { share: *share, run: *run })
}

pub(super) fn reorder(Table(raw): &Table<raw::Reorder>) -> Result<Reorder, Fault> {
    Ok(Reorder { share: some_or_all(&raw.share)?, by: longer("by", &raw.by)? })
}

pub(super) fn duplicate(Table(raw): &Table<raw::Duplicate>) -> Result<f64, Fault> {
    some_or_all(&raw.share)
}

/// A share of packets that is not none.
fn some_or_all(At { value: Number(share), span }: &At<Number>) -> Result<f64, Fault> {
    if (1e-9..=1.0).contains(share) {
        Ok(*share)
    } else {
        Err(Fault::at(span, format!("`share` is {share}"))
            .help("it is more than 0 and at most 1, such as 0.01"))
    }
}
