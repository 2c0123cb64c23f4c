// Updates how many readers have the newest post while the page is open; without it, a reload does.

const MOST_ASKS = 240;

export function watchReach(section = document.getElementById("reach")) {
  const link = section.querySelector("a");
  const words = section.querySelector("[data-words]");
  const bar = section.querySelector("progress");
  let again = Number(section.dataset.again);
  let asks = 0;

  const show = (told) => {
    link.href = `/studio/posts/${told.post}`;
    link.textContent = told.title;
    if (words.textContent !== told.words) words.textContent = told.words;
    bar.max = told.readers;
    bar.value = told.reached;
    section.hidden = false;
  };

  const ask = async () => {
    if (document.visibilityState === "hidden") {
      document.addEventListener("visibilitychange", ask, { once: true });
      return;
    }
    asks += 1;
    try {
      const answer = await fetch("/studio/reached", { headers: { Accept: "application/json" } });
      if (!answer.ok) return; // logged out, or not a moment for it
      const told = await answer.json();
      if (told.post) show(told);
      again = told.again;
    } catch {
      // no connection: the next time may have one
    }
    next();
  };

  const next = () => {
    if (again && asks < MOST_ASKS) setTimeout(ask, again * 1000);
  };
  next();
}
