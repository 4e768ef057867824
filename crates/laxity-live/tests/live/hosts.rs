//! Two hosts with a bridge between them.

use std::path::Path;

use laxity_linux::interface::Interface;
use laxity_linux::namespace::Namespace;
use laxity_linux::packet::{Mmsg, Options, Ring};
use laxity_live::demo::Laboratory;
pub(crate) use laxity_live::demo::laboratory::{RECEIVER as B, SENDER as A};
use laxity_plan::Plan;

/// Hosts `a` and `b`, each on a cable to the namespace between them.
pub(crate) struct Hosts {
    pub between: Namespace,
    pub a: Namespace,
    pub b: Namespace,
}

impl Hosts {
    /// None where that is not allowed, and then it says so.
    pub(crate) fn new() -> Option<Hosts> {
        match Laboratory::new() {
            Ok(Laboratory { between, sender, receiver }) => {
                Some(Hosts { between, a: sender, b: receiver })
            }
            Err(error) if error.is_permission() => {
                eprintln!("SKIPPED: {error}; run as root or within `unshare -Urn`");
                None
            }
            Err(error) => panic!("{error}"),
        }
    }

    /// The same by the names of who sends and who receives.
    pub(crate) fn laboratory(&self) -> Laboratory {
        let Hosts { between, a, b } = self;
        let (between, sender, receiver) = (between.clone(), a.clone(), b.clone());
        Laboratory { between, sender, receiver }
    }

    pub(crate) fn ends(&self) -> [Interface; 2] {
        self.laboratory().ends().expect("they are there")
    }

    pub(crate) fn ring(&self) -> Ring {
        let [a, b] = self.ends();
        let open = || Ring::open([&a, &b], &Options::default());
        self.between.run(open).expect("entered").expect("sockets")
    }

    pub(crate) fn mmsg(&self) -> Mmsg {
        let [a, b] = self.ends();
        let open = || Mmsg::open([&a, &b], &Options::default());
        self.between.run(open).expect("entered").expect("sockets")
    }
}

/// A link of 20 Mbit/s on which calls have a deadline.
pub(crate) fn plan(kind: &str) -> Plan {
    Plan::parse(&text(kind), "plan.toml", Path::new("")).expect("a plan")
}

/// Its text.
pub(crate) fn text(kind: &str) -> String {
    format!(
        "version = 1
        link = {{ rate = '20mbit', overhead = 'ethernet' }}
        scheduler.kind = '{kind}'
        [class.call]
        deadline = '10ms'
        arrival = {{ bucket = '3kB', rate = '2mbit', packet = '320b' }}
        match = 'udp dport 5000'
        police = 'demote'
        [class.rest]
        queue = {{ kind = 'droptail', limit = 500 }}"
    )
}
