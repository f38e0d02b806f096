//! Prints published against simulated for model files.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a tool for fitting")]

use assay_arrays::verify;
use assay_model::array::parse_array;
use std::time::Instant;

fn main() {
    for path in std::env::args().skip(1) {
        let model = parse_array(&std::fs::read_to_string(&path).unwrap()).unwrap();
        println!("{}", model.name);
        let mut last = (String::new(), Instant::now());
        let checked = verify(&model, |name| {
            if last.1.elapsed().as_secs() > 0 {
                println!("  [{} took {:.1} s]", last.0, last.1.elapsed().as_secs_f64());
            }
            last = (name.to_owned(), Instant::now());
        })
        .unwrap();
        for one in checked {
            let error =
                one.error().map_or("-".to_owned(), |error| format!("{:+.1} %", 100.0 * error));
            println!(
                "  {:45} {:>14.6} {:>14.6} {:>9} {:?}",
                one.figure.name,
                one.figure.published,
                one.simulated.unwrap_or(f64::NAN),
                error,
                one.figure.role
            );
        }
    }
}
