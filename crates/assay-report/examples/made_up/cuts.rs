//! A made-up campaign of power cuts on a device that loses what it acknowledged, and one on a
//! device that does not.

use assay_model::durability::{
    CutEvidence, CutKind, Declaration, DeclaredUnits, Durability, FlushTime, FlushTiming,
    JudgedCut, LostAge, PageAnswer, PageProtection, TearCount, TimingFinding,
};
use assay_model::integrity::{
    Fault, FaultCount, FaultKind, FaultMap, FaultPlace, FoundBy, Integrity, Sweep,
    VerificationCost, VerificationCoverage,
};
use assay_report::GivenReport;

const TARGET: &str = "/dev/nvme1n1";
const PAGE_BYTES: u64 = 8192;
const BLOCKS: u64 = 262_144;

/// A campaign of this number of cuts, the last of which lost something or not.
pub(crate) fn report(cuts: usize, is_refuted: bool) -> GivenReport {
    GivenReport {
        title: "verify".to_owned(),
        target: TARGET.to_owned(),
        created_unix_ns: 1_795_644_082_000_000_000,
        program: "assay 1.0.0".to_owned(),
        command: format!("assay verify {TARGET} --after --witness 192.0.2.7:9310 --cut power"),
        run_id: "20261125-220122-verify-q8d2".to_owned(),
        integrity: Some(integrity(cuts, is_refuted)),
        ..GivenReport::default()
    }
}

fn integrity(cuts: usize, is_refuted: bool) -> Integrity {
    let counts = [(FaultKind::Lost, 46), (FaultKind::Torn, 9), (FaultKind::Zeroed, 2)];
    let counts = counts.map(|(kind, blocks)| FaultCount { kind, blocks });
    let counts = if is_refuted { counts.to_vec() } else { Vec::new() };
    let lost: u64 = counts.iter().map(|count| count.blocks).sum();
    Integrity {
        format: 1,
        run: 7,
        block_bytes: PAGE_BYTES,
        checked_share: 1.0,
        coverage: VerificationCoverage {
            blocks: BLOCKS,
            written_blocks: 41_288,
            verified_blocks: 41_288 - lost,
            checked_reads: BLOCKS,
            ..VerificationCoverage::default()
        },
        sweep: Sweep {
            complete: true,
            blocks: BLOCKS,
            read_bytes: BLOCKS * PAGE_BYTES,
            elapsed_s: 3.1,
        },
        cost: VerificationCost::default(),
        faults: if is_refuted { faults() } else { Vec::new() },
        fault_maps: if is_refuted { vec![fault_map()] } else { Vec::new() },
        simulated_loss: None,
        durability: Some(durability(cuts, counts.clone())),
        counts,
    }
}

fn faults() -> Vec<Fault> {
    let fault = |kind, block: u64| Fault {
        kind,
        place: FaultPlace { target: TARGET.to_owned(), offset_bytes: block * PAGE_BYTES },
        found_by: FoundBy::Sweep,
        transient: false,
        expected_generation: 17,
        found_generation: Some(15),
        missing_writes: Some(2),
        boundary_bytes: (kind == FaultKind::Torn).then_some(4096),
        belongs_to: None,
        other_run: None,
        bits: Vec::new(),
        first_wrong_bytes: Some(0),
        last_wrong_bytes: Some(8191),
    };
    vec![
        fault(FaultKind::Lost, 4100),
        fault(FaultKind::Torn, 61_444),
        fault(FaultKind::Lost, 61_452),
    ]
}

fn fault_map() -> FaultMap {
    let mut blocks = vec![0; 64];
    for (part, number) in [(1, 3), (15, 31), (16, 17), (40, 4), (63, 2)] {
        blocks[part] = number;
    }
    let part_bytes = BLOCKS / 64 * PAGE_BYTES;
    FaultMap { target: TARGET.to_owned(), first_byte: 0, part_bytes, blocks }
}

fn durability(cuts: usize, lost: Vec<FaultCount>) -> Durability {
    let is_refuted = !lost.is_empty();
    let whole = JudgedCut {
        judged_unix_ns: 1_795_644_082_000_000_000,
        acknowledgements: 61_734,
        acknowledged_s: 14.2,
        promised_blocks: 41_288,
        kept_blocks: 41_288,
        newer_blocks: 12,
        ..JudgedCut::of(CutKind::Power, 7)
    };
    let mut all = vec![whole; cuts];
    if let Some(last) = all.last_mut().filter(|_| is_refuted) {
        last.kept_blocks -= lost.iter().map(|count| count.blocks).sum::<u64>();
        last.counts = lost;
        let ages = [(Some(0.01), 31), (Some(0.1), 22), (Some(1.0), 4), (Some(10.0), 0)];
        let ages = ages.into_iter().chain([(Some(60.0), 0), (None, 0)]);
        last.lost_ages = ages.map(|(age_max_s, blocks)| LostAge { age_max_s, blocks }).collect();
        let tears = [(512, 1), (4096, 7), (6144, 2)];
        last.torn_blocks = 10;
        last.atomic_unit_bytes = Some(512);
        last.tears =
            tears.map(|(boundary_bytes, blocks)| TearCount { boundary_bytes, blocks }).to_vec();
    }
    let limit = 1.0 - 0.05f64.powf(1.0 / assay_model::number::real_len(cuts));
    Durability {
        declarations: vec![Declaration {
            layer: "nvme1n1 (SSD 990)".to_owned(),
            what: "write back: a volatile cache, written out by flushes".to_owned(),
        }],
        page_protection: Some(page_protection(cuts, is_refuted, limit)),
        timing: Some(timing()),
        cuts: all,
        loss_per_cut_max: Some(if is_refuted { 0.077 } else { limit }),
        acknowledgements: 61_734,
        ..Durability::of(if is_refuted { CutEvidence::Refuted } else { CutEvidence::PowerCuts })
    }
}

fn page_protection(cuts: usize, is_torn: bool, limit: f64) -> PageProtection {
    PageProtection {
        page_bytes: PAGE_BYTES,
        answer: if is_torn { PageAnswer::Needed } else { PageAnswer::Unproven },
        declared: DeclaredUnits {
            logical_block_bytes: Some(512),
            physical_block_bytes: Some(4096),
            ..DeclaredUnits::default()
        },
        cuts: assay_model::number::count_of(cuts),
        torn_per_cut_max: (!is_torn).then_some(limit),
    }
}

fn timing() -> FlushTiming {
    let flush = |dirty_bytes, median_ns: f64| FlushTime {
        dirty_bytes,
        median_ns,
        low_ns: median_ns * 0.93,
        high_ns: median_ns * 1.08,
        flushes: 60,
    };
    FlushTiming {
        flushes: vec![
            flush(0, 18_000.0),
            flush(8192, 910_000.0),
            flush(1 << 20, 1_400_000.0),
            flush(16 << 20, 7_800_000.0),
        ],
        write_median_ns: 16_000.0,
        durable_write_median_ns: Some(930_000.0),
        finding: TimingFinding::Grows,
        sustained_bytes_per_s: 1.9e9,
        protected_memory_bytes_min: 0,
    }
}
