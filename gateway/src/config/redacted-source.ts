import { isPair, isScalar, parseDocument, visit } from "yaml";

/** A member with such a name is a secret, unless it only names a variable. */
const secretName =
  /(?:authorization|apikey|accesskey|accesskeyid|privatekey|masterkey|secret|password|passphrase|credential|credentials|cookie|token|key)$/;
const hidden = '"[redacted]"';

/**
 * The text of a config file for people to look at: every value that stands under a secret's name is replaced, whatever
 * it is, unless it is only a variable. null when the text cannot be read, since then nobody can say what is secret in it.
 */
export function redactedSource(text: string): string | null {
  const document = parseDocument(text);
  if (document.errors.length > 0) return null;
  const ranges: (readonly [number, number])[] = [];
  visit(document, {
    Pair(_, pair) {
      if (!isPair(pair) || !isScalar(pair.key)) return undefined;
      const { value } = pair;
      const range = value !== null && typeof value === "object" && "range" in value ? value.range : null;
      if (!isSecretName(String(pair.key.value)) || !Array.isArray(range)) return undefined;
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
  return shown;
}

function isSecretName(name: string): boolean {
  return secretName.test(name.replaceAll(/[-_]/g, "").toLowerCase());
}
