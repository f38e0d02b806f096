//! Rows from a generator to a server: made on one thread and sent on another, so that nothing is
//! held but a few chunks.

use super::chunks::{Chunk, Chunks};
use super::product::{Destination, Product};
use assay_loads::sink::RowSink;
use assay_model::failure::Answer;
use std::sync::mpsc::sync_channel;
use std::thread;

/// Chunks that wait for the server.
const CHUNKS_AHEAD: usize = 4;

/// Makes rows and sends them in the transaction at hand, as long as `goes_on`, which is given how
/// many follow, says so; returns their number.
pub(crate) fn transfer<L: Product>(
    connection: &mut L,
    to: &Destination<'_>,
    make: impl FnOnce(&mut dyn RowSink) + Send,
    goes_on: impl Fn(u64) -> bool,
) -> Answer<u64> {
    let (sender, chunks) = sync_channel::<Chunk>(CHUNKS_AHEAD);
    thread::scope(|scope| {
        scope.spawn(move || {
            let mut rows = L::encoder(Chunks::new(&sender));
            make(&mut rows);
            rows.finish();
        });
        // Nobody takes rows any more when these are dropped: the other thread then ends.
        let mut chunks = chunks.into_iter().take_while(|(_, rows)| goes_on(*rows));
        connection.send_rows(to, &mut chunks)
    })
}

/// The bytes that rows become on a product.
#[cfg(test)]
pub(crate) fn encoded<L: Product>(make: impl FnOnce(&mut dyn RowSink)) -> Vec<u8> {
    let (sender, chunks) = sync_channel::<Chunk>(1000);
    let mut rows = L::encoder(Chunks::new(&sender));
    make(&mut rows);
    rows.finish();
    drop(rows);
    drop(sender);
    chunks.into_iter().flat_map(|(bytes, _)| bytes).collect()
}
