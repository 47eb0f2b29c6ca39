import { useState } from "react";
import { parsedSettings, type Settings, textOf } from "./settings-draft.ts";
import type { SettingsNow } from "./settings-routes.ts";

/** The draft of settings. `now`: the saved settings, which others may change meanwhile. */
export function useSettingsDraft(now: SettingsNow) {
  // The draft stays based on these, even if others save.
  const [base, setBase] = useState(now);
  const [seen, setSeen] = useState(now.checksum);
  const [text, setText] = useState(textOf(now.settings));
  const [known, setKnown] = useState<Settings>(now.settings ?? {});
  const parsed = parsedSettings(text);
  const begin = (from: SettingsNow) => {
    setBase(from);
    setText(textOf(from.settings));
    setKnown(from.settings ?? {});
  };
  const dirty = text !== textOf(base.settings);
  if (now.checksum !== seen) {
    setSeen(now.checksum);
    if (!dirty || now.checksum === base.checksum) begin(now);
  }
  return {
    base,
    text,
    parsed,
    /** The last valid JSON object, which the form shows. */
    known,
    typed: (next: string) => {
      setText(next);
      setKnown(parsedSettings(next) ?? known);
    },
    begin,
    /** Keeps the draft as a change of the saved settings. */
    keep: () => setBase(now),
    /** True if there is unsaved input and other settings were saved meanwhile. */
    overtaken: dirty && now.checksum !== base.checksum,
  };
}
