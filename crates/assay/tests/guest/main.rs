//! Virtual machines: one whose disk loses its power, with `assay verify` in the guest, its witness
//! on the host, and what is judged after each cut; and one with NVMe drives.
//!
//! `make guest` fetches a kernel for them and runs the long campaign.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]
#![allow(clippy::print_stdout, reason = "the long campaign says what came of each cut")]

#[path = "../support/mod.rs"]
mod support;

mod kit;
mod passthrough;

use assay_model::units::Bytes;
use assay_rig::{Cache, Lie, NbdDisk, Reaped, Skip, or_skip};
use kit::Kit;
use rustix::process::Signal;
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::FileExt;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use support::{Place, Started};

const DISK_BYTES: u64 = 64 << 20;
/// Acknowledgements that a cut is to meet, in bytes of the ledger.
const ENOUGH_BYTES: u64 = 20_000;
/// A guest without hardware support is slow, and the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(240);
const TOKEN: &str = "a token of 24 characters\n";
const MODULES: [&str; 9] = [
    "virtio_ring",
    "virtio",
    "virtio_pci_legacy_dev",
    "virtio_pci_modern_dev",
    "virtio_pci",
    "virtio_blk",
    "failover",
    "net_failover",
    "virtio_net",
];

/// The first program of the guest: it judges what the last cut left, and writes until the next one.
/// A second disk says what was cut, where the witness is, and when the kernel is to panic.
const INIT: &str = r#"#!/busybox sh
/busybox mkdir -p /bin /proc /sys /dev /tmp
/busybox --install -s /bin
mount -t proc proc /proc
mount -t sysfs sys /sys
mount -t devtmpfs dev /dev
for module in MODULES; do insmod /$module.ko; done
ifconfig eth0 10.0.2.15 netmask 255.255.255.0 up
export HOME=/tmp
chmod 600 /token
cd /tmp
exec >/dev/ttyS1 2>&1
order() {
    blockdev --flushbufs /dev/vdb
    eval "$(head -c 512 /dev/vdb | tr -d '\0')"
}
verify() {
    /assay verify /dev/vda "$@" --witness 10.0.2.2:$port --token-file /token --store /tmp/runs
    echo "the program ended with $?"
}
order
if [ "$cut" = none ]; then
    verify --destroy guestdisk -q &
else
    /assay verify /dev/vda --after --cut $cut --json -q --witness 10.0.2.2:$port --token-file /token --store /tmp/runs >/tmp/found
    echo "judged $?"
    cat /tmp/found
    echo
    echo "end of judgement"
    verify --after --resume --cut $cut --destroy guestdisk -q &
fi
while sleep 0.2; do
    order
    [ "$panic" = now ] && echo c >/proc/sysrq-trigger
done
"#;

/// How a guest ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cut {
    /// Its machine is killed, and the disk loses its power.
    Kill,
    /// Its kernel panics; then the disk loses its power.
    Panic,
    /// Its machine quits at once, as asked by its monitor, and the disk loses its power.
    Quit,
    /// Its machine is started again by its monitor, and the disk keeps its power.
    Reset,
    /// Its processors are stopped in the middle of whatever they do; then it is killed, and the
    /// disk loses its power.
    Stop,
    /// The disk loses its power under the running machine, which is killed afterwards.
    DiskFirst,
    /// Its kernel panics, and its machine is started again; the disk keeps its power.
    PanicAndReset,
}

impl Cut {
    const ALL: [Self; 7] = [
        Self::Kill,
        Self::Panic,
        Self::Quit,
        Self::Reset,
        Self::Stop,
        Self::DiskFirst,
        Self::PanicAndReset,
    ];

    /// What `--cut` says of it.
    const fn word(self) -> &'static str {
        if self.keeps_machine() { "system" } else { "power" }
    }

    const fn panics(self) -> bool {
        matches!(self, Self::Panic | Self::PanicAndReset)
    }

    const fn keeps_machine(self) -> bool {
        matches!(self, Self::Reset | Self::PanicAndReset)
    }
}

/// A disk, a witness on the host, and the guests that come and go.
struct Scratch {
    place: Place,
    kit: Kit,
    disk: NbdDisk,
    witness: Started,
    port: String,
    guests: u64,
}

/// A guest at work.
struct Guest {
    machine: Reaped,
    console: PathBuf,
    words: PathBuf,
    monitor: PathBuf,
    /// Judgements that were read.
    judged: usize,
}

