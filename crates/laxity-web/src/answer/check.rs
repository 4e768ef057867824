//! What a plan promises.

use laxity_api::{Plan, check};

use super::{Answer, Answered, json};

pub(super) fn answer(plan: &Plan) -> Answered {
    let checked = check(plan)?;
    let answer = Answer::Result {
        kept: checked.admitted(),
        json: json(&checked),
        page: checked.page(plan),
        notes: Vec::new(),
    };
    Ok((answer, Vec::new()))
}
