//! However an address is written, and whatever is wrong with it, its password is repeated nowhere.
#![allow(clippy::unwrap_used, reason = "a test fails where what it needs is missing")]

use std::process::{Command, Output, Stdio};

/// Stands in every password; nothing else holds it.
const MARK: &str = "Zq7Xw";

fn assay(arguments: &[&str], place: &std::path::Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_assay"));
    command.args(arguments).current_dir(place).env("HOME", place).stdin(Stdio::null());
    command.output().unwrap()
}

/// Addresses in every form with this password, also wrong ones; nobody listens at port 1.
fn addresses(secret: &str) -> Vec<String> {
    let encoded = secret.bytes().fold(String::new(), |text, byte| text + &format!("%{byte:02X}"));
    let quoted = secret.replace('\\', "\\\\").replace('\'', "\\'");
    vec![
        format!("postgresql://me:{secret}@127.0.0.1:1/db"),
        format!("postgres://me:{encoded}@127.0.0.1:1/db"),
        format!("postgresql://me:{secret}@127.0.0.1:99999/db"),
        format!("postgresql://me:{secret}@nohost.invalid/db"),
        format!("postgresql://127.0.0.1:1/db?user=me&password={encoded}"),
        format!("postgresql://127.0.0.1:1/db?password={encoded}&colour=red"),
        format!("postgresql//me:{secret}@127.0.0.1/db"),
        format!("mysql://me:{secret}@127.0.0.1:1/"),
        format!("mysql://me:{encoded}@127.0.0.1:1/?ssl-mode=REQUIRED"),
        format!("mysql://me:{secret}@127.0.0.1:x/"),
        format!("mysql:/me:{secret}@127.0.0.1/"),
        format!("host=127.0.0.1 port=1 user=me password='{quoted}'"),
        format!("host=127.0.0.1 port=1 password={secret} user=me"),
        format!("host=127.0.0.1 port=x user=me password='{quoted}"),
    ]
}

#[test]
fn no_password_is_repeated_in_any_form_of_an_address() {
    let place = std::env::temp_dir().join(format!("assay-secrets-{}", std::process::id()));
    std::fs::create_dir_all(&place).unwrap();
    for signs in ["", "?", "/", " ", "#", "@", ":", "%", "%zz", "&", "=", "'", "\\", "é€", "*$`\""]
    {
        for address in addresses(&format!("a{signs}{MARK}{signs}b")) {
            let commands = [
                &["profile", "--time", "2s"][..],
                &["bench", "oltp"],
                &["bench", "slob", "--oops"],
            ];
            // Every command reads addresses by the same functions: the others need no sign of every
            // kind.
            for command in &commands[..if signs.len() == 1 { 1 } else { 3 }] {
                let output = assay(&[command, &[address.as_str()][..]].concat(), &place);
                let said = [output.stdout, output.stderr].concat();
                let said = String::from_utf8_lossy(&said);
                assert!(!said.contains(MARK), "{command:?} {address}: {said}");
                assert!(!output.status.success() && said.contains("error: "), "{address}: {said}");
            }
        }
    }
    let kept = Command::new("grep").args(["-rlF", MARK, "."]).current_dir(&place).output().unwrap();
    assert!(kept.stdout.is_empty(), "{}", String::from_utf8_lossy(&kept.stdout));
    std::fs::remove_dir_all(&place).unwrap();
}
