//! What can go wrong between a hypervisor and us.

use std::path::PathBuf;
use std::time::Duration;

/// A failure of this crate; [`QmpError::code`] is stable.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QmpError {
    /// Nobody listens on the socket.
    #[error("No hypervisor answers on \"{}\": {reason}. Look whether its process runs, and at what it printed.", socket.display())]
    Unreachable {
        /// The socket.
        socket: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// No answer came in time; a later one is thrown away.
    #[error("The hypervisor did not answer \"{command}\" within {} ms. It may hang, or its machine is overloaded; try again, or end its process.", limit.as_millis())]
    Timeout {
        /// The command, or what else was waited for.
        command: String,
        /// How long was waited.
        limit: Duration,
    },
    /// The connection ended; whether a command that was under way has been done is unknown.
    #[error("The connection to the hypervisor on \"{}\" ended: {reason}. Look whether its process runs, and connect again.", socket.display())]
    Lost {
        /// The socket.
        socket: PathBuf,
        /// How it ended.
        reason: String,
    },
    /// The other side speaks something else, or too much of it.
    #[error("What answers on \"{}\" does not speak QEMU's machine protocol: {what}. Check which process owns the socket.", socket.display())]
    Garbled {
        /// The socket.
        socket: PathBuf,
        /// What came.
        what: String,
    },
    /// The hypervisor answered with an error.
    #[error(
        "The hypervisor refused \"{command}\": {reason} ({class}). Check the command's arguments and the state of the VM."
    )]
    Refused {
        /// The command.
        command: String,
        /// QEMU's class of errors, such as `GenericError`, `CommandNotFound`, `DeviceNotFound`.
        class: String,
        /// What it said.
        reason: String,
    },
    /// A job ended with an error.
    #[error("The hypervisor's job \"{job}\" failed: {reason}. Remove the cause and start it again.")]
    JobFailed {
        /// The job.
        job: String,
        /// What it said.
        reason: String,
    },
    /// The hypervisor has no such job.
    #[error("The hypervisor has no job \"{job}\". Start it with this id, and without \"auto-dismiss\".")]
    JobNotFound {
        /// The job.
        job: String,
    },
    /// An argument cannot be sent.
    #[error("{what}")]
    Argument {
        /// The whole text.
        what: String,
    },
    /// What migration has saved is not as it is known here, or cannot be read or laid out.
    #[error("The saved memory cannot be laid out: {reason}. Let the machine read it itself.")]
    SavedMemory {
        /// What is wrong.
        reason: String,
    },
    /// This platform has no such sockets.
    #[error(
        "QEMU's machine protocol is spoken over Unix sockets, which this platform does not have. Use Linux or macOS."
    )]
    UnsupportedPlatform,
}

impl QmpError {
    /// The stable snake_case code.
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unreachable { .. } => "hypervisor_unreachable",
            Self::Timeout { .. } => "hypervisor_timeout",
            Self::Lost { .. } => "hypervisor_lost",
            Self::Garbled { .. } => "hypervisor_garbled",
            Self::Refused { .. } => "hypervisor_refused",
            Self::JobFailed { .. } => "job_failed",
            Self::JobNotFound { .. } => "job_not_found",
            Self::Argument { .. } => "invalid_argument",
            Self::SavedMemory { .. } => "memory_unreadable",
            Self::UnsupportedPlatform => "unsupported_platform",
        }
    }
}
