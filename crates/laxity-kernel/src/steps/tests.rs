//! Steps, taken in a model of the kernel that says what it would refuse.

use std::collections::BTreeMap;

use laxity::units::Nanos;
use laxity_tc::setup::units::rate_of;
use laxity_tc::setup::*;
use proptest::prelude::*;

use super::*;

/// An interface, by the rules of net/sched: what is there cannot be added, what is not cannot be
/// changed, and no class goes that others or filters need.
#[derive(Default)]
struct Kernel {
    objects: BTreeMap<Key, Object>,
}

impl Kernel {
    fn take(&mut self, step: &Step) -> Result<(), String> {
        let Step { action, object } = step;
        let key = Key::new(object);
        let refuse = |why: &str| Err(format!("{why}: {action:?} {object:?}"));
        match action {
            Action::Add if self.objects.contains_key(&key) => refuse("it is there"),
            Action::Add if !self.has_place(object) => refuse("it has nowhere to hang"),
            Action::Add if key.sort == Sort::Qdisc && self.at(object.parent).is_some() => {
                refuse("another hangs there")
            }
            Action::Add => self.put(key, object),
            Action::Replace if key.sort != Sort::Qdisc => refuse("only qdiscs are replaced"),
            Action::Replace if self.objects.contains_key(&key) => refuse("a qdisc cannot move"),
            Action::Replace => {
                if let Some(old) = self.at(object.parent) {
                    self.remove(old);
                }
                self.put(key, object)
            }
            Action::Change => match self.objects.get(&key) {
                Some(old) if old.kind() == object.kind() && old.parent == object.parent => {
                    if object.kind() == "tbf" {
                        self.pass_limit_on(object);
                    }
                    self.put(key, object)
                }
                _ => refuse("it is not there"),
            },
            Action::Delete if key.sort == Sort::Filter && object.handle == Handle(0) => {
                let all = |other: &Object| {
                    other.sort == Sort::Filter
                        && (other.parent, other.info) == (object.parent, object.info)
                };
                let before = self.objects.len();
                self.objects.retain(|_, other| !all(other));
                if self.objects.len() < before { Ok(()) } else { refuse("no such priority") }
            }
            Action::Delete if !self.objects.contains_key(&key) => refuse("it is not there"),
            Action::Delete if key.sort == Sort::Class && self.is_needed(object.handle) => {
                refuse("it is needed")
            }
            Action::Delete => {
                self.remove(key);
                Ok(())
            }
        }
    }

    /// A token bucket that is changed gives the queue in it a limit that is none of the plan's.
    fn pass_limit_on(&mut self, tbf: &Object) {
        let queue = self.at(Handle::new(tbf.handle.major(), 1));
        let queue = queue.and_then(|queue| self.objects.get_mut(&queue));
        if let Some(queue) = queue.filter(|queue| queue.kind() == "pfifo") {
            // The limit ends it. Whatever the wanted one is, it is another.
            for byte in queue.attributes.iter_mut().rev().take(4) {
                *byte = !*byte;
            }
        }
    }

    fn put(&mut self, key: Key, object: &Object) -> Result<(), String> {
        self.objects.insert(key, object.clone());
        Ok(())
    }

    fn at(&self, parent: Handle) -> Option<Key> {
        let mut all = self.objects.iter();
        all.find(|(key, object)| key.sort == Sort::Qdisc && object.parent == parent).map(|it| *it.0)
    }

    fn has_place(&self, object: &Object) -> bool {
        object.parent == Handle::ROOT
            || self.objects.contains_key(&Key::class(object.parent))
            || self.objects.get(&Key::qdisc(object.parent.major())).is_some_and(|qdisc| {
                object.sort != Sort::Qdisc || ["tbf", "prio"].contains(&&*qdisc.kind())
            })
    }

    fn is_needed(&self, class: Handle) -> bool {
        self.objects.values().any(|object| match netlink::item(object) {
            Some(Item::Class(other)) => other.parent == class,
            Some(Item::Filter(filter)) => filter.class == Some(class),
            _ => false,
        })
    }

    /// With all that hangs at it.
    fn remove(&mut self, key: Key) {
        let Some(object) = self.objects.remove(&key) else { return };
        let hangs = |other: &Object| match object.sort {
            Sort::Qdisc => {
                other.parent.major() == object.handle.major() && other.parent != Handle::ROOT
            }
            Sort::Class => other.parent == object.handle,
            Sort::Filter => false,
        };
        let below: Vec<Key> =
            self.objects.iter().filter(|(_, other)| hangs(other)).map(|it| *it.0).collect();
        for key in below {
            self.remove(key);
        }
    }
}

#[derive(Clone, Debug)]
struct DrawnClass {
    minor: u16,
    below: usize,
    curves: [Option<u32>; 2],
    rate: u32,
    queue: Option<(bool, u32)>,
    filter: Option<(bool, u16)>,
}

fn objects() -> impl Strategy<Value = Objects> {
    let class = (
        0x10u16..0x16,
        0usize..3,
        [prop::option::of(1u32..4), prop::option::of(1u32..4)],
        1u32..4,
        prop::option::of((any::<bool>(), 1u32..3)),
        prop::option::of((any::<bool>(), 1u16..3)),
    );
    let class = class.prop_map(|(minor, below, curves, rate, queue, filter)| DrawnClass {
        minor,
        below,
        curves,
        rate,
        queue,
        filter,
    });
    let classes = prop::collection::vec(class, 0..6);
    (0usize..6, any::<bool>(), 1u32..4, classes).prop_map(|(kind, shaped, rate, classes)| {
        netlink::objects(&tree(kind, shaped, rate, classes)).into()
    })
}

