package android;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/** Files in the folder of the fake device, by which a test sees what arrived. */
public final class FakeState {
  private FakeState() {}

  public static Path path(String name) {
    return new File(System.getenv("FAKE_DEVICE"), name).toPath();
  }

  public static boolean has(String name) {
    return Files.exists(path(name));
  }

  public static void append(String name, String text) {
    try {
      Files.write(path(name), text.getBytes(StandardCharsets.UTF_8), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException error) {
      throw new UncheckedIOException(error);
    }
  }
}
