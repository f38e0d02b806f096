//! NVMe namespaces past the block layer, in a virtual machine with NVMe drives: what is read and
//! written, and what is refused and why.

use crate::kit::Kit;
use crate::support::{Place, measurement, random_bytes};
use assay_rig::{Reaped, Skip, or_skip};
use serde_json::Value;
use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// A guest without hardware support is slow, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(400);
const DRIVE_MIB: usize = 64;

/// Runs each step, and says how it ended and what it printed.
const INIT: &str = r#"#!/busybox sh
/busybox mkdir -p /bin /proc /sys /dev /tmp /mnt /etc
/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in MODULES; do insmod /$module.ko; done
export HOME=/tmp ASSAY_STORE=/tmp/runs ASSAY_BINDIR=/nowhere
cd /
exec >/dev/ttyS1 2>&1
step() {
    sh -c "$2" >/tmp/out 2>/tmp/err
    code=$?
    echo "step $1"
    echo $code
    cat /tmp/err
    echo "on standard output"
    cat /tmp/out
    echo
    echo "end of step"
}
STEPS
echo "end of guest"
poweroff -f
"#;

fn workload(name: &str, stream: &str) -> String {
    format!(
        "format = 1\nname = \"{name}\"\nduration = \"3s\"\ninterval = \"100ms\"\n[[stream]]\nname \
         = \"{name}\"\n{stream}\n"
    )
}

fn reads(block_size: &str) -> String {
    let closed = "arrival = { closed = { queue_depth = 4 } }";
    workload("reads", &format!("block_size = \"{block_size}\"\n{closed}"))
}

/// Each block again and again, flushed every so often.
fn synced() -> String {
    let stream = "read_share = 0.5\nblock_size = \"16KiB\"\naccess = \"permutation\"\nsync = { \
                  fdatasync = { every = 10 } }\narrival = { closed = { queue_depth = 4 } }";
    workload("synced", stream)
}

fn durable() -> String {
    let stream = "read_share = 0.0\nblock_size = \"4KiB\"\nsync = \"fua\"\narrival = { closed = { \
                  queue_depth = 2 } }";
    workload("durable", stream)
}

const GOOD: &str = r#"format = 1
name = "good"
[[criterion]]
quantity = "errors"
at_most = 0
[[criterion]]
quantity = "iops"
at_least = "1/s"
"#;

const WHOLE: &str = "format = 1\nname = \"whole\"\n[[criterion]]\nquantity = \
                     \"integrity.findings\"\nat_most = 0\n[[criterion]]\nquantity = \
                     \"errors\"\nat_most = 0\n";

/// What a step left behind.
#[derive(Debug)]
struct Ended {
    code: i32,
    stderr: String,
    stdout: String,
}

impl Ended {
    /// The document of a command that did its work, whatever an emulated drive is worth.
    #[track_caller]
    fn json(&self) -> Value {
        assert!([0, 3].contains(&self.code), "{self:?}");
        serde_json::from_str(self.stdout.trim()).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// A refusal, by how its complaint begins.
    #[track_caller]
    fn refuses(&self, code: i32, complaint: &str) {
        assert_eq!(self.code, code, "{self:?}");
        assert!(self.stderr.contains(complaint), "{self:?}");
    }
}

/// A guest that has done its steps.
struct Guest {
    steps: HashMap<String, Ended>,
}

impl Guest {
    /// Starts a machine with drives and waits until it is done with its steps.
    fn run(words: &str, steps: &[(&str, &str)]) -> Result<Self, Skip> {
        let place = Place::new();
        let kit = kit(&place, steps)?;
        let content = random_bytes(DRIVE_MIB << 20);
        for name in ["plain", "mounted", "wide", "metadata", "failing"] {
            fs::write(place.path(name), &content).unwrap();
        }
        let [console, said, complaint] =
            ["console", "words", "complaint"].map(|name| place.path(name));
        let mut command = machine(&place, &kit, words);
        for serial in [&console, &said] {
            command.arg("-serial").arg(format!("file:{}", serial.display()));
        }
        let errors = fs::File::create(&complaint).unwrap();
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(errors);
        let mut machine = Reaped::spawn(&mut command).unwrap();
        let begin = Instant::now();
        let text = |path: &Path| {
            String::from_utf8_lossy(&fs::read(path).unwrap_or_default()).replace('\r', "")
        };
        while !text(&said).contains("end of guest") {
            let is_running = matches!(machine.try_wait(), Ok(None));
            let goes_on = is_running && begin.elapsed() < PATIENCE;
            assert!(goes_on, "{}\n{}\n{}", text(&complaint), text(&console), text(&said));
            std::thread::sleep(Duration::from_millis(50));
        }
        let steps = steps_of(&text(&said));
        for (name, ended) in &steps {
            println!("{name}: {} {:.300}", ended.code, ended.stderr);
        }
        Ok(Self { steps })
    }

