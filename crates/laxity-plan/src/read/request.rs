//! `[[request]]`.

use laxity::packet::ClassId;

use crate::error::{Fault, Span};
use crate::model::{Plan, RequestSpec, Source};
use crate::raw::{self, At, Table};
use crate::source::values::longer;

const HELP: &str = "calls come and go on one link, and their classes are fed by models";

/// The `[[request]]` tables of a plan, whose classes and sources are known.
pub(super) fn all(raw: raw::Requests, plan: &Plan) -> Result<Vec<RequestSpec>, Fault> {
    let mut requests: Vec<RequestSpec> = Vec::new();
    for At { value: Table(raw), span } in raw.0 {
        let class = class(&raw.class, plan)?;
        if requests.iter().any(|other| other.class == class) {
            let message = format!("calls of class `{}` twice", raw.class.value);
            return Err(Fault::at(&raw.class.span, message).help("write one [[request]] for it"));
        }
        check_rest(plan, &span)?;
        let every = longer("every", &raw.every)?;
        let holding = longer("holding", &raw.holding)?;
        requests.push(RequestSpec { class, every, holding });
        check_siblings(plan, &requests, class, &span)?;
    }
    Ok(requests)
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
