use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use proptest::prelude::*;

use super::*;
use laxity::units::{Nanos, Rate};

use crate::setup::units::{codel_time, rate_of, whole_ticks};
use crate::setup::*;
use crate::{Options, import_objects};

fn curve() -> impl Strategy<Value = HfscCurve> {
    any::<[u32; 3]>().prop_map(HfscCurve::from_kernel)
}

fn class_kind() -> impl Strategy<Value = ClassKind> {
    let curves = (prop::option::of(curve()), prop::option::of(curve()), prop::option::of(curve()));
    let htb = (1u64..10_000_000_000, 1u64..10_000_000_000, 1u32..1 << 20, any::<u32>(), 0u32..8);
    prop_oneof![
        curves.prop_map(|(rsc, fsc, usc)| ClassKind::Hfsc(HfscCurves { rsc, fsc, usc })),
        htb.prop_map(|(rate, ceil, burst, quantum, prio)| {
            let (rate, ceil) = (rate_of(rate), rate_of(ceil));
            let (burst, cburst) = (whole_ticks(rate, burst), whole_ticks(ceil, burst));
            ClassKind::Htb(Htb { rate, ceil, burst, cburst, quantum, prio })
        }),
        any::<u32>().prop_map(|quantum| ClassKind::Drr { quantum }),
        (1u32..=1024, 512u32..65_536).prop_map(|(weight, lmax)| ClassKind::Qfq { weight, lmax }),
    ]
}

fn qdisc_kind() -> impl Strategy<Value = QdiscKind> {
    let whole = any::<u32>;
    let micros = || 0u32..1 << 30;
    let queue = (whole(), 1u32..65_536, whole(), micros(), micros(), any::<bool>());
    let red = (whole(), whole(), whole(), 0u8..32, 0u8..32, 0u8..32, whole(), any::<bool>());
    prop_oneof![
        any::<u16>().prop_map(|default| QdiscKind::Hfsc { default: default.into() }),
        (whole(), whole()).prop_map(|(default, r2q)| QdiscKind::Htb { default, r2q }),
        Just(QdiscKind::Drr),
        Just(QdiscKind::Qfq),
        (2u8..=16, any::<[u8; 16]>())
            .prop_map(|(bands, priomap)| QdiscKind::Prio(Prio { bands, priomap })),
        (1u64..10_000_000_000, 1u32..1 << 20, whole()).prop_map(|(rate, burst, limit)| {
            let rate = rate_of(rate);
            QdiscKind::Tbf(Tbf { rate, burst: whole_ticks(rate, burst), limit })
        }),
        queue.clone().prop_map(|(limit, flows, quantum, target, interval, ecn)| {
            let [target, interval] = [target, interval].map(shown_whole);
            QdiscKind::FqCodel(FqCodel { limit, flows, quantum, target, interval, ecn })
        }),
        queue.prop_map(|(limit, _, _, target, interval, ecn)| {
            let [target, interval] = [target, interval].map(shown_whole);
            QdiscKind::CoDel(CoDel { limit, target, interval, ecn })
        }),
        red.prop_map(|(limit, min, max, wlog, plog, cell_log, max_p, ecn)| {
            QdiscKind::Choke(Red { limit, min, max, wlog, plog, cell_log, max_p, packet: 0, ecn })
        }),
        whole().prop_map(|limit| QdiscKind::Pfifo { limit: Some(limit) }),
        whole().prop_map(|limit| QdiscKind::Bfifo { limit }),
    ]
}

/// A time that the kernel shows as it was written.
fn shown_whole(micros: u32) -> Nanos {
    Nanos((codel_time(micros).0 / 1_000 / 128 * 128) * 1_000)
}

fn stab() -> impl Strategy<Value = SizeTable> {
    let sized = (-64i32..1000, 0u32..1000, any::<bool>(), 64u32..70_000, 1u32..2048);
    prop_oneof![
        (-64i32..1000).prop_map(|overhead| SizeTable {
            overhead,
            mpu: 0,
            atm: false,
            mtu: 0,
            tsize: 0
        }),
        sized.prop_map(|(overhead, mpu, atm, mtu, tsize)| SizeTable {
            overhead,
            mpu,
            atm,
            mtu,
            tsize
        }),
    ]
}

fn address() -> impl Strategy<Value = (IpAddr, u8)> {
    prop_oneof![
        (any::<u32>(), 0u8..=32)
            .prop_map(|(bits, prefix)| (Ipv4Addr::from_bits(bits).into(), prefix)),
        (any::<u128>(), 0u8..=128)
            .prop_map(|(bits, prefix)| (Ipv6Addr::from_bits(bits).into(), prefix)),
    ]
}

fn ports() -> impl Strategy<Value = Option<Ports>> {
    prop::option::of((any::<u16>(), any::<u16>()).prop_map(|(a, b)| Ports::new(a.min(b), a.max(b))))
}

fn filter_kind() -> impl Strategy<Value = FilterKind> {
    let flower = (
        prop::option::of(prop_oneof![Just(6u8), Just(17), Just(132)]),
        prop::option::of(address()),
        prop::option::of(address()),
        ports(),
        ports(),
        prop::option::of((any::<u8>(), any::<u8>())),
        prop::option::of((0u16..4096, prop::option::of(Just(Protocol::Ip)))),
    );
    let key = (any::<u32>(), any::<u32>(), -4i32..64);
    let key = key.prop_map(|(value, mask, offset)| U32Key {
        value: value & mask,
        mask,
        offset: offset * 4,
        is_behind_ip: false,
    });
    prop_oneof![
        Just(FilterKind::Matchall),
        prop::collection::vec(key, 0..8)
            .prop_map(|keys| FilterKind::U32(U32 { keys, ..U32::default() })),
        flower.prop_map(|(ip_proto, source, destination, from, to, tos, vlan)| {
            FilterKind::Flower(Flower {
                vlan: vlan.as_ref().map(|(id, _)| *id),
                pcp: vlan.as_ref().map(|(id, _)| (id % 8) as u8),
                inner: vlan.and_then(|(_, inner)| inner),
                ip_proto,
                addresses: [source, destination],
                ports: [from, to],
                tos,
            })
        }),
    ]
}

