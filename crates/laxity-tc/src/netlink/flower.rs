//! The fields that `flower` compares (TCA_FLOWER_KEY_*).

use std::net::IpAddr;

use super::attributes::{Attributes, find, read};
use crate::setup::{Flower, Ports, Protocol};

const CLASS: u16 = 1;
const ACTIONS: u16 = 3;
const ETHER_TYPE: u16 = 8;
const IP_PROTO: u16 = 9;
/// Address and mask, of the source and of the destination.
const IPV4: [[u16; 2]; 2] = [[10, 11], [12, 13]];
const IPV6: [[u16; 2]; 2] = [[14, 15], [16, 17]];
/// Port and mask by protocol, of the source and of the destination.
const PORTS: [(u8, [[u16; 2]; 2]); 3] =
    [(6, [[18, 35], [19, 36]]), (17, [[20, 37], [21, 38]]), (132, [[41, 39], [42, 40]])];
/// First and last port, of the source and of the destination.
const RANGES: [[u16; 2]; 2] = [[87, 88], [89, 90]];
const TOS: [u16; 2] = [73, 74];
const VLAN_ID: u16 = 23;
const VLAN_PRIORITY: u16 = 24;
const VLAN_ETHER_TYPE: u16 = 25;
/// What the kernel says beside: flags, how many devices have it, the type of frames.
const BESIDE: [u16; 3] = [22, 86, ETHER_TYPE];

pub(super) const FIELDS: [u16; 2] = [CLASS, ACTIONS];

pub(super) fn options(flower: &Flower, protocol: &Protocol) -> Attributes {
    let ether_type = |protocol: &Protocol| protocol.ether_type().to_be_bytes();
    let outer = Some(protocol).filter(|protocol| **protocol != Protocol::All);
    let mut all = Attributes::default()
        .with_some(ETHER_TYPE, outer.map(ether_type))
        .with_some(VLAN_ID, flower.vlan.map(u16::to_ne_bytes))
        .with_some(VLAN_PRIORITY, flower.pcp.map(|pcp| [pcp]))
        .with_some(VLAN_ETHER_TYPE, flower.inner.as_ref().map(ether_type))
        .with_some(IP_PROTO, flower.ip_proto.map(|number| [number]));
    for (side, (address, prefix)) in
        flower.addresses.into_iter().enumerate().filter_map(|(side, net)| Some((side, net?)))
    {
        let (kinds, octets) = match address {
            IpAddr::V4(address) => (IPV4[side], address.octets().to_vec()),
            IpAddr::V6(address) => (IPV6[side], address.octets().to_vec()),
        };
        let free = 128u32.saturating_sub(prefix.into());
        let mask = u128::MAX.checked_shl(free).unwrap_or(0).to_be_bytes();
        all = all.with(kinds[0], &octets).with(kinds[1], &mask[..octets.len()]);
    }
    for (side, ports) in flower.ports.into_iter().enumerate() {
        let of_protocol = PORTS.iter().find(|(protocol, _)| Some(*protocol) == flower.ip_proto);
        all = match (ports, of_protocol) {
            (Some(Ports::Masked(port, mask)), Some((_, kinds))) => {
                let [kind, mask_kind] = kinds[side];
                all.with(kind, &port.to_be_bytes()).with(mask_kind, &mask.to_be_bytes())
            }
            (Some(ports), _) => {
                let (Ports::Range(first, last) | Ports::Masked(first, last)) = ports;
                // A filter without a protocol compares ranges alone.
                let last = if matches!(ports, Ports::Masked(..)) { first } else { last };
                let [from, to] = RANGES[side];
                all.with(from, &first.to_be_bytes()).with(to, &last.to_be_bytes())
            }
            (None, _) => all,
        };
    }
    let (tos, mask) = (flower.tos.map(|(tos, _)| [tos]), flower.tos.map(|(_, mask)| [mask]));
    all.with_some(TOS[0], tos).with_some(TOS[1], mask)
}

