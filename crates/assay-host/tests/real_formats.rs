//! The recognition of data against the programs that write it: each formats an image, which must
//! then be recognised.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skipped"
)]

#[cfg(test)]
mod support;

use assay_host::signatures::{FileImage, Match, recognise};
use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use support::Scratch;

const SIZE: u64 = 320 << 20;

/// No format has as many marks.
const MARKS_MAX: usize = 64;

/// A program by its name, also one for the superuser.
fn program(name: &str) -> Command {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(name);
    command.env("PATH", path).stdin(Stdio::null());
    command
}

/// Runs a program quietly; `None` where it is not installed, else whether it succeeded.
fn run(name: &str, arguments: &[&str], image: &Path) -> Option<bool> {
    let image = image.to_str().unwrap();
    let arguments = arguments.iter().map(|word| word.replace("IMAGE", image));
    let mut command = program(name);
    command.args(arguments).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().ok().map(|status| status.success())
}

/// What a program says of an image; nothing where it is not installed.
fn asked(name: &str, arguments: &[&str], image: &Path) -> Option<String> {
    let output = program(name).args(arguments).arg(image).output().ok();
    if output.is_none() {
        println!("skipped: {name} is not installed");
    }
    output.map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
}

/// What is recognised on an image.
fn recognised(image: &Path) -> Vec<Match> {
    let file = File::open(image).unwrap();
    recognise(&FileImage::new(&file, file.metadata().unwrap().len())).unwrap()
}

/// Formats an image and checks that a name with this word is among what is recognised.
fn check(program: &str, arguments: &[&str], word: &str) {
    let scratch = Scratch::new("format");
    let image = scratch.path().join("image");
    File::create(&image).unwrap().set_len(SIZE).unwrap();
    match run(program, arguments, &image) {
        None => return println!("skipped: {program} is not installed"),
        Some(false) => return println!("skipped: {program} cannot format an image here"),
        Some(true) => {}
    }
    let found = recognised(&image);
    let known = found.iter().any(|found| found.name.contains(word));
    assert!(known, "{program} {arguments:?} wrote what is not recognised as {word}: {found:?}");
    agrees_with_blkid(&image, &found);
    agrees_with_wipefs(&image);
}

/// Our word for a type of `libblkid`.
fn word_of(kind: &str) -> &str {
    match kind {
        "ext2" | "ext3" | "jbd" => "ext4",
        "dos" | "PMBR" => "mbr",
        "gfs" => "gfs2",
        "VMFS" | "VMFS_volume_member" => "vmfs",
        kind => kind,
    }
}

/// What `blkid` says of an image is among what was recognised.
fn agrees_with_blkid(image: &Path, found: &[Match]) {
    let Some(output) = asked("blkid", &["-p", "-o", "export"], image) else {
        return;
    };
    for line in output.lines() {
        let Some((_, kind)) = line.split_once("TYPE=").filter(|(key, _)| ["", "PT"].contains(key))
        else {
            continue;
        };
        let word = word_of(kind);
        assert!(found.iter().any(|found| found.word == word), "blkid says {line}: {found:?}");
    }
}

/// The marks that `wipefs` finds are erased one after another, from the first: as long as it knows
/// a format by what is left, such as a backup, it is recognised.
fn agrees_with_wipefs(image: &Path) {
    for _ in 0..MARKS_MAX {
        let columns = ["--no-act", "--noheadings", "--output", "OFFSET,TYPE"];
        let Some(output) = asked("wipefs", &columns, image) else {
            return;
        };
        let marks = output.lines().filter_map(|line| line.trim().split_once(' '));
        let marks: Vec<(&str, &str)> = marks.map(|(at, kind)| (at, kind.trim())).collect();
        let found = recognised(image);
        for (at, kind) in &marks {
            let known = found.iter().any(|found| found.word == word_of(kind));
            assert!(known, "wipefs finds {kind} at {at}: {found:?}");
        }
        let Some((first, _)) = marks.first() else {
            return;
        };
        assert!(asked("wipefs", &["--quiet", "--force", "--offset", first], image).is_some());
    }
    panic!("wipefs finds marks without end");
}

macro_rules! formats {
    ($($test:ident: $program:literal $arguments:expr => $word:literal;)*) => {$(
        #[test]
        fn $test() {
            check($program, &$arguments, $word);
        }
    )*};
}

