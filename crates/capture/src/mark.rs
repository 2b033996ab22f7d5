//! The crosshair that shows on a picture where a click goes.

/// A red that no theme uses for a whole control, in the server's order of bytes.
const RED: [u8; 4] = [0, 0, 255, 255];

/// Reach of an arm from the point, the gap between point and arm, and half the thickness of an arm, in pixels.
const ARM: i64 = 16;
const GAP: i64 = 3;
const HALF: i64 = 1;

/// Draws a crosshair around a point of `bgrx`, whose rows are `width` pixels long; what lies outside is left out.
pub(crate) fn crosshair(bgrx: &mut [u8], width: u32, x: u32, y: u32) {
    let (width, x, y) = (i64::from(width), i64::from(x), i64::from(y));
    let mut dot = |at_x: i64, at_y: i64| {
        if at_x < 0 || at_x >= width || at_y < 0 {
            return;
        }
        let start = usize::try_from((at_y * width + at_x) * 4).unwrap_or(usize::MAX);
        if let Some(pixel) = start.checked_add(4).and_then(|end| bgrx.get_mut(start..end)) {
            pixel.copy_from_slice(&RED);
        }
    };
    dot(x, y);
    for along in GAP..=ARM {
        for across in -HALF..=HALF {
            dot(x + along, y + across);
            dot(x - along, y + across);
            dot(x + across, y + along);
            dot(x + across, y - along);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
