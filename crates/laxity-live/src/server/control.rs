//! The socket by which its user controls a process.

use std::env;
use std::fs::{self, DirBuilder, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};

use super::ServerError;
use crate::file::folder_of;

/// A Unix socket of one user, not yet listened at.
#[derive(Debug)]
pub struct ControlSocket {
    listener: UnixListener,
    path: PathBuf,
    owner: u32,
}

impl ControlSocket {
    /// Binds a socket that its user alone may connect to. One that was left behind is replaced, a
    /// folder that is missing is made.
    ///
    /// # Errors
    /// If a process listens there, something else is there, or the system refuses.
    pub fn bind(path: &Path) -> Result<Self, ServerError> {
        let refused = |cause| ServerError::Listen { at: path.display().to_string(), cause };
        match UnixStream::connect(path) {
            Ok(_) => return Err(ServerError::InUse(path.to_path_buf())),
            Err(error) => is_free(path, &error).map_err(refused)?,
        }
        DirBuilder::new().recursive(true).mode(0o700).create(folder_of(path)).map_err(refused)?;
        ControlSocket::put(path).map_err(refused)
    }

    /// Binds it beside its place and moves it there, so that it is at no time anyone else's.
    fn put(path: &Path) -> io::Result<Self> {
        let beside = path.with_extension(format!("{}", std::process::id()));
        let listener = UnixListener::bind(&beside)?;
        let moved = fs::set_permissions(&beside, Permissions::from_mode(0o600))
            .and_then(|()| fs::metadata(&beside))
            .and_then(|metadata| fs::rename(&beside, path).map(|()| metadata.uid()));
        let owner = moved.inspect_err(|_| drop(fs::remove_file(&beside)))?;
        listener.set_nonblocking(true)?;
        Ok(ControlSocket { listener, path: path.to_path_buf(), owner })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn folder(&self) -> PathBuf {
        folder_of(&self.path)
    }

    /// The socket, and the user whom it belongs to.
    pub(super) fn into_listener(self) -> (UnixListener, u32) {
        (self.listener, self.owner)
    }
}

/// Whether a path that nobody answers at may be taken.
fn is_free(path: &Path, refused: &io::Error) -> io::Result<()> {
    use std::os::unix::fs::FileTypeExt;
    match fs::symlink_metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(there) if !there.file_type().is_socket() => {
            Err(io::Error::new(io::ErrorKind::AlreadyExists, "it is there and no socket"))
        }
        Ok(_) if refused.kind() == io::ErrorKind::ConnectionRefused => Ok(()),
        Ok(_) => Err(io::Error::new(refused.kind(), refused.to_string())),
    }
}

/// The folder of a user's control sockets, or of the system's where users have none.
fn own_folder() -> PathBuf {
    let own = env::var_os("XDG_RUNTIME_DIR").filter(|own| !own.is_empty()).map(PathBuf::from);
    own.unwrap_or_else(|| SYSTEM.into()).join(FOLDER)
}

const SYSTEM: &str = "/run";
const FOLDER: &str = "laxity";

/// Where the control socket is of a link between these interfaces, or of routers from the first to
/// the last of these nodes, unless someone says otherwise: `eth1-eth0.sock` in
/// `$XDG_RUNTIME_DIR/laxity`, or in `/run/laxity` where there is no such folder.
pub fn control_socket_of(names: &[&str]) -> PathBuf {
    // Nodes may be called anything.
    own_folder().join(format!("{}.sock", names.join("-").replace(['/', '\0'], "_")))
}

/// The same for who watches between these interfaces, perhaps beside who forwards:
/// `eth1-eth0.watch.sock`.
pub fn watch_socket_of([from, to]: [&str; 2]) -> PathBuf {
    own_folder().join(format!("{from}-{to}.watch.sock"))
}

/// The control sockets that the caller can connect to.
///
/// They are those of the user, of the system, and of services. Each service has a folder
/// `/run/laxity-NAME`.
pub(crate) fn answering() -> Vec<PathBuf> {
    let is_ours = |folder: &PathBuf| {
        let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
        name.strip_prefix(FOLDER).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
    };
    let mut folders: Vec<PathBuf> = files_of(Path::new(SYSTEM)).filter(is_ours).collect();
    folders.push(own_folder());
    let sockets = folders.iter().flat_map(|folder| files_of(folder));
    let mut sockets: Vec<_> = sockets.filter(|path| UnixStream::connect(path).is_ok()).collect();
    sockets.sort();
    sockets.dedup();
    sockets
}

fn files_of(folder: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|file| file.path())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_socket_is_its_users_alone_and_a_stale_one_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("runtime/a-b.sock");
        drop(ControlSocket::bind(&path).unwrap());
        assert!(path.exists(), "left behind, as by a process that was killed");
        let socket = ControlSocket::bind(&path).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().mode() & 0o777;
        assert_eq!((mode(&path), mode(path.parent().unwrap())), (0o600, 0o700));
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
        assert!(matches!(ControlSocket::bind(&path), Err(ServerError::InUse(_))));
        drop(socket);
    }

    #[test]
    fn nothing_but_a_socket_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("notes.txt");
        fs::write(&path, "mine").unwrap();
        let refused = ControlSocket::bind(&path).unwrap_err().to_string();
        assert!(refused.contains("notes.txt") && refused.contains("no socket"), "{refused}");
        assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
        let long = folder.path().join("x".repeat(200));
        assert!(matches!(ControlSocket::bind(&long), Err(ServerError::Listen { .. })));
    }
}
