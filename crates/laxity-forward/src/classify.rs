//! Which class and flow a frame belongs to.

use laxity::packet::{ClassId, FlowId, Hosts};
use laxity_plan::classify::Classifier;
use laxity_plan::matching::{Headers, Match};
use laxity_plan::model::{Class, Plan};

use crate::cache::{Cache, Classification, Lookup};
use crate::error::Refusal;

/// The classes of a plan with a cache before their matches.
///
/// A frame belongs to the first class whose `match` holds, as in captures. One that belongs to none
/// goes to the default: the first class without `match` and deadline that has packets of its own.
/// The flows of a class are numbered in the order in which they come; one that was forgotten, as
/// none of the last frames was of it, gets another number when it comes back.
#[derive(Clone, Debug)]
pub struct Sorter {
    classifier: Classifier,
    default: Option<ClassId>,
    cache: Cache,
    /// How many flows each class has had.
    flows: Vec<u32>,
}

impl Sorter {
    /// A sorter into the classes of a plan, with a cache for about `flows` flows. The `secret`
    /// keeps others from choosing flows that share a place in the cache.
    ///
    /// # Errors
    /// If frames that no match takes have no class.
    pub fn new(plan: &Plan, flows: usize, secret: u64) -> Result<Self, Refusal> {
        let takes_the_rest =
            |class: &Class| class.matching.is_none() && class.relative_deadline().is_none();
        let default = plan.leaves().find(|(_, class)| takes_the_rest(class)).map(|(id, _)| id);
        let any = |class: &Class| class.matching == Some(Match::ANY);
        if default.is_none() && !plan.classes.iter().any(any) {
            return Err(Refusal::NoDefault);
        }
        if let Some(class) = plan.classes.iter().find(|c| !c.is_leaf() && c.matching.is_some()) {
            return Err(Refusal::NotALeaf(class.name.clone()));
        }
        Ok(Sorter {
            classifier: Classifier::new(plan),
            default,
            cache: Cache::new(flows, secret),
            flows: vec![0; plan.classes.len()],
        })
    }

    /// The class and flow of a frame. It takes the same time whatever the number of classes if
    /// headers like its were seen lately, and as long as the matches up to the one that holds if
    /// not.
    ///
    /// A flow that has no number yet is introduced with its number and its hosts.
    #[inline]
    pub fn sort(
        &mut self,
        headers: &Headers,
        introduce: impl FnOnce(Classification, Hosts),
    ) -> Classification {
        self.find(self.lookup(headers), headers, introduce)
    }

    /// What a frame is looked up by. The memory in which that begins is loaded.
    #[inline]
    pub(crate) fn lookup(&self, headers: &Headers) -> Lookup {
        self.cache.lookup(headers)
    }

    /// Loads what was found about headers like these.
    #[inline]
    pub(crate) fn prefetch(&self, lookup: &Lookup) {
        self.cache.prefetch(lookup);
    }

    /// The same as [`sort`](Self::sort) of headers that are looked up by this.
    #[inline]
    pub(crate) fn find(
        &mut self,
        lookup: Lookup,
        headers: &Headers,
        introduce: impl FnOnce(Classification, Hosts),
    ) -> Classification {
        let Sorter { classifier, default, cache, flows } = self;
        let find = || class_of(classifier, *default, headers);
        let hasher = cache.hasher();
        cache.find(lookup, find, |class| {
            let flow = next_flow(flows, class);
            introduce(Classification { class, flow }, hasher.hosts(headers));
            flow
        })
    }

    /// The hosts of a frame.
    pub(crate) fn hosts(&self, headers: &Headers) -> Hosts {
        self.cache.hasher().hosts(headers)
    }

    /// The class of a frame.
    pub(crate) fn class_of(&self, headers: &Headers) -> ClassId {
        class_of(&self.classifier, self.default, headers)
    }

    /// The number of a flow of a class that comes into sight.
    pub(crate) fn next_flow(&mut self, class: ClassId) -> FlowId {
        next_flow(&mut self.flows, class)
    }
}

fn class_of(classifier: &Classifier, default: Option<ClassId>, headers: &Headers) -> ClassId {
    // Without a default there is a class that takes any frame.
    classifier.class(headers).or(default).unwrap_or_default()
}

fn next_flow(flows: &mut [u32], class: ClassId) -> FlowId {
    let count = &mut flows[class.index()];
    let number = FlowId(*count);
    *count = count.wrapping_add(1);
    number
}
