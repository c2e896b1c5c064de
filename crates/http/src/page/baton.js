// Keeps the page up to date: when an event arrives, fetches the same page again and replaces the
// parts that changed. All content was rendered, and escaped, by the server. Sends a person's answers
// to the API.
"use strict";

const live = document.getElementById("live");
const link = document.getElementById("link");
const headline = document.getElementById("headline");
const fault = document.getElementById("fault");

// Who the person says they are: kept for the session of the browser, and sent as the command line's
// `--as` is. It proves nothing, and is recorded as unauthenticated.
const AS = "baton-as";

/** Header values are bytes: a name is sent as UTF-8. */
function asHeader(name) {
  if (!name) return {};
  return { [AS]: String.fromCharCode(...new TextEncoder().encode(name)) };
}

function asMe() {
  return asHeader(sessionStorage.getItem(AS));
}

// What needs the script is shown only where the script runs.
document.documentElement.classList.add("script");

/** What the server sent for each part, so that a part that did not change is left alone. */
const shown = new Map();
for (const part of live.children) shown.set(part.dataset.key, part.outerHTML);

// Times

const units = [["year", 31536000], ["month", 2592000], ["day", 86400], ["hour", 3600], ["minute", 60]];
const relative = new Intl.RelativeTimeFormat("en", { numeric: "always" });
const absolute = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

function ago(at) {
  const seconds = Math.max(0, (Date.now() - at) / 1000);
  const unit = units.find(([, length]) => seconds >= length);
  return unit ? relative.format(-Math.floor(seconds / unit[1]), unit[0]) : "just now";
}

function tellTimes(root) {
  for (const it of root.querySelectorAll("time")) {
    const at = new Date(it.dateTime);
    // A history shows the time, everything else how long ago; the tooltip has the other.
    const isWhen = it.closest(".times") !== null;
    const text = isWhen ? absolute.format(at) : ago(at);
    it.title = isWhen ? ago(at) : absolute.format(at);
    if (it.textContent !== text) it.textContent = text;
  }
}

// Replacing what changed

function openedIn(part) {
  return new Set([...part.querySelectorAll("details[open][id]")].map((it) => it.id));
}