impl Scratch {
    fn new(lie: Lie) -> Result<Self, Skip> {
        let place = Place::new();
        let kit = Kit::make(&place, INIT, &MODULES, &[("token", TOKEN)])?;
        place.write_private("token", TOKEN);
        let cache = Cache { unit: Bytes(512), lie };
        let disk = NbdDisk::serve(&place.path("disk"), DISK_BYTES, cache)?;
        let mut witness =
            place.start("verify witness --listen 127.0.0.1:0 --token-file token --store ledgers");
        let listens = |text: &str| -> Option<String> {
            let (_, address) = text.split_once("listening at 127.0.0.1:")?;
            let port: String = address.chars().take_while(char::is_ascii_digit).collect();
            (!port.is_empty()).then_some(port)
        };
        while listens(&witness.stderr()).is_none() {
            assert!(witness.is_running(), "{}", witness.stderr());
            std::thread::sleep(Duration::from_millis(10));
        }
        let port = listens(&witness.stderr()).unwrap();
        Ok(Self { place, kit, disk, witness, port, guests: 0 })
    }

    /// Writes what a guest reads from its second disk.
    fn order(&self, before: Option<Cut>, panic: &str) {
        let cut = before.map_or("none", Cut::word);
        let mut order = format!("port={} cut={cut} panic={panic}\n", self.port).into_bytes();
        order.resize(512, 0);
        // In place: the machine has it open.
        let mut options = File::options();
        options.write(true).create(true).truncate(false);
        let file = options.open(self.place.path("order")).unwrap();
        file.write_all_at(&order, 0).unwrap();
    }

    fn start(&mut self) -> Guest {
        self.guests += 1;
        let named = |name: &str| self.place.path(format!("{name}-{}", self.guests));
        let [console, words, monitor] = ["console", "words", "monitor"].map(named);
        let disk = format!(
            "driver=nbd,node-name=disk,server.type=unix,server.path={}",
            self.disk.path().display()
        );
        let order = self.place.path("order");
        let order = format!("driver=file,node-name=order,filename={}", order.display());
        let mut command = Command::new("qemu-system-x86_64");
        command.args("-accel tcg -cpu max -m 768 -display none -nodefaults".split(' '));
        command.arg("-kernel").arg(&self.kit.kernel).arg("-initrd").arg(&self.kit.initial);
        command.args(["-append", "console=ttyS0 quiet panic=0"]);
        command.args(["-blockdev", &disk, "-blockdev", &order]);
        command.args(["-device", "virtio-blk-pci,drive=disk,serial=guestdisk"]);
        command.args(["-device", "virtio-blk-pci,drive=order"]);
        command.args(["-netdev", "user,id=net", "-device", "virtio-net-pci,netdev=net,romfile="]);
        for serial in [&console, &words] {
            command.arg("-serial").arg(format!("file:{}", serial.display()));
        }
        command.arg("-qmp").arg(format!("unix:{},server=on,wait=off", monitor.display()));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let machine = Reaped::spawn(&mut command).unwrap();
        Guest { machine, console, words, monitor, judged: 0 }
    }

    /// Bytes of all ledgers.
    fn acknowledged_bytes(&self) -> u64 {
        let files = fs::read_dir(self.place.path("ledgers")).into_iter().flatten();
        files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
    }

    /// Lets a guest write until enough is acknowledged, and cuts; the guest, where its machine
    /// starts again.
    fn cut(&self, mut guest: Guest, cut: Cut, seed: u64) -> Option<Guest> {
        let begun_bytes = self.acknowledged_bytes();
        guest.wait_until("acknowledgements", |_| {
            self.acknowledged_bytes() > begun_bytes + ENOUGH_BYTES
        });
        if cut.panics() {
            let panics = guest.panics();
            self.order(None, "now");
            guest.wait_until("a panic", |guest| guest.panics() > panics);
        }
        self.order(Some(cut), "no");
        match cut {
            Cut::Reset | Cut::PanicAndReset => {
                guest.ask("system_reset");
                return Some(guest);
            }
            Cut::Quit => {
                guest.ask("quit");
                guest.machine.wait().unwrap();
            }
            Cut::Stop => guest.ask("stop"),
            Cut::DiskFirst => self.disk.cut_power(seed),
            Cut::Kill | Cut::Panic => {}
        }
        // The machine is killed with its guard.
        drop(guest);
        if cut != Cut::DiskFirst {
            self.disk.cut_power(seed);
        }
        None
    }

