//! A plan of a mesh of any size: a ring with as many chords, and connections between random nodes,
//! each a source of its own.
//!
//! ```sh
//! cargo run --release -p laxity-sim --example mesh -- NODES CONNECTIONS RATE DURATION > mesh.toml
//! ```

use std::collections::HashSet;

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

fn main() {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [nodes, connections, rate, duration] = &args[..] else {
        panic!("what is asked for is NODES CONNECTIONS RATE DURATION");
    };
    let nodes: usize = nodes.parse().expect("NODES is a number");
    let connections: usize = connections.parse().expect("CONNECTIONS is a number");
    assert!(nodes >= 6, "six nodes have as many chords at least");
    let mut random = Pcg64Mcg::new(1);
    let two_of = |random: &mut Pcg64Mcg| {
        let (from, to) = (random.random_range(0..nodes), random.random_range(0..nodes - 1));
        (from, to + usize::from(to >= from))
    };
    let mut links: Vec<(usize, usize)> =
        (0..nodes).map(|node| (node, (node + 1) % nodes)).collect();
    let mut joined: HashSet<_> = links.iter().map(|&(a, b)| (a.min(b), a.max(b))).collect();
    while links.len() < 2 * nodes {
        let (a, b) = two_of(&mut random);
        if joined.insert((a.min(b), a.max(b))) {
            links.push((a, b));
        }
    }
    println!("version = 1\n[link]\nrate = \"{rate}\"\nmax-packet = \"1500b\"");
    println!("[scheduler]\nkind = \"fifo\"\nqueue = {{ kind = \"droptail\", limit = 100 }}");
    println!("[class.tcp]\n[run]\nduration = \"{duration}\"");
    for (number, (a, b)) in links.iter().enumerate() {
        let delay = random.random_range(1_000..5_000);
        println!("[network.l{number}]\nbetween = [\"n{a}\", \"n{b}\"]\ndelay = \"{delay}us\"");
    }
    for _ in 0..connections {
        let (from, to) = two_of(&mut random);
        println!(
            "[[source]]\nclass = \"tcp\"\nmodel = \"tcp\"\npacket = \"1500b\"\nstagger = \"1s\""
        );
        println!("path = \"shortest\"\nfrom = \"n{from}\"\nto = \"n{to}\"");
    }
}
