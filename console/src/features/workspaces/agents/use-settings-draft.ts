import { useState } from "react";
import { parsedSettings, type Settings, textOf } from "./settings-draft.ts";
import type { SettingsNow } from "./settings-routes.ts";

/** Settings as they are typed. `now`: those that are in force, which somebody else may change meanwhile. */
export function useSettingsDraft(now: SettingsNow) {
  // What is typed changes these, whatever has been saved since.
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
    /** The last text that was an object: what the form shows. */
    known,
    typed: (next: string) => {
      setText(next);
      setKnown(parsedSettings(next) ?? known);
    },
    begin,
    /** Goes on with what is typed, as a change of those that are in force. */
    keep: () => setBase(now),
    /** There is something to lose, and others have been saved. */
    overtaken: dirty && now.checksum !== base.checksum,
  };
}
