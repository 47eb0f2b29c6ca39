import { bounds } from "./bounds.ts";
import { emptyScript, parseScript, type Script } from "./script.ts";

/** A script for later requests: for the next `count` of them (null for all), of one model or of any. */
export interface Preset {
  readonly script: Script;
  readonly count: number | null;
  readonly model: string | null;
}

export interface ScriptSource {
  add(preset: Preset): void;
  clear(): void;
  /** Takes the next matching preset and counts one use. `isAuxiliary`: presets for any model do not match. */
  take(model: string, isAuxiliary: boolean): Script | null;
  /** True for each of the first `script.fail_first` attempts. `key` identifies requests if the script has no name. */
  failing(script: Script, key: () => string): boolean;
}

export function createScriptSource(): ScriptSource {
  let presets: { script: Script; left: number; model: string | null }[] = [];
  const failures = new Map<string, number>();
  return {
    add(preset) {
      if (presets.length >= bounds.presetsMax) presets.shift();
      presets.push({ script: preset.script, left: preset.count ?? Number.POSITIVE_INFINITY, model: preset.model });
    },
    clear() {
      presets = [];
      failures.clear();
    },
    take(model, isAuxiliary) {
      if (presets.length === 0) return null;
      const index = presets.findIndex((preset) => (preset.model === null ? !isAuxiliary : preset.model === model));
      const preset = presets[index];
      if (preset === undefined) return null;
      preset.left -= 1;
      if (preset.left <= 0) presets.splice(index, 1);
      return preset.script;
    },
    failing(script, key) {
      if (script.fail_first === undefined) return false;
      const name = script.name ?? key();
      const seen = (failures.get(name) ?? 0) + 1;
      failures.set(name, seen);
      for (const oldest of failures.keys()) {
        if (failures.size <= bounds.failureCountsMax) break;
        failures.delete(oldest);
      }
      return seen <= script.fail_first;
    },
  };
}

/** Separates text from the script in its first `[[sim {…}]]` marker. */
export function splitMarker(text: string): { readonly text: string; readonly script: Script } {
  const start = text.indexOf("[[sim ");
  if (start < 0) return { text, script: emptyScript };
  const end = text.indexOf("}]]", start);
  if (end < 0) return { text, script: emptyScript };
  const script = parseScript(text.slice(start + 6, end + 1));
  return { text: `${text.slice(0, start)}${text.slice(end + 3)}`.trim(), script };
}

/** Separates a model name `sim{…}name` into its plain name and its script. */
export function splitModel(model: string): { readonly model: string; readonly script: Script } {
  if (!model.startsWith("sim{")) return { model, script: emptyScript };
  const end = model.lastIndexOf("}") + 1;
  return { model: model.slice(end) || "sim", script: parseScript(model.slice(3, end)) };
}
