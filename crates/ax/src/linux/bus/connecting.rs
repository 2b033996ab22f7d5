//! Finds the accessibility bus, switches accessibility on and subscribes to events.

use std::sync::Arc;

use desktop::Session;

use super::ask::PROPERTIES;
use super::events::Events;
use super::limit::Limit;
use crate::AxError;
use crate::platform::dbus::{Call, CallError, Connection, Message, Writer};
use crate::platform::x11::bus_address;

/// Event classes that are registered for: without a registration, applications answer no bulk read and send no event.
const EVENTS: [&str; 4] = ["object:", "window:", "focus:", "document:"];
/// The bus itself.
const DBUS: (&str, &str, &str) = ("org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus");

/// Connects to the accessibility bus that the session bus names, else the environment or the display server.
pub fn open(
    session_address: Option<&str>,
    display: Option<&Session>,
    events: &Arc<Events>,
    limit: &Limit,
) -> Result<Connection, AxError> {
    let mut tried = Vec::new();
    let mut addresses = Vec::new();
    match from_session(session_address, limit) {
        Ok(address) => addresses.push(address),
        Err(reason) => tried.push(reason),
    }
    if session_address.is_none() {
        addresses.extend(std::env::var("AT_SPI_BUS_ADDRESS").ok());
        if let (true, Some(Session::X11(x11))) = (addresses.is_empty(), display) {
            addresses.extend(bus_address::on_root_of(x11));
        }
    }
    for address in addresses {
        match subscribe(&address, events, limit) {
            Ok(connection) => return Ok(connection),
            Err(reason) => tried.push(reason),
        }
    }
    Err(AxError::Unavailable { reason: tried.join("; ") })
}

/// Address of the session bus: the given one, `DBUS_SESSION_BUS_ADDRESS`, or the socket in `XDG_RUNTIME_DIR`.
fn session_bus(given: Option<&str>) -> Option<String> {
    given
        .map(str::to_owned)
        .or_else(|| std::env::var("DBUS_SESSION_BUS_ADDRESS").ok())
        .filter(|address| !address.is_empty())
        .or_else(|| std::env::var_os("XDG_RUNTIME_DIR").map(|_| "unix:runtime=yes".to_owned()))
}

fn from_session(given: Option<&str>, limit: &Limit) -> Result<String, String> {
    let address = session_bus(given)
        .ok_or("there is no session bus (DBUS_SESSION_BUS_ADDRESS and XDG_RUNTIME_DIR are not set)")?;
    let session = Connection::open(&address, limit, Box::new(|_| {}))
        .map_err(|error| format!("the session bus \"{address}\" does not answer: {error}"))?;
    let failed =
        |error: CallError| format!("the session bus \"{address}\" has no org.a11y.Bus: {}", why(&error));
    bus_call(&session, "Hello", "", &[], limit).map_err(failed)?;
    let mut enable = Writer::default();
    enable.string("org.a11y.Status").string("IsEnabled").boolean_variant(true);
    let on_bus = |interface, member, signature, body| Call {
        destination: Some("org.a11y.Bus"),
        path: "/org/a11y/bus",
        interface,
        member,
        signature,
        body,
    };
    session.call(on_bus(PROPERTIES, "Set", "ssv", &enable.bytes), limit).map_err(failed)?;
    let reply = session.call(on_bus("org.a11y.Bus", "GetAddress", "", &[]), limit).map_err(failed)?;
    let found = reply.expect("s").and_then(|mut body| body.string().map(str::to_owned));
    found
        .ok()
        .filter(|address| !address.is_empty())
        .ok_or_else(|| "org.a11y.Bus knows no accessibility bus".to_owned())
}

fn subscribe(address: &str, events: &Arc<Events>, limit: &Limit) -> Result<Connection, String> {
    let counted = Arc::clone(events);
    let on_signal = move |message: &Message| {
        if message.member == "NameOwnerChanged" && message.sender == DBUS.0 {
            left(&counted, message);
        } else {
            counted.count(&message.sender, message);
        }
    };
    let failed =
        |error: &dyn std::fmt::Display| format!("the accessibility bus \"{address}\" fails: {error}");
    let connection = Connection::open(address, limit, Box::new(on_signal)).map_err(|error| failed(&error))?;
    let call = |member, signature, body: &[u8]| {
        bus_call(&connection, member, signature, body, limit).map_err(|error| failed(&why(&error)))
    };
    call("Hello", "", &[])?;
    for rule in [
        "type='signal',interface='org.a11y.atspi.Event.Object'",
        "type='signal',interface='org.a11y.atspi.Event.Window'",
        "type='signal',interface='org.a11y.atspi.Event.Focus'",
        "type='signal',interface='org.a11y.atspi.Event.Document'",
        "type='signal',sender='org.freedesktop.DBus',member='NameOwnerChanged'",
    ] {
        call("AddMatch", "s", &Writer::default().string(rule).bytes)?;
    }
    for event in EVENTS {
        register(&connection, event, limit).map_err(|error| failed(&why(&error)))?;
    }
    Ok(connection)
}

fn register(connection: &Connection, event: &str, limit: &Limit) -> Result<(), CallError> {
    let mut arguments = Writer::default();
    arguments.string(event);
    let old = arguments.bytes.clone();
    // No properties are wanted with the events, and they may come from any application.
    arguments.u32(0).string("");
    let call = |signature, body| Call {
        destination: Some("org.a11y.atspi.Registry"),
        path: "/org/a11y/atspi/registry",
        interface: "org.a11y.atspi.Registry",
        member: "RegisterEvent",
        signature,
        body,
    };
    match connection.call(call("sass", arguments.bytes.as_slice()), limit) {
        Err(CallError::Remote { .. }) => connection.call(call("s", old.as_slice()), limit).map(|_| ()),
        other => other.map(|_| ()),
    }
}

/// Calls the bus itself.
pub fn bus_call(
    connection: &Connection,
    member: &'static str,
    signature: &'static str,
    body: &[u8],
    limit: &Limit,
) -> Result<Message, CallError> {
    let (destination, path, interface) = DBUS;
    connection.call(Call { destination: Some(destination), path, interface, member, signature, body }, limit)
}

/// Process of each bus name; 0 where the bus does not know it.
pub fn processes(connection: &Connection, names: &[Arc<str>], limit: &Limit) -> Vec<u32> {
    let bodies: Vec<Writer> = names.iter().map(|name| Writer::default().string(name).clone()).collect();
    let (destination, path, interface) = DBUS;
    let calls: Vec<Call<'_>> = bodies
        .iter()
        .map(|body| Call {
            destination: Some(destination),
            path,
            interface,
            member: "GetConnectionUnixProcessID",
            signature: "s",
            body: &body.bytes,
        })
        .collect();
    connection.call_all(&calls, limit).iter().map(|reply| super::ask::unsigned(reply).unwrap_or(0)).collect()
}

fn left(events: &Events, message: &Message) {
    let Ok(mut body) = message.expect("sss") else { return };
    if let (Ok(name), Ok(_), Ok("")) = (body.string(), body.string(), body.string()) {
        events.left(name);
    }
}

/// The text of a failed call.
pub fn why(error: &CallError) -> String {
    match error {
        CallError::Remote { name, text } if text.is_empty() => name.clone(),
        CallError::Remote { text, .. } => text.clone(),
        CallError::TimedOut => "no answer".to_owned(),
        CallError::Closed(reason) => reason.clone(),
    }
}
