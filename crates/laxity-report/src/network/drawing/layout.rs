//! Where the nodes of a network stand: each usual shape as one expects it.
//!
//! Distances are in links. A chain is a line and a ring or a full mesh a circle; a star has its
//! leaves around it, a dumbbell or a chain of routers with hosts the hosts beside their router, and
//! another tree its root at the left. What has loops otherwise is laid out so that nodes are as far
//! apart on paper as there are links between them.

use std::collections::VecDeque;
use std::f64::consts::TAU;

/// A place on paper.
pub(super) type Place = (f64, f64);

/// How far apart parts are that no link joins.
const BETWEEN_PARTS: f64 = 1.2;
/// How often nodes are moved closer to where they should be; they hardly move after half of that.
const MOVES: usize = 300;
/// How far apart nodes are at least, in links: their marks do not cover each other.
const LEAST: f64 = 0.3;

/// Nodes that links join, each with its place.
pub(super) type Layout = Vec<(usize, Place)>;

/// The parts of a network of undirected links, with places in units of a link's length.
pub(super) fn parts(nodes: usize, links: &[(usize, usize)]) -> Vec<Layout> {
    let mut neighbours = vec![Vec::new(); nodes];
    for &(a, b) in links.iter().filter(|(a, b)| a != b) {
        neighbours[a].push(b);
        neighbours[b].push(a);
    }
    for of_one in &mut neighbours {
        of_one.sort_unstable();
        of_one.dedup();
    }
    let mut is_drawn = vec![false; nodes];
    let mut parts = Vec::new();
    for first in 0..nodes {
        if is_drawn[first] {
            continue;
        }
        let part = Part::new(first, &neighbours);
        part.nodes.iter().for_each(|node| is_drawn[*node] = true);
        let places = part.places();
        parts.push(part.nodes.into_iter().zip(places).collect());
    }
    parts
}

/// The place of every node, with parts one below another.
pub(super) fn stacked(parts: &[Layout]) -> Vec<Place> {
    let widest = parts.iter().map(|part| extent(part)[0]).fold(0.0, f64::max);
    let mut places = Vec::new();
    let mut below = 0.0;
    for part in parts {
        let [wide, high] = extent(part);
        let [left, top] = corner(part);
        let middle = (widest - wide) / 2.0;
        let moved = |&(node, (x, y)): &(usize, Place)| (node, (x - left + middle, y - top + below));
        places.extend(part.iter().map(moved));
        below += high + BETWEEN_PARTS;
    }
    places.sort_unstable_by_key(|(node, _)| *node);
    places.into_iter().map(|(_, place)| place).collect()
}

/// Nodes that are joined, numbered anew.
struct Part {
    /// Their numbers in the network, ascending.
    nodes: Vec<usize>,
    neighbours: Vec<Vec<usize>>,
}

impl Part {
    fn new(first: usize, of_all: &[Vec<usize>]) -> Part {
        let reached = distances(first, of_all);
        let nodes: Vec<usize> = (0..of_all.len()).filter(|node| reached[*node].is_some()).collect();
        let number = |node: &usize| nodes.binary_search(node).expect("a neighbour is joined");
        let neighbours =
            nodes.iter().map(|node| of_all[*node].iter().map(number).collect()).collect();
        Part { nodes, neighbours }
    }

    fn places(&self) -> Vec<Place> {
        let count = self.nodes.len();
        let links = self.neighbours.iter().map(Vec::len).sum::<usize>() / 2;
        let all_have = |degree: usize| self.neighbours.iter().all(|of_one| of_one.len() == degree);
        if links + 1 == count {
            return self.spine().map_or_else(|| self.tree(), |spine| self.along(&spine));
        }
        match count {
            _ if all_have(2) => circle(&self.walk(0)),
            _ if all_have(count - 1) => circle(&(0..count).collect::<Vec<_>>()),
            _ => self.relaxed(),
        }
    }

    /// The nodes of a tree that are no leaves, if they form a chain, in its order; of a chain all.
    fn spine(&self) -> Option<Vec<usize>> {
        let count = self.nodes.len();
        let most = self.neighbours.iter().map(Vec::len).max().unwrap_or(0);
        if most <= 2 {
            let end = (0..count).find(|node| self.neighbours[*node].len() < 2)?;
            return Some(self.walk(end));
        }
        let is_inner = |node: &usize| self.neighbours[*node].len() > 1;
        let inner: Vec<Vec<usize>> = (0..count)
            .map(|node| {
                let of_one = self.neighbours[node].iter().copied();
                of_one.filter(|other| is_inner(&node) && is_inner(other)).collect()
            })
            .collect();
        if inner.iter().any(|of_one| of_one.len() > 2) {
            return None;
        }
        let end = (0..count).find(|node| is_inner(node) && inner[*node].len() < 2)?;
        Some(walk(end, &inner))
    }

