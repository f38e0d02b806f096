//! Commands on another host: through `ssh`, or through any command with a place for the host.

use super::hosts::HOST;
use super::wire::TOKEN;
use std::process::Command;

/// The variable that names another command that reaches hosts: `{host}` stands for the host, or it
/// follows the words; behind it comes a command line.
const SSH: &str = "ASSAY_SSH";
const SSH_USUAL: &str = "ssh -o BatchMode=yes -o ConnectTimeout=10";

/// The start of a command on a host that `ssh` or a command reaches.
pub(super) fn reached(host: &str, command: Option<&str>) -> Command {
    let usual = std::env::var(SSH).unwrap_or_else(|_| SSH_USUAL.to_owned());
    let template = command.unwrap_or(&usual);
    let mut command = if template.contains(HOST) {
        // Names of hosts mean nothing to a shell.
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", &format!("{} \"$@\"", template.replace(HOST, host)), "sh"]);
        shell
    } else {
        let mut words = template.split_whitespace();
        let mut program = Command::new(words.next().unwrap_or("ssh"));
        program.args(words).arg(host);
        program
    };
    command.env_remove(TOKEN);
    command
}
