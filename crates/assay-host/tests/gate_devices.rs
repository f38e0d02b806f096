//! The safety gate on real block devices: loop devices over images, whose bytes and write counters
//! must not change. Without root or loop devices every test says that it was skipped.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test fails by panicking and says what it skipped"
)]

#[cfg(test)]
mod support;

use assay_host::gate::{AdmittedTarget, DataLossPermission, SafetyGate};
use assay_host::root::SysRoot;
use assay_host::signatures::MemoryImage;
use assay_model::Result;
use assay_model::target::TargetKind;
use rustix::fs::{Mode, OFlags};
use std::fs::{self, File};
use std::hash::{DefaultHasher, Hasher};
use std::os::unix::fs::{FileExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use support::{FakeSystem, Scratch};

const SIZE: u64 = 4 << 20;
const TOKEN: &str = "4MiB";

/// Loop devices are few, so that one test uses them at a time.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

fn run(program: &str, arguments: &[&str]) -> Option<String> {
    let path = format!("{}:/usr/sbin:/sbin", std::env::var("PATH").unwrap_or_default());
    let output = Command::new(program).args(arguments).env("PATH", path).output().ok()?;
    let text = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    output.status.success().then_some(text)
}

/// A loop device that is detached with this value.
struct Loop {
    node: String,
    image: PathBuf,
    scratch: Scratch,
    _turn: MutexGuard<'static, ()>,
}

impl Loop {
    /// A device over an image of zeros with these bytes; `None`, said on stdout, where there are no
    /// loop devices.
    fn with(options: &[&str], patches: &[(u64, &[u8])]) -> Option<Self> {
        let turn = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
        let scratch = Scratch::new("device");
        let image = scratch.path().join("image");
        let file = File::create(&image).unwrap();
        file.set_len(SIZE).unwrap();
        for (offset, bytes) in patches {
            file.write_all_at(bytes, *offset).unwrap();
        }
        let mut arguments = vec!["-f", "--show"];
        arguments.extend(options);
        arguments.push(image.to_str().unwrap());
        let Some(node) = run("losetup", &arguments) else {
            println!("skipped: no loop device can be attached here (it needs root)");
            return None;
        };
        Some(Self { node, image, scratch, _turn: turn })
    }

    fn empty() -> Option<Self> {
        Self::with(&[], &[])
    }

    fn path(&self) -> &Path {
        Path::new(&self.node)
    }

    fn name(&self) -> &str {
        self.node.trim_start_matches("/dev/")
    }

    fn write(&self, token: Option<&str>) -> Result<AdmittedTarget> {
        SafetyGate::new(SysRoot::live())
            .admit_write(self.path(), DataLossPermission { token, wipe: None })
    }

    /// Hash of the image, and how often the kernel was asked to write to the device.
    fn state(&self) -> (u64, String) {
        let mut hasher = DefaultHasher::new();
        hasher.write(&fs::read(&self.image).unwrap());
        let counters = fs::read_to_string(format!("/sys/block/{}/stat", self.name())).unwrap();
        let writes = counters.split_whitespace().nth(4).unwrap().to_owned();
        (hasher.finish(), writes)
    }

    /// Writing is refused even with the right token, the words end like this, and nothing was
    /// written.
    fn refuses(&self, message: &str) {
        let before = self.state();
        let error = self.write(Some(TOKEN)).unwrap_err();
        assert_eq!(error.message(), format!("refusing to write to {}: {message}", self.node));
        assert!(!error.hint().is_empty());
        assert_eq!(self.state(), before);
    }

    /// A partition of it; `None`, said on stdout, where the kernel has none.
    fn partition(&self, number: u64, start: u64, sectors: u64) -> Option<String> {
        let [number_text, start, sectors] = [number, start, sectors].map(|value| value.to_string());
        let added = run("addpart", &[&self.node, &number_text, &start, &sectors]);
        let node = format!("{}p{number_text}", self.node);
        if added.is_none() || !Path::new(&node).exists() {
            println!("skipped: no partition can be added to a loop device here");
            return None;
        }
        Some(node)
    }
}

impl Drop for Loop {
    fn drop(&mut self) {
        for number in ["1", "2"] {
            if Path::new(&format!("{}p{number}", self.node)).exists() {
                run("delpart", &[&self.node, number]);
            }
        }
        run("losetup", &["-d", &self.node]);
    }
}

/// A file system, mounted read-only so that it writes nothing itself, that is unmounted with this
/// value.
struct Mounted(PathBuf);

impl Mounted {
    fn new(node: &str, point: &Path) -> Option<Self> {
        fs::create_dir_all(point).unwrap();
        if run("mount", &["-r", node, point.to_str().unwrap()]).is_none() {
            println!("skipped: nothing can be mounted here");
            return None;
        }
        Some(Self(point.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().unwrap()]);
    }
}

fn format(node: &str) -> bool {
    let done = run("mkfs.ext4", &["-q", "-F", "-O", "^has_journal", node]).is_some();
    if !done {
        println!("skipped: mkfs.ext4 is missing");
    }
    done
}

#[test]
fn without_a_token_the_size_to_type_is_told() {
    let Some(device) = Loop::empty() else { return };
    let before = device.state();
    let error = device.write(None).unwrap_err();
    let node = &device.node;
    assert_eq!(
        error.message(),
        format!(
            "refusing to write to {node}: writing destroys everything on it (all of 256 sampled \
             blocks are zeros)"
        )
    );
    assert_eq!(error.hint(), "if all of its data may be destroyed, repeat with --destroy '4MiB'");
    assert_eq!(device.state(), before);
}

#[test]
fn a_wrong_token_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let before = device.state();
    for token in ["", "3MiB", "4MB", "4", "yes", &device.node] {
        let error = device.write(Some(token)).unwrap_err();
        assert!(error.message().contains("does not name this device"), "{token}: {error}");
    }
    assert_eq!(device.state(), before);
}