    /// The spine as a line, leaves of its ends beyond them, other leaves above and below.
    fn along(&self, spine: &[usize]) -> Vec<Place> {
        let leaves = |at: usize| -> Vec<usize> {
            let of_one = self.neighbours[spine[at]].iter().copied();
            of_one.filter(|node| !spine.contains(node)).collect()
        };
        let mut places = vec![(0.0, 0.0); self.nodes.len()];
        if let [center] = *spine {
            let around = leaves(0);
            for (leaf, place) in around.iter().zip(circle(&(0..around.len()).collect::<Vec<_>>())) {
                let distance = place.0.hypot(place.1).max(1e-9);
                let far = distance.max(1.0) / distance;
                places[*leaf] = (place.0 * far, place.1 * far);
            }
            places[center] = (0.0, 0.0);
            return places;
        }
        let mut x = 0.0;
        for (at, &node) in spine.iter().enumerate() {
            let hanging = leaves(at);
            let is_end = at == 0 || at + 1 == spine.len();
            let wide = if is_end { 0.0 } else { (hanging.len() as f64 / 2.0).ceil() - 1.0 };
            x += wide.max(0.0) / 2.0;
            places[node] = (x, 0.0);
            for (number, leaf) in hanging.iter().enumerate() {
                places[*leaf] = if is_end {
                    let aside = if at == 0 { -1.0 } else { 1.0 };
                    (x + aside, number as f64 - (hanging.len() - 1) as f64 / 2.0)
                } else {
                    let side = if number % 2 == 0 { -1.0 } else { 1.0 };
                    let on_side = (hanging.len() + usize::from(number % 2 == 0)) / 2;
                    (x + (number / 2) as f64 - (on_side - 1) as f64 / 2.0, side)
                };
            }
            x += 1.0 + wide.max(0.0) / 2.0;
        }
        places
    }

    /// The root in the middle of the tree's longest path; below it, in columns, its branches.
    fn tree(&self) -> Vec<Place> {
        let farthest = |from: usize| -> usize {
            let distances = distances(from, &self.neighbours);
            (0..distances.len())
                .max_by_key(|node| (distances[*node], usize::MAX - node))
                .unwrap_or(0)
        };
        let (from, to) = (farthest(0), farthest(farthest(0)));
        let (before, after) = (distances(from, &self.neighbours), distances(to, &self.neighbours));
        let uneven = |node: &usize| {
            let (before, after) = (before[*node].unwrap_or(0), after[*node].unwrap_or(0));
            (before + after, before.abs_diff(after), *node)
        };
        let root = (0..self.nodes.len()).min_by_key(uneven).unwrap_or(0);
        let mut places = vec![(0.0, 0.0); self.nodes.len()];
        let mut leaves = 0.0;
        // Depth first; a node's place is settled when all of its branch have theirs.
        let mut open = vec![(root, None, 0.0, 0)];
        while let Some((node, parent, depth, next)) = open.pop() {
            let mut children = self.neighbours[node].iter().filter(|child| Some(**child) != parent);
            if let Some(child) = children.clone().nth(next) {
                open.push((node, parent, depth, next + 1));
                open.push((*child, Some(node), depth + 1.0, 0));
                continue;
            }
            let y = match (children.next(), children.next_back()) {
                (None, _) => {
                    leaves += 1.0;
                    leaves - 1.0
                }
                (Some(only), None) => places[*only].1,
                (Some(first), Some(last)) => (places[*first].1 + places[*last].1) / 2.0,
            };
            places[node] = (depth, y);
        }
        places
    }

    /// Nodes as far apart as there are links between them, as well as paper allows: stress
    /// majorization (Gansner, Koren, North 2004, equation 12), from where the nodes lie between two
    /// far ends. Nodes that lie too close to each other then make room.
    fn relaxed(&self) -> Vec<Place> {
        let count = self.nodes.len();
        let hops: Vec<Vec<f64>> = (0..count)
            .map(|from| {
                let distances = distances(from, &self.neighbours);
                distances.into_iter().map(|hops| hops.unwrap_or(0) as f64).collect()
            })
            .collect();
        let mut places = between_far_ends(&hops);
        for _ in 0..MOVES {
            for node in 0..count {
                let (mut x, mut y, mut weights) = (0.0, 0.0, 0.0);
                for other in (0..count).filter(|other| *other != node) {
                    let (dx, dy) =
                        (places[node].0 - places[other].0, places[node].1 - places[other].1);
                    let apart = dx.hypot(dy).max(1e-6);
                    let weight = hops[node][other].powi(-2);
                    x += weight * (places[other].0 + dx * hops[node][other] / apart);
                    y += weight * (places[other].1 + dy * hops[node][other] / apart);
                    weights += weight;
                }
                places[node] = (x / weights, y / weights);
            }
        }
        move_apart(&mut places);
        self.upright(&places)
    }

