// One form and the server: sends its fields, and gets a new form key when the old one has expired.

export const fieldsOf = (form) => {
  const data = new FormData(form);
  for (const name of ["file", "alt", "place", "minor", "action"]) data.delete(name);
  return data;
};

export async function send(form, address, data, options = {}) {
  const answer = await attempt(form, address, data, options);
  if (answer.status !== 400) return answer;
  const told = await answer.clone().json().catch(() => ({}));
  if (!told.csrf_token) return answer;
  for (const input of document.querySelectorAll("input[name=csrf_token]")) {
    input.value = told.csrf_token;
  }
  data.set("csrf_token", told.csrf_token);
  return attempt(form, address, data, options);
}

function attempt(form, address, data, options) {
  const key = form.elements.csrf_token.value;
  const headers = { Accept: "application/json", "X-CSRFToken": key };
  return fetch(address, { method: "POST", body: data, headers, ...options });
}

// Send the whole form, and go where the server says or do what `after(told, data)` does. Without an
// answer the page stays; a form that the server refuses is submitted normally, so that its page is
// shown. While it is on its way nothing else is sent; the last gesture waits in `autosave.next`.
export async function submitCalmly(form, button, autosave, after = ({ address }) => location.assign(address)) {
  if (autosave.stopped) {
    autosave.next = button;
    return;
  }
  const data = new FormData(form);
  data.set(button.name, button.value);
  autosave.sending();
  button.ariaDisabled = "true";
  let told;
  try {
    // Not form.action: that would be the buttons named "action".
    const answer = await send(form, form.getAttribute("action"), data);
    told = answer.ok && await answer.json();
  } catch {
    autosave.wait();
    return;
  } finally {
    button.ariaDisabled = null;
  }
  if (told) {
    autosave.done(told.address);
    after(told, data);
    return;
  }
  form.append(Object.assign(document.createElement("input"), {
    type: "hidden", name: button.name, value: button.value,
  }));
  form.submit();
}

// Stores a file; what the server says of it, or the problem, and whether to try `later`.
export async function upload(form, file) {
  const data = new FormData();
  data.set("csrf_token", form.elements.csrf_token.value);
  data.set("file", file);
  data.set("source_format", form.elements.source_format?.value ?? "");
  const answer = await send(form, "/studio/media", data).catch(() => undefined);
  const told = answer?.ok && await answer.json().catch(() => undefined);
  if (told) return { told };
  const later = !answer || answer.ok || [401, 429].includes(answer.status) || answer.status >= 500;
  const problem = !answer || answer.ok ? "no connection"
    : answer.status === 401 ? "you are logged out; log in in another tab" : await problemOf(answer);
  return { problem, later };
}

// The error message, the server's own if it sent one.
export async function problemOf(answer) {
  const told = await answer.json().catch(() => ({}));
  return told.error || `the server answered ${answer.status}`;
}

// Hours and minutes as the server writes them: of the blog's time zone, not the browser's.
export const clock = (date, timeZone) =>
  date.toLocaleTimeString("en-GB", { hour: "2-digit", minute: "2-digit", timeZone });
