use std::path::PathBuf;
use std::str::FromStr;

use super::*;

fn style(icon: Icon) -> Style {
    Style {
        icon,
        image: None,
        color: Color::from_str("#2266ee").unwrap(),
        gradient: Vec::new(),
        bloom: None,
        label: String::new(),
        size: 16.0,
        opacity: 1.0,
    }
}

fn pixel(sprite: &Sprite, frame: usize, x: i32, y: i32) -> [u8; 4] {
    let index = (sprite.hot.1 + y) * sprite.width as i32 + sprite.hot.0 + x;
    sprite.frames[frame][index as usize * 4..][..4].try_into().unwrap()
}

/// What is drawn, one letter for each square of four pixels: blank, faint or full.
fn outline(sprite: &Sprite) -> String {
    let mut text = String::new();
    for top in (0..sprite.height).step_by(4) {
        for left in (0..sprite.width).step_by(4) {
            let square = (0..16).map(|at| (left + at % 4, top + at / 4));
            let inside = square.filter(|(x, y)| *x < sprite.width && *y < sprite.height);
            let sum: u32 = inside
                .map(|(x, y)| u32::from(sprite.frames[0][(y * sprite.width + x) as usize * 4 + 3]))
                .sum();
            text.push(match sum / 16 {
                0..=15 => '.',
                16..=127 => '+',
                _ => '#',
            });
        }
        text.push('\n');
    }
    text
}

#[test]
fn the_icons_have_the_outlines_of_the_golden_file() {
    let icons = [Icon::Arrow, Icon::Crosshair, Icon::Hand, Icon::Dot];
    let text = icons.map(|icon| {
        let sprite = draw(&style(icon), Surface::Blended);
        format!("{icon:?} {}x{} at {:?}\n{}\n", sprite.width, sprite.height, sprite.hot, outline(&sprite))
    });
    assert_eq!(text.concat(), include_str!("../../tests/golden/icons.txt"));
}

#[test]
fn the_dot_has_its_size_as_its_radius_and_its_colour() {
    for size in [8.0, 16.0, 40.0] {
        let sprite = draw(&Style { size, ..style(Icon::Dot) }, Surface::Blended);
        let radius = size as i32;
        for (x, y) in [(0, 0), (radius - 2, 0), (0, -(radius - 2))] {
            assert_eq!(pixel(&sprite, 0, x, y), [0xee, 0x66, 0x22, 255], "{size} {x} {y}");
        }
        assert_ne!(pixel(&sprite, 0, radius + 2, 0), [0xee, 0x66, 0x22, 255]);
    }
}

#[test]
fn colours_are_premultiplied_by_the_opacity() {
    let half = draw(&Style { opacity: 0.5, ..style(Icon::Dot) }, Surface::Blended);
    assert_eq!(pixel(&half, 0, 0, 0), [0x77, 0x33, 0x11, 128]);
    for sprite in [half, draw(&style(Icon::Hand), Surface::Blended)] {
        let frames = sprite.frames.iter().flat_map(|frame| frame.chunks_exact(4));
        assert!(frames.clone().all(|pixel| pixel[..3].iter().all(|part| *part <= pixel[3])));
        assert!(frames.clone().any(|pixel| pixel[3] > 0));
    }
}

#[test]
fn where_nothing_can_be_translucent_a_pixel_is_there_or_not() {
    let bright = Style { opacity: 0.5, bloom: Some(Color::of_name("glow")), ..style(Icon::Arrow) };
    let sprite = draw(&bright, Surface::Cut);
    let values: Vec<u8> = sprite.frames.iter().flatten().skip(3).step_by(4).copied().collect();
    assert!(values.iter().all(|alpha| *alpha == 0 || *alpha == 255));
    assert!(values.contains(&255));
    // Its light would be a square.
    assert_eq!(sprite.width, draw(&style(Icon::Arrow), Surface::Cut).width);
    let unseen = draw(&Style { opacity: 0.0, ..style(Icon::Dot) }, Surface::Cut);
    assert!(unseen.frames.iter().flatten().all(|value| *value == 0));
}

#[test]
fn a_gradient_runs_from_tip_to_tail() {
    let colors = ["#ff0000", "#0000ff"].map(|text| Color::from_str(text).unwrap());
    let sprite = draw(&Style { gradient: colors.to_vec(), ..style(Icon::Arrow) }, Surface::Blended);
    let [tip, tail] = [pixel(&sprite, 0, 4, 4), pixel(&sprite, 0, 9, 15)];
    assert!(tip[2] > 190 && tip[0] < 70, "{tip:?}");
    assert!(tail[0] > 130 && tail[2] < 125, "{tail:?}");
    let one = draw(&Style { gradient: colors[..1].to_vec(), ..style(Icon::Dot) }, Surface::Blended);
    assert_eq!(pixel(&one, 0, 0, 0), [0, 0, 255, 255]);
}

