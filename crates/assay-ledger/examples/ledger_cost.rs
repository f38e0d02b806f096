//! What it costs to hand 50,000 acknowledgements a second to a witness on loopback: processor time
//! of both ends, next to the same loop without a ledger.
//!
//! `cargo run --release -p assay-ledger --example ledger_cost [SECONDS]`
#![allow(
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "an example prints, and fails where what it needs is missing"
)]

use assay_ledger::{
    Acknowledgement, LedgerHead, LedgerId, LedgerPlace, LedgerRecorder, LedgerSubject, Token,
    Witness, WitnessAddress,
};
use std::net::SocketAddr;
use std::time::{Duration, Instant};

const TOKEN: &str = "a token of this example";
const PER_S: u64 = 50_000;
/// Acknowledgements of a moment, as those of a sync come.
const BATCH: u64 = 8;
/// The kernel counts processor time in hundredths of a second here.
const TICKS_PER_S: f64 = 100.0;

/// Processor time of this process, s.
fn cpu_s() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap();
    let behind = stat.rsplit(')').next().unwrap();
    let ticks = |at: usize| behind.split_whitespace().nth(at).unwrap().parse::<f64>().unwrap();
    (ticks(11) + ticks(12)) / TICKS_PER_S
}

/// Hands out acknowledgements at their pace; the share of a processor that this took.
fn share(seconds: u64, mut acknowledge: impl FnMut(&[Acknowledgement])) -> f64 {
    let (began, used_s) = (Instant::now(), cpu_s());
    let mut given = 0;
    while began.elapsed() < Duration::from_secs(seconds) {
        let due = u64::try_from(began.elapsed().as_micros()).unwrap() * PER_S / 1_000_000;
        while given + BATCH <= due {
            let of = |number| Acknowledgement { place: number % 65_536, version: 1 };
            let all: Vec<Acknowledgement> = (given..given + BATCH).map(of).collect();
            acknowledge(&all);
            given += BATCH;
        }
        std::thread::sleep(Duration::from_micros(200));
    }
    (cpu_s() - used_s) / began.elapsed().as_secs_f64()
}

fn main() {
    let seconds = std::env::args().nth(1).and_then(|text| text.parse().ok()).unwrap_or(10);
    let store = std::env::temp_dir().join(format!("assay-ledger-cost-{}", std::process::id()));
    std::fs::create_dir(&store).unwrap();
    std::fs::write(store.join("token"), TOKEN).unwrap();
    let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(store.join("token"), private).unwrap();
    let token = Token::read(&store.join("token")).unwrap();
    let any = SocketAddr::from(([127, 0, 0, 1], 0));
    let witness = Witness::listen(any, &store.join("ledgers"), token.clone()).unwrap();
    let id = LedgerId::random().unwrap();
    let subject =
        LedgerSubject::Blocks { run: 1, block_bytes: 8192, first_byte: 0, length_bytes: 1 << 30 };
    let head = LedgerHead {
        format: 1,
        ledger: id.digits(),
        target: "d".to_owned(),
        identity: "d".to_owned(),
        directory: None,
        boot: "b".to_owned(),
        began_unix_ns: 0,
        subject,
    };
    let address = witness.address().to_string();
    let place = LedgerPlace::Witness(WitnessAddress { address, token });
    let idle = share(seconds, |_| ());
    let recorder = LedgerRecorder::begin(place.create(id, &head).unwrap(), |_| ()).unwrap();
    let kept = share(seconds, |all| recorder.acknowledge(all));
    let found = recorder.finish();
    println!(
        "{PER_S} acknowledgements a second to a witness: {:.1}% of one processor for both ends, \
         {} kept, {} not",
        100.0 * (kept - idle),
        found.kept,
        found.unkept
    );
    drop(witness);
    std::fs::remove_dir_all(&store).unwrap();
}