/** Makes the new part look as the reader left the old one: what is open, and what is typed. */
function carryOver(old, fresh) {
  for (const field of old.querySelectorAll("textarea[id], select[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (same) same.value = field.value;
  }
  for (const field of old.querySelectorAll("input[id]")) {
    const same = fresh.querySelector(`#${CSS.escape(field.id)}`);
    if (same && field.value !== field.defaultValue) same.value = field.value;
  }
  for (const text of old.querySelectorAll(".answered:not([hidden])")) {
    const same = fresh.querySelector(`#${CSS.escape(text.id)}`);
    if (same) tell(same, text.textContent);
  }
  const opened = openedIn(old);
  const served = new DOMParser().parseFromString(shown.get(old.dataset.key) ?? "", "text/html");
  const wasOpen = openedIn(served);
  for (const it of fresh.querySelectorAll("details[id]")) {
    if (opened.has(it.id) !== wasOpen.has(it.id)) it.open = opened.has(it.id);
  }
}

/** Where the focus is, in words that still hold after parts were replaced or moved. */
function focused() {
  const at = document.activeElement;
  const part = at.closest("#live > [data-key]");
  if (!part) return null;
  const within = `[data-key="${CSS.escape(part.dataset.key)}"]`;
  if (at.matches("textarea[id], select[id], input[id], button[id]")) return `#${CSS.escape(at.id)}`;
  if (at.matches("summary")) return `${within} #${CSS.escape(at.parentElement.id)} > summary`;
  if (at.matches("pre")) return `${within} #${CSS.escape(at.parentElement.id)} > pre`;
  if (at.matches("a[href]")) return `${within} a[href="${CSS.escape(at.getAttribute("href"))}"]`;
  return null;
}

function put(fresh) {
  const focus = focused();
  const { selectionStart, selectionEnd } = document.activeElement;
  const old = new Map([...live.children].map((it) => [it.dataset.key, it]));
  let place = null;
  for (const part of [...fresh.children]) {
    const { key } = part.dataset;
    const html = part.outerHTML;
    let kept = old.get(key);
    old.delete(key);
    if (!kept || shown.get(key) !== html) {
      if (kept) carryOver(kept, part);
      tellTimes(part);
      if (kept) kept.replaceWith(part);
      shown.set(key, html);
      kept = part;
    }
    const next = place ? place.nextElementSibling : live.firstElementChild;
    if (kept !== next) live.insertBefore(kept, next);
    place = kept;
  }
  for (const [key, part] of old) {
    shown.delete(key);
    part.remove();
  }
  showSending();
  if (focus && !live.contains(document.activeElement)) {
    // Where the focused part is gone, the keyboard goes on from the top of the page's content.
    const same = live.querySelector(focus) ?? live;
    same.focus({ preventScroll: true });
    if (same.matches("textarea")) same.setSelectionRange(selectionStart, selectionEnd);
  }
}

// Fetching: one request at a time, and once more if an event came meanwhile that the answer does not
// show. Between two requests the server rests for as long as it took to answer, so that one page never
// takes more than half of it.

const REST = 20;
const REST_WHILE_HIDDEN = 1000;
let isFetching = false;
/** The page shows every event up to this position of the log. */
let shownUpTo = 0;
/** The event that is to be shown. */
let wantedUpTo = 0;

function want(position = Infinity) {
  wantedUpTo = Math.max(wantedUpTo, position);
  if (!isFetching) fetchPage();
}

/** One command records several events, and the page that its first one asks for shows them all. */
function wantEvent(event) {
  // `EPOCH-POSITION.PART`
  const position = Number.parseInt(event.lastEventId.split("-").at(-1), 10);
  want(Number.isNaN(position) ? Infinity : position);
}

async function fetchPage() {
  isFetching = true;
  while (wantedUpTo > shownUpTo) {
    wantedUpTo = 0;
    const began = performance.now();
    try {
      const answer = await fetch(location.href, { cache: "no-store", headers: { accept: "text/html", ...asMe() } });
      const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
      // The page of a run that is gone says so; a failing server is shown beside the link.
      if (answer.ok || answer.status === 404) show(fresh);
      shownUpTo = Number(answer.headers.get("baton-position") ?? 0);
    } catch {
      // The event stream also notices that the server is gone, says so, and fetches when it is
      // back.
    }
    const rest = Math.max(document.hidden ? REST_WHILE_HIDDEN : REST, performance.now() - began);
    await new Promise((done) => setTimeout(done, rest));
  }
  isFetching = false;
}

/** Title, header and content are of one state, and are shown together. */
function show(fresh) {
  document.title = fresh.title;
  const text = fresh.getElementById("headline").textContent;
  if (headline.textContent !== text) headline.textContent = text;
  put(fresh.getElementById("live"));
}

// Answering

/** The forms whose answer is on its way, by their ids. */
const sending = new Set();
/** The key of each request, so that sending it again after a lost connection does nothing twice. */
const keys = new Map();
const ASKS_TWICE = {
  abort: "Abort the run? Its open handoffs are cancelled.",
  cancel: "Cancel the run? Its open handoffs are cancelled.",
};

function showSending() {
  for (const form of live.querySelectorAll("form.say")) {
    form.classList.toggle("sending", sending.has(form.id));
    form.ariaBusy = String(sending.has(form.id));
    for (const it of form.querySelectorAll("button")) {
      // A button that the server disabled stays so.
      it.dataset.refused ??= String(it.disabled);
      it.disabled = sending.has(form.id) || it.dataset.refused === "true";
    }
  }
}

function tell(place, text) {
  place.textContent = text;
  place.hidden = text === "";
}

function keyOf(request) {
  if (!keys.has(request)) {
    const bytes = crypto.getRandomValues(new Uint8Array(16));
    keys.set(request, [...bytes].map((it) => it.toString(16).padStart(2, "0")).join(""));
  }
  return keys.get(request);
}

/** What a button sends: its own members, and the fields of the form that belong to it. */
function bodyOf(form, button) {
  const body = JSON.parse(button.dataset.body);
  const words = form.querySelector("[id^=words-]");
  if (words?.value.trim() && button.value !== "start") body[words.name] = words.value.trim();
  if (button.value === "delegate") body.to = form.querySelector("[name=to]").value.trim();
  if (button.value === "hand_to") body.toAgent = form.querySelector("[name=toAgent]").value;
  if (button.value !== "modify") return JSON.stringify(body);
  const written = form.querySelector("[name=package]").value;
  JSON.parse(written);
  // The package is sent as it is written, with its numbers and the order of its members.
  return `${JSON.stringify(body).slice(0, -1)},"package":${written}}`;
}

/** A refusal in the server's own words, with every rule that was broken. */
async function refusal(answer) {
  try {
    const problem = await answer.json();
    const rules = (problem.problems ?? []).map((it) => `${it.path}: ${it.message}`);
    return [problem.detail, ...rules].join("\n");
  } catch {
    return `The server answered ${answer.status}.`;
  }
}

async function send(form, button) {
  const { id } = form;
  const said = (text) => tell(document.getElementById(id.replace("say-", "answered-")) ?? link, text);
  const words = form.querySelector("[id^=words-]");
  if (button.dataset.needs === "words" && !words.value.trim()) {
    said(`${button.textContent}: write it into the field first.`);
    words.focus();
    return;
  }
  const receiver = form.querySelector("[name=toAgent]");
  if (button.value === "hand_to" && !receiver.value) {
    said(`${button.textContent}: choose the agent first.`);
    receiver.focus();
    return;
  }
  let body;
  try {
    body = bodyOf(form, button);
  } catch (error) {
    said(`The package is not JSON: ${error.message}`);
    return;
  }
  const question = ASKS_TWICE[button.value];
  if (question && !confirm(question)) return;
  const path = button.dataset.send;
  sending.add(id);
  showSending();
  said("");
  try {
    const key = keyOf((sessionStorage.getItem(AS) ?? "") + path + body);
    const headers = { "content-type": "application/json", "idempotency-key": key, ...asMe() };
    const answer = await fetch(path, { method: "POST", headers, body });
    keys.delete((sessionStorage.getItem(AS) ?? "") + path + body);
    if (!answer.ok) said(await refusal(answer));
  } catch {
    said("The server could not be reached. Send it again: it is recorded once only.");
  }
  sending.delete(id);
  showSending();
  want();
}

/** Takes the name if the server does, and shows what this person may do. */
async function sayWho(field) {
  const name = field.value.trim();
  const said = (text) => tell(document.getElementById("answered-you") ?? link, text);
  try {
    const answer = await fetch("/api/v1/inbox?limit=1", { headers: asHeader(name) });
    if (!answer.ok) {
      said(await refusal(answer));
      return;
    }
  } catch {
    said("The server could not be reached.");
    return;
  }
  if (name) sessionStorage.setItem(AS, name);
  else sessionStorage.removeItem(AS);
  field.defaultValue = field.value;
  said("");
  want();
}

live.addEventListener("submit", (event) => {
  event.preventDefault();
  if (event.target.id === "you") {
    sayWho(document.getElementById("you-name"));
    return;
  }
  const button = event.submitter;
  if (event.target.matches("form.say") && button?.dataset.send && !sending.has(event.target.id)) {
    send(event.target, button);
  }
});

// The package to edit is fetched when its field is opened for the first time.
live.addEventListener("toggle", async (event) => {
  const field = event.target.open && event.target.querySelector("textarea[data-from]");
  if (!field || field.value) return;
  try {
    const answer = await fetch(field.dataset.from, { headers: { accept: "application/json", ...asMe() } });
    const now = document.getElementById(field.id);
    if (answer.ok && now && !now.value) now.value = await answer.text();
  } catch {
    // The event stream says that the server is gone; the package can be written by hand.
  }
}, true);

// Whether the server can record: it may answer although its data is gone.

const READY_EVERY = 5000;
let isConnected = false;

function showLink() {
  if (!isConnected) link.textContent = "Connection lost, trying again";
  else link.textContent = fault.hidden ? "live" : "Nothing is recorded";
  link.className = isConnected && fault.hidden ? "link live" : "link lost";
}

async function askIfReady() {
  if (document.hidden || !isConnected) return;
  try {
    const answer = await fetch("/readyz", { cache: "no-store" });
    const text = answer.ok ? "" : (await answer.text()).trim();
    if (fault.textContent !== text) fault.textContent = text;
    fault.hidden = answer.ok;
    showLink();
  } catch {
    // The event stream notices it too.
  }
}

// Subscribing to events

const PATIENCE = 3000;
const WHILE_HIDDEN = 300000;
let stream = null;
let later = 0;

function listen() {
  if (stream) return;
  stream = new EventSource("/api/events");
  stream.onopen = () => {
    isConnected = true;
    showLink();
    // After a reconnect there may be no new event, and the page may still be out of date. Positions
    // start again where a backup was restored meanwhile.
    shownUpTo = 0;
    want();
  };
  stream.onmessage = wantEvent;
  stream.onerror = () => {
    isConnected = false;
    showLink();
    // Unlike a lost connection, a refusal ends the stream for good.
    if (stream.readyState === EventSource.CLOSED) {
      hangUp();
      later = setTimeout(listen, PATIENCE);
    }
  };
}

function hangUp() {
  clearTimeout(later);
  stream?.close();
  stream = null;
}

// Stories are added and changed without an event, and perhaps through another node: the pages that show
// them look again.

const STORIES_EVERY = 5000;
const showsStories = location.pathname === "/" || location.pathname.startsWith("/stories/");

// A browser has six connections to a server: hidden pages release theirs.
document.addEventListener("visibilitychange", () => {
  clearTimeout(later);
  if (document.hidden) later = setTimeout(hangUp, WHILE_HIDDEN);
  else {
    listen();
    want();
  }
});

// It gets the focus when the part that had it is gone.
live.tabIndex = -1;
tellTimes(live);
showSending();
setInterval(() => tellTimes(live), 20000);
setInterval(askIfReady, READY_EVERY);
if (showsStories) setInterval(() => { if (isConnected && !document.hidden) want(); }, STORIES_EVERY);
listen();
