//! The parameters of `cake` as attributes (include/uapi/linux/pkt_sched.h, TCA_CAKE_*).

use laxity::overhead::Overhead;
use laxity::sched::cake::{Diffserv, Isolation};
use laxity::units::Nanos;

use super::attributes::{Attributes, find, find_u32};
use crate::setup::Cake;
use crate::setup::cake::{ACK_FILTER, FRAMING, HEADER, number};
use crate::setup::units::{bytes_a_second, micros, rate_of};

const BASE_RATE64: u16 = 2;
const DIFFSERV_MODE: u16 = 3;
const ATM: u16 = 4;
const FLOW_MODE: u16 = 5;
const OVERHEAD: u16 = 6;
const RTT: u16 = 7;
const TARGET: u16 = 8;
const AUTORATE: u16 = 9;
const MEMORY: u16 = 10;
const NAT: u16 = 11;
const RAW: u16 = 12;
const WASH: u16 = 13;
const MPU: u16 = 14;
const INGRESS: u16 = 15;
const ACK: u16 = 16;
const SPLIT_GSO: u16 = 17;
const FWMARK: u16 = 18;

/// All of them, for the kernel keeps what it is not told.
pub(super) fn options(cake: &Cake) -> Vec<u8> {
    let rtt = micros(cake.rtt).max(1);
    let overhead = cake.overhead.unwrap_or(Overhead { bytes: -HEADER, ..Overhead::NONE });
    let (bytes, least) = Cake::from_ip(&overhead);
    let all = Attributes::default()
        .with(BASE_RATE64, &bytes_a_second(cake.rate).to_ne_bytes())
        .with_u32(DIFFSERV_MODE, place(&Diffserv::ALL, cake.diffserv))
        .with_u32(ATM, number(&FRAMING, overhead.framing))
        .with_u32(FLOW_MODE, place(&Isolation::ALL, cake.isolation))
        .with(OVERHEAD, &bytes.to_ne_bytes())
        .with_u32(RTT, rtt)
        .with_u32(TARGET, (rtt / 20).max(1))
        .with_u32(AUTORATE, 0)
        .with_u32(MEMORY, cake.memory)
        .with_u32(NAT, cake.nat.into());
    let all = if cake.overhead.is_none() { all.with_u32(RAW, 0) } else { all };
    all.with_u32(WASH, cake.wash.into())
        .with_u32(MPU, least)
        .with_u32(INGRESS, cake.ingress.into())
        .with_u32(ACK, number(&ACK_FILTER, cake.ack_filter))
        .with_u32(SPLIT_GSO, cake.split_gso.into())
        .with_u32(FWMARK, cake.fwmark)
        .0
}

/// `None` if there is more than a [`Cake`] has. The kernel shows no `raw` without its attribute.
pub(super) fn read(options: &[u8]) -> Option<Cake> {
    let flag = |kind| find_u32(options, kind).map_or(Some(false), |value| Some(value != 0));
    let rate = find(options, BASE_RATE64)?.try_into().ok().map(u64::from_ne_bytes)?;
    let bytes = find_u32(options, OVERHEAD)?.cast_signed();
    let framed = Overhead {
        bytes: bytes.checked_sub(HEADER)?,
        at_least: find_u32(options, MPU)?,
        framing: value(&FRAMING, find_u32(options, ATM)?)?,
    };
    let rtt = Nanos(u64::from(find_u32(options, RTT)?) * 1_000);
    let is_known = !flag(AUTORATE)?;
    is_known.then_some(Cake {
        rate: rate_of(rate),
        diffserv: at(&Diffserv::ALL, find_u32(options, DIFFSERV_MODE)?)?,
        isolation: at(&Isolation::ALL, find_u32(options, FLOW_MODE)?)?,
        rtt,
        nat: flag(NAT)?,
        wash: flag(WASH)?,
        ack_filter: value(&ACK_FILTER, find_u32(options, ACK)?)?,
        split_gso: flag(SPLIT_GSO)?,
        ingress: flag(INGRESS)?,
        overhead: find(options, RAW).is_none().then_some(framed),
        memory: find_u32(options, MEMORY).unwrap_or_default(),
        fwmark: find_u32(options, FWMARK).unwrap_or_default(),
    })
}

fn place<T: Copy + PartialEq>(all: &[T], value: T) -> u32 {
    all.iter().position(|known| *known == value).unwrap_or_default() as u32
}

fn at<T: Copy>(all: &[T], number: u32) -> Option<T> {
    all.get(number as usize).copied()
}

fn value<T: Copy>(all: &[(&'static str, T)], number: u32) -> Option<T> {
    all.get(number as usize).map(|(_, value)| *value)
}
