//! Classes with time frames that come and go by reservations, at the worst moments.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use laxity::reserve::bookings::Period;
use laxity::units::Nanos;
use laxity_answers::reservations::{Book, Request, RequestError};
use laxity_forward::router::{Differs, agree, agree_beside_classes};
use laxity_plan::Plan;
use laxity_plan::model::Hop;
use laxity_plan::tdp::FramedBound;
use laxity_search::Generator;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};

use crate::network::{World, datagram};
use crate::plans;

const US: u64 = 1_000;
const NO_END: Period = Period { from: Nanos(0), until: None };

/// What a newcomer asks for.
#[derive(Clone, Debug)]
struct Wish {
    path: Vec<String>,
    /// In us.
    gap: u64,
    length: u64,
    count: u64,
}

/// A class whose streams send a packet each gap, all at once, or as soon afterwards as they like.
#[derive(Clone, Debug)]
struct Sender {
    port: u16,
    first: Hop,
    gap: u64,
    count: u64,
    length: u32,
    next: u64,
    bound: FramedBound,
}

/// A packet that was put in.
struct Sent {
    class: String,
    comes: Nanos,
    /// None of best effort.
    bound: Option<FramedBound>,
}

/// A book, its routers, and what they were sent.
struct Scene {
    book: Book,
    plan: Plan,
    world: World,
    senders: BTreeMap<String, Sender>,
    wishes: HashMap<String, Wish>,
    sent: Vec<Sent>,
    /// When classes were released.
    ends: HashMap<String, Nanos>,
    now: u64,
}

impl Scene {
    fn new(draw: &mut Generator) -> Scene {
        let text = plans::draw_text(draw);
        let book = Book::new(&text, "plan.toml", Path::new("")).expect("an admitted plan");
        let (plan, _) = book.plan(Nanos(0)).expect("a plan");
        let world = World::new(&plan);
        let (senders, wishes) = (BTreeMap::new(), HashMap::new());
        let (sent, ends) = (Vec::new(), HashMap::new());
        let mut scene = Scene { book, plan, world, senders, wishes, sent, ends, now: 0 };
        scene.run(draw, 1_000 * US);
        let framed: Vec<String> = scene.framed().map(str::to_owned).collect();
        for name in framed {
            let number: usize = name[1..].parse().expect("a class of the plan");
            scene.begin(&name, plans::port(number), 0);
        }
        scene
    }

    fn framed(&self) -> impl Iterator<Item = &str> {
        let leaves = self.plan.leaves().filter(|(_, class)| class.wants_frames());
        leaves.map(|(_, class)| &*class.name)
    }

    /// A class of the plan sends from then on.
    fn begin(&mut self, name: &str, port: u16, from: u64) {
        let id = self.plan.leaves().find(|(_, class)| class.name == name).expect("a class").0;
        let class = &self.plan.classes[id.index()];
        let analysis = self.plan.network_plan().expect("a network").analysis();
        let bounds = analysis.framing.as_ref().expect("frames").bounds();
        let bound = *bounds[&id].as_ref().expect("a bound");
        let packet = class.arrival.as_ref().and_then(|arrival| arrival.packet).expect("a packet");
        let sender = Sender {
            port,
            first: self.plan.class_paths()[id.index()][0],
            gap: class.gap.expect("a gap").0,
            count: class.count.into(),
            length: packet.0 as u32,
            next: from.max(self.now),
            bound,
        };
        self.senders.insert(name.to_string(), sender);
    }

    /// Everybody sends until then, beside a flood of best effort.
    fn run(&mut self, draw: &mut Generator, until: u64) {
        let mut packets = Vec::new();
        for (name, sender) in &mut self.senders {
            let Sender { port, first, gap, count, length, bound, .. } = *sender;
            while sender.next < until {
                let comes = Nanos(sender.next);
                for _ in 0..count {
                    let sent = Sent { class: name.clone(), comes, bound: Some(bound) };
                    packets.push((first, port, length, sent));
                }
                let is_greedy = draw.random_range(0..4) > 0;
                sender.next += gap + if is_greedy { 0 } else { draw.random_range(0..5 * gap) };
            }
        }
        let network = self.plan.network.as_ref().expect("a network");
        let access = network.hops().filter(|hop| network.ends(*hop)[0].starts_with('h'));
        let access: Vec<Hop> = access.collect();
        for comes in (self.now..until).step_by(60_000).map(Nanos) {
            let from = access[draw.random_range(0..access.len())];
            let sent = Sent { class: String::new(), comes, bound: None };
            packets.push((from, 9, draw.random_range(64..=700), sent));
        }
        packets.sort_by_key(|(.., sent)| sent.comes);
        for (hop, port, length, sent) in packets {
            self.world.put_in(hop, sent.comes, datagram(self.sent.len(), port, length));
            self.sent.push(sent);
        }
        self.now = until;
        self.world.run(Nanos(until), || Nanos::ZERO);
    }

