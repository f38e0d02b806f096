//! What people type who come from other tools: values in other spellings, the options of fio.

pub mod fio;
mod words;

pub use words::spelled;

use assay_model::spelling::{LimitStatistic, Spelling};
use assay_model::units::{Bytes, Nanos, Rate, Share};
use clap::{Arg, ArgMatches, Command};

/// One note for each value that Assay writes otherwise.
pub fn notes(program: &Command, matches: &ArgMatches, spelled: &fio::CommandWords) -> Vec<String> {
    let (command, matches) = called(program, matches);
    if matches.try_get_one::<bool>("quiet").is_ok_and(|quiet| quiet == Some(&true)) {
        return Vec::new();
    }
    let read = command.get_arguments().flat_map(|option| readings(option, matches));
    spelled.notes.iter().cloned().chain(read).collect()
}

/// The command that was called, with what was typed behind it.
fn called<'a>(program: &'a Command, matches: &'a ArgMatches) -> (&'a Command, &'a ArgMatches) {
    let below = matches.subcommand();
    let found = below.and_then(|(name, below)| Some((program.find_subcommand(name)?, below)));
    found.map_or((program, matches), |(command, below)| called(command, below))
}

/// How the values of an option were read.
fn readings(option: &Arg, matches: &ArgMatches) -> Vec<String> {
    let id = option.get_id().as_str();
    let is = |found: bool, reading: fn(&str) -> Option<String>| found.then_some(reading);
    let reading = is(matches.try_get_many::<Bytes>(id).is_ok(), Bytes::reading)
        .or_else(|| is(matches.try_get_many::<Nanos>(id).is_ok(), Nanos::reading))
        .or_else(|| is(matches.try_get_many::<Rate>(id).is_ok(), Rate::reading))
        .or_else(|| is(matches.try_get_many::<Share>(id).is_ok(), Share::reading))
        .or_else(|| {
            is(matches.try_get_many::<LimitStatistic>(id).is_ok(), LimitStatistic::reading)
        });
    let (Some(reading), Some(name)) = (reading, option.get_long()) else { return Vec::new() };
    let typed = matches.get_raw(id).into_iter().flatten().filter_map(|typed| typed.to_str());
    let note = |typed| Some(format!("note: --{name} {typed} is read as {}", reading(typed)?));
    typed.filter_map(note).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_model::spelling::quantity;
    use clap::value_parser;

    fn read<T: Spelling + Copy>(typed: &[&str]) -> Vec<Option<T>> {
        typed.iter().map(|typed| quantity(typed).ok()).collect()
    }

    #[test]
    fn quantities_are_read_as_other_tools_write_them() {
        let sizes = read::<Bytes>(&["8k", "8K", "512m", "1G", "1.5T", "8KiB", "8", "8q", "k"]);
        let gib = 1 << 30;
        let expected =
            [Some(8192), Some(8192), Some(512 << 20), Some(gib), Some(1536 * gib), Some(8192)];
        assert_eq!(sizes[..6], expected.map(|bytes| bytes.map(Bytes)));
        assert_eq!(sizes[6..], [None; 3]);
        let times = read::<Nanos>(&["5", "0.5", "2m", "30sec", "7ms", "five"]);
        let seconds = [Some(5.0), Some(0.5), Some(120.0), Some(30.0), Some(0.007), None];
        assert_eq!(times, seconds.map(|time_s| time_s.map(Nanos::from_seconds)));
        assert_eq!(read::<Rate>(&["3000", "3k", "3k/s"]).iter().flatten().count(), 3);
        let shares = read::<Share>(&["70", "70%", "0.7", "1", "150"]);
        let expected = [Some(0.7), Some(0.7), Some(0.7), Some(1.0), None];
        assert_eq!(shares, expected.map(|share| share.map(Share)));
        let quantiles = read::<LimitStatistic>(&["p99", "99.9%", "0.9", "P50", "high", "1.5"]);
        let expected = [Some(0.99), Some(0.999), Some(0.9), Some(0.5), None, None];
        assert_eq!(quantiles, expected.map(|quantile| quantile.map(LimitStatistic::Quantile)));
    }

    fn said(line: &str) -> Vec<String> {
        let time = Arg::new("time").long("time").alias("duration").alias("runtime");
        let size = Arg::new("size").long("size").value_parser(value_parser!(Bytes));
        let quiet = Arg::new("quiet").short('q').action(clap::ArgAction::SetTrue);
        let plain = Arg::new("for").long("for").value_parser(value_parser!(String));
        let time = time.value_parser(value_parser!(Nanos));
        let run = Command::new("run").args([time, size, quiet, plain]);
        let program = Command::new("assay").subcommand(run);
        let words: Vec<String> = line.split(' ').map(str::to_owned).collect();
        let matches = program.clone().try_get_matches_from(&words).unwrap();
        notes(&program, &matches, &fio::CommandWords { words, notes: Vec::new() })
    }

    #[test]
    fn other_spellings_are_noted_unless_it_is_to_be_quiet() {
        assert_eq!(said("assay run --duration=5"), ["note: --time 5 is read as 5s"]);
        assert_eq!(said("assay run --runtime 5s --size 8k"), ["note: --size 8k is read as 8KiB"]);
        assert_eq!(said("assay run --for 5 --size 8KiB"), [""; 0]);
        assert_eq!(said("assay run -q --duration 5"), [""; 0]);
        assert_eq!(said("assay"), [""; 0]);
    }
}
