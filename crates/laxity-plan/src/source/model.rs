//! The models that feed a class whatever becomes of their packets.

use laxity::units::{Nanos, Rate};

use super::context::Context;
use super::values::{LARGEST_SHAPE, distribution, longer, need, packets};
use crate::error::{Fault, Span};
use crate::model::{Dist, Model, Police};
use crate::raw::{self, At, Distribution, MOST, Number};

/// The shape of the periods of `pareto-on-off` unless the plan gives one.
const DEFAULT_SHAPE: f64 = 1.5;

/// The rate of a model that has one.
pub(super) fn rate(raw: &raw::Source, span: &Span) -> Result<Rate, Fault> {
    Ok(need(&raw.rate, "rate", "\"10mbit\"", span)?.value.0)
}

pub(super) fn greedy(
    context: &Context<'_>,
    raw: &raw::Source,
    span: &Span,
) -> Result<Model, Fault> {
    let class = &context.plan.classes[context.class(raw, span)?.index()];
    if class.arrival.is_none() {
        let name = &class.name;
        let message = format!(
            "a greedy source follows the `arrival` of its class, and class `{name}` has none"
        );
        let at = raw.class.as_ref().map_or(span, |class| &class.span);
        return Err(
            Fault::at(at, message).help("add `arrival` to the class, or choose another model")
        );
    }
    let burst = need(&raw.burst, "burst", "{ uniform = [\"2ms\", \"4ms\"] }", span)?;
    let spacing = need(&raw.spacing, "spacing", "{ uniform = [\"6ms\", \"10ms\"] }", span)?;
    let burst = longer("burst", burst)?;
    Ok(Model::Greedy { burst, spacing: distribution("spacing", spacing)? })
}

pub(super) fn constant(raw: &raw::Source, span: &Span) -> Result<Model, Fault> {
    let rate = rate(raw, span)?;
    let jitter = raw.jitter.as_ref().map(|raw| distribution("jitter", raw)).transpose()?;
    Ok(Model::Constant { rate, jitter })
}

pub(super) fn on_off(raw: &raw::Source, span: &Span) -> Result<Model, Fault> {
    let rate = rate(raw, span)?;
    let on = longer("on", period("on", &raw.on, span)?)?;
    let off = distribution("off", period("off", &raw.off, span)?)?;
    Ok(Model::OnOff { rate, on, off })
}

pub(super) fn pareto_on_off(raw: &raw::Source, span: &Span) -> Result<Model, Fault> {
    let shape = raw.shape.as_ref().map_or(Ok(DEFAULT_SHAPE), pareto_shape)?;
    let on = pareto_period("on", period("on", &raw.on, span)?, shape)?;
    let rate = rate(raw, span)?;
    let off = pareto_period("off", period("off", &raw.off, span)?, shape)?;
    Ok(Model::OnOff { rate, on, off })
}

/// How long a source is on, or off.
fn period<'a>(
    key: &str,
    raw: &'a Option<At<Distribution<Nanos>>>,
    span: &Span,
) -> Result<&'a At<Distribution<Nanos>>, Fault> {
    need(raw, key, "\"500ms\"", span)
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

pub(super) fn backlogged(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Span,
) -> Result<Model, Fault> {
    let class = &context.plan.classes[context.class(raw, span)?.index()];
    if class.police == Police::Drop {
        let message = format!(
            "a backlogged source sends when a packet leaves, and class `{}` drops packets that \
             break its contract instead",
            class.name
        );
        let at = raw.class.as_ref().map_or(span, |class| &class.span);
        let help = "choose a greedy source, which keeps to the contract, or police = \"count\"";
        return Err(Fault::at(at, message).help(help));
    }
    let window = packets(raw.window.as_ref(), "window", 2)?;
    let copies = raw.count.as_ref().map_or(class.count.into(), |count| count.value.0);
    context.queued = context.queued.saturating_add(u64::from(window).saturating_mul(copies));
    if context.queued > MOST as u64 {
        let at = raw.window.as_ref().map_or(span, |window| &window.span);
        return Err(Fault::at(
            at,
            format!("too many packets: all `window`s, times their `count`s, are at most {MOST}"),
        ));
    }
    Ok(Model::Backlogged { window })
}
