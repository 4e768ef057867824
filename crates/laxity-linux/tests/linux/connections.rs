//! Connections of a host, also where more is told of them than there is room for.

use std::io::Write;
use std::net::UdpSocket;
use std::process::{Command, Stdio};

use laxity_linux::connections::{Connections, Ends};
use laxity_linux::namespace::Namespace;

use crate::laboratory::eventually;

/// Marks every connection by itself.
const RULES: &str = "table ip marks {
    chain out { type filter hook output priority mangle; ct state new ct mark set 7; }
}
";

#[test]
fn what_could_not_be_heard_is_read_anew() {
    let Some(here) = crate::laboratory::namespace_for_taps() else { return };
    here.switch("lo", true).expect("switched on");
    if !here.run(marking).expect("entered") {
        eprintln!("SKIPPED: nft is not installed");
        return;
    }
    let Ok(mut connections) = here.run(Connections::open).expect("entered") else {
        eprintln!("SKIPPED: connections are not tracked, or only root hears of them");
        return;
    };
    // Far more than the socket has room for, and nobody listens.
    let all = send(&here, 40_000);
    eventually("all are known", || {
        connections.hear().expect("heard");
        all.iter()
            .step_by(97)
            .all(|ends| connections.inside(ends).is_some_and(|inside| inside.mark == 7))
    });
    assert!(connections.unheard() > 0);
}

fn marking() -> bool {
    let nft = Command::new("nft").args(["-f", "-"]).stdin(Stdio::piped()).spawn();
    let Ok(mut nft) = nft else { return false };
    let mut rules = nft.stdin.take().expect("it is piped");
    rules.write_all(RULES.as_bytes()).expect("written");
    drop(rules);
    nft.wait().expect("it ends").success()
}

/// Sends a datagram to each of the ports and addresses, `count` in all.
fn send(from: &Namespace, count: u32) -> Vec<Ends> {
    let send = || {
        let socket = UdpSocket::bind("127.0.0.1:0").expect("bound");
        let local = socket.local_addr().expect("it has one");
        let to = |at: u32| {
            let remote =
                ([127, 0, 1 + (at / 10_000) as u8, 1].into(), 20_000 + (at % 10_000) as u16);
            // Nobody is there, which a later call may say.
            let _refused = socket.send_to(b"", remote);
            let _sent = socket.send_to(b"", remote);
            Ends { protocol: 17, local: (local.ip(), local.port()), remote }
        };
        (0..count).map(to).collect()
    };
    from.run(send).expect("entered")
}
