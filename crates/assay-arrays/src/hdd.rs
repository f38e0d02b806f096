//! A disk: a head that travels, a platter that turns, and commands of which the nearest is served
//! first.

use assay_model::array::Hdd;
use assay_model::device::{Device, DeviceIo};
use assay_model::number::{count, real};

/// A command that waited for so long goes first.
const PATIENCE_NS: u64 = 300_000_000;

/// A disk as a device.
pub struct HddDevice {
    track_ns: f64,
    stroke_ns: f64,
    turn_ns: f64,
    bytes_per_ns: f64,
    track_bytes: f64,
    capacity: f64,
    depth: usize,
    head: f64,
    queue: Vec<DriveCommand>,
    serving: Option<(u64, DriveCommand)>,
}

#[derive(Clone, Copy)]
struct DriveCommand {
    tag: u64,
    arrived_ns: u64,
    /// Where on the disk, 0..1 of its stroke.
    place: f64,
    /// Where on the track, 0..1 of a turn.
    angle: f64,
    bytes: u32,
}

impl HddDevice {
    /// A disk as described.
    pub fn new(hdd: &Hdd) -> Self {
        let turn_ns = 60e9 / f64::from(hdd.rotation_per_min);
        let bytes_per_ns = real(hdd.transfer_per_s.0) / 1e9;
        Self {
            track_ns: real(hdd.seek_track.0),
            stroke_ns: real(hdd.seek_full.0 - hdd.seek_track.0),
            turn_ns,
            bytes_per_ns,
            track_bytes: bytes_per_ns * turn_ns,
            capacity: real(hdd.capacity.0),
            depth: hdd.queue_depth as usize,
            head: 0.0,
            queue: Vec::new(),
            serving: None,
        }
    }

    fn command(&self, now_ns: u64, tag: u64, io: &DeviceIo) -> DriveCommand {
        let offset = real(io.offset);
        DriveCommand {
            tag,
            arrived_ns: now_ns,
            place: (offset / self.capacity).min(1.0),
            angle: (offset / self.track_bytes).fract(),
            bytes: io.bytes,
        }
    }

    /// Seek: settling on the next track, and beyond it the square root of the distance, as an arm
    /// that is accelerated half the way (Ruemmler and Wilkes 1994).
    fn seek_ns(&self, place: f64) -> f64 {
        let distance = (place - self.head).abs();
        // Within a track nothing moves.
        if distance * self.capacity < self.track_bytes {
            return 0.0;
        }
        self.track_ns + self.stroke_ns * distance.sqrt()
    }

    /// Time from `now_ns` until the data of a command is under the head.
    fn access_ns(&self, now_ns: u64, command: &DriveCommand) -> f64 {
        let seek_ns = self.seek_ns(command.place);
        let angle = ((real(now_ns) + seek_ns) / self.turn_ns).fract();
        let wait = (command.angle - angle).rem_euclid(1.0);
        // What the rounding to whole ns has just let pass is still there.
        let wait = if wait > 0.9999 { 0.0 } else { wait };
        seek_ns + wait * self.turn_ns
    }

    /// The command to serve: the nearest among the first, or one that waited too long.
    fn choose(&self, now_ns: u64) -> Option<usize> {
        let first = self.queue.first()?;
        if now_ns - first.arrived_ns > PATIENCE_NS {
            return Some(0);
        }
        let seen = self.queue.iter().take(self.depth).enumerate();
        seen.map(|(index, command)| (self.access_ns(now_ns, command), index))
            .min_by(|left, right| left.0.total_cmp(&right.0))
            .map(|(_, index)| index)
    }

    fn start(&mut self, now_ns: u64) {
        let Some(index) = self.choose(now_ns) else {
            return;
        };
        let command = self.queue.remove(index);
        let transfer_ns = f64::from(command.bytes) / self.bytes_per_ns;
        let busy_ns = self.access_ns(now_ns, &command) + transfer_ns;
        self.head = command.place + f64::from(command.bytes) / self.capacity;
        self.serving = Some((now_ns + count(busy_ns), command));
    }
}

impl Device for HddDevice {
    fn submit(&mut self, now_ns: u64, tag: u64, io: DeviceIo) {
        let command = self.command(now_ns, tag, &io);
        self.queue.push(command);
        if self.serving.is_none() {
            self.start(now_ns);
        }
    }

    fn next_event_ns(&self) -> Option<u64> {
        self.serving.map(|(done_ns, _)| done_ns)
    }

    fn advance(&mut self, now_ns: u64, done: &mut Vec<(u64, i32)>) {
        while let Some((done_ns, command)) = self.serving.filter(|(done_ns, _)| *done_ns <= now_ns)
        {
            self.serving = None;
            done.push((command.tag, i32::try_from(command.bytes).unwrap_or(i32::MAX)));
            self.start(done_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::Closed;
    use assay_model::units::{Bytes, Nanos};

    const GIB: u64 = 1 << 30;

    fn hdd(queue_depth: u32) -> Hdd {
        Hdd {
            capacity: Bytes(300 * GIB),
            rotation_per_min: 15_000,
            seek_track: Nanos(400_000),
            seek_full: Nanos(7_000_000),
            transfer_per_s: Bytes(120_000_000),
            queue_depth,
        }
    }

    fn mean_ns(share: u64, outstanding: u32, queue_depth: u32) -> (f64, f64) {
        let load = Closed::reads(outstanding).over(300 * GIB / share);
        let run = load.run(&mut HddDevice::new(&hdd(queue_depth)), 200_000_000_000);
        (run.read.mean_ns(), run.iops())
    }

    #[test]
    fn one_random_read_is_seek_half_a_turn_and_transfer() {
        // The mean of the root of the distance of two random places is 8/15.
        let expected = 400e3 + 6_600e3 * 8.0 / 15.0 + 2_000e3 + 8192.0 / 0.12;
        let (mean, _) = mean_ns(1, 1, 1);
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} {expected}");
    }

    #[test]
    fn short_stroking_shortens_the_seek_by_the_root() {
        let expected = 400e3 + 6_600e3 * 8.0 / 15.0 * 0.1f64.sqrt() + 2_000e3 + 8192.0 / 0.12;
        let (mean, _) = mean_ns(10, 1, 1);
        assert!((mean / expected - 1.0).abs() < 0.01, "{mean} {expected}");
    }

    #[test]
    fn choosing_the_nearest_gains_rate() {
        let (in_order, nearest) = (mean_ns(1, 32, 1).1, mean_ns(1, 32, 32).1);
        assert!(nearest > 1.5 * in_order, "{in_order} {nearest}");
    }

    #[test]
    fn ascending_reads_stream() {
        let load = Closed { sequential: true, block_size_bytes: 1 << 20, ..Closed::reads(1) };
        let run = load.run(&mut HddDevice::new(&hdd(1)), 10_000_000_000);
        let bytes_per_s = run.iops() * f64::from(1 << 20);
        // Between two reads the platter barely turns.
        assert!(bytes_per_s > 0.85 * 120e6 && bytes_per_s < 121e6, "{bytes_per_s}");
    }
}