#[test]
fn the_right_token_admits_and_holds_the_device() {
    let Some(device) = Loop::empty() else { return };
    let before = device.state();
    for token in [TOKEN, "4194304"] {
        let admission = device.write(Some(token)).unwrap();
        assert_eq!(admission.kind(), TargetKind::BlockDevice);
        assert_eq!((admission.range(), admission.size_bytes()), (0..SIZE, SIZE));
        assert_eq!(admission.seen(), ["all of 256 sampled blocks are zeros"]);
        let claim = rustix::fs::open(device.path(), OFlags::RDONLY | OFlags::EXCL, Mode::empty());
        assert_eq!(claim.unwrap_err(), rustix::io::Errno::BUSY);
        let second = device.write(Some(token)).unwrap_err();
        assert!(second.message().contains("the kernel reports that it is in use"), "{second}");
    }
    assert_eq!(device.state(), before);
}

#[test]
fn an_admitted_device_is_really_written() {
    let Some(device) = Loop::empty() else { return };
    let admission = device.write(Some(TOKEN)).unwrap();
    admission.file().write_all_at(&[7; 4096], 0).unwrap();
    admission.file().sync_all().unwrap();
    drop(admission);
    assert_eq!(fs::read(&device.image).unwrap()[..4096], [7; 4096]);
    let again = device.write(Some(TOKEN)).unwrap();
    assert!(again.seen()[0].ends_with("hold data of unknown kind"), "{:?}", again.seen());
}

/// One test a mark: the bytes at the place where the format has them.
macro_rules! marks {
    ($($test:ident: $offset:expr, $bytes:expr => $name:literal;)*) => {$(
        #[test]
        fn $test() {
            let bytes: &[u8] = $bytes;
            let Some(device) = Loop::with(&[], &[($offset, bytes)]) else { return };
            device.refuses(concat!("it contains: ", $name));
        }
    )*};
}

