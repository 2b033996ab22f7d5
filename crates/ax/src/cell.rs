//! Cells of sheets: their names, such as `B500`, and what they hold.

use crate::value;

/// The last column of the largest sheets is called `XFD`.
const MOST_LETTERS: usize = 3;

/// A cell of a sheet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cell {
    /// Its row; the first is 0.
    pub row: i32,
    /// Its column; the first is 0.
    pub column: i32,
}

impl Cell {
    /// The cell of that name, in letters of any case; none for what names no cell.
    pub fn named(name: &str) -> Option<Self> {
        let name = name.trim();
        let letters = name.bytes().take_while(u8::is_ascii_alphabetic).count();
        let (column, row) = name.split_at(letters);
        if !(1..=MOST_LETTERS).contains(&letters) || !row.bytes().all(|digit| digit.is_ascii_digit()) {
            return None;
        }
        let row = row.parse::<i32>().ok().filter(|row| *row > 0)?;
        let digit = |letter: u8| i32::from(letter.to_ascii_uppercase() - b'A') + 1;
        let column = column.bytes().fold(0, |column, letter| column * 26 + digit(letter));
        Some(Self { row: row - 1, column: column - 1 })
    }
}

/// What a cell of a sheet holds, and whether it is the chosen one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CellContent {
    /// True when this cell alone is chosen: keys go to it.
    pub is_chosen: bool,
    /// What it shows.
    pub text: String,
    /// Its formula without the equals sign; none where it holds none.
    pub formula: Option<String>,
}

impl CellContent {
    /// True when writing that into the cell leaves it as this.
    pub fn holds(&self, written: &str) -> bool {
        let plain = |text: &str| text.split_whitespace().collect::<String>().to_uppercase();
        match (&self.formula, written.strip_prefix('=')) {
            (Some(formula), Some(written)) => plain(formula) == plain(written),
            (None, None) => {
                self.text == written
                    || number(written).is_some_and(|number| value::number(&self.text) == Some(number))
            }
            _ => false,
        }
    }
}

/// The number that a text is, written as a number is shown: what else means one depends on the language of the sheet.
pub fn number(text: &str) -> Option<f64> {
    text.parse::<f64>().ok().filter(|number| number.is_finite() && number.to_string() == text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_named_by_its_column_and_its_row() {
        let named = |name| Cell::named(name).map(|cell| (cell.row, cell.column));
        assert_eq!(named("A1"), Some((0, 0)));
        assert_eq!(named(" b500 "), Some((499, 1)));
        assert_eq!(named("XFD1048576"), Some((1_048_575, 16_383)));
    }

    #[test]
    fn a_cell_holds_what_was_written_into_it() {
        let shows = |text: &str| CellContent { text: text.to_owned(), ..CellContent::default() };
        assert!(shows("Tea").holds("Tea") && !shows("Team").holds("Tea"));
        assert!(shows("3,5").holds("3.5") && shows("3.5").holds("3.5"));
        assert!(!shows("1200%").holds("12") && !shows("7").holds("007"));
        let sum = CellContent { formula: Some("SUM(B2:B6)".to_owned()), ..shows("152") };
        assert!(sum.holds("=sum( B2:B6 )") && !sum.holds("152") && !sum.holds("=B2"));
    }

    #[test]
    fn other_words_name_none() {
        for word in ["", "B", "500", "B0", "B-1", "B 5", "Buy 500", "Rows9", "B5x", "B99999999999", "\u{e4}5"]
        {
            assert_eq!(Cell::named(word), None, "{word}");
        }
    }
}
