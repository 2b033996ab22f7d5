//! The syntax of H.264 and the coding of one macroblock (ITU-T H.264).

pub mod bits;
pub mod cavlc;
pub mod cells;
pub mod headers;
pub mod inter;
pub mod intra;
pub mod macroblock;
pub mod planes;
pub mod quality;
pub mod residue;
pub mod sequence;
pub mod transform;