marks! {
    mark_of_ext4: 1080, &[0x53, 0xef] => "ext2, ext3 or ext4 file system, or its journal";
    mark_of_xfs: 0, b"XFSB" => "XFS file system";
    mark_of_btrfs: 65_600, b"_BHRfS_M" => "btrfs file system";
    mark_of_zfs_at_the_begin: (128 << 10) + 1024, &0x00ba_b10c_u64.to_le_bytes() => "ZFS pool member";
    mark_of_zfs_at_the_end: SIZE - (128 << 10) + 4096, &0x00ba_b10c_u64.to_le_bytes() => "ZFS pool member";
    mark_of_f2fs: 1024, &0xf2f5_2010_u32.to_le_bytes() => "F2FS file system";
    mark_of_ntfs: 3, b"NTFS    " => "NTFS file system";
    mark_of_ntfs_backup: SIZE - 509, b"NTFS    " => "NTFS file system";
    mark_of_fat: 82, b"FAT32   " => "FAT file system";
    mark_of_exfat: 3, b"EXFAT   " => "exFAT file system";
    mark_of_iso9660: 32_769, b"CD001" => "ISO 9660 file system";
    mark_of_swap: 4086, b"SWAPSPACE2" => "swap area";
    mark_of_lvm: 512, b"LABELONE" => "LVM2 physical volume";
    mark_of_md_0_90: SIZE - 65_536, &0xa92b_4efc_u32.to_le_bytes() => "md RAID member";
    mark_of_md_1_0: SIZE - 8192, &0xa92b_4efc_u32.to_le_bytes() => "md RAID member";
    mark_of_md_1_1: 0, &0xa92b_4efc_u32.to_le_bytes() => "md RAID member";
    mark_of_md_1_2: 4096, &0xa92b_4efc_u32.to_le_bytes() => "md RAID member";
    mark_of_luks: 0, b"LUKS\xba\xbe" => "LUKS encrypted volume";
    mark_of_luks2_second_header: 0x4000, b"SKUL\xba\xbe" => "LUKS encrypted volume (second header)";
    mark_of_gpt: 512, b"EFI PART" => "GPT partition table";
    mark_of_gpt_backup: SIZE - 512, b"EFI PART" => "GPT partition table (backup)";
    mark_of_mbr: 510, &[0x55, 0xaa] => "MBR partition table or boot sector";
    mark_of_bsd: 512, &0x8256_4557_u32.to_le_bytes() => "BSD disklabel";
    mark_of_asm: 32, b"ORCLDISK" => "Oracle ASM disk";
    mark_of_asm_copy: 2_088_960 + 32, b"ORCLDISK" => "Oracle ASM disk";
    mark_of_ceph: 0, b"bluestore block device\n" => "Ceph BlueStore";
    mark_of_bcache: 4120, &[0xc6, 0x85, 0x73, 0xf6, 0x4e, 0x1a, 0x45, 0xca, 0x82, 0x65, 0xf5, 0x7f, 0x48, 0xba, 0x6d, 0x81] => "bcache device";
    mark_of_drbd: SIZE - 4096 + 60, &0x8374_026b_u32.to_be_bytes() => "DRBD replica";
    mark_of_vmfs: 1 << 20, &0xc001_d00d_u32.to_le_bytes() => "VMware VMFS volume";
    mark_of_veritas: 1024, &0xa501_fcf5_u32.to_le_bytes() => "Veritas file system";
    mark_of_reiserfs: 65_588, b"ReIsEr2Fs" => "ReiserFS file system";
    mark_of_jfs: 32_768, b"JFS1" => "JFS file system";
    mark_of_squashfs: 0, b"hsqs" => "SquashFS file system";
    mark_of_erofs: 1024, &0xe0f5_e1e2_u32.to_le_bytes() => "EROFS file system";
    mark_of_oracle: 28, b"}|{z" => "Oracle data, redo or control file";
}

#[test]
fn what_is_named_exactly_may_go() {
    let Some(device) = Loop::with(&[], &[(0, b"XFSB"), (SIZE - 512, b"EFI PART")]) else {
        return;
    };
    let before = device.state();
    let gate = SafetyGate::new(SysRoot::live());
    let admit =
        |wipe| gate.admit_write(device.path(), DataLossPermission { token: Some(TOKEN), wipe });
    let error = admit(None).unwrap_err();
    let hint = "if its data may be destroyed, repeat with --destroy '4MiB' --wipe gpt,xfs";
    assert_eq!(error.hint(), hint);
    for wipe in ["xfs", "gpt", "xfs,gpt,mbr", "none", "all", ""] {
        let error = admit(Some(wipe)).unwrap_err();
        let expected = format!("(backup); --wipe '{wipe}' does not match");
        assert!(error.message().ends_with(&expected), "{error}");
        assert_eq!(error.hint(), hint);
    }
    let wrong = DataLossPermission { token: Some("5MiB"), wipe: Some("xfs,gpt") };
    assert!(gate.admit_write(device.path(), wrong).is_err());
    assert_eq!(device.state(), before);
    let admission = admit(Some("xfs,gpt")).unwrap();
    let expected = "given up with --wipe: XFS file system, GPT partition table (backup)";
    assert_eq!(admission.seen()[0], expected);
}

