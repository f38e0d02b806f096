//! Processors of an array: cores behind a queue, or a load that hinders itself; several controllers share the load.

use crate::service::Service;
use crate::stage::{Law, Servers};
use assay_model::array::Controller;
use assay_model::device::DeviceIo;
use assay_model::measurement::Operation;
use assay_model::number::{real, real_len};

/// The law of a controller stage.
pub struct Processors {
    nodes: Vec<Servers>,
    turn: usize,
    read: Service,
    write: Service,
    contention: f64,
    coherency: f64,
    /// Every I/O takes so many times as long as with one controller.
    scaling: f64,
}

impl Processors {
    /// Controllers as described.
    pub fn new(controller: &Controller, seed: u64) -> Self {
        let nodes = controller.nodes.max(1);
        Self {
            nodes: (0..nodes).map(|_| Servers::new(controller.cores)).collect(),
            turn: 0,
            read: Service::new(controller.read, controller.spread, seed),
            write: Service::new(controller.write, controller.spread, seed ^ 1),
            contention: controller.contention,
            coherency: controller.coherency,
            scaling: 1.0 + controller.scaling_loss * f64::from(nodes - 1),
        }
    }

    /// The service time stretched by the Universal Scalability Law (Gunther 1993): n/X(n) of `n` I/Os in a controller.
    fn stretch(&self, inside: u32) -> f64 {
        let in_one = (f64::from(inside) / real_len(self.nodes.len())).max(1.0);
        1.0 + self.contention * (in_one - 1.0) + self.coherency * in_one * (in_one - 1.0)
    }
}

impl Law for Processors {
    #[inline]
    fn leave_ns(&mut self, now_ns: u64, io: &DeviceIo, inside: u32) -> u64 {
        let service = if io.operation == Operation::Read {
            &mut self.read
        } else {
            &mut self.write
        };
        if self.contention > 0.0 || self.coherency > 0.0 {
            let mean_ns = service.next_ns();
            let stretched = real(mean_ns) * self.stretch(inside) * self.scaling;
            return now_ns + assay_model::number::count(stretched);
        }
        let service_ns = if self.scaling > 1.0 {
            service.next_times_ns(self.scaling)
        } else {
            service.next_ns()
        };
        self.turn += 1;
        if self.turn >= self.nodes.len() {
            self.turn = 0;
        }
        self.nodes[self.turn].serve_ns(now_ns, service_ns)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drive::{Closed, Instant};
    use crate::stage::Stage;
    use assay_model::array::Spread;
    use assay_model::units::Nanos;

    fn controller(nodes: u32, cores: u32) -> Controller {
        Controller {
            nodes,
            cores,
            read: Nanos(10_000),
            write: Nanos(20_000),
            spread: Spread::Constant,
            contention: 0.0,
            coherency: 0.0,
            scaling_loss: 0.0,
        }
    }

    fn iops(controller: &Controller, outstanding: u32) -> f64 {
        let mut stage = Stage::new(Processors::new(controller, 1), Box::new(Instant::default()));
        Closed::reads(outstanding)
            .run(&mut stage, 1_000_000_000)
            .iops()
    }

    #[test]
    fn cores_and_nodes_bound_the_rate() {
        assert!((iops(&controller(1, 4), 64) / 400_000.0 - 1.0).abs() < 0.001);
        assert!((iops(&controller(2, 4), 64) / 800_000.0 - 1.0).abs() < 0.001);
    }

    #[test]
    fn writes_take_their_own_time() {
        let mut stage = Stage::new(
            Processors::new(&controller(1, 1), 1),
            Box::new(Instant::default()),
        );
        let run = Closed::reads(8)
            .with_read_share(0.5)
            .run(&mut stage, 1_000_000_000);
        assert!((run.iops() * 15e-6 - 1.0).abs() < 0.01, "{}", run.iops());
    }

    #[test]
    fn a_load_that_hinders_itself_follows_the_scalability_law() {
        let mut one = controller(1, 1);
        (one.contention, one.coherency) = (0.03, 0.0004);
        for n in [1u32, 8, 64] {
            let jobs = f64::from(n);
            let expected = 1e5 * jobs / (1.0 + 0.03 * (jobs - 1.0) + 0.0004 * jobs * (jobs - 1.0));
            let error = iops(&one, n) / expected - 1.0;
            assert!(error.abs() < 0.01, "{n}: {error}");
        }
    }

    #[test]
    fn scaling_out_loses_its_share() {
        let mut two = controller(2, 1);
        two.scaling_loss = 0.25;
        assert!((iops(&two, 64) / 160_000.0 - 1.0).abs() < 0.001);
    }
}
