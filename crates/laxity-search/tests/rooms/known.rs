//! What a room says of whom its proofs rest on, held against the proofs.

use laxity::admit::{Service, Unbounded};
use laxity::packet::ClassId;
use laxity::police::TokenBucket;
use laxity::units::{Bytes, Nanos, Rate};
use laxity_plan::Plan;
use laxity_plan::discipline::{Kind, Queue};
use laxity_plan::model::Arrival;
use laxity_search::discipline::Discipline;
use laxity_search::plans::place::Place;
use laxity_search::subject::Subject;
use laxity_search::{case, plans};

use crate::bounds::proves;

/// Plans that are drawn of each discipline.
const PLANS: u64 = 40;

/// The bounds, services, aggregates and queues that are proved, by class.
#[derive(Debug, PartialEq)]
struct Guarantees {
    bounds: Vec<Result<Nanos, Unbounded>>,
    services: Vec<Option<Service>>,
    aggregates: Vec<Option<Service>>,
    queues: Vec<Option<Queue>>,
}

/// What is proved of a class.
type OfClass<'a> =
    (Result<Nanos, Unbounded>, &'a Option<Service>, &'a Option<Service>, &'a Option<Queue>);

impl Guarantees {
    /// Whatever others send, where bounds may be shorter because that is known.
    fn alone(plan: &Plan) -> Guarantees {
        let (bounds, services) = plan.bounds_and_services(true);
        let (aggregates, queues) = (plan.aggregates(), plan.queue_services());
        Guarantees { bounds, services, aggregates, queues }
    }

    fn of(&self, class: ClassId) -> OfClass<'_> {
        let at = class.index();
        (self.bounds[at], &self.services[at], &self.aggregates[at], &self.queues[at])
    }
}

/// Plans of one link under a discipline.
fn drawn(kind: Kind) -> Vec<Plan> {
    let plan = |number| {
        let mut draw = case::generator(Discipline::Kind(kind), 11, number);
        let draft = plans::drawing(kind)?(&mut draw);
        let draft = Place::Link.lay(draft, &mut draw);
        let subject = Subject::new(&draft).ok()?;
        (subject.plan.network.is_none()).then_some(subject.plan)
    };
    (0..PLANS).filter_map(plan).collect()
}

/// The plan in which a class may send more: a larger burst, more in the long run, and anything at
/// all.
fn with_more(plan: &Plan, class: ClassId) -> Vec<Plan> {
    let other = |arrival: Option<Arrival>| {
        let mut plan = plan.clone();
        plan.classes[class.index()].arrival = arrival;
        plan
    };
    let Some(arrival) = &plan.classes[class.index()].arrival else { return Vec::new() };
    let more = |bucket: u64, rate: u64| {
        let line = |line: &TokenBucket| TokenBucket {
            bucket: Bytes(line.bucket.0 * bucket),
            rate: Rate(line.rate.0 * rate),
        };
        let buckets = arrival.buckets.iter().map(line).collect();
        other(Some(Arrival { buckets, ..arrival.clone() }))
    };
    let mut all = vec![more(3, 1), more(1, 2), more(50, 50)];
    // Without a contract packets are the longest of the link.
    if plan.max_packet(&plan.classes[class.index()]) == plan.link.max_packet {
        all.push(other(None));
    }
    all
}

/// The pairs of classes with packets of their own.
fn pairs(plan: &Plan) -> Vec<(ClassId, ClassId)> {
    let ids: Vec<_> = plan.leaves().map(|(id, _)| id).collect();
    let others = |&class: &ClassId| {
        let others = ids.clone().into_iter().filter(move |other| *other != class);
        others.map(move |other| (class, other))
    };
    ids.iter().flat_map(others).collect()
}

/// Bounds of a class do not depend on the traffic of classes that it does not wait behind.
#[test]
fn no_proof_rests_on_a_class_behind_which_nobody_waits() {
    for kind in Kind::ALL {
        let (mut is_compared, mut all_wait) = (false, true);
        for (number, plan) in drawn(*kind).iter().enumerate() {
            let guarantees = Guarantees::alone(plan);
            let waits_behind = (kind.room().proof.waits_behind)(plan);
            for (class, other) in pairs(plan) {
                if waits_behind(class, other) {
                    continue;
                }
                all_wait = false;
                for more in with_more(plan, other) {
                    assert_eq!(
                        Guarantees::alone(&more).of(class),
                        guarantees.of(class),
                        "{} {number}: class {} when class {} sends {:?}",
                        kind.word(),
                        class.0,
                        other.0,
                        more.classes[other.index()].arrival
                    );
                    is_compared |= guarantees.bounds[class.index()].is_ok();
                }
            }
        }
        let may_compare = proves(*kind, Place::Link) && *kind != Kind::Dwcs;
        assert!(
            is_compared || all_wait || !may_compare,
            "{} is compared with nothing",
            kind.word()
        );
    }
}

/// A discipline that counts on others proves no more than it does without, and now and then less;
/// any other one proves the same.
#[test]
fn who_counts_on_others_says_so() {
    for kind in Kind::ALL {
        let mut is_shorter = false;
        for plan in drawn(*kind) {
            let (counting, alone) =
                (plan.bounds_and_services(false), plan.bounds_and_services(true));
            if !kind.room().proof.counts_on_others {
                assert_eq!(counting, alone, "{}", kind.word());
                continue;
            }
            for (with, without) in counting.0.iter().zip(&alone.0) {
                let longest = |bound: &Result<Nanos, Unbounded>| bound.unwrap_or(Nanos::MAX);
                assert!(longest(with) <= longest(without), "{}", kind.word());
                is_shorter |= longest(with) < longest(without);
            }
        }
        assert_eq!(is_shorter, kind.room().proof.counts_on_others, "{}", kind.word());
    }
}

/// What a room says twice it says alike.
#[test]
fn bounds_and_services_are_those_of_each_alone() {
    for kind in Kind::ALL {
        for plan in drawn(*kind) {
            let both = plan.bounds_and_services(false);
            assert_eq!(both, (plan.bounds(), plan.services()), "{}", kind.word());
            let others = [plan.aggregates().len(), plan.queue_services().len()];
            assert_eq!([both.0.len(), both.1.len()], others);
            assert_eq!(others, [plan.classes.len(); 2]);
        }
    }
}