#[test]
fn nothing_may_be_named_on_an_empty_device() {
    let Some(device) = Loop::empty() else { return };
    let gate = SafetyGate::new(SysRoot::live());
    let admit =
        |wipe| gate.admit_write(device.path(), DataLossPermission { token: Some(TOKEN), wipe });
    let error = admit(Some("ext4")).unwrap_err();
    assert!(error.message().ends_with("--wipe 'ext4': it does not contain known data"), "{error}");
    assert!(admit(Some("none")).is_ok());
}

#[test]
fn a_name_does_not_help_against_a_use() {
    let Some(device) = Loop::empty() else { return };
    if !format(&device.node) {
        return;
    }
    let point = device.scratch.path().join("point");
    let Some(_mounted) = Mounted::new(&device.node, &point) else {
        return;
    };
    let before = device.state();
    let given_up = DataLossPermission { token: Some(TOKEN), wipe: Some("ext4") };
    let error = SafetyGate::new(SysRoot::live()).admit_write(device.path(), given_up).unwrap_err();
    assert!(error.message().contains("it is mounted at"), "{error}");
    assert_eq!(device.state(), before);
}

#[test]
fn a_member_of_a_pool_cannot_be_named() {
    let Some(device) = Loop::with(&[], &[(512, b"LABELONE")]) else { return };
    let before = device.state();
    let given_up = DataLossPermission { token: Some(TOKEN), wipe: Some("LVM2_member") };
    let error = SafetyGate::new(SysRoot::live()).admit_write(device.path(), given_up).unwrap_err();
    assert!(error.message().ends_with("it contains: LVM2 physical volume"), "{error}");
    assert!(error.hint().contains("so --wipe does not cover it"), "{}", error.hint());
    assert_eq!(device.state(), before);
}

#[test]
fn several_marks_are_all_told() {
    let Some(device) = Loop::with(&[], &[(0, b"LUKS\xba\xbe"), (SIZE - 512, b"EFI PART")]) else {
        return;
    };
    device.refuses("it contains: LUKS encrypted volume, GPT partition table (backup)");
}

#[test]
fn a_mark_is_told_before_a_token_is_asked_for() {
    let Some(device) = Loop::with(&[], &[(0, b"XFSB")]) else {
        return;
    };
    for token in [None, Some("wrong")] {
        let error = device.write(token).unwrap_err();
        assert!(error.message().ends_with("it contains: XFS file system"), "{error}");
    }
}

#[test]
fn a_mounted_device_is_refused() {
    let Some(device) = Loop::empty() else { return };
    if !format(&device.node) {
        return;
    }
    let point = device.scratch.path().join("mounted here");
    let Some(_mounted) = Mounted::new(&device.node, &point) else {
        return;
    };
    device.refuses(&format!("it is mounted at {}", point.display()));
}

#[test]
fn a_link_to_a_mounted_device_is_refused() {
    let Some(device) = Loop::empty() else { return };
    if !format(&device.node) {
        return;
    }
    let point = device.scratch.path().join("point");
    let Some(_mounted) = Mounted::new(&device.node, &point) else {
        return;
    };
    let link = device.scratch.path().join("by-id");
    symlink(&device.node, &link).unwrap();
    let error = SafetyGate::new(SysRoot::live())
        .admit_write(&link, DataLossPermission::device(TOKEN))
        .unwrap_err();
    assert!(error.message().ends_with(&format!("it is mounted at {}", point.display())), "{error}");
}

#[test]
fn a_link_to_a_free_device_is_followed() {
    let Some(device) = Loop::empty() else { return };
    let link = device.scratch.path().join("by-id");
    symlink(&device.node, &link).unwrap();
    let admission = SafetyGate::new(SysRoot::live())
        .admit_write(&link, DataLossPermission::device(TOKEN))
        .unwrap();
    assert_eq!(admission.path(), link);
}

#[test]
fn the_disk_of_a_mounted_partition_is_refused() {
    let Some(device) = Loop::with(&["-P"], &[]) else {
        return;
    };
    let Some(part) = device.partition(1, 2048, 4096) else {
        return;
    };
    if !format(&part) {
        return;
    }
    let point = device.scratch.path().join("point");
    let Some(_mounted) = Mounted::new(&part, &point) else {
        return;
    };
    device.refuses(&format!("partition {part} is mounted at {}", point.display()));
}

