package android.content;

import android.FakeState;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;

/** The clipboard is the file `clipboard`, which is not there where it holds nothing. */
public class ClipboardManager {
  private final Context mContext;

  public ClipboardManager(Context context) {
    mContext = context;
  }

  public ClipData getPrimaryClip() {
    Context.fakeCheck(mContext);
    try {
      if (!FakeState.has("clipboard")) return null;
      return ClipData.newPlainText("", new String(Files.readAllBytes(FakeState.path("clipboard")), StandardCharsets.UTF_8));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }

  public void setPrimaryClip(ClipData clip) {
    clearPrimaryClip();
    FakeState.append("clipboard", clip.getItemAt(0).getText().toString());
  }

  public void clearPrimaryClip() {
    Context.fakeCheck(mContext);
    try {
      Files.deleteIfExists(FakeState.path("clipboard"));
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
