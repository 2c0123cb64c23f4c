"""Addresses that programs read and call: feeds, sitemap, media, metrics, mirrors; and what
programs that post may do (`program_posts`)."""
