//! Running databases in use that have files on the device of a directory.

use crate::live_database::LiveDatabase;
use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Names of the first processes of servers, and their products.
const SERVERS: [(&str, &str); 6] = [
    ("postgres", "PostgreSQL"),
    ("postmaster", "PostgreSQL"),
    ("edb-postgres", "PostgreSQL"),
    ("mariadbd", "MariaDB or MySQL"),
    ("mysqld", "MariaDB or MySQL"),
    ("oracle", "Oracle"),
];
/// How long a server is watched for signs of use.
const WATCH: Duration = Duration::from_millis(300);
/// A server that runs for a smaller share of that time rests.
const USED_SHARE: f64 = 0.01;
/// Devices that lie on one another: more levels than any stack has.
const LEVELS_MAX: usize = 8;

/// A running database in use on the disks under a directory; `root` is `/`. It is watched for a
/// third of a second where there is one.
pub fn database_on_device(directory: &Path, root: &Path) -> Option<LiveDatabase> {
    let own = disks(fs::metadata(directory).ok()?.dev(), root);
    let found = servers(root).into_iter().find(|(_, server)| {
        let device = fs::metadata(&server.directory).map(|facts| facts.dev());
        device.is_ok_and(|device| !disks(device, root).is_disjoint(&own))
    });
    let (processes, server) = found?;
    is_in_use(&processes, root).then_some(server)
}

/// All servers that can be seen, each with its processes: those that work in its directory.
fn servers(root: &Path) -> Vec<(Vec<u32>, LiveDatabase)> {
    let entries = fs::read_dir(root.join("proc")).into_iter().flatten();
    let numbers = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<u32>().ok());
    let mut servers: Vec<(Vec<u32>, LiveDatabase)> = Vec::new();
    for process in numbers {
        let Some((product, directory)) = server(process, root) else {
            continue;
        };
        match servers.iter_mut().find(|(_, known)| known.directory == directory) {
            Some((processes, known)) => {
                processes.push(process);
                known.process = known.process.min(process);
            }
            None => servers.push((vec![process], LiveDatabase { product, directory, process })),
        }
    }
    servers
}

fn server(process: u32, root: &Path) -> Option<(&'static str, PathBuf)> {
    let place = root.join(format!("proc/{process}"));
    let name = fs::read_to_string(place.join("comm")).ok()?;
    let (_, product) = SERVERS.iter().find(|(known, _)| *known == name.trim_end())?;
    let directory = fs::read_link(place.join("cwd")).ok()?;
    (directory != Path::new("/")).then_some((*product, directory))
}

/// Whether the processes run for more than what a server at rest does.
fn is_in_use(processes: &[u32], root: &Path) -> bool {
    let ran_ns = || -> u64 {
        let of = |process: &u32| {
            let tasks =
                fs::read_dir(root.join(format!("proc/{process}/task"))).into_iter().flatten();
            let one = |entry: std::io::Result<fs::DirEntry>| -> Option<u64> {
                let text = fs::read_to_string(entry.ok()?.path().join("schedstat")).ok()?;
                text.split_whitespace().next()?.parse().ok()
            };
            tasks.filter_map(one).sum::<u64>()
        };
        processes.iter().map(of).sum()
    };
    let before = ran_ns();
    std::thread::sleep(WATCH);
    let ran_s = assay_model::number::seconds(ran_ns().saturating_sub(before));
    ran_s > USED_SHARE * WATCH.as_secs_f64()
}

/// The whole disks under a device, as the kernel numbers them; a device that is none of the
/// kernel's list is itself.
fn disks(device: u64, root: &Path) -> BTreeSet<String> {
    let number = format!("{}:{}", rustix::fs::major(device), rustix::fs::minor(device));
    let mut found = BTreeSet::new();
    collect(&root.join(format!("sys/dev/block/{number}")), LEVELS_MAX, &mut found);
    if found.is_empty() {
        found.insert(number);
    }
    found
}

fn collect(place: &Path, levels: usize, found: &mut BTreeSet<String>) {
    let Ok(place) = fs::canonicalize(place) else { return };
    // A partition lies in the directory of its disk.
    let place = if place.join("partition").exists() {
        place.parent().map_or_else(|| place.clone(), Path::to_owned)
    } else {
        place
    };
    let below: Vec<PathBuf> = fs::read_dir(place.join("slaves"))
        .into_iter()
        .flatten()
        .filter_map(|entry| Some(entry.ok()?.path()))
        .collect();
    if below.is_empty() || levels == 0 {
        found.extend(fs::read_to_string(place.join("dev")).map(|number| number.trim().to_owned()));
        return;
    }
    for lower in below {
        collect(&lower, levels - 1, found);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn a_partition_and_a_volume_on_it_are_of_one_disk() {
        let root = std::env::temp_dir().join(format!("assay-disks-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        let write = |place: &str, text: &str| {
            let path = root.join(place);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write("sys/devices/sda/dev", "8:0\n");
        write("sys/devices/sda/sda1/dev", "8:1\n");
        write("sys/devices/sda/sda1/partition", "1\n");
        write("sys/devices/dm-0/dev", "253:0\n");
        fs::create_dir_all(root.join("sys/devices/dm-0/slaves")).unwrap();
        fs::create_dir_all(root.join("sys/dev/block")).unwrap();
        symlink(root.join("sys/devices/sda/sda1"), root.join("sys/devices/dm-0/slaves/sda1"))
            .unwrap();
        symlink(root.join("sys/devices/sda/sda1"), root.join("sys/dev/block/8:1")).unwrap();
        symlink(root.join("sys/devices/dm-0"), root.join("sys/dev/block/253:0")).unwrap();
        let of = |major, minor| disks(rustix::fs::makedev(major, minor), &root);
        assert_eq!(of(8, 1), of(253, 0));
        assert_eq!(of(8, 1), BTreeSet::from(["8:0".to_owned()]));
        assert_eq!(of(0, 44), BTreeSet::from(["0:44".to_owned()]));
        fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn servers_are_told_by_their_names_and_where_they_work() {
        let root = std::env::temp_dir().join(format!("assay-servers-{}", std::process::id()));
        drop(fs::remove_dir_all(&root));
        let data = root.join("data");
        fs::create_dir_all(&data).unwrap();
        for (process, name) in [(41, "postgres"), (40, "postgres"), (50, "bash")] {
            let place = root.join(format!("proc/{process}"));
            fs::create_dir_all(&place).unwrap();
            fs::write(place.join("comm"), format!("{name}\n")).unwrap();
            symlink(&data, place.join("cwd")).unwrap();
        }
        let found = servers(&root);
        let (processes, server) = &found[0];
        assert_eq!((found.len(), processes.len(), server.process), (1, 2, 40));
        assert_eq!((server.product, &server.directory), ("PostgreSQL", &data));
        // Nothing of them runs.
        assert_eq!(database_on_device(&root, &root), None);
        fs::remove_dir_all(root).unwrap();
    }
}
