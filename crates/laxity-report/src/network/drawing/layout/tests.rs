use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

fn places(nodes: usize, links: &[(usize, usize)]) -> Vec<Place> {
    stacked(&parts(nodes, links))
}

fn apart(a: Place, b: Place) -> f64 {
    (a.0 - b.0).hypot(a.1 - b.1)
}

fn closest(places: &[Place]) -> f64 {
    let pairs = (0..places.len()).flat_map(|a| (0..a).map(move |b| (a, b)));
    pairs.map(|(a, b)| apart(places[a], places[b])).fold(f64::INFINITY, f64::min)
}

/// The same links between other numbers.
fn mixed(links: &[(usize, usize)], order: &[usize]) -> Vec<(usize, usize)> {
    links.iter().map(|(a, b)| (order[*a], order[*b])).collect()
}

fn order(count: usize) -> impl Strategy<Value = Vec<usize>> {
    Just((0..count).collect::<Vec<_>>()).prop_shuffle()
}

proptest! {
    #[test]
    fn a_chain_is_a_straight_line(order in (1usize..20).prop_flat_map(order)) {
        let links: Vec<_> = (1..order.len()).map(|node| (node - 1, node)).collect();
        let places = places(order.len(), &mixed(&links, &order));
        let along: Vec<Place> = order.iter().map(|node| places[*node]).collect();
        prop_assert!(along.iter().all(|place| place.1 == 0.0));
        let steps: Vec<f64> = along.windows(2).map(|pair| pair[1].0 - pair[0].0).collect();
        prop_assert!(steps.iter().all(|step| step.abs() == 1.0 && *step == steps[0]), "{along:?}");
    }

    #[test]
    fn a_ring_and_a_full_mesh_are_circles(order in (4usize..20).prop_flat_map(order), full: bool) {
        let count = order.len();
        let ring = (0..count).map(|node| (node, (node + 1) % count));
        let mesh = (0..count).flat_map(|a| (0..a).map(move |b| (a, b)));
        let links: Vec<_> = if full { mesh.collect() } else { mixed(&ring.collect::<Vec<_>>(), &order) };
        let places = places(count, &links);
        let mean = |of: fn(&(f64, f64)) -> f64| places.iter().map(of).sum::<f64>() / count as f64;
        let middle = (mean(|place| place.0), mean(|place| place.1));
        let radius = apart(places[0], middle);
        prop_assert!(places.iter().all(|place| (apart(*place, middle) - radius).abs() < 1e-9));
        let neighbours = |at: usize| if full { (at, (at + 1) % count) } else { (order[at], order[(at + 1) % count]) };
        for (a, b) in (0..count).map(neighbours) {
            prop_assert!((apart(places[a], places[b]) - 1.0).abs() < 1e-9);
        }
    }

    #[test]
    fn a_star_has_its_leaves_around_it(leaves in 3usize..20) {
        let links: Vec<_> = (1..=leaves).map(|leaf| (0, leaf)).collect();
        let places = places(leaves + 1, &links);
        let far = apart(places[0], places[1]);
        prop_assert!(places[1..].iter().all(|leaf| (apart(*leaf, places[0]) - far).abs() < 1e-9));
        prop_assert!(far >= 1.0 - 1e-9 && closest(&places) > 0.99);
    }

    #[test]
    fn a_dumbbell_has_its_hosts_at_both_ends(left in 2usize..9, right in 2usize..9) {
        let hosts = (2..2 + left).map(|host| (host, 0)).chain((2 + left..2 + left + right).map(|host| (1, host)));
        let places = places(2 + left + right, &[(0, 1)].into_iter().chain(hosts).collect::<Vec<_>>());
        prop_assert_eq!(places[0].1, places[1].1);
        prop_assert!(places[2..2 + left].iter().all(|host| host.0 == places[0].0 - 1.0));
        prop_assert!(places[2 + left..].iter().all(|host| host.0 == places[1].0 + 1.0));
        prop_assert!(closest(&places) >= 1.0);
    }

    /// Branches of a tree do not cross: in each column those of one parent stand together, in the
    /// order of their parents.
    #[test]
    fn trees_do_not_cross_themselves(parents in vec(0usize..100, 6..25)) {
        let links: Vec<_> = parents.iter().enumerate().map(|(at, parent)| (parent % (at + 1), at + 1)).collect();
        let nodes = parents.len() + 1;
        let places = places(nodes, &links);
        prop_assert!(closest(&places) > 0.49, "{places:?}");
        let cross = |(a, b): (Place, Place), (c, d): (Place, Place)| {
            let side = |p: Place, q: Place, r: Place| (q.0 - p.0) * (r.1 - p.1) - (q.1 - p.1) * (r.0 - p.0);
            side(a, b, c) * side(a, b, d) < -1e-9 && side(c, d, a) * side(c, d, b) < -1e-9
        };
        let ends = |&(a, b): &(usize, usize)| (places[a], places[b]);
        for (at, one) in links.iter().enumerate() {
            for other in &links[..at] {
                prop_assert!(!cross(ends(one), ends(other)), "{one:?} {other:?} {places:?}");
            }
        }
    }

    #[test]
    fn a_lattice_is_a_lattice(wide in 2usize..6, high in 2usize..5) {
        let node = |x: usize, y: usize| y * wide + x;
        let across = (1..wide).flat_map(|x| (0..high).map(move |y| (node(x - 1, y), node(x, y))));
        let down = (0..wide).flat_map(|x| (1..high).map(move |y| (node(x, y - 1), node(x, y))));
        let links: Vec<_> = across.chain(down).collect();
        let places = places(wide * high, &links);
        if (wide, high) != (2, 2) {
            for (a, b) in links {
                let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                prop_assert!(dx.abs().min(dy.abs()) < 0.3 * apart(places[a], places[b]), "{places:?}");
            }
        }
        prop_assert!(closest(&places) > 0.5);
    }

    #[test]
    fn any_network_has_a_finite_drawing(nodes in 1usize..25, links in vec((0usize..25, 0usize..25), 0..60)) {
        let links: Vec<_> = links.into_iter().map(|(a, b)| (a % nodes, b % nodes)).collect();
        let drawn = places(nodes, &links);
        prop_assert_eq!(drawn.len(), nodes);
        prop_assert!(drawn.iter().all(|(x, y)| x.is_finite() && y.is_finite()));
        prop_assert!(nodes == 1 || closest(&drawn) >= LEAST, "{drawn:?}");
        prop_assert_eq!(drawn, places(nodes, &links));
    }
}
