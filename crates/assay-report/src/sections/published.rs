//! What was published of the experiment that a study repeats, next to what it came to here.

use crate::format::Formatter;
use crate::view::{CellLook, ViewBlock, ViewSection, ViewTable};
use assay_model::array::FigureCheck;
use assay_model::study::StudyResult;

/// A difference up to this counts as reproduced.
const NEAR: f64 = 0.10;

/// The published figures, how many of them were reproduced, and why others were not. A relative
/// report has none: it must not tell rates.
pub(super) fn section<'a>(study: &StudyResult, format: &Formatter) -> Option<ViewSection<'a>> {
    let row = |one: &FigureCheck| {
        let [published, measured, difference] = one.shown();
        let figure = &one.figure;
        let name = format!("{}: {}", one.array, figure.name);
        let cells = [name, figure.place.clone(), published, measured, difference];
        cells.into_iter().chain([one.remark().to_owned()]).collect::<Vec<_>>()
    };
    let table =
        ViewTable::new("Published figures").look(CellLook::Slim).words("figure").words("place");
    let table = table.numbers("published").numbers("here").numbers("difference").words("use");
    let table = ViewBlock::Table(table.with(study.published.iter().map(row)));
    let errors: Vec<f64> = study.published.iter().filter_map(FigureCheck::error).collect();
    let near = errors.iter().filter(|error| error.abs() <= NEAR).count();
    let lead = format!("{near} of {} figures are within 10% of the published ones.", errors.len());
    let reasons = study.published.iter().filter_map(|one| {
        let why = one.figure.why.as_ref().filter(|_| one.remark().contains("MISSES"))?;
        Some(format!("{}: {why}.", one.figure.name))
    });
    let lead = [lead].into_iter().filter(|_| !errors.is_empty()).chain(reasons).collect();
    let (id, title) = ("published", "Published figures".to_owned());
    let blocks = vec![ViewBlock::Lead(lead), table];
    (!study.published.is_empty() && !format.is_relative()).then(|| ViewSection {
        id,
        title,
        blocks,
    })
}
