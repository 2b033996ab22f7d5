//! Text beside a cursor.

use std::sync::{Arc, LazyLock};

use resvg::usvg::fontdb::{Database, Family, Query};
use resvg::usvg::{Options, Tree};

use super::color::Color;

/// The fonts of the system, read when the first text is drawn.
static FONTS: LazyLock<Arc<Database>> = LazyLock::new(|| {
    let mut fonts = Database::new();
    fonts.load_system_fonts();
    let has_sans = fonts.query(&Query { families: &[Family::SansSerif], ..Query::default() }).is_some();
    if !has_sans {
        let wanted = ["DejaVu Sans", "Liberation Sans", "Noto Sans"];
        let families =
            |name: &&str| fonts.query(&Query { families: &[Family::Name(name)], ..Query::default() });
        let known = wanted.into_iter().find(|name| families(name).is_some()).map(str::to_owned);
        let any = || fonts.faces().find_map(|face| face.families.first().map(|(name, _)| name.clone()));
        if let Some(name) = known.or_else(any) {
            fonts.set_sans_serif_family(name);
        }
    }
    Arc::new(fonts)
});

/// What text in SVG images and labels is drawn with; files that an SVG names are not opened.
pub(crate) fn options() -> Options<'static> {
    let mut options = Options { font_family: "sans-serif".to_owned(), ..Options::default() };
    options.fontdb = Arc::clone(&FONTS);
    options.image_href_resolver.resolve_string = Box::new(|_, _| None);
    options
}

/// A text that was set: its tree, and how wide it is from its start.
pub(crate) struct Line {
    pub(crate) tree: Tree,
    pub(crate) width: f32,
    /// From the tree's top to the line that the letters stand on.
    pub(crate) baseline: f32,
}

/// Sets a text in letters of so many pixels; nothing where the fonts have none of them.
pub(crate) fn set(text: &str, pixels: f32, ink: Color) -> Option<Line> {
    let baseline = pixels * 2.0;
    let svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"4096\" height=\"{}\">\
         <text x=\"0\" y=\"{baseline}\" font-family=\"sans-serif\" font-weight=\"600\" font-size=\"{pixels}\" \
         fill=\"{ink}\" xml:space=\"preserve\">{}</text></svg>",
        pixels * 4.0,
        escaped(text),
    );
    let tree = Tree::from_str(&svg, &options()).ok()?;
    let width = tree.root().abs_bounding_box().right();
    (width >= 1.0 && tree.root().has_children()).then_some(Line { tree, width, baseline })
}

/// What XML may hold of a text.
fn escaped(text: &str) -> String {
    text.chars()
        .filter(|letter| !letter.is_control() && !matches!(letter, '\u{fffe}' | '\u{ffff}'))
        .map(|letter| match letter {
            '&' => "&amp;".to_owned(),
            '<' => "&lt;".to_owned(),
            '>' => "&gt;".to_owned(),
            other => other.to_string(),
        })
        .collect()
}
