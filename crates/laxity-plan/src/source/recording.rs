//! Recordings, whose classes are in them.

use super::context::Context;
use super::values::need;
use crate::error::{Fault, Span};
use crate::model::{Hops, Recording, Source};
use crate::raw::{self, matching};

/// A recording in any format.
pub(super) fn read(
    context: &mut Context<'_>,
    raw: &raw::Source,
    span: &Span,
) -> Result<Source, Fault> {
    let file = need(&raw.file, "file", "\"traffic.pcap\"", span)?;
    if file.value.is_empty() {
        return Err(Fault::at(&file.span, "`file` is empty: write a path"));
    }
    let filter = raw.r#match.as_ref().map(|filter| matching(filter, context.text)).transpose()?;
    if let (Some(filter), Some(raw)) = (&filter, &raw.r#match)
        && filter.expr().needs_host()
    {
        let what = "`match` tests `mark`, `ct mark`, `priority` or `cgroup`, which are not in a capture: test \
                    what is in its frames";
        return Err(Fault::at(&raw.span, what));
    }
    let plan = context.plan;
    let mut path = Hops::default();
    for (class, _) in plan.leaves() {
        path = context.path(raw, class, 1, span)?;
    }
    Ok(Source::Recording(Recording {
        file: context.folder.join(&file.value),
        path,
        filter,
        sort: raw.sort.as_ref().is_some_and(|sort| sort.value),
    }))
}
