import { isMap, isPair, isScalar, type Pair, parseDocument, visit } from "yaml";
import { maskSecrets } from "#core/index.ts";

/** Whether a setting of this name may be shown for this provider type. */
export type SettingIsShown = (kind: string, name: string) => boolean;

/** Fields with such a name are secrets, unless their value is only a variable. */
const secretName =
  /(?:authorization|apikey|accesskey|accesskeyid|privatekey|masterkey|secret|password|passphrase|credential|credentials|cookie|token|key)$/;
const hidden = '"[redacted]"';

/**
 * A config file's text without secrets. Replaces the values of fields with a secret's name, except plain variables; provider settings
 * that may not be shown; and anything in the form of a credential, also in comments. null: the text cannot be parsed, so its secrets
 * cannot be found.
 */
export function redactedSource(text: string, settingIsShown: SettingIsShown): string | null {
  const document = parseDocument(text);
  if (document.errors.length > 0) return null;
  const ranges: (readonly [number, number])[] = [];
  const settings = new Set<Pair>();
  visit(document, {
    Pair(_, pair, path) {
      if (!isPair(pair) || !isScalar(pair.key)) return undefined;
      const { value } = pair;
      if (pair.key.value === "settings") {
        for (const setting of hiddenSettings(path.at(-1), value, settingIsShown)) settings.add(setting);
      }
      const range = value !== null && typeof value === "object" && "range" in value ? value.range : null;
      const isHidden = settings.has(pair) || isSecretName(String(pair.key.value));
      if (!isHidden || !Array.isArray(range)) return undefined;
      if (isScalar(value) && typeof value.value === "string" && /^\$\{[A-Za-z_][A-Za-z0-9_]*\}$/.test(value.value)) {
        return undefined;
      }
      ranges.push([Number(range[0]), Number(range[1])]);
      return visit.SKIP;
    },
  });
  let shown = text;
  for (const [start, end] of ranges.toSorted((a, b) => b[0] - a[0])) {
    shown = `${shown.slice(0, start)}${hidden}${shown.slice(end)}`;
  }
  return maskSecrets(shown);
}

/** Settings of a provider that must be hidden. `around`: the map that contains `settings`; only providers have a `kind`. */
function hiddenSettings(around: unknown, settings: unknown, settingIsShown: SettingIsShown): readonly Pair[] {
  if (!isMap(around) || !isMap(settings) || !around.has("kind")) return [];
  const kind = String(around.get("kind"));
  return settings.items.filter(({ key }) => !settingIsShown(kind, isScalar(key) ? String(key.value) : ""));
}

function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/[-_]/g, "").toLowerCase());
}
