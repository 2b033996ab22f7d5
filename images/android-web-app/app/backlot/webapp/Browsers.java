package backlot.webapp;

import android.content.Intent;
import android.content.pm.PackageManager;
import android.content.pm.ResolveInfo;
import android.net.Uri;

/** The browsers of the device that show pages for other applications. */
final class Browsers {
  private static final String TRUSTED_PAGES = "androidx.browser.trusted.category.TrustedWebActivities";

  private Browsers() {}

  static Intent service() {
    return new Intent("android.support.customtabs.action.CustomTabsService");
  }

  /** The package of the one to take: it hides its controls, and is the one that the person chose. Null where there is none. */
  static String bestOf(PackageManager packages, Uri page) {
    ResolveInfo chosen = packages.resolveActivity(new Intent(Intent.ACTION_VIEW, page), PackageManager.MATCH_DEFAULT_ONLY);
    String best = null;
    int most = -1;
    for (ResolveInfo found : packages.queryIntentServices(service(), PackageManager.GET_RESOLVED_FILTER)) {
      String name = found.serviceInfo.packageName;
      boolean hidesControls = found.filter != null && found.filter.hasCategory(TRUSTED_PAGES);
      boolean isChosen = chosen != null && name.equals(chosen.activityInfo.packageName);
      int points = (hidesControls ? 2 : 0) + (isChosen ? 1 : 0);
      if (points <= most) continue;
      best = name;
      most = points;
    }
    return best;
  }
}