#[test]
fn a_partition_of_a_mounted_disk_is_refused() {
    let Some(device) = Loop::with(&["-P"], &[]) else {
        return;
    };
    if !format(&device.node) {
        return;
    }
    let Some(part) = device.partition(1, 2048, 4096) else {
        return;
    };
    let point = device.scratch.path().join("point");
    let Some(_mounted) = Mounted::new(&device.node, &point) else {
        return;
    };
    let error = SafetyGate::new(SysRoot::live())
        .admit_write(Path::new(&part), DataLossPermission::device("2MiB"))
        .unwrap_err();
    let expected = format!("the whole disk {} is mounted at {}", device.node, point.display());
    assert!(error.message().ends_with(&expected), "{error}");
}

#[test]
fn a_free_partition_beside_a_mounted_one_is_admitted() {
    let Some(device) = Loop::with(&["-P"], &[]) else {
        return;
    };
    let Some(first) = device.partition(1, 2048, 3072) else {
        return;
    };
    let Some(second) = device.partition(2, 5120, 2048) else {
        return;
    };
    if !format(&first) {
        return;
    }
    let point = device.scratch.path().join("point");
    let Some(_mounted) = Mounted::new(&first, &point) else {
        return;
    };
    let admission = SafetyGate::new(SysRoot::live())
        .admit_write(Path::new(&second), DataLossPermission::device("1MiB"))
        .unwrap();
    assert_eq!(admission.size_bytes(), 1 << 20);
}

#[test]
fn data_in_a_partition_without_a_table_is_refused() {
    let Some(device) = Loop::with(&["-P"], &[((1 << 20) + 1080, &[0x53, 0xef])]) else {
        return;
    };
    let Some(part) = device.partition(1, 2048, 4096) else {
        return;
    };
    device.refuses(&format!(
        "partition {part} contains: ext2, ext3 or ext4 file system, or its journal"
    ));
}

#[test]
fn a_partition_within_a_raid_member_is_refused() {
    let Some(device) = Loop::with(&["-P"], &[(SIZE - 8192, &0xa92b_4efc_u32.to_le_bytes())]) else {
        return;
    };
    let Some(part) = device.partition(1, 2048, 4096) else {
        return;
    };
    let error = SafetyGate::new(SysRoot::live())
        .admit_write(Path::new(&part), DataLossPermission::device("2MiB"))
        .unwrap_err();
    assert!(
        error.message().ends_with("the whole disk around it contains: md RAID member"),
        "{error}"
    );
    let given_up = DataLossPermission { token: Some("2MiB"), wipe: Some("linux_raid_member") };
    assert!(SafetyGate::new(SysRoot::live()).admit_write(Path::new(&part), given_up).is_err());
}

/// Swapping that ends with this value.
struct Swapping<'a>(&'a str);

impl Drop for Swapping<'_> {
    fn drop(&mut self) {
        run("swapoff", &[self.0]);
    }
}

#[test]
fn a_device_in_use_as_swap_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let on = run("mkswap", &[&device.node]).and_then(|_| run("swapon", &[&device.node]));
    if on.is_none() {
        println!("skipped: swapping cannot be started here");
        return;
    }
    let _swapping = Swapping(&device.node);
    // The kernel may swap to the device at any time, so its writes show nothing.
    let error = device.write(Some(TOKEN)).unwrap_err();
    assert_eq!(
        error.message(),
        format!("refusing to write to {}: it is in use as swap", device.node)
    );
    assert!(!error.hint().is_empty());
}

#[test]
fn a_device_under_a_loop_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let Some(upper) = run("losetup", &["-f", "--show", &device.node]) else {
        println!("skipped: no second loop device can be attached here");
        return;
    };
    let before = device.state();
    let refused = device.write(Some(TOKEN));
    run("losetup", &["-d", &upper]);
    let error = refused.unwrap_err();
    assert!(error.message().ends_with(&format!("it is held by loop device {upper}")), "{error}");
    assert_eq!(device.state(), before);
}

#[test]
fn a_device_that_is_claimed_elsewhere_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let _claim =
        rustix::fs::open(device.path(), OFlags::RDONLY | OFlags::EXCL, Mode::empty()).unwrap();
    device.refuses(
        "the kernel reports that it is in use (a file system, a volume manager or another program \
         holds it)",
    );
}