#[test]
fn a_bloom_glows_around_the_cursor_in_its_colour() {
    let glow = Color::from_str("#00ff00").unwrap();
    let plain = draw(&style(Icon::Arrow), Surface::Blended);
    let sprite = draw(&Style { bloom: Some(glow), ..style(Icon::Arrow) }, Surface::Blended);
    assert_eq!(pixel(&plain, 0, 2, 18), [0; 4]);
    let [blue, green, red, alpha] = pixel(&sprite, 0, 2, 18);
    assert!(green > 40 && alpha == green && blue == 0 && red == 0, "{:?}", (blue, green, red, alpha));
}

#[test]
fn a_click_is_a_ring_that_grows_and_fades() {
    let sprite = draw(&style(Icon::Arrow), Surface::Blended);
    assert_eq!(sprite.frames.len(), 9);
    let alpha = |frame, x| pixel(&sprite, frame, x, 0)[3];
    assert!(alpha(1, -5) > 200 && alpha(0, -5) == 0);
    assert!(alpha(8, -21) > 10 && alpha(1, -21) == 0);
    assert!(alpha(8, -21) < 80);
}

#[test]
fn a_label_stands_beside_the_cursor_and_says_whether_it_can_be_read() {
    let plain = draw(&style(Icon::Arrow), Surface::Blended);
    let named = draw(&Style { label: "Anna <&> 世界".to_owned(), ..style(Icon::Arrow) }, Surface::Blended);
    assert!(named.has_label && !plain.has_label);
    assert!(named.width > plain.width + 30 && named.height > plain.height);
    assert_eq!(named.hot, plain.hot);
    let unreadable = draw(&Style { label: "\u{1}".to_owned(), ..style(Icon::Arrow) }, Surface::Blended);
    assert!(!unreadable.has_label);
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = std::env::temp_dir().join(format!("backlot-cursor-{}-{name}", std::process::id()));
    std::fs::write(&path, bytes).unwrap();
    path
}

fn read(name: &str, bytes: &[u8]) -> Result<Image, crate::CursorError> {
    let path = file(name, bytes);
    let image = Image::open(&path);
    std::fs::remove_file(path).unwrap();
    image
}

fn square(width: u32, height: u32) -> Vec<u8> {
    let mut picture = Pixmap::new(width, height).unwrap();
    picture.fill(Color::from_str("#20c040").unwrap().with_alpha(1.0));
    picture.encode_png().unwrap()
}

#[test]
fn images_of_all_kinds_are_shown_in_their_own_colours() {
    let svg = b"<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 64 32'><rect width='64' height='32' fill='#20c040'/></svg>";
    let mut folder = ico::IconDir::new(ico::ResourceType::Icon);
    let rgba = ico::IconImage::from_rgba_data(48, 24, [0x20, 0xc0, 0x40, 255].repeat(48 * 24));
    folder.add_entry(ico::IconDirEntry::encode_as_bmp(&rgba).unwrap());
    let mut icon = Vec::new();
    folder.write(&mut icon).unwrap();
    let jpeg = include_bytes!("../../tests/golden/green.jpg");
    let files: [(&str, &[u8]); 5] = [
        ("a.png", &square(300, 150)),
        ("b.svg", svg),
        ("c.ico", &icon),
        ("d.jpg", jpeg),
        ("e", &square(8, 4)),
    ];
    for (name, bytes) in files {
        let image = read(name, bytes).unwrap();
        let sprite = draw(&Style { image: Some(image), ..style(Icon::Dot) }, Surface::Blended);
        for (x, y) in [(1, 1), (30, 14)] {
            let seen = pixel(&sprite, 0, x, y);
            let near =
                seen.iter().zip([0x40, 0xc0, 0x20, 255]).all(|(seen, wanted)| seen.abs_diff(wanted) < 5);
            assert!(near, "{name} {x},{y}: {seen:?}");
        }
        assert_eq!(pixel(&sprite, 0, 16, 17)[3], 0, "{name} is as flat as its file");
    }
}

#[test]
fn what_cannot_be_shown_is_refused_by_name() {
    let outside = file("outside.png", &square(9, 9));
    let link = format!(
        "<svg xmlns='http://www.w3.org/2000/svg' width='9' height='9'><image width='9' height='9' href='{}'/></svg>",
        outside.display()
    );
    let cases: [(&str, &[u8], &str); 6] = [
        ("empty.png", b"", "cannot be read"),
        ("text.svg", b"not an image", "cannot be read"),
        ("bytes", &[0xff, 0xfe, 0, 1], "none of these kinds"),
        ("cut.png", &square(40, 40)[..60], ""),
        ("huge.png", &square(5000, 1), "5000x1"),
        ("link.svg", link.as_bytes(), "shows nothing"),
    ];
    for (name, bytes, reason) in cases {
        let error = read(name, bytes).err().unwrap();
        assert_eq!(error.code(), "cursor_image_unreadable");
        assert!(error.to_string().contains(name) && error.to_string().contains(reason), "{error}");
    }
    std::fs::remove_file(outside).unwrap();
    assert!(Image::open(&std::env::temp_dir()).is_err());
    assert!(Image::open(&PathBuf::from("/nowhere.png")).is_err());
}