    #[track_caller]
    fn step(&self, name: &str) -> &Ended {
        &self.steps[name]
    }
}

/// What a guest starts from, with its steps and their workloads.
fn kit(place: &Place, steps: &[(&str, &str)]) -> Result<Kit, Skip> {
    let lines: Vec<String> =
        steps.iter().map(|(name, command)| format!("step '{name}' '{command}'")).collect();
    let init = INIT.replace("STEPS", &lines.join("\n"));
    let scan = "access = { sequential = { streams = 1 } }\narrival";
    let files = [
        ("reads.toml", reads("4KiB")),
        ("full.toml", reads("128KiB")),
        ("big.toml", reads("256KiB")),
        ("small.toml", reads("512B")),
        ("scan.toml", reads("128KiB").replace("arrival", scan)),
        ("synced.toml", synced()),
        ("durable.toml", durable()),
        ("good.toml", GOOD.to_owned()),
        ("whole.toml", WHOLE.to_owned()),
    ];
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (*name, text.as_str())).collect();
    Kit::make(place, &init, &[], &files)
}

/// A machine with a controller of five namespaces.
fn machine(place: &Place, kit: &Kit, words: &str) -> Command {
    let mut command = Command::new("qemu-system-x86_64");
    let machine = "-accel tcg -cpu max -smp 2 -m 1024 -display none -nodefaults -no-reboot";
    command.args(machine.split(' '));
    command.arg("-kernel").arg(&kit.kernel).arg("-initrd").arg(&kit.initial);
    command.arg("-append").arg(format!("console=ttyS0 quiet panic=0 {words}"));
    for name in ["plain", "mounted", "wide", "metadata"] {
        let path = place.path(name);
        let file = format!("driver=file,node-name={name},filename={}", path.display());
        command.arg("-blockdev").arg(file);
    }
    command.arg("-blockdev").arg(format!(
        "driver=blkdebug,node-name=failing,image.driver=file,image.filename={},inject-error.0.\
         event=none,inject-error.0.iotype=read,inject-error.0.errno=5,inject-error.0.sector=65536",
        place.path("failing").display()
    ));
    // Commands of 2^5 pages at most.
    command.args(["-device", "nvme,id=controller,serial=guestdrive,mdts=5"]);
    for device in [
        "nsid=1,drive=plain",
        "nsid=2,drive=mounted",
        "nsid=3,drive=wide,logical_block_size=4096,physical_block_size=4096",
        "nsid=4,drive=metadata,ms=8,pi=1",
        "nsid=5,drive=failing",
    ] {
        command.arg("-device").arg(format!("nvme-ns,bus=controller,{device}"));
    }
    command
}

fn steps_of(said: &str) -> HashMap<String, Ended> {
    let mut steps = HashMap::new();
    for text in said.split("end of step\n") {
        let Some((_, text)) = text.split_once("step ") else { continue };
        let (head, stdout) = text.split_once("on standard output\n").unwrap();
        let (name, rest) = head.split_once('\n').unwrap();
        let (code, stderr) = rest.split_once('\n').unwrap();
        let (stdout, stderr) = (stdout.to_owned(), stderr.to_owned());
        steps.insert(name.to_owned(), Ended { code: code.parse().unwrap(), stderr, stdout });
    }
    steps
}

/// No doubt says that bytes never reached a device, or that a cache answered.
#[track_caller]
fn counters_are_not_asked(run: &Value) {
    let verdict = run["verdict"].to_string();
    assert!(verdict.contains("at_least"), "{verdict}");
    assert!(
        !verdict.contains("by the kernel's counters") && !verdict.contains("cache"),
        "{verdict}"
    );
}

#[track_caller]
fn service_time_is_known(operation: &Value) {
    assert!(operation["ios"].as_u64() > Some(0), "{operation}");
    assert!(operation["service"]["mean_ns"].as_f64() > Some(0.0), "{operation}");
}