    /// Everybody sends until then, and the routers follow whatever the book's plan becomes.
    fn advance(&mut self, draw: &mut Generator, until: u64) {
        let next = |book: &Book, now| book.next_change(Nanos(now)).filter(|at| at.0 <= until);
        while let Some(change) = next(&self.book, self.now) {
            self.run(draw, change.0);
            self.book.expire(change);
            self.follow();
        }
        self.run(draw, until);
    }

    /// The routers follow the book's plan.
    fn follow(&mut self) {
        let (next, _) = self.book.plan(Nanos(self.now)).expect("a plan");
        assert_eq!(agree_beside_classes(&self.plan, &next), Ok(()));
        self.world.reload(&next, Nanos(self.now));
        self.plan = next;
    }

    /// A class between two hosts.
    fn wish(&self, draw: &mut Generator) -> Wish {
        let network = self.plan.network.as_ref().expect("a network");
        let routers = network.nodes.iter().filter(|node| node.name.starts_with('r')).count();
        let hops = draw.random_range(1..routers);
        let first = draw.random_range(0..routers);
        let mut path = vec![format!("h{first}")];
        path.extend((0..=hops).map(|hop| format!("r{}", (first + hop) % routers)));
        path.push(format!("h{}", (first + hops) % routers));
        let count = draw.random_range(1..=4u64);
        let gap = count * draw.random_range(60..400u64);
        Wish { path, gap, length: draw.random_range(64..=600u64), count }
    }

    /// Asks for a class; returns whether it is granted.
    fn request(&mut self, number: usize, wish: Wish) -> bool {
        let Wish { path, gap, length, count } = wish.clone();
        let (name, port) = (format!("n{number}"), 6000 + number as u16);
        let rate = (count * length * 8_000_000).div_ceil(gap);
        let bucket = count * length;
        let keys = format!(
            "match = 'udp dport {port}'\ngap = '{gap}us'\ncount = {count}\n\
             arrival = {{ bucket = '{bucket}b', rate = '{rate}bit', packet = '{length}b' }}\n"
        );
        let keys = keys.parse().expect("keys");
        let request = Request { name: name.clone(), keys, path, period: NO_END, commit_by: None };
        match self.book.request(Nanos(self.now), request) {
            Ok(granted) => {
                assert_eq!(granted.frames.len() + 3, granted.path.len(), "{granted:?}");
                self.follow();
                self.begin(&name, port, granted.from_ns);
                self.wishes.insert(name, wish);
                true
            }
            Err(RequestError::NoRoom(_)) => false,
            Err(other) => panic!("{other}"),
        }
    }

    /// A newcomer ends right after a burst, if there is one. Returns what it had.
    fn release(&mut self, draw: &mut Generator) -> Option<Wish> {
        let own = self.senders.keys().filter(|name| name.starts_with('n'));
        let own: Vec<String> = own.cloned().collect();
        if own.is_empty() {
            return None;
        }
        let name = &own[draw.random_range(0..own.len())];
        let burst = self.senders[name].next;
        self.advance(draw, self.now.max(burst + 1));
        self.senders.remove(name);
        self.book.release(Nanos(self.now), name).expect("it is there");
        self.ends.insert(name.clone(), Nanos(self.now));
        self.follow();
        self.wishes.remove(name)
    }
}

