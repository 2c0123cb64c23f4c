// Parts of a page that change while it is open: who has the post, and what the Publish buttons say.
// One short request at a time, at a pace that the server sets; without it, a reload does the same.

const MOST_ASKS = 240;

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

export function watchReach() {
  const form = document.querySelector("form[data-post]");
  let timer = 0;
  let asks = 0;

  const ask = async () => {
    asks += 1;
    const post = form?.dataset.post ?? location.pathname.split("/")[3]; // the page of one post
    await renew(`/studio/reached?post=${{ box: "", new: "0" }[post] ?? post}`);
    next();
  };
  const next = () => {
    const again = Number(document.querySelector("[data-again]").dataset.again);
    clearTimeout(timer);
    if (!again || document.visibilityState === "hidden") return;
    if (asks < MOST_ASKS) timer = setTimeout(ask, again * 1000);
    // Left open for hours: what the buttons said is over.
    else for (const words of document.querySelectorAll("#by-now, #better")) words.replaceChildren();
  };
  document.addEventListener("visibilitychange", () => {
    clearTimeout(timer);
    if (document.visibilityState === "hidden") return;
    asks = 0;
    ask();
  });
  next();
}

// The page of what one post reached.
if (document.getElementById("reach") && !document.querySelector("form[data-post]")) watchReach();