const STEPS: &[(&str, &str)] = &[
    (
        "devices",
        "ls /dev/ng* /dev/nvme*; cat /sys/block/nvme0n1/queue/max_hw_sectors_kb; cat \
         /sys/block/*/size; uname -r",
    ),
    ("reads", "/assay run /reads.toml /dev/ng0n1 --criteria /good.toml --json"),
    ("largest", "/assay run /full.toml /dev/ng0n1 --criteria /good.toml --json"),
    ("beyond", "/assay run /big.toml /dev/ng0n1"),
    ("before", "dd if=/dev/nvme0n1 iflag=direct bs=1M 2>/dev/null | md5sum"),
    ("no leave", "/assay run /synced.toml /dev/ng0n1"),
    ("untouched", "dd if=/dev/nvme0n1 iflag=direct bs=1M 2>/dev/null | md5sum"),
    (
        "verified",
        "/assay run /synced.toml /dev/ng0n1 --destroy guestdrive --verify --criteria /whole.toml \
         --json",
    ),
    ("after", "dd if=/dev/nvme0n1 iflag=direct bs=1M 2>/dev/null | md5sum"),
    ("durable", "/assay run /durable.toml /dev/ng0n1 --destroy guestdrive --json"),
    (
        "crossed",
        "/assay run /synced.toml /dev/nvme0n1 --destroy guestdrive --verify --criteria \
         /whole.toml --json",
    ),
    ("mount", "mke2fs /dev/nvme0n2 && mount -t ext4 /dev/nvme0n2 /mnt"),
    ("mounted", "/assay run /synced.toml /dev/ng0n2 --destroy guestdrive"),
    ("mounted reads", "/assay run /reads.toml /dev/ng0n2 --json"),
    ("unmount", "umount /mnt"),
    ("occupied", "/assay run /synced.toml /dev/ng0n2 --destroy guestdrive"),
    (
        "held open",
        "sleep 30 >>/dev/ng0n1 & sleep 0.3; /assay run /synced.toml /dev/ng0n1 --destroy \
         guestdrive; code=$?; kill %1; exit $code",
    ),
    ("wide", "/assay run /reads.toml /dev/ng0n3 --json"),
    ("unaligned", "/assay run /small.toml /dev/ng0n3"),
    ("metadata", "/assay run /reads.toml /dev/ng0n4"),
    ("failing", "/assay run /scan.toml /dev/ng0n5 --json"),
    ("twice", "/assay run /reads.toml /dev/ng0n1 /dev/nvme0n1"),
    ("together", "/assay run /full.toml /dev/ng0n1 /dev/nvme0n3 --criteria /good.toml --json"),
    ("posix", "/assay run /reads.toml /dev/ng0n1 --backend posix"),
    ("buffered", "/assay run /reads.toml /dev/ng0n1 --buffered"),
    ("unpolled", "/assay run /reads.toml /dev/ng0n1 --polled"),
    ("controller", "/assay run /reads.toml /dev/nvme0"),
    (
        "no rights",
        "echo nobody:x:65534:65534::/:/bin/sh >/etc/passwd; chmod 666 /dev/nvme0n1 /dev/ng0n1; \
         chmod 644 /reads.toml; chmod 777 /tmp; su nobody -c \"/assay run /reads.toml /dev/ng0n1 \
         --store /tmp/others\"",
    ),
    ("calibrate", "/assay calibrate /dev/ng0n1 --time 6s --json"),
    ("inspect", "/assay inspect /dev/ng0n1 --json"),
    ("page", "/assay report latest --json"),
];

#[test]
#[ignore = "a minute; `make guest`"]
fn a_namespace_is_measured_past_the_block_layer() {
    let guest = or_skip!(Guest::run("", STEPS));
    println!("{}", guest.step("devices").stdout);
    reads_and_writes(&guest);
    refusals(&guest);
    others(&guest);
}

fn reads_and_writes(guest: &Guest) {
    let run = guest.step("reads").json();
    let reads = measurement(&run);
    service_time_is_known(&reads["streams"][0]["operations"]["read"]);
    assert_eq!(reads["conduct"]["passthrough"][0], "/dev/ng0n1");
    let target = &run["environment"]["storage"][0]["target"];
    assert_eq!(
        (&target["kind"], &target["transfer_bytes_max"]),
        (&"nvme_namespace".into(), &131_072.into())
    );
    // More than enough bytes for the kernel's counters to be asked, and they saw none of them.
    let run = guest.step("largest").json();
    let reads = &measurement(&run)["streams"][0]["operations"]["read"];
    assert!(reads["bytes"].as_u64() > Some(64 << 20), "{reads}");
    counters_are_not_asked(&run);
    let kernel = &measurement(&run)["conduct"]["kernel"]["devices"][0];
    assert_eq!(kernel["name"], "nvme0n1");
    assert!(kernel["counters"]["read_bytes"].as_u64() < Some(16 << 20), "{kernel}");
    // What a sweep reads through the block device is what was written past it.
    let run = guest.step("verified").json();
    let found = &run["integrity"];
    assert!(found["coverage"]["verified_blocks"].as_u64() > Some(0), "{found}");
    assert!(
        found["sweep"]["blocks"].as_u64() > Some(0) && found["sweep"]["complete"] == true,
        "{found}"
    );
    for operation in ["read", "write", "sync"] {
        service_time_is_known(&measurement(&run)["streams"][0]["operations"][operation]);
    }
    let [before, untouched, after] =
        ["before", "untouched", "after"].map(|name| &guest.step(name).stdout);
    assert_eq!(before, untouched);
    assert_ne!(before, after);
    service_time_is_known(
        &measurement(&guest.step("durable").json())["streams"][0]["operations"]["write"],
    );
    guest.step("crossed").json();
}