fn tree(kind: usize, shaped: bool, rate: u32, mut classes: Vec<DrawnClass>) -> Setup {
    let mut tree = Setup::default();
    let mut qdisc = |handle: u16, parent, kind| {
        tree.qdiscs.push(Qdisc { handle: Handle::new(handle, 0), parent, kind, stab: None });
    };
    let mut parent = Handle::ROOT;
    if shaped {
        qdisc(
            1,
            parent,
            QdiscKind::Tbf(Tbf {
                rate: rate_of(u64::from(rate) * 1_000_000),
                burst: 2_000,
                limit: 1,
            }),
        );
        parent = Handle::new(1, 1);
    }
    let shared = match kind {
        0 if shaped && rate > 1 => {
            qdisc(2, parent, QdiscKind::Pfifo { limit: Some(1_000) });
            return tree;
        }
        0 => return if shaped { tree } else { Setup::default() },
        1 | 2 => QdiscKind::Hfsc { default: rate },
        3 => QdiscKind::Drr,
        4 => QdiscKind::Qfq,
        _ => QdiscKind::Prio(Prio { bands: 2 + rate as u8, priomap: [1; 16] }),
    };
    qdisc(2, parent, shared);
    classes.sort_by_key(|class| class.minor);
    classes.dedup_by_key(|class| class.minor);
    if kind == 5 {
        classes.truncate(2);
    }
    let mut leaves: Vec<Handle> = Vec::new();
    for (number, class) in classes.iter().enumerate() {
        let own = match kind {
            5 => Handle::new(2, number as u16 + 1),
            _ => Handle::new(2, class.minor),
        };
        let above = match (kind, leaves.get(class.below)) {
            (1 | 2, Some(above)) => *above,
            _ => Handle::new(2, 0),
        };
        leaves.push(own);
        let curve = |rate: u32| HfscCurve::from_kernel([0, 0, rate * 1_000]);
        let kind = match kind {
            1 | 2 => ClassKind::Hfsc(HfscCurves {
                rsc: class.curves[0].map(curve),
                fsc: Some(curve(class.rate)),
                usc: class.curves[1].map(curve),
            }),
            3 => ClassKind::Drr { quantum: class.rate },
            4 => ClassKind::Qfq { weight: class.rate, lmax: 1_514 },
            _ => continue,
        };
        tree.classes.push(Class { handle: own, parent: above, kind, name: None });
    }
    let inner: Vec<Handle> = tree.classes.iter().map(|class| class.parent).collect();
    for (class, handle) in classes.iter().zip(leaves).filter(|(_, handle)| !inner.contains(handle))
    {
        if let Some((codel, limit)) = class.queue {
            let kind = if codel {
                QdiscKind::CoDel(CoDel {
                    limit,
                    target: Nanos(5_000_000),
                    interval: Nanos(100_000_000),
                    ecn: false,
                })
            } else {
                QdiscKind::Pfifo { limit: Some(limit) }
            };
            let own = Handle::new(class.minor, 0);
            tree.qdiscs.push(Qdisc { handle: own, parent: handle, kind, stab: None });
        }
        if let Some((flower, priority)) = class.filter {
            let word = U32Key { value: class.rate, mask: u32::MAX, offset: 0, is_behind_ip: false };
            tree.filters.push(Filter {
                parent: Handle::new(2, 0),
                priority: priority + if flower { 10 } else { 0 },
                number: class.minor.into(),
                protocol: Protocol::Ip,
                kind: if flower {
                    FilterKind::Flower(Flower {
                        ip_proto: Some(class.rate as u8),
                        ..Flower::default()
                    })
                } else {
                    FilterKind::U32(U32 { keys: vec![word], ..U32::default() })
                },
                class: Some(handle),
                is_gone: false,
                police: Vec::new(),
            });
        }
    }
    tree
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    /// No step is refused, and what is there at the end is what was wanted.
    #[test]
    fn steps_lead_from_any_setup_to_any_other(before in objects(), after in objects()) {
        let mut kernel = Kernel::default();
        for (from, to) in [(&Objects::default(), &before), (&before, &after), (&after, &before)] {
            for step in &Steps::between(from, to).steps {
                kernel.take(step).map_err(TestCaseError::fail)?;
            }
            let there = Objects::from(kernel.objects.values().cloned().collect::<Vec<_>>());
            prop_assert_eq!(&there, to);
            prop_assert!(Steps::between(&there, to).is_empty());
        }
    }

    /// Set-ups are kept in files as they are.
    #[test]
    fn setups_are_remembered(setup in objects()) {
        let text = serde_json::to_string(&setup).unwrap();
        prop_assert_eq!(serde_json::from_str::<Objects>(&text).unwrap(), setup);
    }
}

/// A changed curve keeps the queue. It is lost with a curve or a class that goes, and to classes
/// below.
#[test]
fn whose_queue_is_lost_is_said() {
    let class = |minor, below, curves| DrawnClass {
        minor,
        below,
        curves,
        rate: 1,
        queue: None,
        filter: None,
    };
    let setup = |classes| Objects::from(netlink::objects(&tree(1, false, 1, classes)));
    let lost = |before, after| Steps::between(&setup(before), &setup(after)).drops;
    let one = |curves| vec![class(0x10, 9, curves)];
    let handle = |minor| BTreeSet::from([Handle::new(2, minor)]);
    assert_eq!(lost(one([Some(1), None]), one([Some(2), Some(3)])), BTreeSet::new());
    assert_eq!(lost(one([Some(1), None]), one([None, None])), handle(0x10));
    let two = vec![class(0x10, 9, [None, None]), class(0x11, 0, [None, None])];
    assert_eq!(lost(one([None, None]), two.clone()), handle(0x10));
    assert_eq!(lost(two, one([None, None])), handle(0x11));
}
