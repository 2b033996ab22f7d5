//! A picture in whole macroblocks: luma, and chroma of half the size (4:2:0).

/// Rows of bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Plane {
    pub(crate) bytes: Vec<u8>,
    pub(crate) stride: usize,
}

impl Plane {
    fn new(width: usize, height: usize, value: u8) -> Self {
        Self { bytes: vec![value; width * height], stride: width }
    }

    /// A row from a column on.
    #[inline(always)]
    pub(crate) fn row(&self, x: usize, y: usize) -> &[u8] {
        &self.bytes[y * self.stride + x..]
    }

    /// The square of `N` by `N` whose corner is given.
    #[inline(always)]
    pub(crate) fn square<const N: usize>(&self, x: usize, y: usize) -> [[u8; N]; N] {
        let mut square = [[0; N]; N];
        for (line, row) in square.iter_mut().zip(self.bytes[y * self.stride + x..].chunks(self.stride)) {
            line.copy_from_slice(&row[..N]);
        }
        square
    }

    #[inline(always)]
    pub(crate) fn put<const N: usize>(&mut self, x: usize, y: usize, square: &[[u8; N]; N]) {
        let stride = self.stride;
        for (line, row) in square.iter().zip(self.bytes[y * stride + x..].chunks_mut(stride)) {
            row[..N].copy_from_slice(line);
        }
    }

    /// True when both have the same square there.
    #[inline(always)]
    fn same<const N: usize>(&self, at: (usize, usize), other: &Self, there: (usize, usize)) -> bool {
        (0..N).all(|line| self.row(at.0, at.1 + line)[..N] == other.row(there.0, there.1 + line)[..N])
    }
}

/// A macroblock: 16x16 luma samples and two times 8x8 of chroma.
#[derive(Clone)]
pub(crate) struct Samples {
    pub(crate) luma: [[u8; 16]; 16],
    pub(crate) chroma: [[[u8; 8]; 8]; 2],
}

/// A picture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Planes {
    pub(crate) luma: Plane,
    pub(crate) chroma: [Plane; 2],
    /// Width in macroblocks.
    pub(crate) columns: usize,
    /// Height in macroblocks.
    pub(crate) rows: usize,
}

impl Planes {
    /// A black picture.
    pub(crate) fn new(columns: usize, rows: usize) -> Self {
        let chroma = || Plane::new(columns * 8, rows * 8, 128);
        Self { luma: Plane::new(columns * 16, rows * 16, 16), chroma: [chroma(), chroma()], columns, rows }
    }

    /// Column and row of a macroblock.
    #[inline(always)]
    pub(crate) fn place(&self, index: usize) -> (usize, usize) {
        (index % self.columns, index / self.columns)
    }

    #[inline(always)]
    pub(crate) fn samples(&self, index: usize) -> Samples {
        let (x, y) = self.place(index);
        let chroma = [0, 1].map(|plane: usize| self.chroma[plane].square(x * 8, y * 8));
        Samples { luma: self.luma.square(x * 16, y * 16), chroma }
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, index: usize, samples: &Samples) {
        let (x, y) = self.place(index);
        self.luma.put(x * 16, y * 16, &samples.luma);
        for (plane, square) in self.chroma.iter_mut().zip(&samples.chroma) {
            plane.put(x * 8, y * 8, square);
        }
    }

    /// Takes a macroblock from another picture of the same size.
    pub(crate) fn copy(&mut self, index: usize, from: &Self) {
        self.put(index, &from.samples(index));
    }

    /// True when both have the same macroblock.
    #[inline(always)]
    pub(crate) fn same(&self, index: usize, other: &Self) -> bool {
        let (x, y) = self.place(index);
        let (luma, chroma) = ((x * 16, y * 16), (x * 8, y * 8));
        self.luma.same::<16>(luma, &other.luma, luma)
            && (0..2).all(|plane| self.chroma[plane].same::<8>(chroma, &other.chroma[plane], chroma))
    }

    /// True when a macroblock's luma is that of another picture, moved.
    #[inline(always)]
    pub(crate) fn same_luma(&self, index: usize, other: &Self, moved: (i32, i32)) -> bool {
        let (x, y) = self.place(index);
        let there = ((x as i32 * 16 + moved.0) as usize, (y as i32 * 16 + moved.1) as usize);
        self.luma.same::<16>((x * 16, y * 16), &other.luma, there)
    }

    /// The same for its chroma; the move is even.
    pub(crate) fn same_chroma(&self, index: usize, other: &Self, moved: (i32, i32)) -> bool {
        let (x, y) = self.place(index);
        let there = ((x as i32 * 8 + moved.0 / 2) as usize, (y as i32 * 8 + moved.1 / 2) as usize);
        (0..2).all(|plane| self.chroma[plane].same::<8>((x * 8, y * 8), &other.chroma[plane], there))
    }

    /// True when a macroblock, moved, lies inside the picture.
    pub(crate) fn holds(&self, index: usize, moved: (i32, i32)) -> bool {
        let (x, y) = self.place(index);
        let inside = |at: usize, by: i32, number: usize| {
            (0..=(number as i32 - 1) * 16).contains(&(at as i32 * 16 + by))
        };
        inside(x, moved.0, self.columns) && inside(y, moved.1, self.rows)
    }
}
