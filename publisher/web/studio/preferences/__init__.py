"""What the author decides about the site: settings, look, navigation, feed, import and export."""
