//! The cursors of one display, on a thread of their own.

use std::sync::Arc;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::time::Duration;

use desktop::{Desktop, Point, Session, WindowId, x11};

use super::hidden_queue::HiddenQueue;
use super::link::Link;
use super::overlay::{Command, CommandQueue, Overlay};
use super::overlay_cursor::SurfaceSprites;
use crate::look::{Style, Surface, draw};
use crate::{CursorError, Hidden, Pace, PreviewPlace, State};

/// The cursors of a display, each under a name; they are seen by the person and met by no click.
pub struct Cursors {
    session: x11::Session,
    commands: Arc<CommandQueue>,
    hidden_queue: Arc<HiddenQueue>,
}

impl Cursors {
    /// Opens a connection of its own. Fails with `display_unavailable` and `overlay_unavailable`.
    pub fn open(desktop: Arc<Desktop>) -> Result<Self, CursorError> {
        let Session::X11(session) = desktop.session().clone();
        let link = Link::open(&session, desktop)?;
        let overlay = Overlay::new(link).map_err(|error| session.unavailable(error))?;
        let commands = Arc::new(CommandQueue::new().map_err(|error| session.unavailable(error))?);
        let hidden_queue = Arc::new(HiddenQueue::default());
        let (reader, teller) = (Arc::clone(&commands), Arc::clone(&hidden_queue));
        std::thread::Builder::new()
            .name("cursors".to_owned())
            .spawn(move || overlay.run(&reader, &teller))
            .map_err(|error| session.unavailable(error))?;
        Ok(Self { session, commands, hidden_queue })
    }

    /// Gives a cursor its looks; one that is new is there from now on, and not seen before it is somewhere.
    pub fn set_style(&self, id: &str, style: &Style) -> Result<(), CursorError> {
        let sprites =
            SurfaceSprites { blended: draw(style, Surface::Blended), cut: draw(style, Surface::Cut) };
        let id = id.to_owned();
        self.tell(|done| Command::SetStyle { id, sprites: Box::new(sprites), done })
    }

    /// Says how a cursor moves and when it hides.
    pub fn set_pace(&self, id: &str, pace: Pace) -> Result<(), CursorError> {
        self.tell(|done| Command::Pace { id: id.to_owned(), pace, done })
    }

    /// Moves a cursor to a point of the screen; answers once it has arrived.
    ///
    /// False when it is switched off, is removed, or is sent elsewhere on its way.
    pub fn glide(&self, id: &str, to: Point) -> Result<bool, CursorError> {
        let (arrival, end) = sync_channel(1);
        self.give(Command::Glide { id: id.to_owned(), to, arrival })?;
        end.recv().map_err(|_| self.lost())
    }

    /// Sends a cursor straight to a point of the screen at an even pace, as a drag goes; nobody waits for it.
    pub fn travel(&self, id: &str, to: Point, duration: Duration) -> Result<(), CursorError> {
        self.tell(|done| Command::Travel { id: id.to_owned(), to, duration, done })
    }

    /// Shows a cursor at a point of the screen at once.
    pub fn place(&self, id: &str, at: Point) -> Result<(), CursorError> {
        self.tell(|done| Command::Place { id: id.to_owned(), at, done })
    }

    /// Shows a click where the cursor is; it stays there for its dwell time.
    pub fn pulse(&self, id: &str) -> Result<(), CursorError> {
        self.tell(|done| Command::Pulse { id: id.to_owned(), done })
    }

    /// Switches a cursor on or off.
    pub fn enable(&self, id: &str, is_enabled: bool) -> Result<(), CursorError> {
        self.tell(|done| Command::Enable { id: id.to_owned(), is_enabled, done })
    }

    /// Where a cursor is and whether it is seen; none when there is no such cursor.
    pub fn state(&self, id: &str) -> Result<Option<State>, CursorError> {
        self.tell(|answer| Command::State { id: id.to_owned(), answer })
    }

    /// Waits until cursors have hidden by themselves, at most for a while; each is told to one caller.
    pub fn hidden(&self, timeout: Duration) -> Result<Vec<Hidden>, CursorError> {
        self.hidden_queue.wait(timeout).ok_or_else(|| self.lost())
    }

    /// Shows a small live picture of a window, which stays on the screen; one that is shown already changes to it.
    ///
    /// The place counts when the picture is shown for the first time.
    pub fn preview(&self, window: WindowId, place: PreviewPlace) -> Result<(), CursorError> {
        self.tell(|done| Command::Preview { window, place, done })
    }

    /// The windows of the cursors that are seen now, and of the live picture.
    pub fn windows(&self) -> Result<Vec<WindowId>, CursorError> {
        self.tell(|answer| Command::Windows { answer })
    }

    /// Takes a cursor away; one that is not there is no failure.
    pub fn remove(&self, id: &str) -> Result<(), CursorError> {
        self.tell(|done| Command::Remove { id: id.to_owned(), done })
    }

    /// Takes all cursors away; later calls fail with `display_lost`. Closing twice is fine.
    pub fn close(&self) {
        let _ = self.commands.give(Command::End);
    }

    fn tell<T>(&self, command: impl FnOnce(SyncSender<T>) -> Command) -> Result<T, CursorError> {
        let (answer, answers) = sync_channel(1);
        self.give(command(answer))?;
        answers.recv().map_err(|_| self.lost())
    }

    fn give(&self, command: Command) -> Result<(), CursorError> {
        self.commands.give(command).map_err(|_| self.lost())
    }

    fn lost(&self) -> CursorError {
        self.session.lost(self.commands.why_ended()).into()
    }
}

impl Drop for Cursors {
    fn drop(&mut self) {
        self.close();
    }
}
