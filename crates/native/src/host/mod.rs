//! What the process itself is told of its host: processes, locks, sockets, rules of the kernel for itself, memory.

pub mod landlock;
pub mod lock;
pub mod memory_file;
pub mod process;
pub mod sockets;
