//! What a guest of the tests starts from.

use crate::support::Place;
use assay_rig::Skip;
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A file of an archive in the form `newc`, which the kernel unpacks at its start (`initramfs
/// buffer format` of its documentation).
fn archived(name: &str, mode: u32, content: &[u8]) -> Vec<u8> {
    let [length, name_length] =
        [content.len(), name.len() + 1].map(|length| u32::try_from(length).unwrap());
    let numbers = [0, mode, 0, 0, 1, 0, length, 0, 0, 0, 0, name_length, 0];
    let numbers = numbers.map(|number| format!("{number:08X}"));
    let head = format!("070701{}{name}\0", numbers.concat());
    [padded(head.into_bytes()), padded(content.to_vec())].concat()
}

fn padded(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

/// What a guest starts from: kernel, programs and their libraries.
pub(crate) struct Kit {
    pub(crate) kernel: PathBuf,
    pub(crate) initial: PathBuf,
}

impl Kit {
    /// With the program that is started first, modules that it loads in the place of `MODULES`, and
    /// files by name.
    pub(crate) fn make(
        place: &Place,
        init: &str,
        modules: &[&str],
        files: &[(&str, &str)],
    ) -> Result<Self, Skip> {
        let found = Command::new("qemu-system-x86_64").arg("--version").output();
        found.map_err(|_| Skip::new("qemu-system-x86_64 is not installed"))?;
        let kit = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../target/tools/guest");
        if !kit.join("ready").exists() {
            return Err(Skip::new("there is no kernel for a guest; `make guest` fetches one"));
        }
        let program = place.path("assay");
        let mut strip = Command::new("strip");
        strip.args(["-s", "-o"]).arg(&program).arg(env!("CARGO_BIN_EXE_assay"));
        let is_stripped = strip.status().is_ok_and(|status| status.success());
        if !is_stripped {
            fs::copy(env!("CARGO_BIN_EXE_assay"), &program).unwrap();
        }
        let mut archive = Vec::new();
        let mut add = |name: &str, mode: u32, content: &[u8]| {
            archive.extend(archived(name, mode, content));
        };
        for directory in ["lib", "lib64", "lib/x86_64-linux-gnu", "dev"] {
            add(directory, 0o040_755, &[]);
        }
        for library in libraries() {
            add(library.trim_start_matches('/'), 0o100_755, &fs::read(&library).unwrap());
        }
        add("assay", 0o100_755, &fs::read(&program).unwrap());
        add("busybox", 0o100_755, &fs::read(kit.join("busybox")).unwrap());
        for (name, content) in files {
            add(name, 0o100_600, content.as_bytes());
        }
        add("init", 0o100_755, init.replace("MODULES", &modules.join(" ")).as_bytes());
        for module in modules {
            let name = format!("{module}.ko");
            add(&name, 0o100_644, &fs::read(kit.join("modules").join(&name)).unwrap());
        }
        add("TRAILER!!!", 0, &[]);
        let initial = place.path("initial");
        fs::write(&initial, archive).unwrap();
        Ok(Self { kernel: kit.join("vmlinuz"), initial })
    }
}

/// What the program is linked with.
fn libraries() -> Vec<String> {
    let listed = Command::new("ldd").arg(env!("CARGO_BIN_EXE_assay")).output().unwrap();
    let listed = String::from_utf8(listed.stdout).unwrap();
    let words = listed.split_whitespace().filter(|word| word.starts_with('/'));
    words.map(str::to_owned).collect()
}
