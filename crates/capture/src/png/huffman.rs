//! Prefix codes as DEFLATE wants them (RFC 1951 §3.2.2): canonical, of limited length.

/// Most symbols of an alphabet: literals, the end of a block and lengths.
pub(crate) const MOST: usize = 286;

/// Gives each symbol that occurs the length of its code, at most `limit`; others get 0.
///
/// At least two symbols get a code, for some decoders refuse a code of one symbol.
pub(crate) fn lengths(frequencies: &[u32], limit: u8, lengths: &mut [u8]) {
    lengths.fill(0);
    // Below the frequency stands the symbol, so that sorting needs no comparison function.
    let mut used = [0u64; MOST];
    let mut count = 0;
    for (symbol, frequency) in frequencies.iter().enumerate() {
        if *frequency > 0 {
            used[count] = u64::from(*frequency) << 16 | symbol as u64;
            count += 1;
        }
    }
    for symbol in 0..2u64 {
        if count < 2 && (count == 0 || used[0] & 0xffff != symbol) {
            used[count] = 1 << 16 | symbol;
            count += 1;
        }
    }
    let used = &mut used[..count];
    used.sort_unstable();
    let mut counts = counted(used, usize::from(limit));
    shorten(&mut counts, usize::from(limit));
    // The rarest symbols come first and get the longest codes.
    let mut symbols = used.iter();
    for length in (1..=limit).rev() {
        for entry in symbols.by_ref().take(counts[usize::from(length)]) {
            lengths[(entry & 0xffff) as usize] = length;
        }
    }
}

/// How many leaves of the Huffman tree lie at each depth; those below the limit count as at it.
fn counted(used: &[u64], limit: usize) -> [usize; 16] {
    let leaves = used.len();
    let nodes = 2 * leaves - 1;
    let mut weight = [0u64; 2 * MOST];
    let mut parent = [0u16; 2 * MOST];
    for (slot, entry) in weight.iter_mut().zip(used) {
        *slot = entry >> 16;
    }
    // Leaves and inner nodes are each sorted by weight, so that the two lightest stand at the two fronts.
    let (mut leaf, mut inner) = (0, leaves);
    for node in leaves..nodes {
        for _ in 0..2 {
            let lightest = if leaf < leaves && (inner >= node || weight[leaf] <= weight[inner]) {
                leaf += 1;
                leaf - 1
            } else {
                inner += 1;
                inner - 1
            };
            weight[node] += weight[lightest];
            parent[lightest] = node as u16;
        }
    }
    let mut depth = [0u16; 2 * MOST];
    let mut counts = [0; 16];
    for node in (0..nodes - 1).rev() {
        depth[node] = depth[usize::from(parent[node])] + 1;
        if node < leaves {
            counts[usize::from(depth[node]).min(limit)] += 1;
        }
    }
    counts
}

/// Makes the codes fit into the limit again (Kraft's sum is one), by lengthening short codes as little as possible.
fn shorten(counts: &mut [usize; 16], limit: usize) {
    let mut sum: usize = (1..=limit).map(|length| counts[length] << (limit - length)).sum();
    while sum > 1 << limit {
        let Some(length) = (1..limit).rev().find(|length| counts[*length] > 0) else { return };
        counts[limit] -= 1;
        counts[length] -= 1;
        counts[length + 1] += 2;
        sum -= 1;
    }
}

/// The canonical codes of these lengths, their bits in the order in which DEFLATE sends them.
pub(crate) fn codes(lengths: &[u8], codes: &mut [u16]) {
    let mut next = [0u16; 17];
    for length in lengths {
        next[usize::from(*length) + 1] += u16::from(*length > 0);
    }
    for length in 1..17 {
        next[length] = (next[length] + next[length - 1]) << 1;
    }
    for (code, length) in codes.iter_mut().zip(lengths) {
        if *length > 0 {
            let length = usize::from(*length);
            *code = next[length].reverse_bits() >> (16 - length);
            next[length] += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kraft(lengths: &[u8]) -> f64 {
        lengths.iter().filter(|length| **length > 0).map(|length| 0.5f64.powi(i32::from(*length))).sum()
    }

    #[test]
    fn codes_are_complete_and_within_the_limit() {
        let fibonacci: Vec<u32> = (0..40)
            .scan((1u32, 1u32), |state, _| {
                *state = (state.1, state.0 + state.1);
                Some(state.0)
            })
            .collect();
        let flat = vec![5; MOST];
        let single = [0, 0, 7];
        let last = [9, 0, 0];
        for (frequencies, limit) in [
            (&fibonacci[..], 15),
            (&fibonacci[..19], 7),
            (&flat[..], 15),
            (&single[..], 15),
            (&last[..], 7),
            (&[0; 4], 7),
        ] {
            let mut found = vec![0; frequencies.len()];
            lengths(frequencies, limit, &mut found);
            assert!(found.iter().all(|length| *length <= limit));
            assert!(frequencies.iter().zip(&found).all(|(frequency, length)| *frequency == 0 || *length > 0));
            assert_eq!(kraft(&found), 1.0);
        }
    }

    #[test]
    fn canonical_codes_are_those_of_the_specification() {
        // The example of RFC 1951 §3.2.2.
        let mut found = [0; 8];
        codes(&[3, 3, 3, 3, 3, 2, 4, 4], &mut found);
        let expected = [0b010, 0b011, 0b100, 0b101, 0b110, 0b00, 0b1110, 0b1111u16];
        let lengths = [3, 3, 3, 3, 3, 2, 4, 4];
        let turned: Vec<u16> =
            expected.iter().zip(lengths).map(|(code, n)| code.reverse_bits() >> (16 - n)).collect();
        assert_eq!(found.to_vec(), turned);
    }
}
