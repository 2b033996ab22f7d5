//! A screen in memory: fills, text in a made-up font, scrolling, and what was damaged.

use desktop::Rect;

pub struct Canvas {
    pub width: u32,
    pub height: u32,
    /// Blue, green, red, nothing.
    pub pixels: Vec<u8>,
    pub damage: Vec<Rect>,
    state: u64,
}

impl Canvas {
    pub fn new(width: u32, height: u32) -> Self {
        Self::seeded(width, height, 0x1234_5678_9abc_def1)
    }

    /// One whose random numbers are those of a seed.
    pub fn seeded(width: u32, height: u32, seed: u64) -> Self {
        let pixels = vec![0xe8; (width * height * 4) as usize];
        let mut canvas = Self { width, height, pixels, damage: Vec::new(), state: 1 };
        canvas.seed(seed);
        canvas
    }

    /// Draws random numbers of another seed from now on.
    pub fn seed(&mut self, seed: u64) {
        // Seeds that follow each other have nothing in common after this (splitmix64); zero would stay zero.
        let mut mixed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.state = (mixed ^ mixed >> 31) | 1;
    }

    /// A number below `most`, the same ones in each run.
    pub fn random(&mut self, most: u32) -> u32 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        ((self.state >> 33) % u64::from(most.max(1))) as u32
    }

    pub fn touch(&mut self, area: Rect) {
        self.damage.push(area);
    }

    fn whole(&self) -> Rect {
        Rect { x: 0, y: 0, width: self.width, height: self.height }
    }

    pub fn set(&mut self, x: i32, y: i32, colour: u32) {
        if self.whole().contains(desktop::Point { x, y }) {
            let at = (y as usize * self.width as usize + x as usize) * 4;
            self.pixels[at..at + 4].copy_from_slice(&(colour | 0x7700_0000).to_le_bytes());
        }
    }

    pub fn fill(&mut self, area: Rect, colour: u32) {
        for y in area.y..area.y + area.height as i32 {
            for x in area.x..area.x + area.width as i32 {
                self.set(x, y, colour);
            }
        }
        self.touch(area);
    }

    /// One of 64 letters of 7x11 with soft edges, as a toolkit draws them.
    pub fn letter(&mut self, x: i32, y: i32, letter: u32, colour: u32) {
        let seed = (letter % 64 + 1).wrapping_mul(0x9e37_79b9);
        for row in 0..11u32 {
            for column in 0..7u32 {
                let stroke = match seed >> (row / 3 * 5 + column / 2) & 3 {
                    0 => continue,
                    1 => 0x50,
                    2 => 0xa0,
                    _ => 0xff,
                };
                let mixed = [0, 8, 16].map(|shift| {
                    let ink = colour >> shift & 0xff;
                    ((ink * stroke + 0xf4 * (255 - stroke)) / 255) << shift
                });
                self.set(x + column as i32, y + row as i32, mixed[0] | mixed[1] | mixed[2]);
            }
        }
        self.touch(Rect { x, y, width: 7, height: 11 });
    }

    /// A page of words.
    pub fn page(&mut self, area: Rect) {
        self.fill(area, 0x00f4_f4f4);
        let damage = self.damage.len();
        for y in (area.y + 4..area.y + area.height as i32 - 12).step_by(16) {
            self.line(area, y);
        }
        self.damage.truncate(damage);
    }

    /// A line of words.
    pub fn line(&mut self, area: Rect, y: i32) {
        let length = self.random(area.width / 8) as i32;
        let colour = [0x0020_2020, 0x0020_2020, 0x0000_5fb0, 0x00b0_3020][self.random(4) as usize];
        for index in 0..length {
            if self.random(6) > 0 {
                let letter = self.random(64);
                self.letter(area.x + 4 + index * 8, y, letter, colour);
            }
        }
    }

    /// Moves what is inside a rectangle; what comes in is filled.
    pub fn scroll(&mut self, area: Rect, by: (i32, i32)) {
        let old = self.cut(area);
        for y in 0..area.height as i32 {
            for x in 0..area.width as i32 {
                let (from_x, from_y) = (x - by.0, y - by.1);
                let is_inside =
                    (0..area.width as i32).contains(&from_x) && (0..area.height as i32).contains(&from_y);
                let colour = if is_inside {
                    let at = (from_y as usize * area.width as usize + from_x as usize) * 4;
                    u32::from_le_bytes([old[at], old[at + 1], old[at + 2], old[at + 3]])
                } else {
                    0x00f4_f4f4
                };
                self.set(area.x + x, area.y + y, colour & 0x00ff_ffff);
            }
        }
        self.touch(area);
    }

    /// Pixels that no neighbour foretells.
    pub fn noise(&mut self, area: Rect) {
        for y in area.y..area.y + area.height as i32 {
            for x in area.x..area.x + area.width as i32 {
                let colour = self.random(1 << 24);
                self.set(x, y, colour);
            }
        }
        self.touch(area);
    }

    /// Colours that change slowly from pixel to pixel.
    pub fn gradient(&mut self, area: Rect, turn: i32) {
        for y in 0..area.height as i32 {
            for x in 0..area.width as i32 {
                let part = |value: i32| (value & 0xff).cast_unsigned();
                let colour = part(x + turn) | part(y * 2) << 8 | part((x + y) / 3) << 16;
                self.set(area.x + x, area.y + y, colour);
            }
        }
        self.touch(area);
    }

    /// A rectangle somewhere, of any size.
    pub fn anywhere(&mut self) -> Rect {
        let (width, height) = (self.random(self.width) + 1, self.random(self.height) + 1);
        let x = self.random(self.width - width + 1) as i32;
        let y = self.random(self.height - height + 1) as i32;
        Rect { x, y, width, height }
    }

    /// The pixels of a rectangle inside.
    pub fn cut(&self, area: Rect) -> Vec<u8> {
        let row = |y: i32| {
            let start = (y as usize * self.width as usize + area.x as usize) * 4;
            &self.pixels[start..start + area.width as usize * 4]
        };
        (area.y..area.y + area.height as i32).map(row).collect::<Vec<_>>().concat()
    }
}
