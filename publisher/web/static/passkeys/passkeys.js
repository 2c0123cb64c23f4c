// Passkeys: makes one on the account page, logs in with one on the login page.

const bytes = (text) =>
  Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
const text = (buffer) =>
  btoa(String.fromCharCode(...new Uint8Array(buffer)))
    .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

function answer(made) {
  const told = made.response;
  const response = { clientDataJSON: text(told.clientDataJSON) };
  for (const name of ["attestationObject", "authenticatorData", "signature", "userHandle"]) {
    if (told[name]) response[name] = text(told[name]);
  }
  return JSON.stringify({ id: made.id, rawId: text(made.rawId), type: made.type, response });
}

async function ask(form, path, more = {}) {
  const data = new URLSearchParams(new FormData(form));
  for (const [name, value] of Object.entries(more)) data.set(name, value);
  const headers = { Accept: "application/json" };
  const reply = await fetch(path, { method: "POST", body: data, headers });
  const said = await reply.json();
  if (!reply.ok) throw new Error(said.error ?? "Something went wrong. Try again.");
  return said;
}

async function make(form) {
  const publicKey = await ask(form, `${form.action}/options`);
  publicKey.challenge = bytes(publicKey.challenge);
  publicKey.user.id = bytes(publicKey.user.id);
  for (const known of publicKey.excludeCredentials ?? []) known.id = bytes(known.id);
  const made = await navigator.credentials.create({ publicKey });
  return ask(form, form.action, { credential: answer(made), old_password: "" });
}

async function logIn(form) {
  const publicKey = await ask(form, `${form.action}/options`);
  publicKey.challenge = bytes(publicKey.challenge);
  const signed = await navigator.credentials.get({ publicKey });
  return ask(form, form.action, { credential: answer(signed) });
}

function bind(form, action) {
  const problem = form.querySelector("[role=alert]");
  form.hidden = !window.PublicKeyCredential;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    problem.textContent = "";
    form.classList.add("busy");
    try {
      location.assign((await action(form)).location);
    } catch (error) {
      const refused = error.name === "NotAllowedError";
      problem.textContent = refused ? "The device did not confirm it, or took too long." : error.message;
    } finally {
      form.classList.remove("busy");
    }
  });
}

for (const form of document.querySelectorAll("form[data-passkey]")) {
  bind(form, form.dataset.passkey === "make" ? make : logIn);
}
