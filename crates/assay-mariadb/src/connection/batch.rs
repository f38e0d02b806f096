//! Executions that travel together: one write for all of them, then their answers in the same
//! order. The server takes the next when it has answered the one before, and nobody waits for the
//! wire in between.
//!
//! Source: MariaDB documentation, "0 - Packet": each command counts its packets from 0. None waits
//! for the answer to another, so one that is refused keeps none of those behind it from being
//! executed.

use super::packets::{new_packet_behind, seal};
use super::prepared::put_execution;
use super::{MariadbAnswers, MariadbConnection, MariadbPrepared, MariadbValues};
use crate::failure::{Answer, Failure};

/// Executions of prepared statements in the order in which they were added, and what they gave;
/// kept from batch to batch, so that memory is allocated once. Their answers should fit into the
/// room of a socket, as nobody reads them before all is sent.
#[derive(Debug, Default)]
pub struct MariadbBatch {
    packets: Vec<u8>,
    /// Executions that were added since the last exchange.
    waiting: usize,
    /// Executions of the last exchange.
    exchanged: usize,
    answers: Vec<MariadbAnswers>,
}

impl MariadbBatch {
    /// Forgets executions that were added and not exchanged.
    pub fn clear(&mut self) {
        self.packets.clear();
        self.waiting = 0;
    }

    /// Adds an execution.
    #[inline]
    pub fn execute(
        &mut self,
        statement: MariadbPrepared,
        fill: impl FnOnce(&mut MariadbValues<'_>),
    ) {
        let start = new_packet_behind(&mut self.packets);
        put_execution(&mut self.packets, statement, fill);
        seal(&mut self.packets, start);
        self.waiting += 1;
    }

    /// What an execution of the last exchange gave, by its place from 0.
    pub fn answers(&self, place: usize) -> Option<&MariadbAnswers> {
        self.answers[..self.exchanged].get(place)
    }
}

impl MariadbConnection {
    /// Sends all executions of a batch and waits for all answers.
    ///
    /// # Errors
    /// The first refusal: those behind it were executed all the same, so that a transaction should
    /// be ended after its answers are known.
    pub fn exchange(&mut self, batch: &mut MariadbBatch) -> Answer<()> {
        batch.exchanged = batch.waiting;
        if batch.answers.len() < batch.exchanged {
            batch.answers.resize_with(batch.exchanged, MariadbAnswers::default);
        }
        let sent = self.packets.send_sealed(&batch.packets);
        batch.clear();
        sent?;
        let mut refused = Ok(());
        for answers in &mut batch.answers[..batch.exchanged] {
            let received = answers.receive(&mut self.packets);
            if received.as_ref().is_err_and(Failure::is_lost) {
                return received;
            }
            refused = refused.and(received);
        }
        refused
    }
}
