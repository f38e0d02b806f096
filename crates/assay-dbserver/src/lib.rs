//! Server programs and the ways to them: what every database server asks of the operating system,
//! whatever its product.
//!
//! A [`Daemon`] is a managed server: its [`ServerDir`] is the directory in which it lives,
//! [held](HeldServer) open, with the [`SystemAccount`] that runs it, and a [`RunningServer`] its
//! first process until it is stopped. [`processes`] reports what processes and threads used and
//! ends them, and a [`ServerStream`] leads to a server, ours or anybody's.
#![forbid(unsafe_code)]

mod account;
mod daemon;
mod guard;
mod held;
mod home;
mod inbox;
mod peer;
pub mod processes;
mod program;
mod prompt;
mod redact;
mod running;
mod secret;
mod stream;
pub mod tls;
mod traffic;
mod uri;

pub use account::SystemAccount;
pub use daemon::Daemon;
pub use guard::{become_guarded, clean_environment};
pub use held::HeldServer;
pub use home::{HomePlan, ServerDir, ServerTraits};
pub use inbox::{ANSWER_BYTES_MAX, EXECUTION_BYTES_MAX, LOGIN_BYTES_MAX, ReadBuffer, injected};
pub use peer::{SocketOwner, number_of};
pub use processes::CpuUsage;
pub use program::{IoMethod, ServerProgram, ServerStart};
pub use prompt::ask_password;
pub use redact::{may_hold_password, redacted};
pub use running::{RunningServer, ServerStop};
pub use secret::{INPUT, nameless, password};
pub use stream::{Interrupter, ServerStream, end_waits_with, is_this_machine};
pub use traffic::ServerBytes;
pub use uri::{Uri, encoded, host_in_uri, port_of};