fn refusals(guest: &Guest) {
    guest.step("beyond").refuses(
        2,
        "error: a block size of 256KiB exceeds the limit of a command to /dev/ng0n1: 128KiB",
    );
    guest
        .step("no leave")
        .refuses(4, "error: refusing to write to /dev/ng0n1: writing destroys everything on it");
    assert_eq!(guest.step("mount").code, 0, "{:?}", guest.step("mount"));
    guest
        .step("mounted")
        .refuses(4, "error: refusing to write to /dev/ng0n2: it is mounted at /mnt");
    guest.step("occupied").refuses(
        4,
        "error: refusing to write to /dev/ng0n2: it contains: ext2, ext3 or ext4 file system",
    );
    guest
        .step("held open")
        .refuses(4, "error: refusing to write to /dev/ng0n1: it is open for writing in process");
    guest.step("unaligned").refuses(
        2,
        "error: a block size of 512B is not aligned to the 4096 B blocks of /dev/ng0n3\nhint: use \
         a multiple of the block size\n",
    );
    guest.step("metadata").refuses(
        4,
        "error: refusing /dev/ng0n4: its blocks have 8B of metadata, with protection information",
    );
    guest.step("twice").refuses(2, "error: /dev/nvme0n1 is specified twice");
    guest.step("posix").refuses(4, "error: /dev/ng0n1 works only with io_uring");
    guest.step("buffered").refuses(2, "error: /dev/ng0n1 has no page cache");
    guest
        .step("unpolled")
        .refuses(4, "error: --polled: the driver of /dev/ng0n1 has no poll queues");
    guest
        .step("controller")
        .refuses(4, "error: cannot measure /dev/nvme0: it is a character device");
    guest.step("no rights").refuses(
        4,
        "error: cannot pass commands to /dev/ng0n1: the kernel does not allow commands to it",
    );
}

fn others(guest: &Guest) {
    service_time_is_known(
        &measurement(&guest.step("mounted reads").json())["streams"][0]["operations"]["read"],
    );
    service_time_is_known(
        &measurement(&guest.step("wide").json())["streams"][0]["operations"]["read"],
    );
    let run = guest.step("failing").json();
    let errors = measurement(&run)["errors"].as_array().unwrap();
    let meanings: Vec<&str> =
        errors.iter().map(|error| error["meaning"].as_str().unwrap()).collect();
    assert_eq!(meanings, ["unrecovered read error (NVMe status 0x281)"]);
    let run = guest.step("together").json();
    assert_eq!(measurement(&run)["conduct"]["passthrough"].as_array().unwrap().len(), 1);
    counters_are_not_asked(&run);
    assert!(guest.step("calibrate").stderr.contains("note: large I/Os are 128KiB"));
    let calibration = guest.step("calibrate").json();
    assert_eq!(calibration["calibration"]["mixes"][0]["large_block_size_bytes"], 131_072);
}

#[test]
#[ignore = "a minute; `make guest`"]
fn a_driver_with_queues_to_poll_is_polled() {
    let steps = [
        ("polled", "/assay run /reads.toml /dev/ng0n1 --polled --criteria /good.toml --json"),
        ("io_poll", "cat /sys/block/nvme0n1/queue/io_poll"),
    ];
    let guest = or_skip!(Guest::run("nvme.poll_queues=1", &steps));
    assert_eq!(guest.step("io_poll").stdout.trim(), "1");
    let run = guest.step("polled").json();
    service_time_is_known(&measurement(&run)["streams"][0]["operations"]["read"]);
    let features = measurement(&run)["conduct"]["features"].to_string();
    assert!(features.contains("polled completions"), "{features}");
}
