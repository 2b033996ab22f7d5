//! What a disk is, and what it lies on.

use std::fs::{File, Metadata};
use std::path::{Path, PathBuf};

use crate::error::DiskError;
use crate::header::Header;
use crate::medium::Medium as _;
use crate::platform;

/// How a disk's bytes are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// QEMU's own format, version 2 or 3.
    Qcow2,
    /// The guest's bytes as they are.
    Raw,
}

impl Format {
    /// The name that QEMU's programs use.
    pub fn name(self) -> &'static str {
        match self {
            Self::Qcow2 => "qcow2",
            Self::Raw => "raw",
        }
    }

    /// The format of this name.
    pub fn of(name: &str) -> Option<Self> {
        [Self::Qcow2, Self::Raw].into_iter().find(|format| format.name() == name)
    }
}

/// What an image says of the disk that it lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backing {
    /// The name as it is written.
    pub name: String,
    /// The path that it means.
    pub path: PathBuf,
    /// The format: the one that is written, else what the file looks like.
    pub format: Format,
}

/// One disk of a chain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layer {
    /// Its file.
    pub path: PathBuf,
    /// Its format.
    pub format: Format,
    /// Bytes that a guest would see of it.
    pub virtual_size: u64,
    /// Bytes that its file takes on the file system.
    pub actual_size: u64,
    /// Its header, if it is a qcow2.
    pub header: Option<Header>,
    /// What it lies on.
    pub backing: Option<Backing>,
}

/// A disk and, from the nearest to the farthest, all that it lies on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskInfo {
    /// The disk itself.
    pub top: Layer,
    /// Its backing disk, that one's, and so on.
    pub below: Vec<Layer>,
}

/// Disks that one lies on at most; QEMU keeps a file open for each.
pub const MOST_BELOW: usize = 200;

/// Describes a disk and its chain, by headers alone; works while a hypervisor has it open.
pub fn info(path: &Path) -> Result<DiskInfo, DiskError> {
    info_as(path, None)
}

/// Describes a disk of a known format, or of the one that it looks like.
pub fn info_as(path: &Path, format: Option<Format>) -> Result<DiskInfo, DiskError> {
    let (file, top) = open(path, format)?;
    let mut seen = vec![identity(path, &file)?];
    let mut below: Vec<Layer> = Vec::new();
    let mut next = top.backing.clone();
    while let Some(backing) = next {
        let (file, layer) = open(&backing.path, Some(backing.format))?;
        let known = identity(&backing.path, &file)?;
        if seen.contains(&known) {
            return Err(DiskError::corrupt(path, "it lies on itself"));
        }
        if below.len() == MOST_BELOW {
            return Err(too_deep(path));
        }
        seen.push(known);
        next = layer.backing.clone();
        below.push(layer);
    }
    Ok(DiskInfo { top, below })
}

/// Why a chain is too long.
pub fn too_deep(path: &Path) -> DiskError {
    DiskError::unsupported(path, format!("lies on more than {MOST_BELOW} disks"))
}

/// What a file is by whatever name.
fn identity(path: &Path, file: &File) -> Result<platform::Identity, DiskError> {
    platform::identity(path, file).map_err(|error| DiskError::read(path, error))
}

/// Opens a disk for reading; without a format it is a qcow2 if it begins like one.
pub fn open(path: &Path, format: Option<Format>) -> Result<(File, Layer), DiskError> {
    let failed = |error| DiskError::read(path, error);
    let file = platform::open(path, false).map_err(failed)?;
    let known: Metadata = file.metadata().map_err(failed)?;
    let header = match format {
        Some(Format::Raw) => None,
        _ => Header::read(path, &file)?,
    };
    if header.is_none() && format == Some(Format::Qcow2) {
        return Err(DiskError::corrupt(path, "it does not begin as a qcow2 file"));
    }
    let virtual_size = match &header {
        Some(header) => header.size,
        // A guest sees whole sectors.
        None => file.length().map_err(failed)?.next_multiple_of(512),
    };
    let layer = Layer {
        path: path.to_owned(),
        format: if header.is_some() { Format::Qcow2 } else { Format::Raw },
        virtual_size,
        actual_size: platform::allocated(&known),
        backing: header.as_ref().map_or(Ok(None), |header| backing_of(path, header))?,
        header,
    };
    Ok((file, layer))
}

/// Bytes that a guest sees of a disk.
pub fn size_of(path: &Path, format: Format) -> Result<u64, DiskError> {
    Ok(open(path, Some(format))?.1.virtual_size)
}

/// What the image at `path` with this header lies on.
pub fn backing_of(path: &Path, header: &Header) -> Result<Option<Backing>, DiskError> {
    let Some(name) = header.backing.clone() else { return Ok(None) };
    let below = resolve(path, &name)?;
    let format = match header.backing_format.as_deref() {
        Some(named) => Format::of(named)
            .ok_or_else(|| DiskError::unsupported(path, format!("lies on a disk of format \"{named}\"")))?,
        None => open_format(&below)?,
    };
    Ok(Some(Backing { name, path: below, format }))
}

fn open_format(path: &Path) -> Result<Format, DiskError> {
    let file = platform::open(path, false).map_err(|error| DiskError::read(path, error))?;
    let mut magic = [0; 4];
    file.read_at(0, &mut magic).map_err(|error| DiskError::read(path, error))?;
    Ok(if magic == crate::header::MAGIC { Format::Qcow2 } else { Format::Raw })
}

/// The path that the name of a backing disk means in an image at `path`.
pub fn resolve(path: &Path, name: &str) -> Result<PathBuf, DiskError> {
    if is_protocol(name) {
        return Err(DiskError::unsupported(path, format!("lies on \"{name}\", which is no file")));
    }
    Ok(path.parent().unwrap_or(Path::new("")).join(name))
}

/// True for what QEMU takes for a protocol: a name with a colon before any slash.
pub fn is_protocol(name: &str) -> bool {
    name.find([':', '/']).is_some_and(|at| name.as_bytes()[at] == b':')
}
