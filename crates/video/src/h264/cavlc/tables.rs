//! The code words of residual blocks, as the standard prints them (ITU-T H.264, tables 9-5 and 9-7 to 9-10).

/// A code word: its bits in the lowest places, and how many there are.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Word {
    pub(crate) bits: u16,
    pub(crate) len: u8,
}

/// Words that are separated by blanks, in order.
const fn words<const N: usize>(text: &str) -> [Word; N] {
    let text = text.as_bytes();
    let mut words = [Word { bits: 0, len: 0 }; N];
    let (mut at, mut index) = (0, 0);
    while at < text.len() {
        if text[at] == b' ' {
            index += 1;
        } else {
            words[index].bits = words[index].bits << 1 | (text[at] - b'0') as u16;
            words[index].len += 1;
        }
        at += 1;
    }
    words
}

/// For each row its words.
const fn rows<const ROWS: usize, const N: usize>(texts: [&str; ROWS]) -> [[Word; N]; ROWS] {
    let mut rows = [[Word { bits: 0, len: 0 }; N]; ROWS];
    let mut row = 0;
    while row < ROWS {
        rows[row] = words(texts[row]);
        row += 1;
    }
    rows
}

/// Table 9-5, `coeff_token`: by number of coefficients, then by trailing ones.
type Tokens<const ROWS: usize> = [[Word; 4]; ROWS];

const TOKENS_0: Tokens<17> = rows([
    "1",
    "000101 01",
    "00000111 000100 001",
    "000000111 00000110 0000101 00011",
    "0000000111 000000110 00000101 000011",
    "00000000111 0000000110 000000101 0000100",
    "0000000001111 00000000110 0000000101 00000100",
    "0000000001011 0000000001110 00000000101 000000100",
    "0000000001000 0000000001010 0000000001101 0000000100",
    "00000000001111 00000000001110 0000000001001 00000000100",
    "00000000001011 00000000001010 00000000001101 0000000001100",
    "000000000001111 000000000001110 00000000001001 00000000001100",
    "000000000001011 000000000001010 000000000001101 00000000001000",
    "0000000000001111 000000000000001 000000000001001 000000000001100",
    "0000000000001011 0000000000001110 0000000000001101 000000000001000",
    "0000000000000111 0000000000001010 0000000000001001 0000000000001100",
    "0000000000000100 0000000000000110 0000000000000101 0000000000001000",
]);

const TOKENS_2: Tokens<17> = rows([
    "11",
    "001011 10",
    "000111 00111 011",
    "0000111 001010 001001 0101",
    "00000111 000110 000101 0100",
    "00000100 0000110 0000101 00110",
    "000000111 00000110 00000101 001000",
    "00000001111 000000110 000000101 000100",
    "00000001011 00000001110 00000001101 0000100",
    "000000001111 00000001010 00000001001 000000100",
    "000000001011 000000001110 000000001101 00000001100",
    "000000001000 000000001010 000000001001 00000001000",
    "0000000001111 0000000001110 0000000001101 000000001100",
    "0000000001011 0000000001010 0000000001001 0000000001100",
    "0000000000111 00000000001011 0000000000110 0000000001000",
    "00000000001001 00000000001000 00000000001010 0000000000001",
    "00000000000111 00000000000110 00000000000101 00000000000100",
]);

const TOKENS_4: Tokens<17> = rows([
    "1111",
    "001111 1110",
    "001011 01111 1101",
    "001000 01100 01110 1100",
    "0001111 01010 01011 1011",
    "0001011 01000 01001 1010",
    "0001001 001110 001101 1001",
    "0001000 001010 001001 1000",
    "00001111 0001110 0001101 01101",
    "00001011 00001110 0001010 001100",
    "000001111 00001010 00001101 0001100",
    "000001011 000001110 00001001 00001100",
    "000001000 000001010 000001101 00001000",
    "0000001101 000000111 000001001 000001100",
    "0000001001 0000001100 0000001011 0000001010",
    "0000000101 0000001000 0000000111 0000000110",
    "0000000001 0000000100 0000000011 0000000010",
]);

