// The keyboard: single keys outside of fields, and only where there is something they mean.
(() => {
  "use strict";
  const KEPT = "segue-keys";
  const dialog = document.getElementById("shortcuts");
  const isOn = document.getElementById("keys-on");
  if (!dialog) return;
  isOn.checked = localStorage.getItem(KEPT) !== "off";
  isOn.addEventListener("change", () => localStorage.setItem(KEPT, isOn.checked ? "on" : "off"));

  const gates = () => [...document.querySelectorAll("[data-gate]")];
  const here = () => document.activeElement?.closest("[data-gate]");
  const current = () => here() ?? (gates().length === 1 ? gates()[0] : null);

  const move = (by) => {
    const all = gates();
    if (!all.length) return;
    const at = all.indexOf(here());
    const next = at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by));
    all[next].focus();
    all[next].scrollIntoView({ block: "nearest" });
  };

  // A button is gone to, not pressed: Enter does it. A folded form is opened at its first field.
  const act = (name) => {
    const found = current()?.querySelector(`[data-act="${name}"]`);
    if (!found) return false;
    if (found.matches("summary")) {
      found.parentElement.open = true;
      found.parentElement.querySelector("textarea, input:not([type=hidden])")?.focus();
    } else if (found.matches("a")) found.click();
    else found.focus();
    return true;
  };

  const choose = (number) => {
    const option = current()?.querySelector(`[data-option="${number}"]`);
    if (!option) return false;
    option.checked = true;
    option.focus();
    return true;
  };

  const go = (key) => {
    const link = document.querySelector(`nav [data-go="${key}"]`);
    link?.click();
    return Boolean(link);
  };

  let isGoing = false;
  const press = (key) => {
    if (isGoing) {
      isGoing = false;
      return go(key);
    }
    if (key === "g") return (isGoing = true);
    if (key === "j") return move(1) ?? true;
    if (key === "k") return move(-1) ?? true;
    if (key === "?") return dialog.showModal() ?? true;
    if (key === "n") return go("n");
    if (key === "/") {
      const field = document.getElementById("query");
      field?.focus();
      return Boolean(field);
    }
    if (/^[1-9]$/.test(key)) return choose(key);
    return "acpxo".includes(key) && act(key);
  };

  document.addEventListener("keydown", (event) => {
    const field = event.target.closest("input:not([type=radio]):not([type=checkbox]), textarea, select");
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && field?.form) {
      event.preventDefault();
      field.form.requestSubmit();
      return;
    }
    if (event.key === "Escape" && field && !dialog.open) {
      (field.closest("[data-gate]") ?? document.getElementById("main"))?.focus();
      return;
    }
    const isPlain = !(event.ctrlKey || event.metaKey || event.altKey || event.isComposing);
    if (!isPlain || field || dialog.open || (!isOn.checked && event.key !== "?")) return;
    if (event.key.length === 1 && press(event.key)) event.preventDefault();
  });
})();