/// Returns how many were granted, refused and released, and the packets that were held to their
/// bounds.
fn come_and_go(seed: u64) -> Result<[usize; 4], TestCaseError> {
    let draw = &mut Generator::seed_from_u64(seed);
    let mut scene = Scene::new(draw);
    let mut counts = [0; 4];
    for number in 0..40 {
        match draw.random_range(0..4) {
            0 => {
                // The next one would take the same frames.
                if let Some(wish) = scene.release(draw) {
                    scene.advance(draw, scene.now + 20 * US);
                    counts[usize::from(!scene.request(number, wish))] += 1;
                }
            }
            _ => {
                let wish = scene.wish(draw);
                counts[usize::from(!scene.request(number, wish))] += 1;
            }
        }
        let until = scene.now + draw.random_range(0..4_000 * US);
        scene.advance(draw, until);
    }
    let until = scene.now + 400_000 * US;
    scene.senders.clear();
    scene.run(draw, until);
    counts[2] = scene.ends.len();
    let network = scene.plan.network.as_ref().expect("a network");
    let mut left: Vec<Option<(Nanos, bool)>> = scene.sent.iter().map(|_| None).collect();
    for fate in scene.world.fates.iter() {
        if !network.links[fate.hop.link.index()].private {
            let is_disturbed = fate.sent.due.is_none() || fate.sent.is_late();
            let before = left[fate.number].is_some_and(|(_, is_disturbed)| is_disturbed);
            left[fate.number] = Some((fate.sent.departure, before || is_disturbed));
        }
    }
    for (sent, left) in scene.sent.iter().zip(left) {
        let Sent { class, comes, bound: Some(bound) } = sent else { continue };
        // What is under way when its class ends goes on as best effort.
        if scene.ends.get(class).is_some_and(|end| *end < *comes + bound.delay()) {
            continue;
        }
        let due = *comes + bound.shaping + bound.transit;
        counts[3] += 1;
        prop_assert!(
            left.is_some_and(|(left, _)| left <= due),
            "{class} at {comes}: {left:?}, {due}"
        );
        prop_assert!(left.is_some_and(|(_, is_disturbed)| !is_disturbed), "{class} at {comes}");
    }
    prop_assert_eq!(scene.world.skipped, 0);
    Ok(counts)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    /// Newcomers begin at once in frames that nobody else has, those who leave stop at once, and
    /// every packet is in its frames and within its bound.
    #[test]
    fn reservations_keep_their_frames(seed: u64) {
        come_and_go(seed)?;
    }
}

#[test]
fn enough_comes_and_goes() {
    let mut sums = [0; 4];
    for seed in 0..12 {
        let counts = come_and_go(seed).expect("kept");
        sums.iter_mut().zip(counts).for_each(|(sum, count)| *sum += count);
    }
    assert!(sums[0] > 200 && sums[1] > 20 && sums[2] > 60 && sums[3] > 10_000, "{sums:?}");
}

#[test]
fn who_stays_keeps_its_frames() {
    let text = |frames: &str, gap: u32| {
        format!(
            "version = 1\nlink = {{ rate = '100mbit', max-packet = '700b', min-packet = '64b' }}\n\
             scheduler = {{ kind = 'tdp', frame = '250us', frames = 8 }}\n\
             [network]\nh = {{ between = ['h', 'r1'], private = true }}\n\
             one = {{ between = ['r1', 'r2'] }}\ntwo = {{ between = ['r2', 'r3'] }}\n\
             [class.voice]\nmatch = 'udp dport 1'\ngap = '{gap}ms'\n{frames}\n\
             [[source]]\nclass = 'voice'\nmodel = 'constant'\nrate = '64kbit'\npacket = '200b'\n\
             path = ['h', 'r1', 'r2', 'r3']\n"
        )
    };
    let plan = |text: &str| Plan::parse(text, "plan.toml", Path::new("")).expect("a plan");
    let chosen = plan(&text("frame-at = { one = 3, two = 5 }", 2));
    assert_eq!(agree_beside_classes(&chosen, &chosen), Ok(()));
    let reserved = || Err(Differs::Reserved("voice".to_string()));
    for other in
        [("", 2), ("frame-at = { one = 4, two = 6 }", 2), ("frame-at = { one = 3, two = 5 }", 1)]
    {
        let other = plan(&text(other.0, other.1));
        assert_eq!(agree_beside_classes(&chosen, &other), reserved());
        assert_eq!(agree(&chosen, &other), reserved());
    }
    let found = plan(&text("", 2));
    assert_eq!(agree_beside_classes(&found, &found), reserved());
    assert_eq!(agree(&found, &found), Ok(()));
}