formats! {
    ext2: "mkfs.ext2" ["-q", "-F", "IMAGE"] => "ext4";
    ext4: "mkfs.ext4" ["-q", "-F", "IMAGE"] => "ext4";
    ext_journal: "mkfs.ext4" ["-q", "-F", "-O", "journal_dev", "IMAGE"] => "ext4";
    swap: "mkswap" ["IMAGE"] => "swap";
    swap_of_large_pages: "mkswap" ["-p", "65536", "IMAGE"] => "swap";
    minix_1: "mkfs.minix" ["-1", "IMAGE", "2000"] => "Minix";
    minix_2: "mkfs.minix" ["-2", "IMAGE"] => "Minix";
    minix_2_short_names: "mkfs.minix" ["-2", "-n", "14", "IMAGE"] => "Minix";
    minix_3: "mkfs.minix" ["-3", "IMAGE"] => "Minix";
    bfs: "mkfs.bfs" ["IMAGE"] => "BFS";
    cramfs: "mkfs.cramfs" ["/etc/default", "IMAGE"] => "cramfs";
    mbr: "sh" ["-c", "echo , | sfdisk --quiet IMAGE"] => "MBR";
    hfs: "hformat" ["IMAGE"] => "HFS";
    hfs_plus: "mkfs.hfsplus" ["IMAGE"] => "HFS+";
    reiser4: "mkfs.reiser4" ["-fy", "IMAGE"] => "Reiser4";
    lvm: "lvm" ["pvcreate", "-ff", "-y", "IMAGE"] => "LVM2";
    verity: "veritysetup" ["format", "/usr/bin/env", "IMAGE"] => "dm-verity";
    xfs: "mkfs.xfs" ["-f", "IMAGE"] => "XFS";
    btrfs: "mkfs.btrfs" ["-f", "IMAGE"] => "btrfs";
    f2fs: "mkfs.f2fs" ["-f", "IMAGE"] => "F2FS";
    fat16: "mkfs.vfat" ["-F", "16", "IMAGE"] => "FAT";
    fat32: "mkfs.vfat" ["-F", "32", "IMAGE"] => "FAT";
    exfat: "mkfs.exfat" ["IMAGE"] => "exFAT";
    ntfs: "mkntfs" ["-F", "-Q", "IMAGE"] => "NTFS";
    jfs: "mkfs.jfs" ["-q", "IMAGE"] => "JFS";
    reiserfs: "mkreiserfs" ["-q", "-ff", "IMAGE"] => "Reiser";
    nilfs: "mkfs.nilfs2" ["-f", "-q", "IMAGE"] => "NILFS2";
    udf: "mkudffs" ["IMAGE"] => "UDF";
    erofs: "mkfs.erofs" ["IMAGE", "/etc/default"] => "EROFS";
    squashfs: "mksquashfs" ["/etc/default", "IMAGE", "-noappend"] => "SquashFS";
    iso: "genisoimage" ["-quiet", "-o", "IMAGE", "/etc/default"] => "ISO 9660";
    gpt: "sgdisk" ["-n", "1:2048:+10M", "IMAGE"] => "GPT";
    gpt_backup: "sgdisk" ["-n", "1:2048:+10M", "IMAGE"] => "backup";
    protective_mbr: "sgdisk" ["-n", "1:2048:+10M", "IMAGE"] => "MBR";
    bcache: "make-bcache" ["-B", "IMAGE"] => "bcache";
    gfs2: "mkfs.gfs2" ["-O", "-p", "lock_nolock", "-j", "1", "-J", "8", "IMAGE"] => "GFS2";
    ocfs2: "mkfs.ocfs2" ["-F", "--fs-features=local", "IMAGE"] => "OCFS2";
    luks1: "cryptsetup" ["luksFormat", "-q", "--type", "luks1", "--pbkdf-force-iterations", "1000", "--key-file", "/etc/hostname", "IMAGE"] => "LUKS";
    luks2: "cryptsetup" ["luksFormat", "-q", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--key-file", "/etc/hostname", "IMAGE"] => "LUKS";
    luks2_second_header: "cryptsetup" ["luksFormat", "-q", "--type", "luks2", "--pbkdf", "pbkdf2", "--pbkdf-force-iterations", "1000", "--key-file", "/etc/hostname", "IMAGE"] => "second header";
}
