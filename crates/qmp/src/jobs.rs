//! Work that a hypervisor does on its own: its end, its progress and its error.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::client::Client;
use crate::error::QmpError;

/// Where a job is when it needs nothing more, or needs us.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum JobState {
    /// It has done its work, and has been dismissed.
    Concluded,
    /// It keeps up with the VM until `job-complete`.
    Ready,
    /// It waits for `job-finalize`.
    Pending,
}

impl JobState {
    /// QEMU's word for it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Concluded => "concluded",
            Self::Ready => "ready",
            Self::Pending => "pending",
        }
    }
}

/// How far a job is, in units of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct JobProgress {
    /// Done so far.
    pub current: u64,
    /// Expected in all; may grow.
    pub total: u64,
}

/// Progress is told by no event: it is asked for this often.
const EVERY: Duration = Duration::from_millis(200);

impl Client {
    /// Waits for a job that was started without `auto-dismiss`; tells its progress when that changes.
    pub fn finish_job(
        &self,
        job: &str,
        limit: Duration,
        mut progress: impl FnMut(JobProgress),
    ) -> Result<JobState, QmpError> {
        let deadline = Instant::now() + limit;
        let left = || deadline.saturating_duration_since(Instant::now());
        let late = || QmpError::Timeout { command: format!("job {job}"), limit };
        let (mut seen, mut told) = (0, None);
        loop {
            let jobs = self.execute("query-jobs", None, &[], left()).map_err(|error| match error {
                QmpError::Timeout { .. } => late(),
                other => other,
            })?;
            let found = jobs.as_array().into_iter().flatten().find(|each| each["id"] == job);
            let Some(found) = found else { return Err(QmpError::JobNotFound { job: job.to_owned() }) };
            let number = |key: &str| found[key].as_u64().unwrap_or(0);
            let now = JobProgress { current: number("current-progress"), total: number("total-progress") };
            if told.replace(now) != Some(now) {
                progress(now);
            }
            match found["status"].as_str() {
                Some("concluded") => return self.dismiss(job, found, left()),
                Some("ready") => return Ok(JobState::Ready),
                Some("pending") => return Ok(JobState::Pending),
                _ => {}
            }
            if left().is_zero() {
                return Err(late());
            }
            seen = self.job_events(seen, deadline.min(Instant::now() + EVERY))?;
        }
    }

    fn dismiss(&self, job: &str, found: &Value, limit: Duration) -> Result<JobState, QmpError> {
        self.execute("job-dismiss", Some(json!({ "id": job })), &[], limit.max(EVERY))?;
        match found["error"].as_str() {
            None => Ok(JobState::Concluded),
            Some(reason) => {
                let reason = reason.trim_end_matches('.').to_owned();
                Err(QmpError::JobFailed { job: job.to_owned(), reason })
            }
        }
    }
}
