//! Connecting: a server that is not there yet is waited for, but no longer than its time and the
//! program's own.
//!
//! Source: `connect(2)`, `socket(7)`, `SO_SNDTIMEO`: a limit of sending is one of connecting, too.

use super::socket::{SLICE, ended, is_ending, late};
use crate::peer::SocketPlace;
use rustix::fs::{AtFlags, Mode, OFlags, fstat, open, statat};
use rustix::io::Errno;
use rustix::net::addr::SocketAddrArg;
use rustix::net::sockopt::{Timeout, set_socket_timeout};
use rustix::net::{AddressFamily, SocketAddrUnix, SocketFlags, SocketType, connect, socket_with};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpStream, ToSocketAddrs};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long a server may take for a connection, and for all of a login.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// How long is waited. What the program does when it was asked to end already takes its time.
struct Patience {
    begun: Instant,
    was_ending: bool,
}

impl Patience {
    fn begin() -> Self {
        Self { begun: Instant::now(), was_ending: is_ending() }
    }

    fn check(&self) -> io::Result<()> {
        if is_ending() && !self.was_ending {
            return Err(ended());
        }
        if self.begun.elapsed() >= CONNECT_TIMEOUT { Err(late()) } else { Ok(()) }
    }
}

/// A local socket, and who could have put it there. Its directory is opened once, so that what is
/// read of the directory and of the name in it applies to what was connected to; and a path of any
/// length will do.
pub(super) fn local(path: &Path) -> io::Result<(UnixStream, SocketPlace)> {
    let (Some(directory), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let here = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let held = open(here, flags, Mode::empty())?;
    let through = PathBuf::from(format!("/proc/self/fd/{}", held.as_raw_fd()));
    // Without `/proc` the path must do.
    let through = if through.exists() { through.join(name) } else { path.to_owned() };
    let connected =
        reach(AddressFamily::UNIX, &SocketAddrUnix::new(&through)?, &Patience::begin())?;
    let maker = statat(&held, name, AtFlags::empty()).ok().map(|file| file.st_uid);
    Ok((connected.into(), SocketPlace { directory_owner: Some(fstat(&held)?.st_uid), maker }))
}

/// The first address of a name that answers.
pub(super) fn network(name: &str, port: u16) -> io::Result<TcpStream> {
    let patience = Patience::begin();
    let mut failure = io::Error::new(io::ErrorKind::NotFound, format!("{name} has no address"));
    for place in resolved(name, port, &patience)? {
        let family = if place.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        match reach(family, &place, &patience).map(TcpStream::from) {
            Ok(stream) => {
                // Every message waits for its answer: collecting small ones would only delay them.
                stream.set_nodelay(true)?;
                return Ok(stream);
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

/// The addresses of a name. The system's resolver cannot be interrupted, so that a thread of its
/// own waits for it.
fn resolved(name: &str, port: u16, patience: &Patience) -> io::Result<Vec<SocketAddr>> {
    if let Ok(number) = name.parse::<IpAddr>() {
        return Ok(vec![(number, port).into()]);
    }
    let (found, wanted) = channel();
    let name = name.to_owned();
    std::thread::Builder::new().name("resolver".to_owned()).spawn(move || {
        // Nobody waits for it any more when this fails.
        let _ = found.send((name.as_str(), port).to_socket_addrs().map(Vec::from_iter));
    })?;
    loop {
        match wanted.recv_timeout(SLICE) {
            Ok(found) => return found,
            Err(RecvTimeoutError::Timeout) => patience.check()?,
            Err(RecvTimeoutError::Disconnected) => return Err(io::ErrorKind::NotFound.into()),
        }
    }
}

/// Connects in slices of time.
fn reach(
    family: AddressFamily,
    to: &impl SocketAddrArg,
    patience: &Patience,
) -> io::Result<OwnedFd> {
    let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None)?;
    set_socket_timeout(&socket, Timeout::Send, Some(SLICE))?;
    loop {
        patience.check()?;
        match connect(&socket, to) {
            Ok(()) | Err(Errno::ISCONN) => return Ok(socket),
            // Under way, interrupted, or (a local one) no room in the queue of the listener.
            Err(Errno::INPROGRESS | Errno::ALREADY | Errno::INTR | Errno::AGAIN) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::net::{bind, listen};

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("assay-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        path
    }

    #[test]
    fn a_socket_is_reached_by_a_path_of_any_length_and_its_maker_is_told() {
        let top = scratch("connect");
        let deep = top.join("d".repeat(200));
        std::fs::create_dir(&deep).unwrap();
        for path in [deep.join("s"), top.join("s")] {
            let listener =
                socket_with(AddressFamily::UNIX, SocketType::STREAM, SocketFlags::CLOEXEC, None)
                    .unwrap();
            let held = std::fs::File::open(path.parent().unwrap()).unwrap();
            let short = format!("/proc/self/fd/{}/s", held.as_raw_fd());
            bind(&listener, &SocketAddrUnix::new(short).unwrap()).unwrap();
            listen(&listener, 1).unwrap();
            let (_, place) = local(&path).unwrap();
            let own = Some(rustix::process::geteuid().as_raw());
            assert_eq!((place.maker, place.directory_owner), (own, own));
        }
        assert!(
            local(&top.join("nothing")).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
        );
        std::fs::remove_dir_all(&top).unwrap();
    }

    #[test]
    fn names_and_numbers_are_resolved() {
        let patience = Patience::begin();
        assert_eq!(resolved("127.0.0.1", 5, &patience).unwrap(), ["127.0.0.1:5".parse().unwrap()]);
        assert!(!resolved("localhost", 5, &patience).unwrap().is_empty());
        assert!(resolved("no.such.name.invalid", 5, &patience).is_err());
    }
}
