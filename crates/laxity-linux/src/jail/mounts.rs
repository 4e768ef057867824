//! The file system of a jail: the machine's own, read-only, with empty folders where programs
//! write, and the recorder where the tools are.

use std::ffi::{CString, c_int, c_ulong};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

use super::recorder::{RECORDS, ROOM, TOOLS};
use crate::error::{Doing, Error};
use crate::sys::done;

/// Folders in which a script may write, each with its size and its permissions.
const OPEN: [(&str, &str); 3] = [
    ("/run", "size=64m,nr_inodes=16k,mode=755"),
    ("/tmp", "size=64m,nr_inodes=16k,mode=1777"),
    ("/var/tmp", "size=64m,nr_inodes=16k,mode=1777"),
];
/// What scripts may need of `/dev`.
const DEVICES: [&str; 5] = ["null", "zero", "full", "random", "urandom"];
/// Folders in which some files act when they are read.
const TRACES: [&str; 2] = ["/sys/kernel/debug", "/sys/kernel/tracing"];
/// Where the system's programs are.
const PROGRAMS: [&str; 4] = ["/usr/sbin", "/usr/bin", "/sbin", "/bin"];
/// Where programs are looked for that are named without their folder.
pub const PATH: &str =
    "/run/.laxity/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// Makes the file system of the calling process, which has mounts of its own, that of a jail. What
/// is to be `kept` is seen at its place even if that is in a folder that is empty otherwise.
pub fn lay_out(kept: &[&Path]) -> Result<(), Error> {
    mount("", "/", "", libc::MS_REC | libc::MS_PRIVATE, "").doing("take the mounts apart")?;
    let program = std::env::current_exe().and_then(|path| at(&path));
    let program = program.doing("find the program laxity itself")?;
    let devices: Vec<(&str, OwnedFd)> = DEVICES
        .iter()
        .filter_map(|name| Some((*name, at(&Path::new("/dev").join(name)).ok()?)))
        .collect();
    let kept: Vec<(&Path, OwnedFd)> = kept
        .iter()
        .filter(|path| OPEN.iter().any(|(open, _)| path.starts_with(open)))
        .filter_map(|path| Some((*path, at(path).ok()?)))
        .collect();
    let read_only = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
    attributes("/", read_only, 0, libc::AT_RECURSIVE).doing("make the file systems read-only")?;
    for (folder, options) in OPEN {
        if Path::new(folder).is_dir() {
            empty(folder, options).doing(format!("make an empty {folder}"))?;
        }
    }
    tools(&program).doing("put the recorder in place")?;
    for (path, opened) in &kept {
        keep(path, opened).doing(format!("show {}", path.display()))?;
    }
    for folder in TRACES.into_iter().filter(|folder| Path::new(folder).is_dir()) {
        empty(folder, "size=4k,nr_inodes=1,mode=755").doing(format!("hide {folder}"))?;
    }
    self::devices(&devices).doing("make a /dev")
}

/// Shows a folder or a file at its place again. A folder is shown by a file system of its own, in
/// which pipes and sockets are others than those outside.
fn keep(path: &Path, opened: &OwnedFd) -> io::Result<()> {
    let kind = fs::metadata(seen(opened))?;
    if !kind.is_dir() {
        // It may be in a folder that is shown already.
        if path.exists() || !kind.is_file() {
            return Ok(());
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        File::create(path)?;
        return bind(opened, path);
    }
    if !path.exists() {
        fs::create_dir_all(path)?;
        // Without it the script finds itself alone.
        let _ = layer(path, &Path::new(ROOM).join("empty"), &seen(opened));
    }
    Ok(())
}

/// Shows two folders as one, read-only; what is in the first hides what is in the second.
fn layer(place: &Path, first: &Path, second: &Path) -> io::Result<()> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV;
    let folders = format!("lowerdir={}:{}", first.display(), second.display());
    mount("overlay", place, "overlay", flags, &folders)
}

