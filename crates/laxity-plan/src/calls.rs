//! The plan while calls last: a class for each.

use laxity::packet::ClassId;
use laxity::units::Nanos;

use crate::model::{Class, ModelSource, Plan, Source};

/// A call that has a class of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_structs, reason = "made by whoever grants calls")]
pub struct Call {
    /// Which of [`Plan::requests`] it is of.
    pub request: usize,
    /// Its sources begin then.
    pub from: Nanos,
    /// Its sources end then.
    pub until: Nanos,
}

/// A plan while calls last.
#[derive(Clone, Debug)]
#[expect(clippy::exhaustive_structs, reason = "read by whoever simulates")]
pub struct PlanWithCalls {
    /// The plan.
    pub plan: Plan,
    /// The class of each call.
    pub calls: Vec<ClassId>,
    /// What each class of the plan without calls is now; `None` for those of requests.
    pub others: Vec<Option<ClassId>>,
}

impl Plan {
    /// The plan with a class for each of these calls in place of the class of their request, which
    /// is gone without any. Its sources are there for each call, from its begin to its end, behind
    /// all others: what these draw does not depend on calls.
    pub fn with_calls(&self, calls: &[Call]) -> PlanWithCalls {
        let mut classes: Vec<Class> = Vec::new();
        let (mut of_calls, mut moved) = (vec![ClassId(0); calls.len()], Vec::new());
        for (id, class) in self.classes.iter().enumerate() {
            let of_class = |request: usize| self.requests[request].class.index() == id;
            if (0..self.requests.len()).any(of_class) {
                moved.push(None);
                for (number, call) in calls.iter().enumerate() {
                    if of_class(call.request) {
                        of_calls[number] = ClassId(classes.len() as u32);
                        let name = format!("{}#{number}", class.name);
                        classes.push(Class { name, ..class.clone() });
                    }
                }
            } else {
                moved.push(Some(ClassId(classes.len() as u32)));
                classes.push(class.clone());
            }
        }
        classes.iter_mut().for_each(|class| class.children.clear());
        for id in 0..classes.len() {
            let parent = classes[id].parent.and_then(|parent| moved[parent.index()]);
            classes[id].parent = parent;
            if let Some(parent) = parent {
                classes[parent.index()].children.push(ClassId(id as u32));
            }
        }
        let (ours, others): (Vec<_>, Vec<_>) =
            self.sources.iter().partition(|source| self.is_of_request(source));
        let sources = others.into_iter().chain(ours);
        let sources = sources.flat_map(|one| self.sources_with(one, calls, &of_calls, &moved));
        let sources = sources.collect();
        let plan = Plan { classes, sources, requests: Vec::new(), ..self.clone() };
        PlanWithCalls { plan, calls: of_calls, others: moved }
    }

    /// Whether a source sends for calls.
    fn is_of_request(&self, source: &Source) -> bool {
        source.class().is_some_and(|class| self.requests.iter().any(|one| one.class == class))
    }

    /// A source as it is with calls, or for each of them.
    fn sources_with(
        &self,
        source: &Source,
        calls: &[Call],
        of_calls: &[ClassId],
        moved: &[Option<ClassId>],
    ) -> Vec<Source> {
        let Source::Model(source) = source else { return vec![source.clone()] };
        if let Some(class) = moved[source.class.index()] {
            return vec![Source::Model(ModelSource { class, ..source.clone() })];
        }
        let during = |(call, class): (&Call, &ClassId)| {
            let start = call.from.saturating_add(source.start);
            let stop = source
                .stop
                .map_or(call.until, |stop| call.until.min(call.from.saturating_add(stop)));
            let during = ModelSource { class: *class, start, stop: Some(stop), ..source.clone() };
            (start < stop).then_some(Source::Model(during))
        };
        let calls = calls.iter().zip(of_calls);
        calls
            .filter(|(call, _)| self.requests[call.request].class == source.class)
            .filter_map(during)
            .collect()
    }
}
