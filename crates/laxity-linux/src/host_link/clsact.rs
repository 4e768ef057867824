//! Filters at an interface's ingress and egress, for kernels before tcx.
//!
//! They hang at a qdisc `clsact`, which may be there already, with filters of others (Linux,
//! net/sched/sch_ingress.c and cls_bpf.c).

use std::io;
use std::os::fd::RawFd;

use netlink_packet_core::{NLM_F_CREATE, NLM_F_DUMP, NLM_F_EXCL};
use netlink_packet_route::RouteNetlinkMessage;
use netlink_packet_route::tc::{
    TcAttribute, TcBpfFlags, TcFilterBpf, TcFilterBpfOption, TcHandle, TcMessage, TcOption,
};

use super::attachment::Hook;
use crate::netlink;
use crate::rtnetlink::{Message, Rtnetlink};

/// What `tc filter` calls them.
const NAME: &str = "laxity";
/// Before all others, so that these see a frame once, when it has been scheduled.
const PRIORITY: u32 = 1;
/// The priority, and frames of every protocol.
const INFO: u32 = PRIORITY << 16 | (libc::ETH_P_ALL as u16).to_be() as u32;
/// The qdisc's own number.
const OWN: TcHandle = TcHandle { major: u16::MAX, minor: 0 };

/// The qdisc of an interface.
#[derive(Debug)]
pub(super) struct Clsact {
    interface: i32,
    /// Whether it was not there before.
    is_own: bool,
}

impl Hook {
    const BOTH: [Hook; 2] = [Hook::Ingress, Hook::Egress];

    fn parent(self) -> TcHandle {
        let minor = match self {
            Hook::Ingress => TcHandle::MIN_INGRESS,
            Hook::Egress => TcHandle::MIN_EGRESS,
        };
        TcHandle { major: u16::MAX, minor }
    }
}

impl Clsact {
    /// That of the interface of this number, made if it is not there. Filters are removed that were
    /// left by processes that are gone.
    ///
    /// # Errors
    /// EEXIST if a qdisc `ingress` is in its place; EBUSY if filters of another kind have the first
    /// priority; otherwise what the kernel refuses.
    pub(super) fn new(socket: &mut Rtnetlink, interface: u32) -> io::Result<Clsact> {
        let interface = i32::try_from(interface).map_err(io::Error::other)?;
        let mut clsact = Clsact { interface, is_own: false };
        match clsact.kind(socket)?.as_deref() {
            Some("clsact") => clsact.clear(socket)?,
            Some(_) => return Err(io::Error::from_raw_os_error(libc::EEXIST)),
            None => {
                let mut qdisc = clsact.message(OWN, TcHandle::CLSACT);
                qdisc.attributes.push(TcAttribute::Kind("clsact".into()));
                let qdisc = RouteNetlinkMessage::NewQueueDiscipline(qdisc);
                carry_out(socket, &qdisc, NLM_F_CREATE | NLM_F_EXCL)?;
                clsact.is_own = true;
            }
        }
        Ok(clsact)
    }

    /// Adds a program as the first filter, under a number.
    ///
    /// # Errors
    /// If the kernel refuses.
    pub(super) fn add(
        &self,
        socket: &mut Rtnetlink,
        hook: Hook,
        program: RawFd,
        number: u32,
    ) -> io::Result<()> {
        let mut filter = self.filter(hook, number);
        let options = [
            TcFilterBpfOption::ProgFd(program as u32),
            TcFilterBpfOption::ProgName(NAME.into()),
            TcFilterBpfOption::Flags(TcBpfFlags::DirectAction),
        ];
        filter.attributes.push(TcAttribute::Options(options.map(TcOption::Bpf).into()));
        carry_out(socket, &RouteNetlinkMessage::NewTrafficFilter(filter), NLM_F_CREATE | NLM_F_EXCL)
    }

    /// Takes the filters of this number away, and then the qdisc, if it was not there before and
    /// nobody else has filters there. What is gone already is no failure.
    pub(super) fn remove(&self, socket: &mut Rtnetlink, number: u32) {
        for hook in Hook::BOTH {
            let filter = RouteNetlinkMessage::DelTrafficFilter(self.filter(hook, number));
            let _gone = carry_out(socket, &filter, 0);
        }
        let is_empty = |hook: Hook| {
            let filters = dump(socket, RouteNetlinkMessage::GetTrafficFilter, &self.at(hook));
            filters.is_ok_and(|filters| filters.is_empty())
        };
        if self.is_own && Hook::BOTH.into_iter().all(is_empty) {
            let qdisc = self.message(OWN, TcHandle::CLSACT);
            let _gone = carry_out(socket, &RouteNetlinkMessage::DelQueueDiscipline(qdisc), 0);
        }
    }

