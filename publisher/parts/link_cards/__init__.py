"""Link cards: an address that stands alone in a post is shown with the title and the picture of the
page there."""
