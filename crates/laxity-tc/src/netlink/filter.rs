//! Filters.

use super::attributes::{self, Attributes, find, find_u32, read as attributes_of};
use super::object::{OPTIONS, Object, Sort};
use super::{flower, police};
use crate::setup::{Filter, FilterKind, Handle, Protocol, U32, U32Key};

/// The bits of a filter's number that are its own: of u32 the others say in which table it is.
const OWN_NUMBER: u32 = 0xfff;

/// TCA_MATCHALL_CLASSID and ACT.
const MATCHALL: [u16; 2] = [1, 2];
/// What the kernel says beside: flags, counts, padding.
const MATCHALL_BESIDE: [u16; 3] = [3, 4, 5];
/// TCA_U32_CLASSID, ACT and SEL.
const U32_KINDS: [u16; 3] = [1, 7, 5];
/// What the kernel says beside: the table, flags, counts, padding.
const U32_BESIDE: [u16; 4] = [2, 11, 9, 12];
/// TC_U32_TERMINAL.
const TERMINAL: u8 = 1;

pub(super) fn object(filter: &Filter) -> Object {
    let Filter { parent, priority, number, protocol, kind, class, police: policed, .. } = filter;
    let (options, [class_kind, action_kind]) = match kind {
        // The last two are read and never given to the kernel.
        FilterKind::Matchall | FilterKind::Basic(_) | FilterKind::Fw(_) => {
            (Attributes::default(), MATCHALL)
        }
        FilterKind::Flower(fields) => (flower::options(fields, protocol), flower::FIELDS),
        FilterKind::U32(u32) => {
            let options = Attributes::default().with(U32_KINDS[2], &selector(&u32.keys));
            (options, [U32_KINDS[0], U32_KINDS[1]])
        }
    };
    let mut options = options.with_u32(class_kind, class.unwrap_or_default().0);
    if !policed.is_empty() {
        options = options.with(action_kind, &police::actions(policed).0);
    }
    let info = u32::from(*priority) << 16 | u32::from(protocol.ether_type().to_be());
    let object = Object::new(Sort::Filter, Handle(*number), *parent, kind.name());
    Object { info, ..object.with(OPTIONS, &options.0) }
}

pub(super) fn read(object: &Object) -> Option<Filter> {
    let ether_type = u16::from_be(object.info as u16);
    let mut protocols = Protocol::ALL.into_iter();
    let protocol = protocols.find(|protocol| protocol.ether_type() == ether_type)?;
    let options = object.options();
    let flags = FLAGS.iter().find(|(name, _)| *name == object.kind());
    let flags = flags.and_then(|(_, flags)| find_u32(options, *flags)).unwrap_or_default();
    if flags & SETTABLE_FLAGS != 0 {
        return None;
    }
    let has_only = |known: &[&[u16]]| {
        attributes_of(options).all(|(kind, _)| known.iter().any(|some| some.contains(&kind)))
    };
    let (kind, [class_kind, action_kind], number) = match object.kind().as_str() {
        "matchall" if has_only(&[&MATCHALL, &MATCHALL_BESIDE]) => {
            (FilterKind::Matchall, MATCHALL, object.handle.0)
        }
        "flower" => {
            let fields = flower::read_options(options)?;
            (FilterKind::Flower(fields), flower::FIELDS, object.handle.0)
        }
        "u32" if has_only(&[&U32_KINDS, &U32_BESIDE]) => {
            let keys = keys(find(options, U32_KINDS[2])?)?;
            let kind = FilterKind::U32(U32 { keys, ..U32::default() });
            (kind, [U32_KINDS[0], U32_KINDS[1]], object.handle.0 & OWN_NUMBER)
        }
        _ => return None,
    };
    let police = find(options, action_kind).map_or(Some(Vec::new()), police::read_actions)?;
    let class = Some(Handle(find_u32(options, class_kind)?));
    let (parent, priority, is_gone) = (object.parent, object.priority(), false);
    Some(Filter { parent, priority, number, protocol, kind, class, police, is_gone })
}

/// The attribute of flags, by kind, and those of them that are not the kernel's own to say.
const FLAGS: [(&str, u16); 3] = [("matchall", 3), ("u32", 11), ("flower", 22)];
/// TCA_CLS_FLAGS_SKIP_HW and SKIP_SW.
const SETTABLE_FLAGS: u32 = 3;

/// A filter of another kind as the kernel can be given it: without its devices and its own table.
pub(super) fn settable(object: &Object) -> Object {
    let kind = object.kind();
    let mut options = Attributes::default();
    let flags = FLAGS.iter().find(|(name, _)| *name == kind).map(|(_, flags)| *flags);
    for (attribute, value) in attributes_of(object.options()) {
        options = match attributes::u32_of(value) {
            Some(value) if Some(attribute) == flags => {
                options.with_u32(attribute, value & SETTABLE_FLAGS)
            }
            _ if kind == "u32" && U32_BESIDE.contains(&attribute) => options,
            _ => options.with(attribute, value),
        };
    }
    let own = if kind == "u32" { OWN_NUMBER } else { u32::MAX };
    let named = Object::new(Sort::Filter, Handle(object.handle.0 & own), object.parent, &kind);
    Object { info: object.info, ..named.with(OPTIONS, &options.0) }
}

/// Whether an object is no filter but a table that the kernel keeps filters in.
pub(super) fn is_table(object: &Object) -> bool {
    let is_u32 = object.kind() == "u32";
    object.handle.0 == 0 || is_u32 && object.handle.0 & OWN_NUMBER == 0
}

/// `tc_u32_sel`.
fn selector(keys: &[U32Key]) -> Vec<u8> {
    let mut selector = vec![0; 16];
    (selector[0], selector[2]) = (TERMINAL, keys.len().min(255) as u8);
    for key in keys.iter().take(255) {
        selector.extend(key.mask.to_be_bytes());
        selector.extend(key.value.to_be_bytes());
        selector.extend(key.offset.to_ne_bytes());
        selector.extend([0; 4]);
    }
    selector
}

fn keys(selector: &[u8]) -> Option<Vec<U32Key>> {
    let (head, keys) = selector.split_first_chunk::<16>()?;
    let plain = head[0] == TERMINAL && head[4..].iter().all(|byte| *byte == 0);
    let (keys, rest) = keys.as_chunks::<16>();
    let key = |key: &[u8; 16]| {
        let [mask, value, offset, indirect] = attributes::words(key)?;
        let (mask, value) = (u32::from_be(mask), u32::from_be(value));
        let (offset, is_behind_ip) = (offset as i32, false);
        (indirect == 0).then_some(U32Key { value, mask, offset, is_behind_ip })
    };
    let keys: Option<Vec<U32Key>> = keys.iter().map(key).collect();
    keys.filter(|keys| plain && rest.is_empty() && keys.len() == usize::from(head[2]))
}
