//! Server programs and the ways to them: what every database server asks of the operating system, whatever its product.
//!
//! A [`Home`] is the directory in which a server of our own lives, with the [`Account`] that runs it; a [`Running`] is
//! the server itself until it is stopped. [`processes`] tells what processes and threads used and ends them, and a
//! [`Stream`] leads to a server, ours or anybody's. [`watch`] looks at one for a while.
#![forbid(unsafe_code)]

mod account;
mod guard;
mod home;
mod inbox;
pub mod processes;
mod running;
mod secret;
mod stream;
mod uri;
pub mod watch;

pub use account::Account;
pub use guard::become_guarded;
pub use home::{Home, Plan};
pub use inbox::Inbox;
pub use processes::Usage;
pub use running::{Running, Stop};
pub use secret::{password, write_secret};
pub use stream::{Interrupter, Stream, is_this_machine};
pub use uri::Uri;
