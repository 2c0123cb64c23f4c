// Parts of a page that change while it is open.

// Fetches a page and puts the present contents of this page's parts that change into their places;
// the page, if it came and `fits(page)`.
export async function renew(address = location.href, parts = "[data-renew]", fits = () => true) {
  const answer = await fetch(address).catch(() => undefined);
  if (!answer?.ok || answer.redirected) return undefined; // logged out, no connection: a reload tells
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  if (!fits(page)) return undefined;
  for (const part of document.querySelectorAll(parts)) {
    const now = page.getElementById(part.id);
    if (!now || now.innerHTML === part.innerHTML || part.contains(document.activeElement)) continue;
    part.replaceChildren(...now.childNodes);
  }
  return page;
}
