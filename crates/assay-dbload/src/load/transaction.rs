//! What sessions of transactions share: how the server keeps them apart, and steps that are tried
//! again.

use super::link::ServerLink;
use super::method::StepResult;
use assay_model::failure::Answer;

/// A transaction is tried so often.
const TRIES: usize = 20;

/// How transactions reach the server.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Calls {
    /// As a call of a function, or of a procedure where the product has those: one network round
    /// trip each.
    #[default]
    Functions,
    /// As prepared statements; they travel together where the product can: two turns at most.
    Statements,
}

impl Calls {
    /// The words for it in results.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Functions => "functions of the server (proc)",
            Self::Statements => "prepared statements, pipelined (stmt)",
        }
    }
}

/// What a try came to: one that failed leaves no transaction open, and a session that is lost rolls
/// back by itself.
pub fn none_open<L: ServerLink, T>(link: &mut L, answer: Answer<T>) -> Answer<T> {
    if answer.as_ref().is_err_and(|failure| !failure.is_lost()) {
        link.run("ROLLBACK")?;
    }
    answer
}

/// The steps of a session: which transaction is next, and what its product made ready for all of
/// them.
#[derive(Debug)]
pub struct Steps<T, R> {
    next: Option<T>,
    ready: Option<R>,
}

impl<T, R> Default for Steps<T, R> {
    fn default() -> Self {
        Self { next: None, ready: None }
    }
}

impl<T, R> Steps<T, R> {
    /// A connection was made ready.
    pub fn begin(&mut self, ready: R) {
        self.ready = Some(ready);
    }

    /// Chooses the next transaction.
    pub fn choose(&mut self, transaction: T) {
        self.next = Some(transaction);
    }

    /// Takes the step that was chosen, and again when the server refuses it for the sake of others;
    /// `kind` is what it was meant to be, an attempt shows what it became.
    pub fn step<L: ServerLink>(
        &mut self,
        kind: impl FnOnce(&T) -> usize,
        mut attempt: impl FnMut(&mut R, &T) -> Answer<usize>,
    ) -> StepResult {
        let Some((transaction, ready)) = self.next.take().zip(self.ready.as_mut()) else {
            return StepResult::unchosen();
        };
        until_done::<L>(kind(&transaction), || attempt(ready, &transaction))
    }
}

/// Tries until it is done, or it is of no use to try again.
fn until_done<L: ServerLink>(
    kind: usize,
    mut attempt: impl FnMut() -> Answer<usize>,
) -> StepResult {
    let mut retried = Vec::new();
    loop {
        let failure = match attempt() {
            Ok(kind) => return StepResult { kind, bytes: 0, answer: Ok(()), retried },
            Err(failure) => failure,
        };
        if !L::is_for_others(&failure) || retried.len() + 1 >= TRIES {
            return StepResult { kind, bytes: 0, answer: Err(failure), retried };
        }
        retried.push(failure);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use assay_postgres::connection::PostgresConnection;

    #[test]
    fn a_step_needs_to_be_chosen_and_a_connection_that_is_ready() {
        let mut steps: Steps<usize, usize> = Steps::default();
        let mut step = |chosen: bool, ready: bool| {
            if ready {
                steps.begin(40);
            }
            if chosen {
                steps.choose(2);
            }
            steps.step::<PostgresConnection>(|kind| *kind, |ready, kind| Ok(*ready + *kind))
        };
        assert!(step(true, false).answer.is_err() && step(false, true).answer.is_err());
        assert_eq!(step(true, false).kind, 42);
        assert!(step(false, false).answer.is_err());
    }

    #[test]
    fn what_is_refused_for_others_is_tried_again_and_counted() {
        let refused = |code: &str| assay_postgres::failure::refused(code, "no");
        let mut tries = 0;
        let done = until_done::<PostgresConnection>(3, || {
            tries += 1;
            if tries < 4 { Err(refused("40P01")) } else { Ok(5) }
        });
        assert_eq!((done.kind, done.retried.len(), done.answer.is_ok()), (5, 3, true));
        let done = until_done::<PostgresConnection>(3, || Err(refused("40001")));
        assert_eq!((done.kind, done.retried.len(), done.answer.is_err()), (3, 19, true));
        let done = until_done::<PostgresConnection>(3, || Err(refused("23505")));
        assert!(done.retried.is_empty() && done.answer.is_err());
    }
}
