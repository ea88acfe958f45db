// Keeps a page in step with the server: one event stream, one look at a time, and only the parts
// that changed are replaced, so that nobody loses what they type, where they are, or what is open.
(() => {
  "use strict";
  const PACE_MS = 400;
  const QUIET_MS = 1500;
  const AGAIN_MS = 3000;
  const main = document.getElementById("main");
  const connection = document.getElementById("connection");

  // Parts: what the server last said of each, to compare with what it says now.
  const told = new WeakMap();
  const partsIn = (element) => [element, ...element.querySelectorAll("[data-key]")];
  const remember = (element) => partsIn(element).forEach((part) => told.set(part, part.outerHTML));
  if (main) remember(main);

  const isHeld = (part) => {
    const field = document.activeElement;
    if (part.hasAttribute("data-hold")) return true;
    if (part.contains(field) && field.matches("input, textarea, select")) return true;
    return [...part.querySelectorAll("input:not([type=hidden]), textarea")].some((each) =>
      each.type === "radio" || each.type === "checkbox"
        ? each.checked !== each.defaultChecked
        : each.value !== each.defaultValue);
  };

  const keepOpen = (old, now) => {
    for (const each of old.querySelectorAll("details[id]")) {
      const twin = now.querySelector(`#${CSS.escape(each.id)}`);
      if (twin) twin.open = each.open;
    }
  };

  const replace = (old, now, made) => {
    const focused = old.contains(document.activeElement) ? document.activeElement.id : "";
    const terminal = old.querySelector(".terminal");
    const isAtEnd = !terminal || isScrolledDown(terminal);
    const top = terminal ? terminal.scrollTop : 0;
    remember(now);
    keepOpen(old, now);
    old.replaceWith(now);
    made.push(now);
    follow(now, isAtEnd, top);
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
  };

  const merge = (old, now, made) => {
    if (told.get(old) === now.outerHTML) return;
    if (old.hasAttribute("data-parts") && now.hasAttribute("data-parts")) {
      told.set(old, now.outerHTML);
      mergeParts(old, now, made);
    } else if (old.hasAttribute("data-text")) {
      told.set(old, now.outerHTML);
      if (old.textContent !== now.textContent) old.textContent = now.textContent;
    } else if (old.dataset.own !== undefined && old.dataset.own === now.dataset.own) {
      return;
    } else if (!isHeld(old)) {
      replace(old, now, made);
    }
  };

  const mergeParts = (old, now, made) => {
    old.className = now.className;
    const known = new Map([...old.children].map((part) => [part.dataset.key, part]));
    let before = null;
    for (const part of [...now.children]) {
      const twin = known.get(part.dataset.key);
      let placed = part;
      if (twin) {
        known.delete(part.dataset.key);
        const at = [...old.children].indexOf(twin);
        merge(twin, part, made);
        placed = old.children[at];
      } else {
        remember(part);
        made.push(part);
      }
      const next = before ? before.nextElementSibling : old.firstElementChild;
      if (placed !== next) old.insertBefore(placed, next);
      before = placed;
    }
    for (const part of known.values()) {
      const isWrittenIn = part.contains(document.activeElement) && isHeld(part);
      if (part.dataset.once === undefined && !isWrittenIn) part.remove();
    }
  };

  htmx.defineExtension("parts", {
    handleSwap(style, target, fragment) {
      if (style !== "parts") return false;
      const now = fragment.querySelector("#main");
      const made = [];
      if (now) merge(target, now, made);
      made.forEach(localise);
      return made;
    },
  });

  // The count in the navigation is outside of the main part.
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const text = event.detail.xhr.responseText;
    const found = /id="waiting"[^>]*>(\d+)</.exec(text);
    const count = document.getElementById("waiting");
    if (!found || !count) return;
    count.textContent = found[1];
    count.hidden = found[1] === "0";
    const title = /<title>([^<]*)<\/title>/.exec(text);
    if (title) document.title = new DOMParser().parseFromString(title[1], "text/html").body.textContent;
  });

  // A login that has ended, a task that is gone: whoever looks again is told.
  document.body.addEventListener("htmx:responseError", (event) => {
    const status = event.detail.xhr.status;
    if (status === 401 || (status === 404 && event.detail.elt === main)) location.assign(main.getAttribute("hx-get"));
  });

  // Events: many at once lead to one look, and to another when it is quiet again: some of what
  // follows from an event (a checkpoint, the end of an output) has no event of its own.
  let due = 0;
  let looked = 0;
  let last = 0;
  const changed = () => {
    clearTimeout(last);
    last = setTimeout(look, QUIET_MS);
    look();
  };
  const look = () => {
    if (due || document.hidden) return;
    due = setTimeout(() => {
      due = 0;
      looked = Date.now();
      htmx.trigger(document.body, "segue:changed");
    }, Math.max(50, looked + PACE_MS - Date.now()));
  };

  let stream = null;
  const say = (isOn) => {
    connection.hidden = false;
    connection.textContent = isOn ? connection.dataset.on : connection.dataset.off;
    connection.classList.toggle("off", !isOn);
  };
  const leave = () => {
    stream?.close();
    stream = null;
  };
  const join = () => {
    if (stream || document.hidden || !main) return;
    stream = new EventSource("/api/events");
    stream.addEventListener("open", () => {
      say(true);
      changed(); // between the making of the page and now something may have happened
    });
    stream.addEventListener("state_transition", changed);
    stream.addEventListener("refusal", changed);
    stream.addEventListener("error", () => {
      say(false);
      if (stream?.readyState !== EventSource.CLOSED) return;
      leave();
      setTimeout(join, AGAIN_MS);
    });
  };
  // A browser keeps few connections for each server: a page that nobody sees holds none.
  document.addEventListener("visibilitychange", () => (document.hidden ? leave() : join()));
  addEventListener("pagehide", leave);
  addEventListener("pageshow", (event) => event.persisted && join());

  // Instants in the time of the person.
  const language = document.documentElement.lang;
  const full = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short" });
  const clock = new Intl.DateTimeFormat(language, { timeStyle: "short" });
  const relative = new Intl.RelativeTimeFormat(language, { numeric: "auto" });
  const two = (number) => String(number).padStart(2, "0");
  const ago = (at) => {
    const seconds = Math.round((at - Date.now()) / 1000);
    const size = Math.abs(seconds);
    if (size < 60) return relative.format(0, "second");
    if (size < 3600) return relative.format(Math.trunc(seconds / 60), "minute");
    if (size < 86400) return relative.format(Math.trunc(seconds / 3600), "hour");
    return relative.format(Math.trunc(seconds / 86400), "day");
  };
  const left = (at) => {
    const seconds = Math.max(0, Math.round((at - Date.now()) / 1000));
    const hours = Math.floor(seconds / 3600);
    return `${hours}:${two(Math.floor((seconds % 3600) / 60))}:${two(seconds % 60)}`;
  };
  const isToday = (at) => at.toDateString() === new Date().toDateString();
  const localise = (root) => {
    for (const each of root.querySelectorAll("time[datetime]")) {
      const at = new Date(each.dateTime);
      if (Number.isNaN(at.valueOf())) continue;
      each.title = full.format(at);
      if (each.classList.contains("ago")) each.textContent = ago(at);
      else if (each.classList.contains("until"))
        each.textContent = `${isToday(at) ? clock.format(at) : full.format(at)} (${left(at)})`;
      else each.textContent = isToday(at) ? clock.format(at) : full.format(at);
    }
  };
  setInterval(() => {
    if (document.hidden) return;
    if (document.querySelector("time.until, time.ago")) localise(document);
  }, 1000);

  // The output follows its end, unless somebody reads further up.
  const isScrolledDown = (element) =>
    element.scrollTop + element.clientHeight >= element.scrollHeight - 24;
  const follow = (root, isAtEnd, top) => {
    const terminal = root.querySelector?.(".terminal");
    if (terminal) terminal.scrollTop = isAtEnd ? terminal.scrollHeight : top;
  };
  let wasAtEnd = true;
  let wasAt = 0;
  document.body.addEventListener("htmx:beforeSwap", (event) => {
    const terminal = document.getElementById("terminal");
    if (event.detail.target.id !== "output" || !terminal) return;
    wasAtEnd = isScrolledDown(terminal);
    wasAt = terminal.scrollTop;
  });
  document.body.addEventListener("htmx:afterSwap", () => {
    const output = document.getElementById("output");
    if (output) follow(output, wasAtEnd, wasAt);
  });

  // Forms: one sending is enough; a remark may have more rows.
  document.addEventListener("submit", (event) => {
    if (event.defaultPrevented || event.target.method !== "post") return;
    if (event.target.dataset.sent) return event.preventDefault();
    event.target.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => {
    document.querySelectorAll("form[data-sent]").forEach((form) => delete form.dataset.sent);
  });
  document.addEventListener("click", (event) => {
    const more = event.target.closest("[data-more]");
    if (!more) return;
    const rows = more.parentElement.querySelectorAll(".remark-row");
    const row = rows[rows.length - 1].cloneNode(true);
    row.querySelectorAll("input").forEach((field) => (field.value = ""));
    rows[rows.length - 1].after(row);
    row.querySelector("input").focus();
  });
  const unhide = (root) => root.querySelectorAll("[data-more]").forEach((each) => (each.hidden = false));

  document.body.addEventListener("htmx:load", (event) => unhide(event.detail.elt));
  if (new URLSearchParams(location.search).has("said")) {
    const place = new URL(location.href);
    place.searchParams.delete("said");
    history.replaceState(null, "", place);
  }
  unhide(document);
  localise(document);
  follow(document, true, 0);
  join();
})();
