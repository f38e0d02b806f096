//! Names of the wait classes, which are those that a reader of Oracle's reports looks for.

/// Sessions on a processor; of samples also those that are ready for one.
pub const CPU: &str = "CPU";
/// Sessions read and write data themselves.
pub const USER_IO: &str = "User I/O";
/// Files that no session waits for by itself.
pub const SYSTEM_IO: &str = "System I/O";
/// Sessions wait for their commit.
pub const COMMIT: &str = "Commit";
/// Sessions wait for latches of the server.
pub const CONCURRENCY: &str = "Concurrency";
/// Sessions wait for locks that statements took.
pub const APPLICATION: &str = "Application";
/// Sessions wait for what a setting bounds.
pub const CONFIGURATION: &str = "Configuration";
/// Sessions wait for their clients.
pub const NETWORK: &str = "Network";
/// Sessions are ready to run and have no CPU.
pub const SCHEDULER: &str = "Scheduler";
/// Statements that sleep on purpose.
pub const IDLE: &str = "Idle";
/// What has no class of its own.
pub const OTHER: &str = "Other";
/// Classes in which sessions wait for each other.
pub const CONTENTION: &[&str] = &[CONCURRENCY, APPLICATION, CONFIGURATION];
