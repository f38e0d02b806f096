//! Opening and reading of files that others name: no wait for a pipe, and no more than a limit in
//! memory.

use crate::ending::is_ending;
use crate::owner::check_private;
use assay_model::number::{count_of, index_of};
use rustix::fs::OFlags;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

/// How long a pipe may say nothing.
const SILENCE: Duration = Duration::from_secs(60);
const POLL_INTERVAL: Duration = Duration::from_millis(10);
/// Bytes of one read.
const PIECE_BYTES: usize = 64 << 10;

fn open(path: &Path, flags: OFlags) -> io::Result<File> {
    let flags = (flags | OFlags::NONBLOCK).bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(flags).open(path)
}

fn checked(file: File) -> io::Result<File> {
    if file.metadata()?.is_file() {
        return Ok(file);
    }
    Err(io::Error::new(ErrorKind::InvalidInput, "it is not a regular file"))
}

/// Opens a plain file to read; anything else is refused and not waited for.
///
/// # Errors
/// Those of the system, and `InvalidInput` for a pipe, a device, a socket or a directory.
pub fn open_plain(path: &Path) -> io::Result<File> {
    checked(open(path, OFlags::empty())?)
}

/// All of a plain file.
///
/// # Errors
/// Those of [`open_plain`], and `FileTooLarge` above `bytes_max`.
pub fn read_plain(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read(open_plain(path)?, bytes_max)
}

/// All of a plain file that is not a link, and that only this user and root may read or write.
///
/// # Errors
/// The same, and `PermissionDenied` where others may.
pub fn read_private(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    let file = open(path, OFlags::NOFOLLOW).map_err(|error| {
        let is_link = error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
        if is_link {
            io::Error::new(ErrorKind::PermissionDenied, "it is a symbolic link")
        } else {
            error
        }
    })?;
    let file = checked(file)?;
    check_private(&file.metadata()?)?;
    read(file, bytes_max)
}

/// All of a file or of what a pipe gives.
///
/// # Errors
/// Those of the system, `FileTooLarge` above `bytes_max`, `TimedOut` where a pipe gives nothing for
/// 60 s, and `Interrupted` where the program is asked to end meanwhile.
pub fn read_bounded(path: &Path, bytes_max: u64) -> io::Result<Vec<u8>> {
    read(open(path, OFlags::empty())?, bytes_max)
}

/// The same with whose file it is.
///
/// # Errors
/// The same.
pub fn read_with_facts(path: &Path, bytes_max: u64) -> io::Result<(Vec<u8>, Metadata)> {
    let file = open(path, OFlags::empty())?;
    let facts = file.metadata()?;
    Ok((read(file, bytes_max)?, facts))
}

fn read(mut file: File, bytes_max: u64) -> io::Result<Vec<u8>> {
    let facts = file.metadata()?;
    if facts.is_dir() {
        return Err(io::Error::new(ErrorKind::IsADirectory, "it is a directory"));
    }
    check_length(facts.len(), bytes_max)?;
    let mut bytes = Vec::with_capacity(index_of(facts.len()));
    let mut piece = vec![0; PIECE_BYTES];
    let mut heard = Instant::now();
    loop {
        if is_ending() {
            return Err(ErrorKind::Interrupted.into());
        }
        match file.read(&mut piece) {
            // A pipe that nobody writes to is empty: who might write to it some day is not waited
            // for.
            Ok(0) => return Ok(bytes),
            Ok(length) => {
                heard = Instant::now();
                bytes.extend_from_slice(&piece[..length]);
                check_length(count_of(bytes.len()), bytes_max)?;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => wait(heard)?,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn check_length(length: u64, bytes_max: u64) -> io::Result<()> {
    if length <= bytes_max {
        return Ok(());
    }
    let what = match bytes_max >> 20 {
        0 => format!("it is longer than {bytes_max} bytes"),
        mebibytes => format!("it is longer than {mebibytes} MiB"),
    };
    Err(io::Error::new(ErrorKind::FileTooLarge, what))
}

fn wait(heard: Instant) -> io::Result<()> {
    if heard.elapsed() > SILENCE {
        return Err(io::Error::new(ErrorKind::TimedOut, "no program writes to this pipe"));
    }
    thread::sleep(POLL_INTERVAL);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    use std::fs;
    use std::io::Write;
    use std::os::fd::AsRawFd;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::PathBuf;

    fn scratch(name: &str) -> PathBuf {
        let path = std::env::temp_dir().join(format!("assay-files-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&path));
        fs::create_dir_all(&path).unwrap();
        path
    }

    fn pipe(path: &Path) {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
    }

    #[test]
    fn only_plain_files_are_opened_as_such() {
        let folder = scratch("plain");
        let (file, fifo) = (folder.join("file"), folder.join("fifo"));
        fs::write(&file, "text").unwrap();
        pipe(&fifo);
        assert_eq!(read_plain(&file, 4).unwrap(), b"text");
        assert_eq!(read_plain(&file, 3).unwrap_err().kind(), ErrorKind::FileTooLarge);
        for other in [&fifo, &folder, Path::new("/dev/zero")] {
            assert_eq!(read_plain(other, 4).unwrap_err().kind(), ErrorKind::InvalidInput);
        }
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn what_a_pipe_gives_is_read_to_its_end_and_what_has_no_end_is_bounded() {
        let folder = scratch("bounded");
        let fifo = folder.join("fifo");
        pipe(&fifo);
        assert_eq!(read_bounded(&fifo, 100).unwrap(), b"");
        let (reader, mut writer) = io::pipe().unwrap();
        writer.write_all(b"through a pipe").unwrap();
        drop(writer);
        let path = format!("/proc/self/fd/{}", reader.as_raw_fd());
        assert_eq!(read_bounded(Path::new(&path), 100).unwrap(), b"through a pipe");
        let endless = read_bounded(Path::new("/dev/zero"), 1 << 20).unwrap_err();
        assert!(endless.to_string().contains("longer than 1 MiB"), "{endless}");
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_private_file_is_no_link_and_of_nobody_else() {
        let folder = scratch("private");
        let (file, link) = (folder.join("file"), folder.join("link"));
        fs::write(&file, "secret").unwrap();
        symlink(&file, &link).unwrap();
        for (mode, is_private) in [(0o600, true), (0o400, true), (0o640, false), (0o602, false)] {
            fs::set_permissions(&file, fs::Permissions::from_mode(mode)).unwrap();
            assert_eq!(read_private(&file, 100).is_ok(), is_private, "{mode:o}");
        }
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert!(read_private(&link, 100).unwrap_err().to_string().contains("a symbolic link"));
        fs::remove_dir_all(folder).unwrap();
    }
}
