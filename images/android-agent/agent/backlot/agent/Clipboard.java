package backlot.agent;

import android.content.ClipData;
import android.content.ClipboardManager;
import android.content.Context;

/** The clipboard of the device. */
final class Clipboard {
  private final ClipboardManager manager;

  Clipboard(ShellContext context) throws ReflectiveOperationException {
    manager = (ClipboardManager) context.serviceInOwnName(Context.CLIPBOARD_SERVICE);
  }

  /** All that it holds; null for nothing. */
  ClipData content() {
    return manager.getPrimaryClip();
  }

  /** Its text; empty where it holds none. */
  String text() {
    ClipData clip = content();
    CharSequence text = clip == null || clip.getItemCount() == 0 ? null : clip.getItemAt(0).getText();
    return text == null ? "" : text.toString();
  }

  void set(String text) {
    manager.setPrimaryClip(ClipData.newPlainText("", text));
  }

  /** Puts back what {@link #content} gave. */
  void restore(ClipData content) {
    if (content == null) manager.clearPrimaryClip();
    else manager.setPrimaryClip(content);
  }
}
