//! Documents of arrays that can be, and that cannot.

use super::*;

const SMALL: &str = r#"
format = 1
name = "small"
title = "A small array"
source = "made up"
capacity = "1GiB"
[[part]]
[part.path]
latency = "10us"
[[part]]
[part.raid]
level = "raid10"
members = 4
stripe = "64KiB"
[[part]]
[part.flash]
dies = 4
read = "100us"
program = "300us"
page = "8KiB"
"#;

#[test]
fn a_chain_of_parts_is_read() {
    let model = parse_array(SMALL).unwrap();
    assert_eq!(model.parts.len(), 3);
    let text = toml::to_string(&model).unwrap();
    assert_eq!(parse_array(&text).unwrap(), model);
}

#[test]
fn impossible_arrays_are_refused() {
    for (from, to, expected) in [
        ("members = 4", "members = 3", "Raid10 with 3 members"),
        ("dies = 4", "dies = 0", "dies of flash"),
        ("program =", "programm =", "did you mean 'program'?"),
        ("[part.flash]", "[part.flesh]", "did you mean 'flash'?"),
        ("format = 1", "format = 2", "format 2 is not known"),
        ("\"1GiB\"", "\"1KiB\"", "cannot hold data"),
        ("page = \"8KiB\"", "page = \"8\"", "'8' has no unit"),
    ] {
        let error = parse_array(&SMALL.replace(from, to)).unwrap_err().to_string();
        assert!(error.contains(expected), "{expected}: {error}");
    }
}

#[test]
fn a_chain_ends_with_what_stores() {
    let end = SMALL.find("[[part]]\n[part.flash]").unwrap();
    let error = parse_array(&SMALL[..end]).unwrap_err().to_string();
    assert!(error.contains("does not store data"), "{error}");
}

#[test]
fn a_figure_needs_its_experiment() {
    let figure = "[[figure]]\nname = \"f\"\nexperiment = \"none\"\nmeasure = \
                  \"iops\"\npublished_value = 1.0\nrole = \"fitted\"\nplace = \"p\"\n";
    let error = parse_array(&format!("{SMALL}{figure}")).unwrap_err().to_string();
    assert!(error.contains("refers to an unknown experiment"), "{error}");
}