    /// Turned so that links run level or upright as far as they can, and wider than high.
    fn upright(&self, places: &[Place]) -> Vec<Place> {
        let (mut sine, mut cosine) = (0.0, 0.0);
        for (node, others) in self.neighbours.iter().enumerate() {
            for other in others {
                let angle =
                    (places[*other].1 - places[node].1).atan2(places[*other].0 - places[node].0);
                sine += (4.0 * angle).sin();
                cosine += (4.0 * angle).cos();
            }
        }
        let (sine, cosine) = (f64::atan2(sine, cosine) / 4.0).sin_cos();
        let turned: Vec<Place> =
            places.iter().map(|(x, y)| (x * cosine + y * sine, y * cosine - x * sine)).collect();
        let [wide, high] = extent(&(0..).zip(turned.iter().copied()).collect::<Vec<_>>());
        turned.into_iter().map(|(x, y)| if wide < high - 1e-6 { (y, x) } else { (x, y) }).collect()
    }

    /// All nodes of a chain or a ring, in their order from one on.
    fn walk(&self, from: usize) -> Vec<usize> {
        walk(from, &self.neighbours)
    }
}

/// How wide and how high a part is.
pub(super) fn extent(part: &[(usize, Place)]) -> [f64; 2] {
    let [left, top] = corner(part);
    let far = |of: fn(&Place) -> f64| {
        part.iter().map(|(_, place)| of(place)).fold(f64::NEG_INFINITY, f64::max)
    };
    [far(|place| place.0) - left, far(|place| place.1) - top]
}

/// The least coordinates of a part.
fn corner(part: &[(usize, Place)]) -> [f64; 2] {
    let near = |of: fn(&Place) -> f64| {
        part.iter().map(|(_, place)| of(place)).fold(f64::INFINITY, f64::min)
    };
    [near(|place| place.0), near(|place| place.1)]
}

/// Nodes on a circle in this order, neighbours a link apart, the first at the left.
fn circle(order: &[usize]) -> Vec<Place> {
    let turn = TAU / order.len() as f64;
    let radius = if order.len() > 1 { 0.5 / (turn / 2.0).sin() } else { 0.0 };
    let mut places = vec![(0.0, 0.0); order.len()];
    for (at, node) in order.iter().enumerate() {
        let (sine, cosine) = (turn * at as f64).sin_cos();
        places[*node] = (-radius * cosine, -radius * sine);
    }
    places
}

/// Moves nodes that are closer than [`LEAST`] away from each other, both by as much.
fn move_apart(places: &mut [Place]) {
    for _ in 0..MOVES {
        let mut is_settled = true;
        for a in 0..places.len() {
            for b in 0..a {
                let (dx, dy) = (places[a].0 - places[b].0, places[a].1 - places[b].1);
                let apart = dx.hypot(dy);
                if apart >= LEAST {
                    continue;
                }
                is_settled = false;
                // A little more than what is missing, so that the last moves are not endless.
                let part = (0.55 * LEAST - 0.5 * apart) / apart.max(1e-9);
                places[a] = (places[a].0 + part * dx, places[a].1 + part * dy);
                places[b] = (places[b].0 - part * dx, places[b].1 - part * dy);
            }
        }
        if is_settled {
            return;
        }
    }
}

/// From node to node where each has two neighbours at most.
fn walk(from: usize, neighbours: &[Vec<usize>]) -> Vec<usize> {
    let mut order = vec![from];
    while let Some(next) =
        neighbours[order[order.len() - 1]].iter().find(|node| !order.contains(node))
    {
        order.push(*next);
    }
    order
}

/// How many links it takes to each node that can be reached.
fn distances(from: usize, neighbours: &[Vec<usize>]) -> Vec<Option<u32>> {
    let mut distances = vec![None; neighbours.len()];
    distances[from] = Some(0);
    let mut next = VecDeque::from([(from, 0)]);
    while let Some((node, distance)) = next.pop_front() {
        for &other in &neighbours[node] {
            if distances[other].is_none() {
                distances[other] = Some(distance + 1);
                next.push_back((other, distance + 1));
            }
        }
    }
    distances
}

/// Each node by how much closer it is to one of two far nodes than to the other, and by the same of
/// two others that lie as far from each other across.
fn between_far_ends(hops: &[Vec<f64>]) -> Vec<Place> {
    let pairs = || (0..hops.len()).flat_map(|a| (0..a).map(move |b| (b, a)));
    let first =
        |best: Option<((usize, usize), f64)>, (pair, value): ((usize, usize), f64)| match best {
            Some((_, known)) if known >= value => best,
            _ => Some((pair, value)),
        };
    let (left, right) =
        pairs().map(|(a, b)| ((a, b), hops[a][b])).fold(None, first).map_or((0, 0), |best| best.0);
    let along = |node: usize| hops[left][node] - hops[right][node];
    let across = |(a, b): (usize, usize)| hops[a][b] - (along(a) - along(b)).abs();
    let (top, bottom) =
        pairs().map(|pair| (pair, across(pair))).fold(None, first).map_or((0, 0), |best| best.0);
    let place = |node: usize| {
        // Nodes of the same place would never part.
        let (sine, cosine) = (node as f64 + 0.5).sin_cos();
        (
            along(node) / 2.0 + 0.05 * cosine,
            (hops[top][node] - hops[bottom][node]) / 2.0 + 0.05 * sine,
        )
    };
    (0..hops.len()).map(place).collect()
}

#[cfg(test)]
mod tests;
