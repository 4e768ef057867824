//! A plan of flows over a backbone: nodes in a square, each joined to those nearest to it and to
//! two others, and flows between random nodes on ways that first lead up a tree and then down, so
//! that no outputs feed one another in circles.
//!
//! ```sh
//! cargo run --release -p laxity-plan --example backbone -- fifo 1000 1000 50 > backbone.toml
//! laxity check backbone.toml --limits
//! ```
//!
//! That many classes, flows, which they take in turns, and nodes. The busiest link has half of what
//! it can send.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rand::RngExt;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// Of every link, in bits a second.
const RATE: u64 = 1_000_000_000;
const BURSTS: [u64; 4] = [1500, 3000, 4500, 6000];
/// Of classes under static priority.
const LEVELS: usize = 4;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [kind, classes, flows, nodes] = &args[..] else {
        panic!("what is asked for is KIND CLASSES FLOWS NODES");
    };
    let [classes, flows, nodes] =
        [classes, flows, nodes].map(|number| number.parse::<usize>().expect("a number"));
    assert!(nodes >= 6 && classes >= 1, "six nodes and a class at least");
    let mut random = Pcg64Mcg::new(7);
    let backbone = Backbone::new(nodes, &mut random);
    let ways: Vec<Vec<usize>> = (0..flows)
        .map(|_| {
            let from = random.random_range(0..nodes);
            let to = (from + random.random_range(1..nodes)) % nodes;
            backbone.way(from, to)
        })
        .collect();
    let mut flows_over = BTreeMap::new();
    for hop in ways.iter().flat_map(|way| way.windows(2)) {
        *flows_over.entry(hop).or_insert(0) += 1;
    }
    let most: u64 = flows_over.into_values().max().unwrap_or(1);
    println!("version = 1\ntitle = \"{flows} flows over {nodes} nodes\"");
    println!("link = {{ rate = \"{RATE}bit\", max-packet = \"1500b\", delay = \"10us\" }}");
    println!("scheduler.kind = \"{kind}\"");
    for class in 0..classes {
        let burst = BURSTS[random.random_range(0..BURSTS.len())];
        let rate = RATE / 2 / most;
        println!("[class.c{class}]");
        if kind == "priority" {
            println!("level = {}", class % LEVELS);
        }
        println!(
            "arrival = {{ bucket = \"{burst}b\", rate = \"{rate}bit\", packet = \"1500b\" }}\nend-to-end = \"1s\""
        );
    }
    for (a, b) in &backbone.links {
        println!("[network.l{a}-{b}]\nbetween = [\"n{a}\", \"n{b}\"]");
    }
    for (number, way) in ways.iter().enumerate() {
        let class = number % classes;
        let nodes: Vec<_> = way.iter().map(|node| format!("n{node}")).collect();
        println!(
            "[[source]]\nclass = \"c{class}\"\nmodel = \"constant\"\nrate = \"10kbit\"\npacket = \"1500b\"\npath = {nodes:?}"
        );
    }
}

struct Backbone {
    links: BTreeSet<(usize, usize)>,
    joined: Vec<Vec<usize>>,
    /// When a search from the first node comes to each: ways lead up to earlier nodes, and then
    /// down.
    rank: Vec<usize>,
}

impl Backbone {
    fn new(nodes: usize, random: &mut Pcg64Mcg) -> Backbone {
        let places: Vec<(f64, f64)> =
            (0..nodes).map(|_| (random.random(), random.random())).collect();
        let apart =
            |a: usize, b: usize| (places[a].0 - places[b].0).hypot(places[a].1 - places[b].1);
        let mut links = BTreeSet::new();
        let mut join = |a: usize, b: usize| links.insert((a.min(b), a.max(b)));
        // All are joined by a tree of short links.
        for node in 1..nodes {
            let nearest = (0..node).min_by(|a, b| apart(*a, node).total_cmp(&apart(*b, node)));
            join(nearest.expect("nodes before"), node);
        }
        for node in 0..nodes {
            let mut others: Vec<_> = (0..nodes).filter(|other| *other != node).collect();
            others.sort_by(|a, b| apart(*a, node).total_cmp(&apart(*b, node)));
            others[..3].iter().for_each(|other| _ = join(node, *other));
            others.shuffle(random);
            others[..2].iter().for_each(|other| _ = join(node, *other));
        }
        let mut joined = vec![Vec::new(); nodes];
        for &(a, b) in &links {
            joined[a].push(b);
            joined[b].push(a);
        }
        let mut rank = vec![usize::MAX; nodes];
        let (mut queue, mut next) = (VecDeque::from([0]), 1);
        rank[0] = 0;
        while let Some(node) = queue.pop_front() {
            for &other in &joined[node] {
                if rank[other] == usize::MAX {
                    rank[other] = next;
                    next += 1;
                    queue.push_back(other);
                }
            }
        }
        Backbone { links, joined, rank }
    }

    /// The shortest way up and then down.
    fn way(&self, from: usize, to: usize) -> Vec<usize> {
        let mut before = BTreeMap::from([((from, false), None)]);
        let mut queue = VecDeque::from([(from, false)]);
        while let Some(at @ (node, down)) = queue.pop_front() {
            if node == to {
                let way = std::iter::successors(Some(at), |at| before[at]);
                let mut way: Vec<_> = way.map(|(node, _)| node).collect();
                way.reverse();
                return way;
            }
            for &other in &self.joined[node] {
                let falls = self.rank[other] > self.rank[node];
                let next = (other, falls);
                if (falls || !down) && !before.contains_key(&next) {
                    before.insert(next, Some(at));
                    queue.push_back(next);
                }
            }
        }
        unreachable!("every node is below the first")
    }
}
