//! Disks of virtual machines, for JavaScript.

use std::path::PathBuf;

use napi_derive::napi;

use crate::failure::{Promise, promise};

/// What an overlay lies on.
#[napi(object, object_to_js = false)]
pub struct OverlayOptions {
    /// The backing disk's path as it is to be written: absolute, or relative to the overlay's folder.
    pub backing: String,
    /// `qcow2` or `raw`.
    #[napi(js_name = "backing_format", ts_type = "'qcow2' | 'raw'")]
    pub backing_format: String,
    /// Bytes that the guest sees, a multiple of 512; those of the backing disk when absent.
    #[napi(js_name = "size_bytes")]
    pub size_bytes: Option<f64>,
    /// False where the caller syncs the folder: until then a power cut may take the disk's name. True when absent.
    #[napi(js_name = "sync_folder")]
    pub sync_folder: Option<bool>,
}

/// How an empty disk is made.
#[napi(object, object_to_js = false)]
pub struct DiskOptions {
    /// False where the caller syncs the folder: until then a power cut may take the disk's name. True when absent.
    #[napi(js_name = "sync_folder")]
    pub sync_folder: Option<bool>,
}

/// What an image says of the disk that it lies on.
#[napi(object, object_from_js = false)]
pub struct DiskBacking {
    /// The name as it is written.
    pub name: String,
    /// The path that it means.
    pub path: String,
    /// `qcow2` or `raw`.
    #[napi(ts_type = "'qcow2' | 'raw'")]
    pub format: String,
}

/// One disk of a chain.
#[napi(object, object_from_js = false)]
pub struct DiskLayer {
    /// Its file.
    pub path: String,
    /// `qcow2` or `raw`.
    #[napi(ts_type = "'qcow2' | 'raw'")]
    pub format: String,
    /// Bytes that a guest sees.
    #[napi(js_name = "virtual_size")]
    pub virtual_size: f64,
    /// Bytes that its file takes on the file system.
    #[napi(js_name = "actual_size")]
    pub actual_size: f64,
    /// What it lies on.
    #[napi(ts_type = "DiskBacking | null")]
    pub backing: Option<DiskBacking>,
    /// True while its last writer has not closed it, where it keeps that.
    #[napi(js_name = "is_dirty")]
    pub is_dirty: bool,
    /// True where QEMU found damage and marked it.
    #[napi(js_name = "is_corrupt")]
    pub is_corrupt: bool,
    /// True where it is encrypted.
    #[napi(js_name = "is_encrypted")]
    pub is_encrypted: bool,
    /// True where its content lies in another file that it names.
    #[napi(js_name = "has_data_file")]
    pub has_data_file: bool,
    /// Number of internal snapshots.
    pub snapshots: u32,
}

/// A disk and, from the nearest to the farthest, all that it lies on.
#[napi(object, object_from_js = false)]
pub struct DiskInfo {
    /// The disk itself.
    pub disk: DiskLayer,
    /// Its backing disk, that one's, and so on.
    pub chain: Vec<DiskLayer>,
}

/// What a check of a disk found.
#[napi(object, object_from_js = false)]
pub struct DiskCheck {
    /// Places where a guest may read something wrong, or a write may destroy something.
    pub corruptions: f64,
    /// Clusters that are counted as used and are not: lost room and nothing worse.
    pub leaks: f64,
    /// Clusters of the guest's disk; 0 for a raw one, which has nothing that could disagree.
    #[napi(js_name = "total_clusters")]
    pub total_clusters: f64,
    /// Those of them that have a place in the file.
    #[napi(js_name = "allocated_clusters")]
    pub allocated_clusters: f64,
    /// Clusters of the guest's disk about which the image says anything itself, zeros without a place among them; all
    /// others are as the backing disk has them.
    #[napi(js_name = "own_clusters")]
    pub own_clusters: f64,
    /// Where the last cluster that is used ends.
    #[napi(js_name = "image_end_offset")]
    pub image_end_offset: f64,
    /// The first of the findings, in words.
    pub findings: Vec<String>,
}

/// Makes an empty qcow2 disk, which is there whole, and would survive a power cut, when the promise is fulfilled. Rejects
/// with `disk_exists`, `disk_not_written`, `invalid_argument`.
#[napi(catch_unwind)]
pub fn create_disk(path: String, size_bytes: f64, options: Option<DiskOptions>) -> Promise<()> {
    let naming = naming(options.and_then(|options| options.sync_folder));
    promise(move || qcow2::create(&PathBuf::from(path), bytes(size_bytes)?, naming))
}

