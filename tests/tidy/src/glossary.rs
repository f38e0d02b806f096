//! The glossary in names: quantiles not percentiles, units last, a rate is never a count.

use crate::{Finding, RustFile};
use syn::visit::{self, Visit};

/// The last word of a field that holds a quantity with a unit; base units only.
pub const UNITS: &str = "ns s bytes iops per_s";

/// The last word of a field that holds a number without a unit, or in the unit of its surroundings:
/// parts of a whole, quotients and parameters of laws, statistics of a sample, mean numbers of
/// things, and the sides of a comparison.
pub const NUMBERS: &str = "
    share quantile probability confidence level coverage utilization fraction
    ratio factor theta exponent weight weights coefficient alpha beta gamma delta lambda mu sigma \
                           rho kappa skew
    scale shape
    value values sample samples estimate mean median mode sum total variance deviation error slope \
                           intercept
    residual correlation statistic p_value freedom low high lower upper min max minimum maximum \
                           limit target
    tolerance excursion scatter range span width height length x y x0 y0 x1 y1 dx dy
    queue_depth ios arrivals sessions credits servers workers cores nodes customers clusters n \
                           size sizes latencies load
    growth misfit pattern parity base other before after between_alarms";

/// Every name of a file that the glossary forbids.
pub fn check(file: &RustFile) -> Vec<Finding> {
    let mut names = Names { file, findings: forbidden(file) };
    names.visit_file(&file.syntax);
    names.findings
}

fn forbidden(file: &RustFile) -> Vec<Finding> {
    let words = file.words().into_iter();
    words
        .filter(|(word, _)| word.to_lowercase().contains("percentile"))
        .map(|(word, line)| {
            let what = format!("`{word}`: code knows quantiles in 0..=1 only");
            Finding::at(&file.path, line, what)
        })
        .collect()
}

/// Whether the name ends in one of the known words; `submit_per_s` ends in `per_s`.
fn ends_in(name: &str, known: &str) -> bool {
    known.split_whitespace().any(|word| {
        let before = name.strip_suffix(word);
        before.is_some_and(|before| before.is_empty() || before.ends_with('_'))
    })
}

/// The innermost type: `f64` of `Vec<Option<f64>>`, `[f64; 3]` and `&f64`.
fn innermost(shape: &syn::Type) -> Option<String> {
    match shape {
        syn::Type::Array(array) => innermost(&array.elem),
        syn::Type::Slice(slice) => innermost(&slice.elem),
        syn::Type::Reference(reference) => innermost(&reference.elem),
        syn::Type::Path(path) => innermost_of_path(&path.path),
        _ => None,
    }
}

fn innermost_of_path(path: &syn::Path) -> Option<String> {
    let last = path.segments.last()?;
    let wraps = ["Option", "Vec", "Box", "Arc"];
    match &last.arguments {
        syn::PathArguments::AngleBracketed(inner)
            if wraps.iter().any(|name| last.ident == name) =>
        {
            inner.args.iter().find_map(|argument| match argument {
                syn::GenericArgument::Type(shape) => innermost(shape),
                _ => None,
            })
        }
        _ => Some(last.ident.to_string()),
    }
}

fn is_float(shape: &syn::Type) -> bool {
    innermost(shape).is_some_and(|name| name == "f64" || name == "f32")
}

fn is_integer(shape: &syn::Type) -> bool {
    let integers =
        ["u8", "u16", "u32", "u64", "u128", "usize", "i8", "i16", "i32", "i64", "i128", "isize"];
    innermost(shape).is_some_and(|name| integers.contains(&name.as_str()))
}

/// Whether another crate can meet it; what stays inside has its definition near.
fn is_seen(visibility: &syn::Visibility) -> bool {
    matches!(visibility, syn::Visibility::Public(_))
}

/// Walks over everything that has a name and a type.
struct Names<'a> {
    file: &'a RustFile,
    findings: Vec<Finding>,
}

