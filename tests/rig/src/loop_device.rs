//! Loop devices: a block device of any size over a file, for as long as its guard lives.

use crate::program;
use crate::scratch::Scratch;
use crate::skip::Skip;
use std::ffi::OsStr;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// An attached loop device. It detaches when the guard is dropped and nobody else has it open, and
/// by itself when the process is killed.
#[derive(Debug)]
pub struct LoopDevice {
    path: PathBuf,
    image: PathBuf,
    /// Keeps the device attached: it detaches with its last file handle.
    handle: Option<File>,
    /// Where the image lies, if the guard made it.
    scratch: Option<Scratch>,
}

impl LoopDevice {
    /// Attaches `image` for reading and writing, with direct I/O to the image where that works.
    ///
    /// # Errors
    /// A skip without root, without `losetup` or without loop devices.
    pub fn attach(image: &Path) -> Result<Self, Skip> {
        Self::attach_with(image, &["--direct-io=on"]).or_else(|_| Self::attach_with(image, &[]))
    }

    /// Attaches `image` as a device that refuses writes with `EPERM`.
    pub fn attach_read_only(image: &Path) -> Result<Self, Skip> {
        Self::attach_with(image, &["--read-only"])
    }

    /// Attaches `image` with further options of `losetup`, for example `--sector-size=4096` or
    /// `--partscan`.
    ///
    /// # Errors
    /// As [`LoopDevice::attach`], and when `losetup` does not know or cannot do an option.
    pub fn attach_with(image: &Path, options: &[&str]) -> Result<Self, Skip> {
        program::need_root("attaching a loop device")?;
        let mut arguments: Vec<&OsStr> = vec!["--find".as_ref(), "--show".as_ref()];
        arguments.extend(options.iter().map(OsStr::new));
        arguments.push(image.as_os_str());
        let path = PathBuf::from(program::run("losetup", &arguments)?);
        let opened = File::open(&path);
        // While it is open, detaching only marks the device to go with its last handle.
        let detached = program::run("losetup", &["--detach".as_ref(), path.as_os_str()]);
        let handle = opened.map_err(|error| Skip::new(format!("{}: {error}", path.display())))?;
        detached?;
        Ok(Self { path, image: image.to_owned(), handle: Some(handle), scratch: None })
    }

    /// A device of `size_bytes` over a new sparse image that goes with it.
    pub fn of_size(size_bytes: u64) -> Result<Self, Skip> {
        let failed = |error: std::io::Error| Skip::new(format!("making an image: {error}"));
        let scratch = Scratch::new().map_err(failed)?;
        let image = scratch.join("image");
        File::create(&image).and_then(|file| file.set_len(size_bytes)).map_err(failed)?;
        let mut device = Self::attach(&image)?;
        device.scratch = Some(scratch);
        Ok(device)
    }

    /// The device node, as in `/dev/loop3`.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The image below.
    pub fn image(&self) -> &Path {
        &self.image
    }

    fn is_attached(&self) -> bool {
        let name = self.path.file_name().unwrap_or_default();
        Path::new("/sys/block").join(name).join("loop/backing_file").exists()
    }
}

impl Drop for LoopDevice {
    fn drop(&mut self) {
        self.handle.take();
        // The kernel may detach a little after the last close; whoever still holds it does so
        // later.
        let begin = Instant::now();
        while self.is_attached() && begin.elapsed() < Duration::from_millis(500) {
            std::thread::sleep(Duration::from_millis(1));
        }
        self.scratch.take();
    }
}