/// Makes a qcow2 disk that shows another's content until it is written to. Rejects as `createDisk` does, and with
/// `disk_not_found`, `disk_unreadable`, `disk_corrupt`, `disk_unsupported`, `disk_not_shrunk`.
#[napi(catch_unwind)]
pub fn create_overlay(path: String, options: OverlayOptions) -> Promise<()> {
    promise(move || {
        let Some(format) = qcow2::Format::of(&options.backing_format) else {
            let what = format!(
                "A disk of format \"{}\" cannot be laid under another. Pass \"qcow2\" or \"raw\".",
                options.backing_format
            );
            return Err(qcow2::DiskError::Argument { what });
        };
        let size = options.size_bytes.map(bytes).transpose()?;
        let request = qcow2::Overlay { backing: options.backing, format, size };
        qcow2::overlay(&PathBuf::from(path), &request, naming(options.sync_folder))
    })
}

/// Describes a disk and its chain by their headers alone, also while a hypervisor has it open. Rejects with
/// `disk_not_found`, `disk_unreadable`, `disk_corrupt`, `disk_unsupported`.
#[napi(catch_unwind)]
pub fn disk_info(path: String) -> Promise<DiskInfo> {
    promise(move || {
        let qcow2::DiskInfo { top, below } = qcow2::info(&PathBuf::from(path))?;
        let chain = below.into_iter().map(DiskLayer::from).collect();
        Ok::<_, qcow2::DiskError>(DiskInfo { disk: top.into(), chain })
    })
}

/// Grows a qcow2 or raw disk that nobody has open; the size is a multiple of 512. A power cut leaves it as it was or grown.
/// Rejects with `disk_in_use`, `disk_not_shrunk`, `disk_not_written`, `invalid_argument`, and as `diskInfo` does.
#[napi(catch_unwind)]
pub fn resize_disk(path: String, size_bytes: f64) -> Promise<()> {
    promise(move || qcow2::resize(&PathBuf::from(path), bytes(size_bytes)?))
}

/// Compares what a disk uses with what it counts as used, as `qemu-img check` does. Rejects as `diskInfo` does.
#[napi(catch_unwind)]
pub fn check_disk(path: String) -> Promise<DiskCheck> {
    promise(move || qcow2::check(&PathBuf::from(path)).map(DiskCheck::from))
}

fn naming(sync_folder: Option<bool>) -> qcow2::Naming {
    if sync_folder == Some(false) { qcow2::Naming::LeftToCaller } else { qcow2::Naming::Synced }
}

/// Numbers of JavaScript hold every size that a disk can have.
fn bytes(number: f64) -> Result<u64, qcow2::DiskError> {
    if number >= 0.0 && number <= i64::MAX as f64 && number.fract() == 0.0 {
        return Ok(number as u64);
    }
    let what = format!("{number} is no number of bytes. Pass a whole number that is not negative.");
    Err(qcow2::DiskError::Argument { what })
}

impl From<qcow2::Layer> for DiskLayer {
    fn from(layer: qcow2::Layer) -> Self {
        let header = layer.header.as_ref();
        let has = |asked: fn(&qcow2::Header) -> bool| header.is_some_and(asked);
        Self {
            is_dirty: has(|header| header.features.is_dirty()),
            is_corrupt: has(|header| header.features.is_corrupt()),
            is_encrypted: has(|header| header.encryption != 0),
            has_data_file: has(|header| header.features.has_data_file()),
            snapshots: header.map_or(0, |header| header.snapshots),
            path: text(layer.path),
            format: layer.format.name().to_owned(),
            virtual_size: layer.virtual_size as f64,
            actual_size: layer.actual_size as f64,
            backing: layer.backing.map(|backing| DiskBacking {
                name: backing.name,
                path: text(backing.path),
                format: backing.format.name().to_owned(),
            }),
        }
    }
}

impl From<qcow2::CheckReport> for DiskCheck {
    fn from(report: qcow2::CheckReport) -> Self {
        Self {
            corruptions: report.corruptions as f64,
            leaks: report.leaks as f64,
            total_clusters: report.total_clusters as f64,
            allocated_clusters: report.allocated_clusters as f64,
            own_clusters: report.own_clusters as f64,
            image_end_offset: report.image_end_offset as f64,
            findings: report.findings,
        }
    }
}

fn text(path: PathBuf) -> String {
    path.to_string_lossy().into_owned()
}
