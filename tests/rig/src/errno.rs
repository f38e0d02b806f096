//! The kernel's error numbers by name, as scripts and logs write them.

use assay_model::{Error, Result};
use rustix::io::Errno as Code;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use std::fmt;
use std::str::FromStr;

/// One error number of the kernel, for example [`Errno::EIO`].
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Errno(i32);

macro_rules! named {
    ($($name:ident = $code:ident, $meaning:literal;)*) => {
        impl Errno {
            $(#[doc = $meaning] pub const $name: Self = Self(Code::$code.raw_os_error());)*
        }
        const NAMES: &[(&str, Errno)] = &[$((stringify!($name), Errno::$name)),*];
    };
}

named! {
    EACCES = ACCESS, "Permission denied.";
    EAGAIN = AGAIN, "Try again.";
    EBADMSG = BADMSG, "Data failed its checksum.";
    EBUSY = BUSY, "Device or resource busy.";
    EDQUOT = DQUOT, "Quota used up.";
    EEXIST = EXIST, "File exists.";
    EFBIG = FBIG, "File too large.";
    EILSEQ = ILSEQ, "Integrity metadata does not match (block layer).";
    EINVAL = INVAL, "Invalid argument.";
    EIO = IO, "Input/output error.";
    EISDIR = ISDIR, "Is a directory.";
    ENODATA = NODATA, "Medium error (block layer).";
    ENODEV = NODEV, "No such device.";
    ENOENT = NOENT, "No such file or directory.";
    ENOLINK = NOLINK, "Path to the device lost (block layer).";
    ENOMEM = NOMEM, "Out of memory.";
    ENOSPC = NOSPC, "No space left on device.";
    ENOTCONN = NOTCONN, "Transport endpoint is not connected.";
    ENOTDIR = NOTDIR, "Not a directory.";
    ENOTEMPTY = NOTEMPTY, "Directory not empty.";
    ENXIO = NXIO, "No such device or address.";
    EOPNOTSUPP = OPNOTSUPP, "Operation not supported.";
    EPERM = PERM, "Operation not permitted.";
    EREMOTEIO = REMOTEIO, "Target error (block layer).";
    EROFS = ROFS, "Read-only file system.";
    ETIMEDOUT = TIMEDOUT, "Timed out.";
}

impl Errno {
    /// The number as `std::io::Error::raw_os_error` gives it.
    pub const fn raw(self) -> i32 {
        self.0
    }
}

impl From<Errno> for std::io::Error {
    fn from(errno: Errno) -> Self {
        Self::from_raw_os_error(errno.0)
    }
}

impl fmt::Display for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match NAMES.iter().find(|(_, errno)| errno == self) {
            Some((name, _)) => formatter.pad(name),
            None => write!(formatter, "errno {}", self.0),
        }
    }
}

impl fmt::Debug for Errno {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

impl FromStr for Errno {
    type Err = Error;
    fn from_str(text: &str) -> Result<Self> {
        let found = NAMES.iter().find(|(name, _)| *name == text);
        found.map(|(_, errno)| *errno).ok_or_else(|| {
            let names: Vec<&str> = NAMES.iter().map(|(name, _)| *name).collect();
            Error::usage(
                format!("'{text}' is not an error number of this rig"),
                format!("write one of {}", names.join(", ")),
            )
        })
    }
}

impl Serialize for Errno {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Errno {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|error: Error| de::Error::custom(error.message()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_and_unknown_names_are_refused() {
        for (name, errno) in NAMES {
            assert_eq!(name.parse::<Errno>().unwrap(), *errno);
            assert_eq!(errno.to_string(), *name);
        }
        assert_eq!(Errno::EIO.raw(), 5);
        assert!("EWHAT".parse::<Errno>().is_err());
    }
}
