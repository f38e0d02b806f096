//! Processors of an array: cores behind a queue, or a load that hinders itself; several controllers
//! share the load.

use crate::service::ServiceSource;
use crate::stage::{StageLaw, StageServers};
use assay_model::array::Controller;
use assay_model::device::DeviceIo;
use assay_model::measurement::Operation;
use assay_model::number::{count, real, real_len};
use assay_model::units::Nanos;

const MIB: f64 = 1_048_576.0;

/// The law of a controller stage.
pub struct Processors {
    nodes: Vec<StageServers>,
    turn: usize,
    read: ServiceSource,
    write: ServiceSource,
    per_byte_ns: f64,
    per_mib_sigma: f64,
    sigma: f64,
    kappa: f64,
    /// Service time of an I/O relative to that with one controller.
    scaling: f64,
    /// When one controller fails, ns.
    fails_ns: u64,
}

impl Processors {
    /// Controllers as described.
    pub fn new(controller: &Controller, seed: u64) -> Self {
        let nodes = controller.nodes.max(1);
        Self {
            nodes: (0..nodes).map(|_| StageServers::new(controller.cores)).collect(),
            turn: 0,
            read: ServiceSource::new(controller.read, controller.spread, seed),
            write: ServiceSource::new(controller.write, controller.spread, seed ^ 1),
            per_byte_ns: real(controller.per_mib.0) / MIB,
            per_mib_sigma: controller.per_mib_sigma,
            sigma: controller.sigma,
            kappa: controller.kappa,
            scaling: 1.0 + controller.scaling_loss_share * f64::from(nodes - 1),
            fails_ns: u64::MAX,
        }
    }

    /// With one controller that fails at a time; where there is no other, it starts again at once.
    pub fn failing(self, at: Option<Nanos>) -> Self {
        Self { fails_ns: at.map_or(u64::MAX, |at| at.0), ..self }
    }

    /// What was queued at the controller that fails is served by the others, without delay.
    fn fail_when_due(&mut self, now_ns: u64) {
        if now_ns >= self.fails_ns {
            self.fails_ns = u64::MAX;
            if self.nodes.len() > 1 {
                self.nodes.pop();
            }
        }
    }

    /// Time of an I/O that took `service_ns` and `moving_ns` alone, with `inside` I/Os in all
    /// controllers: n/X(n) of the Universal Scalability Law (Gunther 1993) for both parts.
    fn stretched_ns(&self, service_ns: f64, moving_ns: f64, inside: u32) -> f64 {
        let others = (f64::from(inside) / real_len(self.nodes.len()) - 1.0).max(0.0);
        let service = 1.0 + self.sigma * others + self.kappa * others * (others + 1.0);
        service_ns * service + moving_ns * (1.0 + self.per_mib_sigma * others)
    }

    fn hinders_itself(&self) -> bool {
        self.sigma > 0.0 || self.kappa > 0.0 || self.per_mib_sigma > 0.0
    }
}

impl StageLaw for Processors {
    #[inline]
    fn leave_ns(&mut self, now_ns: u64, io: &DeviceIo, inside: u32) -> u64 {
        self.fail_when_due(now_ns);
        let service =
            if io.operation == Operation::Read { &mut self.read } else { &mut self.write };
        let service_ns = service.next_ns();
        let moving_ns = f64::from(io.bytes) * self.per_byte_ns;
        if self.hinders_itself() {
            let stretched_ns = self.stretched_ns(real(service_ns), moving_ns, inside);
            return now_ns + count(stretched_ns * self.scaling);
        }
        let busy_ns = if self.scaling > 1.0 || moving_ns > 0.0 {
            count((real(service_ns) + moving_ns) * self.scaling)
        } else {
            service_ns
        };
        self.turn += 1;
        if self.turn >= self.nodes.len() {
            self.turn = 0;
        }
        self.nodes[self.turn].serve_ns(now_ns, busy_ns)
    }

    /// What stretches a service makes it longer.
    fn least_ns(&self) -> u64 {
        self.read.least_ns().min(self.write.least_ns())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Closed, Instant};
    use crate::stage::ArrayStage;
    use assay_model::array::Spread;

    fn controller(nodes: u32, cores: u32) -> Controller {
        Controller {
            nodes,
            cores,
            read: Nanos(10_000),
            write: Nanos(20_000),
            spread: Spread::Constant,
            per_mib: Nanos(0),
            per_mib_sigma: 0.0,
            sigma: 0.0,
            kappa: 0.0,
            scaling_loss_share: 0.0,
        }
    }

    fn iops(controller: &Controller, queue_depth: u32) -> f64 {
        let mut stage =
            ArrayStage::new(Processors::new(controller, 1), Box::new(Instant::default()));
        Closed::reads(queue_depth).run(&mut stage, 1_000_000_000).iops()
    }

    #[test]
    fn cores_and_nodes_bound_the_rate() {
        assert!((iops(&controller(1, 4), 64) / 400_000.0 - 1.0).abs() < 0.001);
        assert!((iops(&controller(2, 4), 64) / 800_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn writes_take_their_own_time() {
        let mut stage =
            ArrayStage::new(Processors::new(&controller(1, 1), 1), Box::new(Instant::default()));
        let run = Closed::reads(8).with_read_share(0.5).run(&mut stage, 1_000_000_000);
        assert!((run.iops() * 15e-6 - 1.0).abs() < 0.01, "{}", run.iops());
    }

    #[test]
    fn a_load_that_hinders_itself_follows_the_scalability_law() {
        let mut one = controller(1, 1);
        (one.sigma, one.kappa) = (0.03, 0.0004);
        for n in [1u32, 8, 64] {
            let jobs = f64::from(n);
            let expected = 1e5 * jobs / (1.0 + 0.03 * (jobs - 1.0) + 0.0004 * jobs * (jobs - 1.0));
            let error = iops(&one, n) / expected - 1.0;
            assert!(error.abs() < 0.01, "{n}: {error}");
        }
    }

    #[test]
    fn moving_data_takes_its_time() {
        let mut mover = controller(1, 1);
        // 8 KiB are the 128th part of a mebibyte: 10 µs more.
        mover.per_mib = Nanos(1_280_000);
        assert!((iops(&mover, 8) / 50_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn scaling_out_loses_its_share() {
        let mut two = controller(2, 1);
        two.scaling_loss_share = 0.25;
        assert!((iops(&two, 64) / 160_000.0 - 1.0).abs() < 0.001);
    }
}
