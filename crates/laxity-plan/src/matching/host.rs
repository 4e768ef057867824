//! What a host knows of its own packets beside their headers.

use super::Expr;

/// What a host knows of a packet that its own stack sends, forwards or receives. Zeros where there
/// is nothing to know, as in captures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HostMarks {
    /// The packet's mark: `SO_MARK`, or `meta mark` of netfilter.
    pub mark: u32,
    /// The mark of its connection: `ct mark` of netfilter.
    pub connection_mark: u32,
    /// The packet's priority: `SO_PRIORITY`, or `meta priority` of netfilter.
    pub priority: u32,
    /// Numbers of the control group (version 2) of the socket that sends it, and of those above it
    /// at the first levels below the root.
    pub cgroups: [u64; 4],
}

/// A test of what a host knows of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum HostTest {
    /// Its mark is one of these.
    Mark(Box<[MaskedMark]>),
    /// The mark of its connection is one of these.
    ConnectionMark(Box<[MaskedMark]>),
    /// Its priority is one of these.
    Priority(Box<[u32]>),
    /// A process in this control group, or in one below it, sends it.
    Cgroup(Cgroup),
}

/// A mark, and the bits of it that count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MaskedMark {
    value: u32,
    mask: u32,
}

/// A control group by its path below the root of the hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroup {
    pub(super) path: Box<str>,
    /// Its number on this host, once that was looked up.
    number: Option<u64>,
}

impl HostTest {
    pub(super) fn holds(&self, host: &HostMarks) -> bool {
        let is_among = |marks: &[MaskedMark], mark| marks.iter().any(|masked| masked.takes(mark));
        match self {
            HostTest::Mark(marks) => is_among(marks, host.mark),
            HostTest::ConnectionMark(marks) => is_among(marks, host.connection_mark),
            HostTest::Priority(priorities) => priorities.contains(&host.priority),
            HostTest::Cgroup(Cgroup { number, .. }) => {
                number.is_some_and(|number| host.cgroups.contains(&number))
            }
        }
    }
}

impl MaskedMark {
    /// The marks that are `value` in the bits of the `mask`; bits beyond it do not count.
    pub fn new(value: u32, mask: u32) -> Self {
        MaskedMark { value: value & mask, mask }
    }

    /// The value, and the bits that count.
    pub fn parts(self) -> (u32, u32) {
        (self.value, self.mask)
    }

    fn takes(self, mark: u32) -> bool {
        mark & self.mask == self.value
    }
}

impl Cgroup {
    /// The control group of a path such as `system.slice/backup.service`. Slashes at its ends do
    /// not count.
    pub fn new(path: &str) -> Self {
        Cgroup { path: path.trim_matches('/').into(), number: None }
    }
}

impl Expr {
    /// Whether it tests what only a host knows of its own packets.
    pub fn needs_host(&self) -> bool {
        match self {
            Expr::Host(_) => true,
            Expr::Not(inner) => inner.needs_host(),
            Expr::All(parts) | Expr::Either(parts) => parts.iter().any(Expr::needs_host),
            Expr::Any
            | Expr::Version(_)
            | Expr::Protocol(_)
            | Expr::Port(..)
            | Expr::Address(..)
            | Expr::Dscp(_)
            | Expr::Ecn(_)
            | Expr::Vlan(_)
            | Expr::Pcp(_)
            | Expr::Tagged(_) => false,
        }
    }

    /// Looks up the numbers of all control groups by their paths.
    ///
    /// # Errors
    /// Those of `number`.
    pub(super) fn find_cgroups<E>(
        &mut self,
        number: &mut impl FnMut(&str) -> Result<u64, E>,
    ) -> Result<(), E> {
        match self {
            Expr::Host(HostTest::Cgroup(group)) => group.number = Some(number(&group.path)?),
            Expr::Not(inner) => inner.find_cgroups(number)?,
            Expr::All(parts) | Expr::Either(parts) => {
                parts.iter_mut().try_for_each(|part| part.find_cgroups(number))?;
            }
            Expr::Host(_)
            | Expr::Any
            | Expr::Version(_)
            | Expr::Protocol(_)
            | Expr::Port(..)
            | Expr::Address(..)
            | Expr::Dscp(_)
            | Expr::Ecn(_)
            | Expr::Vlan(_)
            | Expr::Pcp(_)
            | Expr::Tagged(_) => {}
        }
        Ok(())
    }
}
