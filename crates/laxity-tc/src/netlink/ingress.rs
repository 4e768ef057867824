//! What leads frames that arrive at an interface to a device whose discipline they wait in: a qdisc
//! `clsact` with a filter, and the device, an `ifb` (Linux, net/sched/act_mirred.c and
//! drivers/net/ifb.c).

use super::attributes::{Attributes, bytes, find, read, words};
use super::object::{OPTIONS, Object, Request, Sort};
use crate::setup::Handle;

/// The number of `clsact`, as of `ingress`, which hangs in the same place.
pub const CLSACT: Handle = Handle::new(0xffff, 0);
/// Where filters for frames that arrive hang (TC_H_MIN_INGRESS).
pub const ARRIVING: Handle = Handle::new(0xffff, 0xfff2);
/// Where those hang that `clsact` has for frames that leave (TC_H_MIN_EGRESS).
pub const LEAVING: Handle = Handle::new(0xffff, 0xfff3);
/// The parent of `clsact` (TC_H_CLSACT).
const PLACE: Handle = Handle(0xffff_fff1);

/// The priority of the filter: behind the first, which `laxity live` takes.
pub const PRIORITY: u16 = 2;
/// The number that the kernel gives to the only filter of its kind at a priority.
const NUMBER: Handle = Handle(1);
/// Frames of every protocol (ETH_P_ALL).
const ALL: u16 = 3;

/// TCA_MATCHALL_ACT.
const MATCHALL_ACT: u16 = 2;
/// TCA_ACT_KIND and TCA_ACT_OPTIONS.
const ACTION: [u16; 2] = [1, 2];
/// TCA_MIRRED_PARMS.
const MIRRED: u16 = 2;
/// TC_ACT_STOLEN: nothing else happens to the frame.
const STOLEN: u32 = 4;
/// TCA_EGRESS_REDIR.
const EGRESS_REDIRECT: u32 = 1;

/// RTM_NEWLINK; one more deletes.
const NEW_LINK: u16 = 16;
/// NLM_F_EXCL and NLM_F_CREATE.
const NEW: u16 = 0x600;
/// IFF_UP.
const UP: u32 = 1;
/// IFLA_IFNAME and IFLA_LINKINFO.
const LINK: [u16; 2] = [3, 18];
/// IFLA_INFO_KIND.
const LINK_KIND: u16 = 1;
/// What `ip link` calls the kind of the device.
pub const IFB: &str = "ifb";
/// The longest name of an interface (IFNAMSIZ, with the byte that ends it).
const LONGEST_NAME: usize = 15;

/// The name of the device for frames that arrive at an interface: `ifb-` and its name, or the end
/// of a long one.
pub fn device(interface: &str) -> String {
    let room = LONGEST_NAME - IFB.len() - 1;
    let mut ends = interface.char_indices().map(|(at, _)| &interface[at..]);
    let end = ends.find(|end| end.len() <= room).unwrap_or_default();
    format!("{IFB}-{end}")
}

/// The qdisc at which filters for arriving frames hang.
pub fn clsact() -> Object {
    Object::new(Sort::Qdisc, CLSACT, PLACE, "clsact")
}

/// Whether an object hangs where `clsact` does, whatever it is.
pub fn is_in_place(object: &Object) -> bool {
    object.sort == Sort::Qdisc && object.parent == PLACE
}

/// The filter that leads every frame that arrives to the device of this number.
pub fn redirect(device: u32) -> Object {
    let mirred = bytes(&[0, 0, STOLEN, 0, 0, EGRESS_REDIRECT, device]);
    let action = Attributes::default()
        .with_text(ACTION[0], "mirred")
        .with(ACTION[1], &Attributes::default().with(MIRRED, &mirred).0);
    let actions = Attributes::default().with(1, &action.0);
    let options = Attributes::default().with(MATCHALL_ACT, &actions.0);
    let filter = Object::new(Sort::Filter, NUMBER, ARRIVING, "matchall");
    let info = u32::from(PRIORITY) << 16 | u32::from(ALL.to_be());
    Object { info, ..filter.with(OPTIONS, &options.0) }
}

/// Where a filter leads frames, if it is one of [`redirect`].
pub fn redirected(filter: &Object) -> Option<u32> {
    let place = redirect(0);
    let is_alike = (filter.parent, filter.info) == (place.parent, place.info);
    let actions = find(filter.options(), MATCHALL_ACT)?;
    let (_, action) = read(actions).next()?;
    let is_mirred = find(action, ACTION[0])? == b"mirred\0";
    let [_, _, result, _, _, what, device] = words(find(find(action, ACTION[1])?, MIRRED)?)?;
    let is_redirect = is_mirred && (result, what) == (STOLEN, EGRESS_REDIRECT);
    (is_alike && filter.kind() == place.kind() && is_redirect).then_some(device)
}

/// Makes a device of this name and number, and switches it on. Refused if either is taken.
pub fn add_device(name: &str, number: u32) -> Request {
    let kind = Attributes::default().with_text(LINK_KIND, IFB);
    let attributes = Attributes::default().with_text(LINK[0], name).with(LINK[1], &kind.0);
    let payload = [link(number, UP), attributes.0].concat();
    Request { kind: NEW_LINK, flags: NEW, payload }
}

/// Removes a device and all that hangs at it.
pub fn remove_device(number: u32) -> Request {
    Request { kind: NEW_LINK + 1, flags: 0, payload: link(number, 0) }
}

/// `struct ifinfomsg`.
fn link(number: u32, flags: u32) -> Vec<u8> {
    bytes(&[0, number, flags, flags])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_says_where_it_leads() {
        assert_eq!(redirected(&redirect(7)), Some(7));
        assert_eq!(redirected(&clsact()), None);
        let elsewhere = Object { info: 1 << 16, ..redirect(7) };
        assert_eq!(redirected(&elsewhere), None);
    }

    #[test]
    fn names_of_devices_are_names_of_interfaces() {
        assert_eq!(device("eth0"), "ifb-eth0");
        assert_eq!(device("enp0s20f0u1u2c3"), "ifb-s20f0u1u2c3");
        assert!(device("enp0s20f0u1u2c3").len() <= LONGEST_NAME);
    }
}
