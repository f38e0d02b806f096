//! The budget on made-up files: every limit can be broken, and what does not count does not.

use super::*;
use crate::Source;

fn file(path: &str, text: &str) -> RustFile {
    RustFile::parse(&Source::new(path, text)).unwrap()
}

/// A function of `lines` code lines, with a comment and a blank line that do not count.
fn function(name: &str, lines: usize) -> String {
    let body = "    a();\n".repeat(lines - 2);
    format!("/// Doc.\n#[inline]\npub fn {name}() {{\n    // why\n\n{body}}}\n")
}

fn findings(text: &str) -> Vec<String> {
    let files = [file("crates/a/src/lib.rs", text)];
    check(&files, &BUDGET, &[]).iter().map(ToString::to_string).collect()
}

#[test]
fn within_the_budget_nothing_is_found() {
    let text = format!("{}{}{}", function("a", 8), function("b", 3), function("c", 8));
    assert_eq!(findings(&text), Vec::<String>::new());
}

#[test]
fn a_median_over_the_limit_names_the_longest() {
    let found = findings(&format!("{}{}{}", function("a", 9), function("b", 3), function("c", 10)));
    assert_eq!(found.len(), 1);
    assert!(
        found[0].starts_with("functions: quantile 0.5 of 3 is 9 lines, 1 over the limit of 8"),
        "{}",
        found[0]
    );
    assert!(found[0].contains("the longest: crates/a/src/lib.rs:"), "{}", found[0]);
}

#[test]
fn a_tail_over_the_limit_is_found() {
    let small: String = (0..8).map(|index| function(&format!("f{index}"), 3)).collect();
    let found = findings(&format!("{small}{}{}", function("x", 31), function("y", 31)));
    assert_eq!(found.len(), 1);
    assert!(found[0].contains("quantile 0.9 of 10 is 31 lines, 1 over"), "{}", found[0]);
}

#[test]
fn one_function_over_sixty_lines_is_found() {
    let small: String = (0..12).map(|index| function(&format!("f{index}"), 3)).collect();
    let found = findings(&format!("{}{small}", function("long", 63)));
    assert_eq!(found, ["crates/a/src/lib.rs:3: `long` has 63 lines, 3 over the limit of 60"]);
}

#[test]
fn methods_and_default_bodies_count_and_declarations_do_not() {
    let text =
        "struct A;\nimpl A {\n    fn a() {\n    }\n}\ntrait B {\n    fn b();\n    fn c() {}\n}\n";
    let files = [file("crates/a/src/lib.rs", text)];
    let names: Vec<String> = functions(&files).into_iter().map(|length| length.name).collect();
    assert_eq!(names, ["`a`", "`c`"]);
}

#[test]
fn tests_have_no_budget() {
    let test = format!("#[cfg(test)]\nmod tests {{\n{}}}\n", function("a", 80));
    assert_eq!(findings(&test), Vec::<String>::new());
    let files = [file("crates/a/tests/b.rs", &function("a", 80))];
    assert_eq!(check(&files, &BUDGET, &[]), []);
}

#[test]
fn a_file_over_the_limit_is_found_unless_it_is_a_table() {
    let long = file("crates/a/src/data.rs", &"const A: u8 = 1;\n".repeat(801));
    let short = |name: &str| file(name, "const A: u8 = 1;\n");
    let files = [long, short("crates/a/src/b.rs"), short("crates/a/src/c.rs")];
    let found = crate::report(&check(&files, &BUDGET, &[]));
    assert_eq!(found, "crates/a/src/data.rs: the file has 801 lines, 1 over the limit of 800");
    assert_eq!(check(&files, &BUDGET, &["crates/a/src/data.rs"]), []);
}

#[test]
fn a_median_of_files_over_the_limit_is_found() {
    let files = [file("crates/a/src/b.rs", &"const A: u8 = 1;\n".repeat(201))];
    let found = crate::report(&check(&files, &BUDGET, &[]));
    assert!(found.starts_with("files: quantile 0.5 of 1 is 201 lines, 1 over"), "{found}");
}

#[test]
fn the_summary_says_how_near_the_limits_are() {
    let files = [file("crates/a/src/b.rs", &function("a", 5))];
    let expected =
        "1 functions: median 5, p90 5, longest 5 lines; 1 files: median 9, p90 9, longest 9 lines";
    assert_eq!(summary(&files, &[]), expected);
}
