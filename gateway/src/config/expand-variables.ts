import { type Document, visit } from "yaml";
import { didYouMean } from "./closest-name.ts";

/** Names and values of environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface Expansion {
  /** What each scalar took from the environment, by variable name. */
  readonly used: ReadonlyMap<unknown, readonly string[]>;
  /** Scalars that could not be expanded, each with what is wrong. They keep their text. */
  readonly refused: ReadonlyMap<unknown, readonly string[]>;
  /** The text of a message with every value that came from a variable put back to its `${NAME}`. */
  mask(message: string): string;
}

/**
 * Puts variables into the string scalars of a parsed document: `${NAME}` anywhere in a value, `$${` for a literal `${`.
 * It works on values that are parsed already, in one pass and never on map keys, so that whatever a variable holds,
 * the file keeps its structure and a value holding `${…}` is not expanded again.
 */
export function expandVariables(document: Document, variables: Variables): Expansion {
  const used = new Map<unknown, readonly string[]>();
  const refused = new Map<unknown, readonly string[]>();
  const values = new Map<string, string>();
  visit(document, {
    Scalar(position, scalar) {
      if (position === "key" || typeof scalar.value !== "string" || !scalar.value.includes("${")) return;
      const result = expandText(scalar.value, variables);
      if (result.problems.length > 0) {
        refused.set(scalar, result.problems);
        return;
      }
      scalar.value = result.text;
      used.set(scalar, result.names);
      for (const name of result.names) values.set(name, variables[name] ?? "");
    },
  });
  return { used, refused, mask: (message) => maskValues(message, values) };
}

// In a pattern for `String.replace` the longest escape stands first: `$${`, `${NAME}`, then any other `${`.
const placeholders = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;
/** As shells and Compose have it: `${NAME:-default}`. */
const withOperator = /^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-+?=]/;
const malformedMessage = `\`\${\` must be followed by the name of a variable and \`}\`; write \`$\${\` for the characters themselves`;
const operatorMessage = `a variable has no default or other rule (\`:-\`, \`:?\` …) here; write \`\${NAME}\`, and set it where the gateway is started`;
const namesSuggestedMax = 2_000;

/** Short values are ordinary words (`gpt-5`, `eu`); hiding them would garble a message and protect nothing. */
const maskedLengthMin = 8;

function expandText(text: string, variables: Variables): { text: string; names: string[]; problems: string[] } {
  const names: string[] = [];
  const problems: string[] = [];
  const expanded = text.replace(placeholders, (found: string, name: string | undefined, offset: number) => {
    if (found === "$${") return "${";
    if (name === undefined) {
      problems.push(withOperator.test(text.slice(offset)) ? operatorMessage : malformedMessage);
      return found;
    }
    const value = Object.hasOwn(variables, name) ? variables[name] : undefined;
    if (value === undefined) {
      const hint = didYouMean(name, Object.keys(variables).slice(0, namesSuggestedMax));
      problems.push(`the environment variable ${name} is not set${hint}`);
      return found;
    }
    names.push(name);
    return value;
  });
  return { text: expanded, names, problems };
}

function maskValues(message: string, values: ReadonlyMap<string, string>): string {
  const longestFirst = [...values].sort((a, b) => b[1].length - a[1].length);
  let masked = message;
  for (const [name, value] of longestFirst) {
    if (value.length >= maskedLengthMin) masked = masked.replaceAll(value, () => `\${${name}}`);
  }
  return masked;
}
