//! Topologies: GraphML, GML, SNDlib and CSV. What is read is a network.
#![no_main]

use laxity_plan::topology::Topology;

libfuzzer_sys::fuzz_target!(|text: &str| match Topology::parse(text) {
    Ok(topology) => {
        for link in &topology.links {
            let [from, to] = link.between.map(|node| topology.nodes.get(node as usize));
            assert!(from.is_some() && to.is_some() && from != to);
        }
    }
    Err(error) => assert!(error.to_string().len() < 2000, "{error}"),
});