impl Names<'_> {
    fn find(&mut self, name: &syn::Ident, what: &str) {
        let line = name.span().start().line;
        if !self.file.is_test(line) {
            let what = format!("`{name}` {what}");
            self.findings.push(Finding::at(&self.file.path, line, what));
        }
    }

    /// A whole number under the name of a rate.
    fn judge_rate(&mut self, name: &syn::Ident, shape: &syn::Type) {
        let says_rate = name.to_string().split('_').any(|word| word == "iops");
        if says_rate && is_integer(shape) {
            self.find(name, "is a whole number: `iops` is a rate, a count is `ios`");
        }
    }

    /// A real number without a unit.
    fn judge_unit(&mut self, field: &syn::Field) {
        let Some(name) = &field.ident else { return };
        let text = name.to_string();
        let known = ends_in(&text, UNITS) || ends_in(&text, NUMBERS);
        if is_float(&field.ty) && !known {
            self.find(name, "is a real number without a unit or a known word at its end");
        }
    }

    fn judge_pattern(&mut self, typed: &syn::PatType) {
        if let syn::Pat::Ident(name) = &*typed.pat {
            self.judge_rate(&name.ident, &typed.ty);
        }
    }

    fn judge_result(&mut self, signature: &syn::Signature) {
        if let syn::ReturnType::Type(_, shape) = &signature.output {
            self.judge_rate(&signature.ident, shape);
        }
    }
}

impl<'ast> Visit<'ast> for Names<'_> {
    fn visit_item_struct(&mut self, item: &'ast syn::ItemStruct) {
        let seen = item.fields.iter().filter(|field| is_seen(&field.vis));
        seen.for_each(|field| self.judge_unit(field));
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast syn::ItemEnum) {
        let seen = item.variants.iter().filter(|_| is_seen(&item.vis));
        seen.flat_map(|variant| &variant.fields).for_each(|field| self.judge_unit(field));
        visit::visit_item_enum(self, item);
    }

    fn visit_field(&mut self, field: &'ast syn::Field) {
        if let Some(name) = &field.ident {
            self.judge_rate(name, &field.ty);
        }
    }

    fn visit_pat_type(&mut self, typed: &'ast syn::PatType) {
        self.judge_pattern(typed);
        visit::visit_pat_type(self, typed);
    }

    fn visit_signature(&mut self, signature: &'ast syn::Signature) {
        self.judge_result(signature);
        visit::visit_signature(self, signature);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Source;

    fn findings(text: &str) -> Vec<String> {
        let file = RustFile::parse(&Source::new("a/src/lib.rs", text)).unwrap();
        check(&file).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn names_of_the_glossary_pass() {
        let text = "struct A { pub wait_s: f64, pub read_iops: Option<f64>, pub share: f64, pub \
                    ios: u64, pub(crate) own: f64 }\nstruct B(f64);\nfn iops(ios: u64) -> f64 { \
                    0.0 }\n// a percentile in words\n";
        assert_eq!(findings(text), Vec::<String>::new());
    }

    #[test]
    fn the_word_for_quantiles_in_hundredths_is_found_also_inside_macros_and_tests() {
        assert_eq!(findings("fn percentile_of() {}").len(), 1);
        assert_eq!(findings("struct Percentiles;").len(), 1);
        assert_eq!(findings("fn a() { println!(\"{}\", percentile); }").len(), 1);
        assert_eq!(findings("#[test]\nfn percentile() {}").len(), 1);
    }

    #[test]
    fn a_real_number_needs_a_unit() {
        let found =
            findings("struct A { pub latency: f64, pub times: Vec<f32>, pub widths: [f64; 3] }");
        assert_eq!(found.len(), 3);
        assert!(found[0].starts_with("a/src/lib.rs:1: `latency` is a real number"), "{}", found[0]);
        assert_eq!(findings("pub enum A { B { wait_ms: f64 } }").len(), 1, "base units only");
        assert_eq!(
            findings("struct A { pub thes: f64 }").len(),
            1,
            "a suffix is a word of its own"
        );
    }

    #[test]
    fn a_count_is_not_called_a_rate() {
        assert_eq!(findings("struct A { iops: u64 }").len(), 1);
        assert_eq!(findings("struct A { max_iops: Option<usize> }").len(), 1);
        assert_eq!(findings("fn a(iops: u32) {}").len(), 1);
        assert_eq!(findings("fn a() { let read_iops: u64 = 0; }").len(), 1);
        assert_eq!(findings("fn read_iops() -> u64 { 0 }").len(), 1);
    }
}
