//! Values of several models.

use std::fmt::Display;

use crate::error::{Fault, Span};
use crate::model::Dist;
use crate::raw::{At, Count, Distribution, MOST, Measure};

/// The largest shape or sigma of a distribution.
pub(crate) const LARGEST_SHAPE: f64 = 100.0;

/// The value of a key that the model cannot do without.
pub(crate) fn need<'a, T>(
    value: &'a Option<At<T>>,
    key: &str,
    example: &str,
    span: &Span,
) -> Result<&'a At<T>, Fault> {
    value.as_ref().ok_or_else(|| {
        Fault::at(span, format!("`{key}` is missing"))
            .help(format!("this source needs one, such as `{key} = {example}`"))
    })
}

/// How many packets a window holds.
pub(crate) fn packets(raw: Option<&At<Count>>, key: &str, default: u32) -> Result<u32, Fault> {
    let Some(At { value: Count(count), span }) = raw else { return Ok(default) };
    match u32::try_from(*count) {
        Ok(0) => Err(Fault::zero(key, span)),
        Ok(packets) if packets as usize <= MOST => Ok(packets),
        _ => Err(Fault::at(span, format!("`{key}` is {count}, above the largest, {MOST}"))),
    }
}

/// Reads a distribution of what cannot always be zero.
pub(crate) fn longer<T: Measure + Ord + Display>(
    key: &str,
    raw: &At<Distribution<T>>,
) -> Result<Dist<T>, Fault> {
    let dist = distribution(key, raw)?;
    let size = match dist {
        Dist::Uniform(_, size) | Dist::Constant(size) | Dist::Normal(size, _) => size,
        Dist::Exponential(size) | Dist::Pareto(size, _) => size,
        Dist::LogNormal(size, _) | Dist::Weibull(size, _) => size,
    };
    match size.units() {
        0 => Err(Fault::zero(key, &raw.span)),
        _ => Ok(dist),
    }
}

/// Refuses a distribution that cannot be drawn from.
pub(crate) fn distribution<T: Measure + Ord + Display>(
    key: &str,
    raw: &At<Distribution<T>>,
) -> Result<Dist<T>, Fault> {
    let At { value: Distribution(dist), span } = raw;
    let wrong = |message: String, help: String| Err(Fault::at(span, message).help(help));
    match dist {
        Dist::Uniform(from, to) if from > to => {
            let message =
                format!("`{key}` is uniform from {from} to {to}, and the first is larger");
            wrong(message, format!("write {{ uniform = [\"{to}\", \"{from}\"] }}"))
        }
        Dist::Pareto(_, shape) | Dist::Weibull(_, shape)
            if *shape <= 0.0 || *shape > LARGEST_SHAPE =>
        {
            wrong(
                format!("`{key}` has the shape {shape}"),
                format!("a shape is above 0 and at most {LARGEST_SHAPE}"),
            )
        }
        Dist::LogNormal(_, sigma) if *sigma < 0.0 || *sigma > LARGEST_SHAPE => wrong(
            format!("`{key}` has the sigma {sigma}"),
            format!("a sigma is from 0 to {LARGEST_SHAPE}"),
        ),
        Dist::Pareto(scale, _) | Dist::LogNormal(scale, _) | Dist::Weibull(scale, _)
            if scale.units() == 0 =>
        {
            Err(Fault::zero(key, span))
        }
        _ => Ok(*dist),
    }
}