/// Reads the fields that a filter compares; `None` if it compares another one.
pub(super) fn read_options(options: &[u8]) -> Option<Flower> {
    let fields = Fields(options);
    let ip_proto = fields.byte(IP_PROTO)?;
    let of_protocol = PORTS.iter().find(|(protocol, _)| Some(*protocol) == ip_proto);
    let mut known: Vec<u16> = [&BESIDE[..], &FIELDS].concat();
    known.extend([IP_PROTO, VLAN_ID, VLAN_PRIORITY, VLAN_ETHER_TYPE, TOS[0], TOS[1]]);
    known.extend([IPV4, IPV6, RANGES].as_flattened().as_flattened());
    known.extend(of_protocol.into_iter().flat_map(|(_, kinds)| kinds.as_flattened()));
    if !read(options).all(|(kind, _)| known.contains(&kind)) {
        return None;
    }
    let ports = |side: usize| fields.ports(of_protocol.map(|(_, kinds)| kinds[side]), RANGES[side]);
    let inner = match fields.short(VLAN_ETHER_TYPE)?.map(u16::from_be_bytes) {
        Some(kind) => {
            let all = [Protocol::Ip, Protocol::Ipv6];
            Some(all.into_iter().find(|protocol| protocol.ether_type() == kind)?)
        }
        None => None,
    };
    let tos = match (fields.byte(TOS[0])?, fields.byte(TOS[1])?) {
        (Some(tos), mask) => Some((tos, mask.unwrap_or(u8::MAX))),
        (None, _) => None,
    };
    Some(Flower {
        vlan: fields.short(VLAN_ID)?.map(u16::from_ne_bytes),
        pcp: fields.byte(VLAN_PRIORITY)?,
        inner,
        ip_proto,
        addresses: [fields.address(0)?, fields.address(1)?],
        ports: [ports(0)?, ports(1)?],
        tos,
    })
}

/// Reads what may be there: `None` if it is there and is not of the length that it must have.
struct Fields<'a>(&'a [u8]);

impl Fields<'_> {
    fn value<const N: usize>(&self, kind: u16) -> Option<Option<[u8; N]>> {
        find(self.0, kind).map_or(Some(None), |value| value.try_into().ok().map(Some))
    }

    fn byte(&self, kind: u16) -> Option<Option<u8>> {
        Some(self.value::<1>(kind)?.map(|[byte]| byte))
    }

    fn short(&self, kind: u16) -> Option<Option<[u8; 2]>> {
        self.value(kind)
    }

    fn address(&self, side: usize) -> Option<Option<(IpAddr, u8)>> {
        let net = |address: IpAddr, leading: u32, ones: u32| {
            (leading == ones).then_some(Some((address, leading as u8)))
        };
        if let Some(address) = self.value::<4>(IPV4[side][0])? {
            let mask = self.value(IPV4[side][1])?.map_or(u32::MAX, u32::from_be_bytes);
            return net(address.into(), mask.leading_ones(), mask.count_ones());
        }
        if let Some(address) = self.value::<16>(IPV6[side][0])? {
            let mask = self.value(IPV6[side][1])?.map_or(u128::MAX, u128::from_be_bytes);
            return net(address.into(), mask.leading_ones(), mask.count_ones());
        }
        Some(None)
    }

    fn ports(&self, one: Option<[u16; 2]>, range: [u16; 2]) -> Option<Option<Ports>> {
        let port = |kind| self.short(kind).map(|port| port.map(u16::from_be_bytes));
        if let (Some(first), Some(last)) = (port(range[0])?, port(range[1])?) {
            return Some(Some(Ports::new(first, last)));
        }
        let Some([kind, mask]) = one else { return Some(None) };
        let mask = port(mask)?.unwrap_or(u16::MAX);
        Some(port(kind)?.map(|port| Ports::Masked(port, mask)))
    }
}
