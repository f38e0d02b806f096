//! Processors of a host: each runs one session, the others wait in order.

use std::collections::VecDeque;

/// Whether a session runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProcessorAdmission {
    /// It does.
    Now,
    /// It waits for a processor.
    Later,
}

/// Processors with their queue.
#[derive(Debug)]
pub struct Cpus {
    idle: u32,
    queue: VecDeque<usize>,
}

impl Cpus {
    /// This number of processors, all idle.
    pub const fn new(cpus: u32) -> Self {
        Self { idle: cpus, queue: VecDeque::new() }
    }

    /// A session wants to run.
    pub fn ask(&mut self, session: usize) -> ProcessorAdmission {
        if self.idle == 0 {
            self.queue.push_back(session);
            return ProcessorAdmission::Later;
        }
        self.idle -= 1;
        ProcessorAdmission::Now
    }

    /// A session is done; gives the one that runs now.
    pub fn release(&mut self) -> Option<usize> {
        let next = self.queue.pop_front();
        self.idle += u32::from(next.is_none());
        next
    }
}
