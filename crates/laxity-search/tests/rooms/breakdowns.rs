//! What bounds are made of, held against the bounds.

use laxity::admit::network::Method;
use laxity::admit::{Breakdown, Source, Term};
use laxity::packet::ClassId;
use laxity::units::Nanos;
use laxity_answers::link::Admission;
use laxity_plan::Plan;
use laxity_plan::discipline::Kind;
use laxity_search::discipline::Discipline;
use laxity_search::plans::place::Place;
use laxity_search::subject::Subject;
use laxity_search::{case, edge, plans};

use crate::bounds::proves;

/// Plans that are drawn of each discipline for each place.
const PLANS: u64 = 40;

/// Plans of a discipline in a place.
fn drawn(kind: Kind, place: Place) -> impl Iterator<Item = Plan> {
    (0..PLANS).filter_map(move |number| {
        let mut draw = case::generator(Discipline::Kind(kind), 20 + place as u64, number);
        let draft = plans::drawing(kind)?(&mut draw);
        if !draft.links.is_empty() && place != Place::Links {
            return None;
        }
        let draft = place.lay(draft, &mut draw);
        // Half of them are admitted, the rest is as it comes.
        let draft = if number % 2 == 0 { edge::loosened(draft)? } else { draft };
        Some(Subject::new(&draft).ok()?.plan)
    })
}

/// # Panics
/// If terms do not add up to the bound, or the wrong ones are negative.
fn hold(breakdown: &Breakdown, bound: Nanos, kind: Kind) {
    assert_eq!(breakdown.bound(), Some(bound), "{kind:?}: {breakdown:?}");
    for term in &breakdown.terms {
        let shortens = matches!(term.source, Source::Elapsed | Source::Shaping);
        assert!(term.nanos > 0 || shortens, "{kind:?}: {breakdown:?}");
    }
    let mut sources: Vec<_> = breakdown.terms.iter().map(|term| term.source).collect();
    sources.sort_unstable();
    sources.dedup();
    assert_eq!(sources.len(), breakdown.terms.len(), "{kind:?}: {breakdown:?}");
}

/// How many bounds of a plan were looked at.
fn bounds_that_hold(plan: &Plan, kind: Kind) -> usize {
    let Some(on) = plan.network_plan() else {
        if let Some(admission) = Admission::test(plan) {
            assert_eq!(admission.bounds, plan.bounds(), "{kind:?}: a test says what is proved");
        }
        let bounds = (0..).map(ClassId).zip(plan.bounds());
        let held = bounds.filter(|(class, bound)| {
            let breakdown = plan.breakdown(*class);
            match (bound, &breakdown) {
                (Ok(bound), Ok(breakdown)) => hold(breakdown, *bound, kind),
                _ => assert_eq!(breakdown.as_ref().err(), bound.as_ref().err(), "{kind:?}"),
            }
            bound.is_ok()
        });
        return held.count();
    };
    let paths = on.paths();
    let routes: Vec<_> = paths.route_ids().collect();
    let breakdowns = on.breakdowns(&paths, &routes);
    let mut held = 0;
    for (route, breakdown) in paths.routes.iter().zip(breakdowns) {
        let Ok(bound) = route.bound() else {
            assert!(breakdown.is_none(), "{kind:?}");
            continue;
        };
        let breakdown = breakdown.expect("a route with a bound");
        let parts = || breakdown.hops.iter().chain([&breakdown.path]);
        let sum: i128 = parts().flat_map(|part| &part.terms).map(|term| term.nanos).sum();
        assert_eq!(sum, i128::from(bound.0), "{kind:?}");
        let is_split = |term: &Term| term.source != Source::Undivided;
        assert!(parts().flat_map(|part| &part.terms).all(is_split), "{kind:?}: {breakdown:?}");
        held += 1;
        let less = breakdown.path.terms.iter().find(|term| term.source == Source::Method);
        assert!(less.is_none_or(|term| term.nanos < 0), "{kind:?}: {breakdown:?}");
        if breakdown.bound.method == Method::Once {
            continue;
        }
        for (output, hop) in route.outputs.iter().zip(&breakdown.hops) {
            let output = &paths.outputs[output.index()];
            let at_output = output.class(route.class).expect("it passes").bound.expect("bounded");
            let link = on.network.link(output.hop);
            let way = link.delay + link.most_jitter().expect("a bound");
            hold(hop, at_output + way, kind);
        }
    }
    held
}

#[test]
fn the_terms_of_a_bound_add_up_to_it() {
    for &kind in Kind::ALL {
        // Frames are not those of a discipline at a link.
        for place in Place::ALL.into_iter().filter(|_| !kind.room().is_of_networks) {
            let held = drawn(kind, place).map(|mut plan| {
                let held = bounds_that_hold(&plan, kind);
                // As timers of Linux have it.
                plan.link.stall = Nanos(50_000);
                bounds_that_hold(&plan, kind);
                held
            });
            let held: usize = held.sum();
            println!("{}, {place:?}: {held} bounds", kind.word());
            // Windows are no delays.
            let proves = proves(kind, place) && kind != Kind::Dwcs;
            assert_eq!(held > 0, proves, "{}, {place:?}", kind.word());
        }
    }
}
