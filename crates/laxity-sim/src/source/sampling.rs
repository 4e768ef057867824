//! The distributions of a source's fields.

use laxity::units::Nanos;
use laxity_plan::model::Dist;

use super::random::{DistError, Sampler};
use crate::error::SourceProblem;

/// A field's distribution, ready to draw from.
pub(crate) fn sampler(
    field: &'static str,
    dist: Dist<Nanos>,
) -> Result<Sampler<Nanos>, SourceProblem> {
    sampled(field, Sampler::new(dist))
}

/// Says in which field a distribution is wrong.
pub(crate) fn sampled<T>(
    field: &'static str,
    made: Result<T, DistError>,
) -> Result<T, SourceProblem> {
    made.map_err(|source| SourceProblem::Dist { field, source })
}
