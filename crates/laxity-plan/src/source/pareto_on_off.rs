//! Constant rate while on, silent while off, both for Pareto times.

use std::ops::Range;

use laxity::units::Nanos;

use super::context::Context;
use super::room::{Room, STREAM, WAY};
use super::values::{LARGEST_SHAPE, distribution, off, on, rate};
use crate::error::Fault;
use crate::keys::Key;
use crate::model::{Dist, Model, Source};
use crate::raw::{self, At, Distribution, Number};

/// The shape of the periods unless the plan gives one.
const DEFAULT_SHAPE: f64 = 1.5;

pub(super) const ROOM: Room = Room {
    keys: &[
        STREAM,
        WAY,
        &[
            Key::new("rate", "the rate while on."),
            Key::new("on", "its mean."),
            Key::new("off", "its mean."),
            Key::new("shape", "shape of both periods, more than 1. Default 1.5."),
        ],
    ],
    read,
};

fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Range<usize>,
) -> Result<Source, Fault> {
    let shape = raw.shape.as_ref().map_or(Ok(DEFAULT_SHAPE), pareto_shape)?;
    let on = pareto_period("on", on(raw, span)?, shape)?;
    let rate = rate(raw, span)?;
    let off = pareto_period("off", off(raw, span)?, shape)?;
    context.model(raw, span, Model::OnOff { rate, on, off })
}

fn pareto_shape(At { value: Number(shape), span }: &At<Number>) -> Result<f64, Fault> {
    if *shape > 1.0 && *shape <= LARGEST_SHAPE {
        Ok(*shape)
    } else {
        let help = format!(
            "write a number above 1, where such periods have a mean, and up to {LARGEST_SHAPE}"
        );
        Err(Fault::at(span, format!("`shape` is {shape}")).help(help))
    }
}

/// A Pareto period of a mean: its minimum is mean (shape − 1) / shape.
fn pareto_period(
    key: &str,
    raw: &At<Distribution<Nanos>>,
    shape: f64,
) -> Result<Dist<Nanos>, Fault> {
    let Dist::Constant(mean) = distribution(key, raw)? else {
        let message = format!("`{key}` of `pareto-on-off` is a mean time, not a distribution");
        return Err(Fault::at(&raw.span, message)
            .help("write a time such as \"500ms\", or `model = \"on-off\"`"));
    };
    let minimum = (mean.0 as f64 * (shape - 1.0) / shape).round().max(1.0);
    Ok(Dist::Pareto(Nanos(minimum as u64), shape))
}
