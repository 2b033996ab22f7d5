//! What a line of the protocol says.

use serde_json::{Map, Value, json};

use crate::error::QmpError;

/// Something that happened in the hypervisor.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Such as `SHUTDOWN` or `JOB_STATUS_CHANGE`.
    pub name: String,
    /// What is told about it; an empty object when nothing is.
    pub data: Value,
    /// When it happened, in milliseconds since 1970; absent where the hypervisor's clock cannot be read.
    pub at_ms: Option<f64>,
}

impl Event {
    /// As the text of a JSON object.
    pub fn to_json(&self) -> String {
        json!({ "name": self.name, "data": self.data, "at_ms": self.at_ms }).to_string()
    }
}

/// One line from the hypervisor.
#[derive(Clone, Debug, PartialEq)]
pub enum Message {
    /// The first line: who speaks.
    Greeting(Value),
    /// What happened.
    Event(Event),
    /// The answer to the command of this number; none where it was too garbled to have one.
    Reply(Option<u64>, Reply),
}

/// How a command ended.
#[derive(Clone, Debug, PartialEq)]
pub enum Reply {
    /// It was done.
    Return(Value),
    /// It was refused.
    Error {
        /// QEMU's class of errors.
        class: String,
        /// What it said.
        text: String,
    },
}

/// Reads a line; an error says what is wrong with it.
pub fn parse(line: &[u8]) -> Result<Message, String> {
    let value: Value =
        serde_json::from_slice(line).map_err(|error| format!("a line is no JSON ({error})"))?;
    let Value::Object(mut object) = value else {
        return Err("a line is JSON but no object".to_owned());
    };
    if let Some(greeting) = object.remove("QMP") {
        return Ok(Message::Greeting(greeting));
    }
    let id = object.get("id").and_then(Value::as_u64);
    if let Some(result) = object.remove("return") {
        return Ok(Message::Reply(id, Reply::Return(result)));
    }
    if let Some(error) = object.remove("error") {
        let text_of = |key: &str| error.get(key).and_then(Value::as_str).map(str::to_owned);
        let (Some(class), Some(text)) = (text_of("class"), text_of("desc")) else {
            return Err("an error has no class or no description".to_owned());
        };
        return Ok(Message::Reply(id, Reply::Error { class, text }));
    }
    event(object).map(Message::Event)
}

fn event(mut object: Map<String, Value>) -> Result<Event, String> {
    let Some(Value::String(name)) = object.remove("event") else {
        return Err("a line is neither greeting nor answer nor event".to_owned());
    };
    let data = object.remove("data").unwrap_or_else(|| Value::Object(Map::new()));
    let number_of = |key: &str| object.get("timestamp")?.get(key)?.as_f64();
    // Where the clock cannot be read both numbers are -1.
    let at_ms = match (number_of("seconds"), number_of("microseconds")) {
        (Some(seconds), Some(micros)) if seconds >= 0.0 => Some(seconds * 1000.0 + micros / 1000.0),
        _ => None,
    };
    Ok(Event { name, data, at_ms })
}

/// The line that has a command done.
pub fn command(id: u64, name: &str, arguments: Option<Value>) -> Vec<u8> {
    let mut object = Map::new();
    object.insert("execute".to_owned(), name.into());
    if let Some(arguments) = arguments {
        object.insert("arguments".to_owned(), arguments);
    }
    object.insert("id".to_owned(), id.into());
    let mut line = Value::Object(object).to_string().into_bytes();
    line.push(b'\n');
    line
}

/// Reads the arguments of a command from JSON text, which must be an object.
pub fn arguments(command: &str, text: &str) -> Result<Value, QmpError> {
    match serde_json::from_str(text) {
        Ok(arguments @ Value::Object(_)) => Ok(arguments),
        Ok(_) => Err(QmpError::Argument {
            what: format!("The arguments of \"{command}\" are no JSON object. Pass one."),
        }),
        Err(error) => Err(QmpError::Argument {
            what: format!("The arguments of \"{command}\" are no JSON: {error}. Pass the text of an object."),
        }),
    }
}
