//! The size of the host: pages, processors, memory.

use assay_model::number::count_of;

/// Bytes of a page of memory.
pub fn page_bytes() -> u64 {
    count_of(rustix::param::page_size())
}

/// Processors that this process may use.
pub fn processors() -> u64 {
    std::thread::available_parallelism().map_or(1, |count| count_of(count.get()))
}

/// Bytes of memory.
pub fn memory_bytes() -> u64 {
    let host = rustix::system::sysinfo();
    host.totalram.saturating_mul(u64::from(host.mem_unit))
}
