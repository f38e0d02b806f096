//! Names of the cells that keep the intervals of a benchmark's steps.

/// Begin of the names of cells that are steps.
const RUNG: &str = "sessions-";

/// Name of the cell that keeps the intervals of a step.
pub fn rung_cell(sessions: u32, repeat: u32) -> String {
    format!("{RUNG}{sessions:04}-r{repeat}")
}

/// Whether a cell keeps the intervals of a step.
pub fn is_rung(cell: &str) -> bool {
    cell.starts_with(RUNG)
}

/// The sessions of the step whose intervals a cell keeps.
pub fn rung_sessions(cell: &str) -> Option<u32> {
    cell.strip_prefix(RUNG)?.split('-').next()?.parse().ok()
}
