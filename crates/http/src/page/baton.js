// Keeps the page up to date: when an event arrives, fetches the same page again and replaces the
// parts that changed. All content was rendered, and escaped, by the server.
"use strict";

const live = document.getElementById("live");
const link = document.getElementById("link");
const said = document.getElementById("said");
const fault = document.getElementById("fault");

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

/** Makes the new part look as the reader left the old one. */
function carryOver(old, fresh) {
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
  if (at.matches("summary")) return `${within} #${CSS.escape(at.parentElement.id)} > summary`;
  if (at.matches("pre")) return `${within} #${CSS.escape(at.parentElement.id)} > pre`;
  if (at.matches("a[href]")) return `${within} a[href="${CSS.escape(at.getAttribute("href"))}"]`;
  return null;
}

function put(fresh) {
  const focus = focused();
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
  if (focus && !live.contains(document.activeElement)) {
    live.querySelector(focus)?.focus({ preventScroll: true });
  }
}

// Fetching: one request at a time, at most once a second, and once more if an event came meanwhile.

const REST = 1000;
let isFetching = false;
let isWanted = false;

function want() {
  isWanted = true;
  if (!isFetching) fetchPage();
}

async function fetchPage() {
  isFetching = true;
  while (isWanted) {
    isWanted = false;
    try {
      const answer = await fetch(location.href, { cache: "no-store" });
      if (answer.ok) {
        const fresh = new DOMParser().parseFromString(await answer.text(), "text/html");
        document.title = fresh.title;
        put(fresh.getElementById("live"));
      }
    } catch {
      // The event stream also notices that the server is gone, says so, and fetches when it is
      // back.
    }
    await new Promise((done) => setTimeout(done, REST));
  }
  isFetching = false;
}

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
    // After a reconnect there may be no new event, and the page may still be out of date.
    want();
  };
  stream.onmessage = (event) => {
    const { type, data } = JSON.parse(event.data);
    if (type === "AGENT_HANDOFF") said.textContent = `${data.storyId}: ${data.message}`;
    want();
  };
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

// A browser has six connections to a server: hidden pages release theirs.
document.addEventListener("visibilitychange", () => {
  clearTimeout(later);
  if (document.hidden) later = setTimeout(hangUp, WHILE_HIDDEN);
  else listen();
});

tellTimes(live);
setInterval(() => tellTimes(live), 20000);
setInterval(askIfReady, READY_EVERY);
listen();
