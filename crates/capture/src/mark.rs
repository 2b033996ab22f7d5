//! The crosshair that shows on a picture where a click goes, and the dot that shows where one went.

/// A red that no theme uses for a whole control, in the server's order of bytes.
const RED: [u8; 4] = [0, 0, 255, 255];

/// Reach of an arm from the point, the gap between point and arm, and half the thickness of an arm, in pixels.
const ARM: i64 = 16;
const GAP: i64 = 3;
const HALF: i64 = 1;

/// Radius of a dot and of the ring around it, in pixels.
const DOT: i64 = 7;
const RING: i64 = 9;

const WHITE: [u8; 4] = [255, 255, 255, 255];

/// Draws a red dot in a white ring on a point of `bgrx`, whose rows are `width` pixels long; what lies outside is left out.
pub(crate) fn dot(bgrx: &mut [u8], width: u32, x: u32, y: u32) {
    for down in -RING..=RING {
        for right in -RING..=RING {
            let square = down * down + right * right;
            let colour = if square <= DOT * DOT { RED } else { WHITE };
            if square <= RING * RING {
                put(bgrx, i64::from(width), i64::from(x) + right, i64::from(y) + down, colour);
            }
        }
    }
}

fn put(bgrx: &mut [u8], width: i64, x: i64, y: i64, colour: [u8; 4]) {
    if x < 0 || x >= width || y < 0 {
        return;
    }
    let start = usize::try_from((y * width + x) * 4).unwrap_or(usize::MAX);
    if let Some(pixel) = start.checked_add(4).and_then(|end| bgrx.get_mut(start..end)) {
        pixel.copy_from_slice(&colour);
    }
}

/// Draws a crosshair around a point of `bgrx`, whose rows are `width` pixels long; what lies outside is left out.
pub(crate) fn crosshair(bgrx: &mut [u8], width: u32, x: u32, y: u32) {
    let (width, x, y) = (i64::from(width), i64::from(x), i64::from(y));
    let mut red = |at_x: i64, at_y: i64| put(bgrx, width, at_x, at_y, RED);
    red(x, y);
    for along in GAP..=ARM {
        for across in -HALF..=HALF {
            red(x + along, y + across);
            red(x - along, y + across);
            red(x + across, y + along);
            red(x + across, y - along);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dot_is_red_with_a_white_ring_and_stays_in_the_picture() {
        let (width, height) = (40u32, 30u32);
        for (x, y) in [(20, 15), (0, 0), (39, 29)] {
            let mut pixels = vec![7; (width * height * 4) as usize];
            dot(&mut pixels, width, x, y);
            let at = |x: u32, y: u32| &pixels[((y * width + x) * 4) as usize..][..4];
            assert_eq!(at(x, y), RED);
            let beside = |by: u32| at(if x < 20 { x + by } else { x - by }, y);
            assert_eq!((beside(7), beside(8), beside(10)), (&RED[..], &WHITE[..], &[7; 4][..]));
        }
    }

    #[test]
    fn the_point_and_its_arms_are_red_and_nothing_beyond_the_edge_is_touched() {
        let (width, height) = (40u32, 30u32);
        for (x, y) in [(20, 15), (0, 0), (39, 29), (39, 0)] {
            let mut pixels = vec![7; (width * height * 4) as usize];
            crosshair(&mut pixels, width, x, y);
            let at = |x: u32, y: u32| &pixels[((y * width + x) * 4) as usize..][..4];
            assert_eq!(at(x, y), RED);
            assert_eq!(at(if x < 20 { x + 5 } else { x - 5 }, y), RED);
            // A neighbour of the point itself stays as it was, so that one sees what is clicked.
            assert_eq!(at(if x < 20 { x + 1 } else { x - 1 }, y), [7; 4]);
            let red = pixels.chunks_exact(4).filter(|pixel| *pixel == RED).count();
            assert!(red <= 1 + 4 * 14 * 3);
        }
    }
}
