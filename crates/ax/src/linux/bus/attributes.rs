//! Attributes of objects, as AT-SPI writes them.

use super::ask::Reply;

/// Most attributes of one object.
const MAX_ATTRIBUTES: usize = 64;

/// Names and values in a reply of type `a{ss}`.
pub fn attributes(reply: &Reply) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let Some(mut reader) = reply.as_ref().ok().and_then(|reply| reply.expect("a{ss}").ok()) else {
        return found;
    };
    let Ok(end) = reader.array(8) else { return found };
    while reader.position() < end && found.len() < MAX_ATTRIBUTES {
        let name = reader.align(8).and_then(|()| reader.string());
        let (Ok(name), Ok(value)) = (name, reader.string()) else { break };
        if !found.iter().any(|(known, _)| known == name) {
            found.push((name.to_owned(), value.to_owned()));
        }
    }
    found
}
