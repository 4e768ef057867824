//! Topologies in plans: beside links that are written, and what is refused.

use laxity::units::{Nanos, Rate};

use super::*;

const TREE: &str = r#"
version = 1
link = { rate = "1gbit", delay = "2us" }
scheduler.kind = "fifo"
topology = { kind = "fat-tree", k = 4, delay = "1us" }
class.a = {}
[network.edge-1-1--agg-1-1]
rate = "100mbit"
private = true
[network.uplink]
between = ["core-1-1", "internet"]
[node.core-1-1]
scheduler.kind = "drr"
[[source]]
class = "a"
model = "poisson"
rate = "1mbit"
packet = "500b"
path = "shortest"
from = "host-1-1-1"
to = "host-4-2-2"
"#;

#[track_caller]
fn refused(old: &str, new: &str, message: &str) {
    assert!(TREE.contains(old), "{old}");
    let error = parse(&TREE.replacen(old, new, 1)).expect_err("this plan is wrong");
    assert_eq!(error.message(), message);
}

#[test]
fn links_of_their_own_beside_drawn_ones() {
    let plan = parse(TREE).unwrap();
    let network = plan.network.as_ref().unwrap();
    assert_eq!((network.nodes.len(), network.links.len()), (37, 49));
    let link = |name: &str| network.links.iter().find(|link| link.name == name).unwrap();
    let of = |name| (link(name).rate, link(name).delay, link(name).private);
    assert_eq!(of("host-1-1-1--edge-1-1"), (Rate(1_000_000_000), Nanos(1_000), false));
    assert_eq!(of("edge-1-1--agg-1-1"), (Rate(100_000_000), Nanos(1_000), true));
    assert_eq!(of("uplink"), (Rate(1_000_000_000), Nanos(2_000), false));
    let names: Vec<_> = plan.sources[0].path().iter().map(|hop| network.ends(*hop)[1]).collect();
    assert_eq!(names, ["edge-1-1", "agg-1-1", "core-1-1", "agg-4-1", "edge-4-2", "host-4-2-2"]);
    assert!(plan.files.is_empty());
}

#[test]
fn a_dumbbell_and_its_access_links() {
    let table = r#"{ kind = "dumbbell", hosts = 3, rate = "10mbit", access-delay = "5ms" }"#;
    let text = TREE.replace(r#"{ kind = "fat-tree", k = 4, delay = "1us" }"#, table);
    let from = text.find("[network.edge").unwrap();
    let network = parse(&text[..from]).unwrap().network.unwrap();
    let all: Vec<_> = network.links.iter().map(|link| (link.rate.0, link.delay.0)).collect();
    assert_eq!(all[0], (10_000_000, 2_000));
    assert_eq!(all[1..], [(1_000_000_000, 5_000_000); 6]);
}

#[test]
fn a_file_is_found_from_the_plans_folder() {
    let folder = std::env::temp_dir().join(format!("laxity-topology-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("net.csv"), "from,to,delay\na,b,3ms\nb,c,\n").unwrap();
    std::fs::write(folder.join("bad.csv"), "from,to\na,a\n").unwrap();
    std::fs::write(folder.join("slow.csv"), "from,to,rate\na,b,1bit\n").unwrap();
    let from = TREE.find("[network.edge").unwrap();
    let of = |file: &str| {
        let text = TREE[..from].replace(r#"{ kind = "fat-tree", k = 4, delay = "1us" }"#, file);
        Plan::parse(&text, "plan.toml", &folder)
    };
    let read = of("\"net.csv\"");
    let errors: Vec<_> = ["\"bad.csv\"", "\"none.csv\"", "\".\"", "\"slow.csv\""]
        .map(|file| of(file).unwrap_err().message().to_string())
        .into();
    std::fs::remove_dir_all(&folder).unwrap();
    let plan = read.unwrap();
    let network = plan.network.unwrap();
    let delays: Vec<_> = network.links.iter().map(|link| (&*link.name, link.delay.0)).collect();
    assert_eq!(delays, [("a--b", 3_000_000), ("b--c", 2_000)]);
    assert_eq!(plan.files[0].key.to_string(), "topology");
    assert_eq!(plan.files[0].file, folder.join("net.csv"));
    let name = |file: &str| folder.join(file).display().to_string();
    assert_eq!(errors[0], format!("{}: line 2: a link from `a` to itself", name("bad.csv")));
    assert_eq!(errors[1], format!("{}: there is no such file", name("none.csv")));
    assert_eq!(errors[2], format!("{}: this is not a file", name(".")));
    assert!(errors[3].starts_with("a largest packet of 1.514kB would take"), "{}", errors[3]);
}

#[test]
fn what_is_drawn_wrongly() {
    refused("k = 4", "k = 5", "`k` is 5, an odd number");
    refused("k = 4", "k = 66", "`k` is 66");
    refused("kind = \"fat-tree\", ", "", "`kind` is missing");
    let nameless = parse(&TREE.replacen("kind = \"fat-tree\", ", "", 1)).unwrap_err();
    let help = nameless.help().unwrap_or_default();
    assert!(help.contains("`kind = \"dumbbell\"` or `kind = \"fat-tree\"`"), "{help}");
    refused("k = 4, ", "", "`k` is missing");
    refused("k = 4", "k = 4, hosts = 3", "`hosts` does not belong to `kind = \"fat-tree\"`");
    refused("\"fat-tree\", k = 4", "\"dumbbell\", hosts = 0", "`hosts` is 0");
    refused(
        "private = true",
        "between = [\"edge-1-1\", \"agg-1-1\"]",
        "`between` of `edge-1-1--agg-1-1`, which `topology` has",
    );
    refused("between = [\"core-1-1\", \"internet\"]", "", "`between` is missing");
    refused(
        "[\"core-1-1\", \"internet\"]",
        "[\"core-1-1\", \"agg-2-1\"]",
        "link `agg-2-1--core-1-1` joins the same nodes",
    );
    refused("host-4-2-2", "host-4-2-3", "no link joins a node `host-4-2-3`");
}