    /// The kind of what is in its place.
    fn kind(&self, socket: &mut Rtnetlink) -> io::Result<Option<String>> {
        let all = self.message(TcHandle::UNSPEC, TcHandle::UNSPEC);
        let all = dump(socket, RouteNetlinkMessage::GetQueueDiscipline, &all)?;
        let mut read =
            all.into_iter().filter_map(|(kind, payload)| match netlink::read(kind, &payload)? {
                RouteNetlinkMessage::NewQueueDiscipline(qdisc) => Some(qdisc),
                _ => None,
            });
        let own = read.find(|qdisc| {
            (qdisc.header.index, qdisc.header.parent) == (self.interface, TcHandle::CLSACT)
        });
        Ok(own.as_ref().and_then(kind).map(String::from))
    }

    /// Removes what was left by processes that are gone.
    fn clear(&self, socket: &mut Rtnetlink) -> io::Result<()> {
        let devices: Vec<u32> =
            netlink::links(socket)?.into_iter().map(|link| link.header.index).collect();
        for hook in Hook::BOTH {
            let filters = dump(socket, RouteNetlinkMessage::GetTrafficFilter, &self.at(hook))?;
            for (kind, payload) in filters {
                let Some(RouteNetlinkMessage::NewTrafficFilter(filter)) =
                    netlink::read(kind, &payload)
                else {
                    continue;
                };
                let is_first = filter.header.info >> 16 == PRIORITY;
                if is_first && (filter.header.info != INFO || !is_program(&filter)) {
                    return Err(io::Error::from_raw_os_error(libc::EBUSY));
                }
                let number = u32::from(filter.header.handle);
                if is_first && is_ours(&filter) && !devices.contains(&number) {
                    let left = RouteNetlinkMessage::DelTrafficFilter(self.filter(hook, number));
                    carry_out(socket, &left, 0)?;
                }
            }
        }
        Ok(())
    }

    fn at(&self, hook: Hook) -> TcMessage {
        self.message(TcHandle::UNSPEC, hook.parent())
    }

    fn filter(&self, hook: Hook, number: u32) -> TcMessage {
        let mut filter = self.message(number.into(), hook.parent());
        filter.header.info = INFO;
        filter.attributes.push(TcAttribute::Kind(TcFilterBpf::KIND.into()));
        filter
    }

    fn message(&self, handle: TcHandle, parent: TcHandle) -> TcMessage {
        let mut message = TcMessage::with_index(self.interface);
        (message.header.handle, message.header.parent) = (handle, parent);
        message
    }
}

fn kind(message: &TcMessage) -> Option<&str> {
    message.attributes.iter().find_map(|attribute| match attribute {
        TcAttribute::Kind(kind) => Some(kind.as_str()),
        _ => None,
    })
}

fn is_program(filter: &TcMessage) -> bool {
    kind(filter) == Some(TcFilterBpf::KIND)
}

fn is_ours(filter: &TcMessage) -> bool {
    filter.attributes.iter().any(|attribute| {
        match attribute {
        TcAttribute::Options(options) => options.iter().any(|option| {
            matches!(option, TcOption::Bpf(TcFilterBpfOption::ProgName(name)) if name == NAME)
        }),
        _ => false,
    }
    })
}

fn carry_out(socket: &mut Rtnetlink, message: &RouteNetlinkMessage, flags: u16) -> io::Result<()> {
    let (kind, payload) = netlink::written(message);
    let refusal = socket.batch(&[Message { kind, flags, payload: &payload }])?.pop();
    refusal.map_or(Ok(()), |refusal| Err(refusal.error))
}

/// The messages by which the kernel answers, also those that cannot be read.
fn dump(
    socket: &mut Rtnetlink,
    question: fn(TcMessage) -> RouteNetlinkMessage,
    at: &TcMessage,
) -> io::Result<Vec<(u16, Vec<u8>)>> {
    let (kind, payload) = netlink::written(&question(at.clone()));
    let question = Message { kind, flags: NLM_F_DUMP, payload: &payload };
    socket.dumped(&question, |kind, payload| Some((kind, payload.to_vec())))
}
