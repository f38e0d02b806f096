//! Files that appear whole or not at all, and directories that remember their entries.

use crate::failure::refused;
use assay_model::Result;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Begins the name of a file that is not whole yet.
pub(crate) const TEMPORARY: &str = ".tmp-";

/// Puts a file in place so that a reader, at any moment and after any crash, sees the old or the new text.
pub(crate) fn write_whole(directory: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    exchange(directory, name, |file| {
        file.write_all(bytes)?;
        file.sync_all()
    })?;
    sync_directory(directory)
}

/// Puts an empty file in the place of another, which who reads it keeps as it was; for good when the directory is synced.
pub(crate) fn exchange_for_empty(directory: &Path, name: &str) -> Result<()> {
    exchange(directory, name, |_| Ok(()))
}

fn exchange(
    directory: &Path,
    name: &str,
    fill: impl FnOnce(&mut File) -> io::Result<()>,
) -> Result<()> {
    let temporary = directory.join(format!("{TEMPORARY}{name}"));
    let path = directory.join(name);
    let written = create_new(&temporary).and_then(|mut file| fill(&mut file));
    if let Err(error) = written.and_then(|()| fs::rename(&temporary, &path)) {
        // The error that counts is the first one; the remains are ours and harmless.
        let _ = fs::remove_file(&temporary);
        return Err(refused("writing", &path, &error));
    }
    Ok(())
}

fn create_new(path: &Path) -> io::Result<File> {
    remove_if_there(path)?;
    OpenOptions::new().write(true).create_new(true).open(path)
}

pub(crate) fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

/// Makes what was created, renamed or removed in a directory survive a power failure.
pub(crate) fn sync_directory(directory: &Path) -> Result<()> {
    File::open(directory)
        .and_then(|opened| opened.sync_all())
        .map_err(|error| refused("syncing", directory, &error))
}

/// The entries of a directory as names and paths, sorted; names that are not text are left out.
pub(crate) fn entries(directory: &Path) -> Result<Vec<(String, PathBuf)>> {
    let read = || -> io::Result<Vec<(String, PathBuf)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                found.push((name, entry.path()));
            }
        }
        found.sort();
        Ok(found)
    };
    read().map_err(|error| refused("reading", directory, &error))
}

/// Bytes that a directory and all below it take on the disk; what vanishes while counting counts nothing.
pub(crate) fn disk_bytes(path: &Path) -> u64 {
    let Ok(metadata) = fs::symlink_metadata(path) else {
        return 0;
    };
    let below = if metadata.is_dir() {
        fs::read_dir(path)
            .map_or(0, |entries| entries.flatten().map(|entry| disk_bytes(&entry.path())).sum())
    } else {
        0
    };
    metadata.blocks() * 512 + below
}