    /// What was judged after each cut, until one refutes.
    fn campaign(&mut self, device: &str, cuts: &[Cut]) -> Vec<Value> {
        let mut judged = Vec::new();
        self.order(None, "no");
        let mut guest = self.start();
        for (seed, cut) in (1..).zip(cuts) {
            let kept = self.cut(guest, *cut, seed);
            let begun = Instant::now();
            guest = kept.unwrap_or_else(|| self.start());
            let found = guest.next_judgement();
            let durability = &found["integrity"]["durability"];
            let last = durability["cuts"].as_array().and_then(|cuts| cuts.last());
            let line = json!({
                "device": device,
                "cut": format!("{cut:?}"),
                "judged_after_s": begun.elapsed().as_secs(),
                "evidence": durability["evidence"],
                "last": last,
            });
            println!("{line}");
            let is_refuted = durability["evidence"] == "refuted";
            judged.push(found);
            if is_refuted {
                break;
            }
        }
        judged
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.witness.is_running() {
            self.witness.signal(Signal::KILL);
        }
    }
}

impl Guest {
    fn said(&self) -> String {
        String::from_utf8_lossy(&fs::read(&self.words).unwrap_or_default()).replace('\r', "")
    }

    /// Panics of its kernel so far.
    fn panics(&self) -> usize {
        let console = fs::read(&self.console).unwrap_or_default();
        String::from_utf8_lossy(&console).matches("Kernel panic").count()
    }

    /// What it found after the last cut.
    fn next_judgement(&mut self) -> Value {
        let seen = self.judged;
        self.wait_until("a judgement", |guest| {
            guest.said().matches("end of judgement").count() > seen
        });
        self.judged += 1;
        let said = self.said();
        let (_, found) = said.rsplit_once("judged ").unwrap();
        let (found, _) = found.split_once("end of judgement").unwrap();
        let (_code, document) = found.split_once('\n').unwrap();
        serde_json::from_str(document.trim()).unwrap_or_else(|error| panic!("{error}: {said}"))
    }

    fn wait_until(&mut self, what: &str, came: impl Fn(&Self) -> bool) {
        let begin = Instant::now();
        while !came(self) {
            let is_running = matches!(self.machine.try_wait(), Ok(None));
            let is_late = begin.elapsed() > PATIENCE || self.said().contains("the program ended");
            if is_late || !is_running {
                let console = fs::read(&self.console).unwrap_or_default();
                let console = String::from_utf8_lossy(&console);
                panic!("{what} never came ({is_running}):\n{console}\n{}", self.said());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Has the machine's monitor carry out a command (qemu's QMP: what is asked is answered by a
    /// line with `return`).
    fn ask(&self, command: &str) {
        let mut monitor = UnixStream::connect(&self.monitor).unwrap();
        let answers = BufReader::new(monitor.try_clone().unwrap()).lines();
        for command in ["qmp_capabilities", command] {
            writeln!(monitor, "{{\"execute\":\"{command}\"}}").unwrap();
        }
        let returned = answers.map_while(Result::ok).filter(|line| line.contains("\"return\""));
        assert_eq!(returned.take(2).count(), 2, "{command}");
    }
}

fn evidence(found: &Value) -> &Value {
    &found["integrity"]["durability"]["evidence"]
}

/// Nothing is missing after any cut, and each met something that was promised.
fn assert_kept(judged: &[Value], cuts: usize) {
    let found = judged.last().unwrap();
    let all = found["integrity"]["durability"]["cuts"].as_array().unwrap();
    assert_eq!((judged.len(), all.len()), (cuts, cuts), "{found:#}");
    for cut in all {
        assert!(cut["promised_blocks"].as_u64() > Some(0), "{cut}");
        assert_eq!(cut["kept_blocks"], cut["promised_blocks"], "{cut}");
    }
    assert_eq!(evidence(found), "power_cuts");
}

#[test]
fn a_guest_finds_what_its_disk_acknowledged_after_a_cut() {
    let mut scratch = or_skip!(Scratch::new(Lie::None));
    assert_kept(&scratch.campaign("conforming", &[Cut::Kill]), 1);
    let counts = scratch.disk.counts();
    assert!(counts.flushes > 0 && counts.writes > 0, "{counts:?}");
}

#[test]
#[ignore = "minutes; `make guest`"]
fn twenty_cuts_of_a_guest_refute_a_lie_and_nothing_else() {
    let cuts: Vec<Cut> = Cut::ALL.into_iter().cycle().take(20).collect();
    let mut conforming = or_skip!(Scratch::new(Lie::None));
    assert_kept(&conforming.campaign("conforming", &cuts), 20);
    for lie in [Lie::IgnoresFlush(Bytes(4 << 20)), Lie::FlushesOneQueue, Lie::Garbles] {
        let mut lying = or_skip!(Scratch::new(lie));
        let judged = lying.campaign(&format!("{lie:?}"), &[Cut::Kill; 5]);
        assert_eq!(evidence(judged.last().unwrap()), "refuted", "{lie:?}");
    }
}