/// A process that has a device open for writing and ends with this value.
struct Writer(Child);

impl Drop for Writer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_device_that_another_process_writes_to_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let open = File::options().write(true).open(device.path()).unwrap();
    let child = Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(open).spawn().unwrap();
    let writer = Writer(child);
    device.refuses(&format!("it is open for writing in process {} (sleep)", writer.0.id()));
}

/// Another node of the same device, outside of `/dev`, as in a container.
fn other_node(device: &Loop) -> Option<PathBuf> {
    let node = device.scratch.path().join("node");
    let number = rustix::fs::stat(device.path()).unwrap().st_rdev;
    let mode = Mode::RUSR | Mode::WUSR;
    let kind = rustix::fs::FileType::BlockDevice;
    if rustix::fs::mknodat(rustix::fs::CWD, &node, kind, mode, number).is_err() {
        println!("skipped: no node can be made here");
        return None;
    }
    if File::open(&node).is_err() {
        println!("skipped: nodes of this file system cannot be opened");
        return None;
    }
    Some(node)
}

#[test]
fn a_device_that_another_process_writes_to_through_another_node_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let Some(node) = other_node(&device) else { return };
    let open = File::options().write(true).open(&node).unwrap();
    let child = Command::new("sleep").arg("60").stdin(Stdio::null()).stdout(open).spawn().unwrap();
    let writer = Writer(child);
    let expected = format!("it is open for writing in process {} (sleep)", writer.0.id());
    device.refuses(&expected);
    // The node may go meanwhile, as when it is made again by another.
    fs::remove_file(&node).unwrap();
    device.refuses(&expected);
}

#[test]
fn a_device_that_another_process_has_mapped_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let Some(node) = other_node(&device) else { return };
    let script = "import mmap, os, sys, time
handle = os.open(sys.argv[1], os.O_RDWR)
area = mmap.mmap(handle, 4096)
os.close(handle)
for other in os.listdir('/proc/self/fd'):
    if int(other) > 2:
        try: os.close(int(other))
        except OSError: pass
print('mapped', flush=True)
time.sleep(60)";
    for path in [device.path(), node.as_path()] {
        let mut command = Command::new("python3");
        command.args(["-c", script]).arg(path).stdin(Stdio::null()).stdout(Stdio::piped());
        let Ok(mut child) = command.spawn() else {
            println!("skipped: python3 is not installed");
            return;
        };
        let mut line = String::new();
        let output = child.stdout.take().unwrap();
        std::io::BufRead::read_line(&mut std::io::BufReader::new(output), &mut line).unwrap();
        let mapper = Writer(child);
        assert_eq!(line, "mapped\n");
        device.refuses(&format!("it is mapped for writing in process {} (python3)", mapper.0.id()));
    }
}

#[test]
fn a_device_that_another_process_only_reads_is_admitted() {
    let Some(device) = Loop::empty() else { return };
    let open = File::open(device.path()).unwrap();
    let child = Command::new("sleep").arg("60").stdin(open).spawn().unwrap();
    let _reader = Writer(child);
    assert!(device.write(Some(TOKEN)).is_ok());
}

#[test]
fn a_read_only_device_is_refused_and_may_be_read() {
    let Some(device) = Loop::with(&["-r"], &[]) else {
        return;
    };
    device.refuses("it is read-only");
    assert!(SafetyGate::new(SysRoot::live()).admit_read(device.path()).is_ok());
}

#[test]
fn reading_a_device_needs_no_token_and_writes_nothing() {
    let Some(device) = Loop::with(&[], &[(0, b"XFSB")]) else {
        return;
    };
    let before = device.state();
    let admission = SafetyGate::new(SysRoot::live()).admit_read(device.path()).unwrap();
    assert!(admission.file().write_all_at(&[0; 512], 0).is_err());
    drop(admission);
    assert_eq!(device.state(), before);
}

#[test]
fn a_place_that_cannot_be_read_is_not_taken_for_empty() {
    let Some(device) = Loop::empty() else { return };
    File::options().write(true).open(&device.image).unwrap().set_len(SIZE / 2).unwrap();
    let error = device.write(Some(TOKEN)).unwrap_err();
    assert!(error.message().contains("its content cannot be read"), "{error}");
    assert_eq!(fs::metadata(&device.image).unwrap().len(), SIZE / 2);
}

