//! `[[request]]`.

use laxity::packet::ClassId;

use super::outside::Outside;
use crate::edit;
use crate::error::{Fault, Span};
use crate::model::{CallTimes, Plan, RequestSpec, Source};
use crate::raw::{self, At, Table};
use crate::recorded_calls;
use crate::source::values::longer;

const HELP: &str = "calls come and go on one link, and their classes are fed by models";

/// The `[[request]]` tables of a plan, whose classes and sources are known.
pub(super) fn all(
    raw: raw::Requests,
    plan: &Plan,
    outside: &mut Outside<'_>,
) -> Result<Vec<RequestSpec>, Fault> {
    let mut requests: Vec<RequestSpec> = Vec::new();
    for (number, At { value: Table(raw), span }) in raw.0.into_iter().enumerate() {
        let class = class(&raw.class, plan)?;
        if requests.iter().any(|other| other.class == class) {
            let message = format!("calls of class `{}` twice", raw.class.value);
            return Err(Fault::at(&raw.class.span, message).help("write one [[request]] for it"));
        }
        check_rest(plan, &span)?;
        let times = times(&raw, number, &span, outside)?;
        requests.push(RequestSpec { class, times });
        check_siblings(plan, &requests, class, &span)?;
    }
    Ok(requests)
}

/// When calls ask: drawn, or as they were recorded.
fn times(
    raw: &raw::request::Request,
    number: usize,
    span: &Span,
    outside: &mut Outside<'_>,
) -> Result<CallTimes, Fault> {
    match (&raw.calls, &raw.every, &raw.holding) {
        (None, Some(every), Some(holding)) => {
            let (every, holding) = (longer("every", every)?, longer("holding", holding)?);
            Ok(CallTimes::Drawn { every, holding })
        }
        (Some(calls), None, None) => {
            let key = edit::Path::new(["request", &number.to_string(), "calls"]);
            let parse = |text: &str| recorded_calls::parse(text, &raw.class.value);
            outside.read(key, &calls.value, &calls.span, parse).map(CallTimes::Recorded)
        }
        (Some(calls), ..) => {
            let message = "`calls` says when calls come and how long they last";
            Err(Fault::at(&calls.span, message).help("leave out `every` and `holding`"))
        }
        (None, ..) => {
            let message = "it is not said when calls come";
            Err(Fault::at(span, message).help("write `every` and `holding`, or `calls` for a file"))
        }
    }
}

fn class(At { value: name, span }: &At<String>, plan: &Plan) -> Result<ClassId, Fault> {
    let Some(id) = plan.class(name) else {
        return Err(Fault::no_class(
            name,
            span,
            plan.classes.iter().map(|class| class.name.as_str()),
        ));
    };
    let class = &plan.classes[id.index()];
    if !class.is_leaf() {
        let message = format!("class `{name}` has classes below it");
        return Err(Fault::at(span, message).help("a call asks for a class of its own packets"));
    }
    Ok(id)
}

/// Refuses classes of calls that leave their parent, or the link, without any between calls.
fn check_siblings(
    plan: &Plan,
    requests: &[RequestSpec],
    class: ClassId,
    span: &Span,
) -> Result<(), Fault> {
    let parent = plan.classes[class.index()].parent;
    let mut siblings = plan.classes.iter().enumerate().filter(|(_, other)| other.parent == parent);
    let stays = |id: usize| requests.iter().all(|request| request.class.index() != id);
    if siblings.any(|(id, _)| stays(id)) {
        return Ok(());
    }
    let message = match parent {
        Some(parent) => {
            format!("all that `{}` holds is of calls", plan.classes[parent.index()].name)
        }
        None => "every class is of calls".to_owned(),
    };
    Err(Fault::at(span, message).help("add a class beside them, for times without calls"))
}

fn check_rest(plan: &Plan, span: &Span) -> Result<(), Fault> {
    if plan.network.is_some() {
        return Err(Fault::at(span, "[[request]] in a network").help(HELP));
    }
    if plan.sources.iter().any(|source| !matches!(source, Source::Model(_))) {
        return Err(Fault::at(span, "[[request]] beside a recording").help(HELP));
    }
    Ok(())
}
