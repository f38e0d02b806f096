//! Connections that have not yet proven the token: limited in number and time, oldest closed first.

use std::collections::VecDeque;
use std::net::{IpAddr, Shutdown, TcpStream};
use std::sync::{Mutex, PoisonError};

/// Of all addresses together.
const STRANGERS_MAX: usize = 64;
/// Of one address.
const OF_ONE_ADDRESS_MAX: usize = 16;

/// Those who have not proven the token yet, the oldest first.
#[derive(Debug, Default)]
pub(super) struct Strangers {
    waiting: Mutex<VecDeque<Stranger>>,
}

#[derive(Debug)]
struct Stranger {
    number: u64,
    address: IpAddr,
    /// Its connection, to be closed where it has to give way.
    stream: TcpStream,
}

impl Strangers {
    /// Lets one more in, for whom another one may have to give way.
    pub(super) fn enter(&self, number: u64, address: IpAddr, stream: TcpStream) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let of_address = |stranger: &Stranger| stranger.address == address;
        if waiting.iter().filter(|stranger| of_address(stranger)).count() >= OF_ONE_ADDRESS_MAX {
            let oldest = waiting.iter().position(of_address);
            close(oldest.and_then(|place| waiting.remove(place)));
        } else if waiting.len() >= STRANGERS_MAX {
            close(waiting.pop_front());
        }
        waiting.push_back(Stranger { number, address, stream });
    }

    /// Has the oldest give way.
    pub(super) fn make_room(&self) {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        close(waiting.pop_front());
    }

    /// One has proven the token, or has gone; whether it had not given way before.
    pub(super) fn leave(&self, number: u64) -> bool {
        let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let place = waiting.iter().position(|stranger| stranger.number == number);
        place.and_then(|place| waiting.remove(place)).is_some()
    }
}

/// Ends a connection; the thread that reads from it ends with it.
fn close(stranger: Option<Stranger>) {
    if let Some(stranger) = stranger {
        drop(stranger.stream.shutdown(Shutdown::Both));
    }
}