#[test]
fn a_device_that_is_resized_in_mid_run_is_noticed() {
    let Some(device) = Loop::empty() else { return };
    let admission = device.write(Some(TOKEN)).unwrap();
    admission.recheck().unwrap();
    File::options().write(true).open(&device.image).unwrap().set_len(SIZE / 2).unwrap();
    run("losetup", &["-c", &device.node]);
    assert!(admission.recheck().unwrap_err().message().contains("its size changed"));
}

/// The gate of a system that says this about the real loop device.
fn known_system(device: &Loop, name: &str) -> (FakeSystem, String) {
    let number = fs::read_to_string(format!("/sys/block/{}/dev", device.name())).unwrap();
    let number = number.trim().to_owned();
    let system = FakeSystem::new(name).disk(device.name(), &number, SIZE / 512);
    (system, number)
}

fn gate_of(system: &FakeSystem) -> SafetyGate {
    SafetyGate::new(SysRoot::under(system.path()))
}

#[test]
fn a_device_with_a_serial_number_is_not_named_by_its_size() {
    let Some(device) = Loop::empty() else { return };
    let system =
        known_system(&device, "serial").0.attribute(device.name(), "device/serial", "WD-K7");
    let error =
        gate_of(&system).admit_write(device.path(), DataLossPermission::device(TOKEN)).unwrap_err();
    let node = &device.node;
    assert_eq!(
        error.hint(),
        format!("this device is 'WD-K7'; check that {node} is the right device")
    );
    let missing =
        gate_of(&system).admit_write(device.path(), DataLossPermission::default()).unwrap_err();
    assert_eq!(
        missing.hint(),
        "if all of its data may be destroyed, repeat with --destroy 'WD-K7'"
    );
    assert!(
        gate_of(&system).admit_write(device.path(), DataLossPermission::device("WD-K7")).is_ok()
    );
}

#[test]
fn a_device_that_is_not_as_large_as_the_kernel_said_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let system = known_system(&device, "resized").0.attribute(device.name(), "size", "16384");
    let error = gate_of(&system)
        .admit_write(device.path(), DataLossPermission::device("8MiB"))
        .unwrap_err();
    assert!(error.message().contains("the device was replaced or resized"), "{error}");
}

#[test]
fn a_device_that_the_kernel_does_not_list_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let system = FakeSystem::new("unlisted");
    let error =
        gate_of(&system).admit_write(device.path(), DataLossPermission::device(TOKEN)).unwrap_err();
    assert!(error.message().contains("its entry in sysfs cannot be read"), "{error}");
}

#[test]
fn a_member_of_a_volume_group_a_raid_or_a_multipath_is_refused() {
    let Some(device) = Loop::empty() else { return };
    for (name, uuid, by) in [
        ("dm-0", "LVM-x", "LVM volume /dev/dm-0"),
        ("dm-0", "mpath-3", "multipath device /dev/dm-0"),
        ("dm-0", "CRYPT-x", "encrypted volume /dev/dm-0"),
        ("md0", "", "RAID /dev/md0"),
    ] {
        let system = known_system(&device, "held").0.stacked(name, "252:0", 900, &[device.name()]);
        let system = system.attribute(name, "dm/uuid", uuid);
        let error = gate_of(&system)
            .admit_write(device.path(), DataLossPermission::device(TOKEN))
            .unwrap_err();
        assert!(error.message().ends_with(&format!("it is held by {by}")), "{error}");
    }
}

#[test]
fn a_member_of_a_mounted_btrfs_is_refused() {
    let Some(device) = Loop::empty() else { return };
    let place = format!("sys/fs/btrfs/0aa1/devices/{}", device.name());
    let system = known_system(&device, "btrfs").0.file(&place, "");
    let error =
        gate_of(&system).admit_write(device.path(), DataLossPermission::device(TOKEN)).unwrap_err();
    assert!(error.message().contains("as part of btrfs 0aa1"), "{error}");
}

#[test]
fn the_fixture_of_images_agrees_with_the_devices() {
    let image = MemoryImage::new(SIZE).with(0, b"XFSB");
    let names = assay_host::signatures::recognise(&image).unwrap();
    let Some(device) = Loop::with(&[], &[(0, b"XFSB")]) else {
        return;
    };
    device.refuses(&format!("it contains: {}", names[0].name));
}
