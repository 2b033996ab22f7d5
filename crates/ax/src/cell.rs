//! Cells of sheets by their names, such as `B500`.

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
    fn other_words_name_none() {
        for word in ["", "B", "500", "B0", "B-1", "B 5", "Buy 500", "Rows9", "B5x", "B99999999999", "\u{e4}5"]
        {
            assert_eq!(Cell::named(word), None, "{word}");
        }
    }
}
