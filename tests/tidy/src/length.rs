//! The length budget: how long functions and files may be, and which are over it.
//!
//! A function is counted from the line of `fn` to its closing brace, both included; attributes, doc
//! comments, blank lines and lines that hold only a comment do not count. A file is counted with
//! its comments and blank lines, without its tests. Tests (`#[cfg(test)]`, `#[test]`, `tests.rs`,
//! folders `tests`) have no budget here.

use crate::{Finding, RustFile};
use syn::visit::{self, Visit};

/// Limits in lines; a quantile of n lengths is the ⌈q·n⌉-th smallest.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Half of the functions are at most this long.
    pub function_median: usize,
    /// Nine of ten functions are at most this long.
    pub function_p90: usize,
    /// No function is longer.
    pub function_max: usize,
    /// Half of the files are at most this long.
    pub file_median: usize,
    /// No file is longer.
    pub file_max: usize,
}

/// The budget of the house.
pub const BUDGET: Budget = Budget {
    function_median: 8,
    function_p90: 30,
    function_max: 60,
    file_median: 200,
    file_max: 800,
};

/// Files that are tables of data: they have no budget as files, their functions keep theirs.
pub const TABLES: &[&str] = &[];

const MEDIAN: usize = 5;
const P90: usize = 9;
const LONGEST: usize = 10;

/// One function or file and its length.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Length {
    place: String,
    name: String,
    lines: usize,
}

/// What is over the budget, and by how much.
pub fn check(files: &[RustFile], budget: &Budget, tables: &[&str]) -> Vec<Finding> {
    let functions = functions(files);
    let lengths = file_lengths(files, tables);
    let mut findings = over_quantile(&functions, "functions", MEDIAN, budget.function_median);
    findings.extend(over_quantile(&functions, "functions", P90, budget.function_p90));
    findings.extend(over_max(&functions, budget.function_max));
    findings.extend(over_quantile(&lengths, "files", MEDIAN, budget.file_median));
    findings.extend(over_max(&lengths, budget.file_max));
    findings
}

/// The measured lengths in one line, for those who want to know how near the limits are.
pub fn summary(files: &[RustFile], tables: &[&str]) -> String {
    let functions = functions(files);
    let lengths = file_lengths(files, tables);
    let row = |what: &str, of: &[Length]| {
        let [median, p90, max] = [MEDIAN, P90, LONGEST].map(|tenths| quantile(of, tenths));
        format!("{} {what}: median {median}, p90 {p90}, longest {max} lines", of.len())
    };
    format!("{}; {}", row("functions", &functions), row("files", &lengths))
}

fn over_max(lengths: &[Length], limit: usize) -> Vec<Finding> {
    let over = lengths.iter().filter(|length| length.lines > limit);
    over.map(|length| {
        let excess = length.lines - limit;
        let what = format!(
            "{} has {} lines, {excess} over the limit of {limit}",
            length.name, length.lines
        );
        Finding::new(&length.place, what)
    })
    .collect()
}

/// One finding that names the longest, because they are where to begin.
fn over_quantile(lengths: &[Length], kind: &str, tenths: usize, limit: usize) -> Vec<Finding> {
    let found = quantile(lengths, tenths);
    if found <= limit {
        return Vec::new();
    }
    let mut longest: Vec<&Length> = lengths.iter().collect();
    longest.sort_by_key(|length| std::cmp::Reverse(length.lines));
    let names: Vec<String> = longest
        .iter()
        .take(10)
        .map(|length| format!("{} {} ({})", length.place, length.name, length.lines))
        .collect();
    let what = format!(
        "quantile 0.{tenths} of {} is {found} lines, {} over the limit of {limit}; the longest: {}",
        lengths.len(),
        found - limit,
        names.join(", ")
    );
    vec![Finding::new(kind, what)]
}

/// The ⌈q·n⌉-th smallest length with q in tenths; 0 of nothing.
fn quantile(lengths: &[Length], tenths: usize) -> usize {
    let mut sorted: Vec<usize> = lengths.iter().map(|length| length.lines).collect();
    sorted.sort_unstable();
    let rank = (sorted.len() * tenths).div_ceil(10);
    rank.checked_sub(1).map_or(0, |index| sorted[index])
}

fn file_lengths(files: &[RustFile], tables: &[&str]) -> Vec<Length> {
    files
        .iter()
        .filter(|file| !tables.contains(&file.path.as_str()))
        .map(|file| Length {
            place: file.path.clone(),
            name: "the file".to_owned(),
            lines: file.lines_without_tests(),
        })
        .filter(|length| length.lines > 0)
        .collect()
}

fn functions(files: &[RustFile]) -> Vec<Length> {
    let mut found = Vec::new();
    for file in files {
        let mut functions = Functions { file, found: Vec::new() };
        functions.visit_file(&file.syntax);
        found.append(&mut functions.found);
    }
    found
}

/// Gathers every function with a body that is not a test.
struct Functions<'a> {
    file: &'a RustFile,
    found: Vec<Length>,
}

impl Functions<'_> {
    fn add(&mut self, signature: &syn::Signature, body: &syn::Block) {
        let first = signature.fn_token.span.start().line;
        let last = body.brace_token.span.close().end().line;
        if !self.file.is_test(first) {
            self.found.push(Length {
                place: format!("{}:{first}", self.file.path),
                name: format!("`{}`", signature.ident),
                lines: self.file.code_lines(first, last),
            });
        }
    }
}

impl<'ast> Visit<'ast> for Functions<'_> {
    fn visit_item_fn(&mut self, function: &'ast syn::ItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_item_fn(self, function);
    }

    fn visit_impl_item_fn(&mut self, function: &'ast syn::ImplItemFn) {
        self.add(&function.sig, &function.block);
        visit::visit_impl_item_fn(self, function);
    }

    fn visit_trait_item_fn(&mut self, function: &'ast syn::TraitItemFn) {
        if let Some(body) = &function.default {
            self.add(&function.sig, body);
        }
        visit::visit_trait_item_fn(self, function);
    }
}

#[cfg(test)]
mod tests;