/// From 8 coefficients on the words are six bits: those of the number less one, and of the trailing ones.
const fn tokens_8() -> Tokens<17> {
    let mut tokens = [[Word { bits: 0, len: 6 }; 4]; 17];
    tokens[0][0].bits = 3;
    let mut number = 1;
    while number < 17 {
        let mut ones = 0;
        while ones < 4 {
            tokens[number][ones].bits = ((number - 1) << 2 | ones) as u16;
            ones += 1;
        }
        number += 1;
    }
    tokens
}

/// The tables for nC from 0, 2, 4 and 8 on.
pub(crate) static TOKENS: [Tokens<17>; 4] = [TOKENS_0, TOKENS_2, TOKENS_4, tokens_8()];

/// The table for nC = -1.
pub(crate) static TOKENS_CHROMA: Tokens<5> = rows([
    "01",
    "000111 1",
    "000100 000110 001",
    "000011 0000011 0000010 000101",
    "000010 00000011 00000010 0000000",
]);

/// Tables 9-7 and 9-8, `total_zeros`: by number of coefficients less one, then by zeros.
pub(crate) static ZEROS: [[Word; 16]; 15] = rows([
    "1 011 010 0011 0010 00011 00010 000011 000010 0000011 0000010 00000011 00000010 000000011 000000010 000000001",
    "111 110 101 100 011 0101 0100 0011 0010 00011 00010 000011 000010 000001 000000",
    "0101 111 110 101 0100 0011 100 011 0010 00011 00010 000001 00001 000000",
    "00011 111 0101 0100 110 101 100 0011 011 0010 00010 00001 00000",
    "0101 0100 0011 111 110 101 100 011 0010 00001 0001 00000",
    "000001 00001 111 110 101 100 011 010 0001 001 000000",
    "000001 00001 101 100 011 11 010 0001 001 000000",
    "000001 0001 00001 011 11 10 010 001 000000",
    "000001 000000 0001 11 10 001 01 00001",
    "00001 00000 001 11 10 01 0001",
    "0000 0001 001 010 1 011",
    "0000 0001 01 1 001",
    "000 001 1 01",
    "00 01 1",
    "0 1",
]);

/// Table 9-9 (a), `total_zeros` of chroma DC: by number of coefficients less one, then by zeros.
pub(crate) static ZEROS_CHROMA: [[Word; 4]; 3] = rows(["1 01 001 000", "1 01 00", "1 0"]);

/// Table 9-10, `run_before`: by zeros left less one, at most 6, then by the run.
pub(crate) static RUNS: [[Word; 15]; 7] = rows([
    "1 0",
    "1 01 00",
    "11 10 01 00",
    "11 10 01 001 000",
    "11 10 011 010 001 000",
    "11 000 001 011 010 101 100",
    "111 110 101 100 011 010 001 0001 00001 000001 0000001 00000001 000000001 0000000001 00000000001",
]);

#[cfg(test)]
mod tests {
    use super::*;

    fn can_be_told_apart(words: &[Word]) -> bool {
        let words: Vec<_> = words.iter().filter(|word| word.len > 0).collect();
        words.iter().enumerate().all(|(index, one)| {
            words[index + 1..].iter().all(|other| {
                let len = one.len.min(other.len);
                one.bits >> (one.len - len) != other.bits >> (other.len - len)
            })
        })
    }

    #[test]
    fn no_word_begins_another() {
        for table in &TOKENS[..3] {
            assert!(can_be_told_apart(&table.concat()));
        }
        let eight: Vec<Word> =
            (0..17).flat_map(|number| TOKENS[3][number][..=number.min(3)].to_vec()).collect();
        assert!(can_be_told_apart(&eight));
        assert!(can_be_told_apart(&TOKENS_CHROMA.concat()));
        assert!(ZEROS.iter().all(|row| can_be_told_apart(row)));
        assert!(ZEROS_CHROMA.iter().all(|row| can_be_told_apart(row)));
        assert!(RUNS.iter().all(|row| can_be_told_apart(row)));
    }
}
