//! The clipboard, for JavaScript.

use napi::bindgen_prelude::Buffer;
use napi_derive::napi;

use crate::desktop::Desktop;
use crate::failure::{Promise, promise_with};

/// What a clipboard holds, in as many forms as it has.
#[napi(object, object_from_js = false, use_nullable = true)]
pub struct Clip {
    /// Text.
    pub text: Option<String>,
    /// A PNG.
    pub image: Option<Buffer>,
    /// Absolute paths.
    pub files: Vec<String>,
    /// Names of the forms in which its owner offers it.
    pub formats: Vec<String>,
}

/// What is written to a clipboard; at least one of its forms.
#[napi(object, object_to_js = false)]
pub struct NewClip {
    /// Text.
    pub text: Option<String>,
    /// A PNG.
    pub image: Option<Buffer>,
    /// Absolute paths.
    pub files: Option<Vec<String>>,
}

#[napi]
impl Desktop {
    /// What the clipboard holds, nothing when nobody owns it. Rejects with `clipboard_timeout` where its
    /// owner is silent, and with `clipboard_too_large` beyond 64 MiB.
    #[napi(catch_unwind)]
    pub fn clipboard_read(&self) -> Promise<Clip> {
        promise_with(&self.desktop, move |desktop| {
            desktop.clipboard_read().map(|clip| Clip {
                text: clip.text,
                image: clip.image.map(Buffer::from),
                files: clip.files,
                formats: clip.formats,
            })
        })
    }

    /// Takes the clipboard, whose content others have from this process until another program takes it.
    #[napi(catch_unwind)]
    pub fn clipboard_write(&self, clip: NewClip) -> Promise<()> {
        let image = clip.image.map(|image| image.to_vec());
        let clip = desktop::Clip {
            text: clip.text,
            image,
            files: clip.files.unwrap_or_default(),
            formats: Vec::new(),
        };
        promise_with(&self.desktop, move |desktop| desktop.clipboard_write(&clip))
    }

    /// True while others have the clipboard's content from this process.
    #[napi(catch_unwind)]
    pub fn clipboard_is_held(&self) -> bool {
        self.desktop.clipboard_is_held()
    }
}
