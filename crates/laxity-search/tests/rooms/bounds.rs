//! No packet is delayed for longer than its discipline proves, wherever that is at work.
//!
//! Plans are drawn and pushed to the edge of admission, and traffic that keeps to their contracts
//! is driven towards each class's bound. Nothing of a bound is taken from a discipline's own
//! accounting.

use laxity_plan::discipline::Kind;
use laxity_search::case::{self, Outcome};
use laxity_search::discipline::Discipline;
use laxity_search::draft::Draft;
use laxity_search::hill_climb::Budget;
use laxity_search::plans::place::Place;
use laxity_search::subject::Subject;
use laxity_search::{edge, plans};

/// Plans that are drawn of each discipline for each place.
const PLANS: u64 = 16;
/// Numbers of a plan that are pushed to the edge of admission.
const MOST_PUSHED: usize = 1;
/// How near to its bound a class of each discipline and place is brought, by traffic that is drawn.
fn nearness(kind: Kind, place: Place) -> f64 {
    match (kind, place) {
        // A share that is late makes a tin several times as late.
        (Kind::Cake, Place::Share) => 0.65,
        _ => 0.7,
    }
}

/// What is sent in search of a plan's longest delays.
fn budget(kind: Kind) -> Budget {
    // A packet of a network of frames takes as long as thirty of another one.
    let packets = if kind.room().is_of_networks { 4_000 } else { 15_000 };
    Budget { packets, patience: 40 }
}

/// Where a discipline proves anything. There, the search has to find something to compare.
pub(crate) fn proves(kind: Kind, place: Place) -> bool {
    match (kind, place) {
        // Their queues are for short waits on average.
        (Kind::FqCodel | Kind::DualPi2, _) => false,
        // On one link no contract limits all classes together.
        (Kind::Fifo, place) => place != Place::Link,
        // Windows are those of a link.
        (Kind::Dwcs, place) => place == Place::Link,
        // Frames are those of a network.
        (Kind::Tdp, place) => place == Place::Links,
        (
            Kind::Wfq
            | Kind::Wf2q
            | Kind::Drr
            | Kind::Qfq
            | Kind::Hfsc
            | Kind::Priority
            | Kind::Cake
            | Kind::Edf,
            place,
        ) => place != Place::Share || kind.room().proof.in_share.is_some(),
    }
}

/// What the search finds in plans of a discipline in a place.
///
/// # Panics
/// If anything that is proved is broken.
fn searched(kind: Kind, place: Place) -> Outcome {
    let mut all = Outcome::default();
    let Some(drawing) = plans::drawing(kind) else { return all };
    for number in 0..PLANS {
        let mut draw = case::generator(Discipline::Kind(kind), place as u64, number);
        let draft = drawing(&mut draw);
        let is_network = !draft.links.is_empty();
        if is_network && place != Place::Links {
            continue;
        }
        let Some(draft) = edge::loosened(place.lay(draft, &mut draw)) else { continue };
        let mut outcome = case::search(draft, MOST_PUSHED, budget(kind), &mut draw, None);
        if let Some(broken) = outcome.broken.take() {
            let (word, what, plan) = (kind.word(), broken.what(), broken.text());
            panic!(
                "{word}, {place:?}, plan {number}: class {} at {} ns: {}\n{plan}",
                what.class, what.at, what.what
            );
        }
        all.add(&outcome);
    }
    all
}

fn every_room_keeps_its_bounds(place: Place) {
    for kind in Kind::ALL {
        let Outcome { admitted, by_class, closest, .. } = searched(*kind, place);
        let compared = by_class.iter().filter(|nearness| **nearness > 0.0).count();
        let said = format!(
            "{} in {admitted} plans ({place:?}): {compared} bounds are compared, and reached but for \
             a factor of {closest:.3}",
            kind.word()
        );
        println!("{said}");
        assert_eq!(compared > 0, proves(*kind, place), "{said}");
        assert!(compared == 0 || closest > nearness(*kind, place), "{said}");
    }
}

#[test]
fn no_packet_on_a_link_takes_longer_than_a_room_proves() {
    every_room_keeps_its_bounds(Place::Link);
}

#[test]
fn no_packet_over_two_links_takes_longer_than_a_room_proves() {
    every_room_keeps_its_bounds(Place::Links);
}

#[test]
fn no_packet_in_a_share_takes_longer_than_a_room_proves() {
    every_room_keeps_its_bounds(Place::Share);
}

/// What is drawn has no key that its disciplines do not know.
#[test]
fn every_plan_that_is_drawn_is_one() {
    for discipline in Discipline::all() {
        for number in 0..100 {
            // Plans whose classes come and go are drawn by the search of these.
            let drawn = discipline.draw(&mut case::generator(discipline, 3, number));
            let Some(draft) = drawn else { continue };
            if let Err(error) = Subject::new(&draft) {
                let message = error.message();
                assert!(!message.contains("means nothing"), "{discipline}: {error}");
            }
        }
    }
}

/// Nothing is left out of the search that could be broken.
#[test]
fn a_discipline_that_is_not_searched_proves_nothing() {
    for kind in Kind::ALL {
        let is_searched = plans::drawing(*kind).is_some();
        assert_eq!(is_searched, Place::ALL.iter().any(|place| proves(*kind, *place)));
        if is_searched {
            continue;
        }
        for place in Place::ALL {
            let fifo = plans::drawing(Kind::Fifo).expect("it has bounds over links");
            let mut draw = case::generator(Discipline::Network, 1, place as u64);
            let scheduler = format!("kind = \"{}\"", kind.word());
            let draft = place.lay(Draft { scheduler, ..fifo(&mut draw) }, &mut draw);
            let subject = Subject::new(&draft).expect("classes with nothing but contracts");
            assert!(!subject.is_promising(), "{}, {place:?}", kind.word());
        }
    }
}
