//! Manual pages of the program and of each of its commands, in one text: the first line of each
//! names its file.

use clap::Command;
use clap_mangen::Man;
use std::io;

/// All pages, each opened by a comment of its language: `.\" file assay-check.1`.
///
/// # Errors
/// Those of writing into memory, of which there are none.
pub(crate) fn render(mut program: Command) -> io::Result<String> {
    program.build();
    let mut pages = Vec::new();
    write(&program, "assay", &mut pages)?;
    Ok(String::from_utf8_lossy(&pages).into_owned())
}

/// The page of a command, then those of the commands below it.
fn write(command: &Command, name: &str, pages: &mut Vec<u8>) -> io::Result<()> {
    pages.extend(format!(".\\\" file {name}.1\n").bytes());
    Man::new(command.clone()).render(pages)?;
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    for command in below {
        write(command, &format!("{name}-{}", command.get_name()), pages)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{Arg, CommandFactory};

    #[test]
    fn every_visible_verb_has_a_page_under_its_name() {
        let bench = Command::new("bench").subcommand(Command::new("slob").arg(Arg::new("target")));
        let hidden = Command::new("secret").hide(true);
        let program = Command::new("assay")
            .disable_help_subcommand(true)
            .subcommand(bench)
            .subcommand(hidden);
        let pages = render(program).unwrap();
        let files: Vec<&str> =
            pages.lines().filter_map(|line| line.strip_prefix(".\\\" file ")).collect();
        assert_eq!(files, ["assay.1", "assay-bench.1", "assay-bench-slob.1"]);
    }

    #[test]
    fn the_page_of_check_shows_its_options() {
        let pages = render(crate::cli::CommandLine::command()).unwrap();
        let check = pages.split(".\\\" file ").find(|page| page.starts_with("assay-check.1"));
        let check = check.unwrap();
        assert!(check.contains(".TH assay-check 1") && check.contains("max\\-latency"), "{check}");
    }
}