/// A room with the recorder under the names of the tools, and these in the place of the system's.
fn tools(program: &OwnedFd) -> io::Result<()> {
    let room = Path::new(ROOM);
    let (bin, tool) = (room.join("bin"), room.join("tool"));
    fs::create_dir_all(&bin)?;
    fs::create_dir(room.join("empty"))?;
    File::create(&tool)?;
    bind(program, &tool)?;
    TOOLS.iter().try_for_each(|name| symlink(&tool, bin.join(name)))?;
    let records = OpenOptions::new().create_new(true).append(true).open(RECORDS)?;
    records.set_permissions(fs::Permissions::from_mode(0o600))?;
    for folder in PROGRAMS {
        let folder = Path::new(folder);
        // Where `/bin` is another name of `/usr/bin` it is done with that.
        if !folder.is_dir() || folder.is_symlink() {
            continue;
        }
        if layer(folder, &bin, folder).is_err() {
            // Then those that are there.
            for name in TOOLS {
                let place = folder.join(name);
                if let Ok(place) = place.canonicalize()
                    && place.is_file()
                {
                    bind(program, &place)?;
                }
            }
        }
    }
    Ok(())
}

fn devices(devices: &[(&str, OwnedFd)]) -> io::Result<()> {
    empty("/dev", "size=1m,nr_inodes=64,mode=755")?;
    for (name, opened) in devices {
        let place = Path::new("/dev").join(name);
        File::create(&place)?;
        bind(opened, &place)?;
        // Among what is read-only, these are none of the machine's state.
        attributes(&place, 0, libc::MOUNT_ATTR_NODEV | libc::MOUNT_ATTR_RDONLY, 0)?;
    }
    let links = [("fd", ""), ("stdin", "/0"), ("stdout", "/1"), ("stderr", "/2")];
    for (name, file) in links {
        symlink(format!("/proc/self/fd{file}"), Path::new("/dev").join(name))?;
    }
    fs::create_dir("/dev/shm")
}

/// The processes of this namespace alone. To be called by the first of them.
pub fn processes() -> Result<(), Error> {
    let flags = libc::MS_RDONLY | libc::MS_NOSUID | libc::MS_NODEV | libc::MS_NOEXEC;
    mount("proc", "/proc", "proc", flags, "").doing("mount /proc")
}

fn at(path: &Path) -> io::Result<OwnedFd> {
    let file = OpenOptions::new().read(true).custom_flags(libc::O_PATH).open(path)?;
    Ok(file.into())
}

/// A path to an open file, also if mounts hide it.
fn seen(opened: &OwnedFd) -> PathBuf {
    format!("/proc/self/fd/{}", opened.as_raw_fd()).into()
}

fn bind(opened: &OwnedFd, place: &Path) -> io::Result<()> {
    mount(seen(opened), place, "", libc::MS_BIND | libc::MS_REC, "")
}

fn empty(folder: &str, options: &str) -> io::Result<()> {
    mount("tmpfs", folder, "tmpfs", libc::MS_NOSUID | libc::MS_NODEV, options)
}

fn path_of(path: impl AsRef<Path>) -> io::Result<CString> {
    Ok(CString::new(path.as_ref().as_os_str().as_bytes())?)
}

fn mount(
    source: impl AsRef<Path>,
    target: impl AsRef<Path>,
    kind: &str,
    flags: c_ulong,
    options: &str,
) -> io::Result<()> {
    let (source, target) = (path_of(source)?, path_of(target)?);
    let (kind, options) = (CString::new(kind)?, CString::new(options)?);
    let pointers = (source.as_ptr(), target.as_ptr(), kind.as_ptr(), options.as_ptr().cast());
    // SAFETY: all four point to texts that end with a zero and live as long as the call.
    done(unsafe { libc::mount(pointers.0, pointers.1, pointers.2, flags, pointers.3) })
}

/// Sets and clears attributes of a mount.
fn attributes(target: impl AsRef<Path>, set: u64, clear: u64, flags: c_int) -> io::Result<()> {
    let target = path_of(target)?;
    let asked = libc::mount_attr { attr_set: set, attr_clr: clear, propagation: 0, userns_fd: 0 };
    let (name, asked) = (target.as_ptr(), std::ptr::from_ref(&asked));
    let (call, size) = (libc::SYS_mount_setattr, size_of::<libc::mount_attr>());
    // SAFETY: `name` points to a text that ends with a zero, `asked` to `size` bytes, and both live
    // as long as the call.
    let done = unsafe { libc::syscall(call, libc::AT_FDCWD, name, flags, asked, size) };
    if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