fn police() -> impl Strategy<Value = Police> {
    let numbers = (1u32..1000, 1u64..10_000_000_000, 1u32..1 << 20, 64u32..65_536, any::<bool>());
    numbers.prop_map(|(index, rate, burst, mtu, demote)| Police {
        index,
        rate: rate_of(rate),
        burst: whole_ticks(rate_of(rate), burst),
        mtu,
        demote,
    })
}

proptest! {
    #[test]
    fn qdiscs_come_back(kind in qdisc_kind(), stab in prop::option::of(stab())) {
        let qdisc = Qdisc { handle: Handle::new(1, 0), parent: Handle::ROOT, kind, stab };
        let object = qdisc::object(&qdisc);
        prop_assert_eq!(item(&object), Some(Item::Qdisc(qdisc)));
        prop_assert_eq!(shown(&object), Some(object));
    }

    #[test]
    fn classes_come_back(kind in class_kind(), minor in 1u16..) {
        let (handle, parent) = (Handle::new(2, minor), Handle::new(2, 0));
        let class = Class { handle, parent, kind, name: None };
        let object = class::object(&class);
        prop_assert_eq!(item(&object), Some(Item::Class(class)));
        prop_assert_eq!(shown(&object), Some(object));
    }

    #[test]
    fn filters_come_back(
        kind in filter_kind(),
        police in prop::collection::vec(police(), 0..3),
        priority in 1u16..,
        number in 1u32..0xfff,
    ) {
        let protocol = match &kind {
            FilterKind::Flower(fields) if fields.vlan.is_some() => Protocol::Vlan,
            _ => Protocol::Ip,
        };
        let (parent, class, is_gone) = (Handle::new(2, 0), Some(Handle::new(2, 7)), false);
        let filter =
            Filter { parent, priority, number, protocol, kind, class, police, is_gone };
        let object = filter::object(&filter);
        prop_assert_eq!(item(&object), Some(Item::Filter(filter)));
        prop_assert_eq!(shown(&object), Some(object));
    }

    /// Nothing that comes from outside is a surprise: it is read, or kept as it is, or left out.
    #[test]
    fn any_bytes_are_read(kind in 30u16..50, bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        if let Some(object) = Object::read(kind, &bytes, 0) {
            let _ = (shown(&object), Statistics::new(&object), parameters(&object));
        }
    }

    /// Messages with a valid beginning and one byte changed are read without a panic.
    #[test]
    fn any_byte_may_be_another(kind in qdisc_kind(), at in 0usize..200, byte: u8) {
        let qdisc = Qdisc { handle: Handle::new(1, 0), parent: Handle::ROOT, kind, stab: None };
        let Request { kind, mut payload, .. } = qdisc::object(&qdisc).request(Action::Add, 3);
        let place = at % payload.len();
        payload[place] = byte;
        if let Some(object) = Object::read(kind, &payload, 3) {
            let _ = (shown(&object), Statistics::new(&object), parameters(&object));
        }
    }

    /// A set-up of any objects is imported or refused, also where a byte of one is another.
    #[test]
    fn any_objects_are_imported(
        kinds in [qdisc_kind(), qdisc_kind()],
        classes in [class_kind(), class_kind()],
        filters in [filter_kind(), filter_kind()],
        wrong in prop::option::of((0usize..6, 0usize..200, any::<u8>())),
    ) {
        let root = Handle::new(1, 0);
        let places = [(root, Handle::ROOT), (Handle::new(2, 0), Handle::new(1, 1))];
        let mut objects: Vec<Object> = Vec::new();
        let [first, below] = kinds;
        // Most often the root is what its classes are of.
        let root_kind = match classes[0] {
            ClassKind::Hfsc(_) => QdiscKind::Hfsc { default: 1 },
            ClassKind::Htb(_) => QdiscKind::Htb { default: 1, r2q: 10 },
            ClassKind::Drr { .. } => QdiscKind::Drr,
            ClassKind::Qfq { .. } => QdiscKind::Qfq,
            ClassKind::Own => first,
        };
        for ((handle, parent), kind) in places.into_iter().zip([root_kind, below]) {
            objects.push(qdisc::object(&Qdisc { handle, parent, kind, stab: None }));
        }
        for (minor, kind) in (1..).zip(classes) {
            let handle = Handle::new(1, minor);
            objects.push(class::object(&Class { handle, parent: root, kind, name: None }));
        }
        for (number, kind) in (1..).zip(filters) {
            let (priority, class) = (number as u16, Some(Handle::new(1, number as u16)));
            let (protocol, police, is_gone, parent) = (Protocol::Ip, Vec::new(), false, root);
            objects.push(filter::object(&Filter {
                parent, priority, number, protocol, kind, class, police, is_gone,
            }));
        }
        if let Some((one, at, byte)) = wrong {
            let Request { kind, mut payload, .. } = objects[one].request(Action::Add, 3);
            let place = at % payload.len();
            payload[place] = byte;
            if let Some(object) = Object::read(kind, &payload, 3) {
                objects[one] = object;
            }
        }
        let objects: Vec<&Object> = objects.iter().collect();
        let options = Options { link_rate: Some(Rate(10_000_000)), ..Options::default() };
        let _ = import_objects(&objects, "#: 1:1 deadline = \"5ms\"\n", "eth0", &options);
    }
}
