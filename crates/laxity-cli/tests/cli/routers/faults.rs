//! Interfaces of routers that go down, are renamed and come back, each in its namespace.

use super::network::{PLAN, Routers, plug};
use crate::folder::Folder;

/// What comes and goes at one port is no other port's business, and the port works again
/// afterwards.
#[test]
fn interfaces_of_routers_come_and_go() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut routers) = Routers::start(&folder, &[]) else { return };
    let [here, there] = routers.nodes.clone();
    let both_ways =
        |routers: &Routers| [(0, 1), (1, 0)].map(|(from, to)| routers.pass(from, to, 5000, 3));
    both_ways(&routers);

    there.switch("host", false).unwrap();
    routers.says(&["r2:b=host is down: what is sent there until it is up is lost"]);
    routers.pass(0, 2, 6000, 3);
    there.switch("host", true).unwrap();
    routers.says(&["r2:b=host is up"]);
    both_ways(&routers);

    there.rename("host", "uplink").unwrap();
    routers.says(&["r2:b=host is now called uplink"]);
    both_ways(&routers);

    // Both ends of a cable, each in its namespace.
    here.remove("core").unwrap();
    let gone = "=core is gone: what is sent there until it is back is lost";
    routers.says(&[&format!("r1:r2{gone}"), &format!("r2:r1{gone}")]);
    routers.pass(0, 2, 6000, 3);
    here.veth("core", &there, "core").unwrap();
    routers.says(&["r1:r2=core is back", "r2:r1=core is back"]);
    both_ways(&routers);

    there.remove("uplink").unwrap();
    routers.says(&["r2:b=uplink is gone"]);
    routers.pass(0, 2, 6000, 3);
    plug(&there, "uplink", &routers.hosts[1], 1);
    routers.says(&["r2:b=uplink is back"]);
    // The new host makes itself known first.
    routers.pass(1, 0, 6001, 1);
    both_ways(&routers);

    let printed = routers.end();
    let call = printed.lines().find(|line| line.starts_with("call ")).unwrap();
    let left: u64 = call.split_whitespace().nth(2).unwrap().parse().unwrap();
    assert!(left >= 15, "{printed}");
}

/// A cable between two routers that flaps while calls pass: nothing ends, and calls pass
/// afterwards, in their frames.
#[test]
fn a_cable_between_routers_flaps() {
    let folder = Folder::with_plan(PLAN);
    let Some(mut routers) = Routers::start(&folder, &[]) else { return };
    routers.pass(0, 1, 5000, 3);
    let (sender, _receiver, to) = routers.sockets(0, 1, 5001);
    for _ in 0..5 {
        routers.nodes[1].switch("core", false).unwrap();
        for _ in 0..20 {
            let _ = sender.send_to(&[7; 100], to);
        }
        routers.nodes[1].switch("core", true).unwrap();
        // The other end hears of it later, and not each time.
        routers.says(&["r2:r1=core is down", "r2:r1=core is up"]);
        routers.pass(0, 1, 5000, 3);
    }
    let printed = routers.end();
    assert!(printed.contains("kept its bound, and its jitter below two frames"), "{printed}");
}
