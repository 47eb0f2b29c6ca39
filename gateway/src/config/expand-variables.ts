import { type Document, visit } from "yaml";
import { didYouMean } from "./closest-name.ts";

/** Names and values of environment variables. */
export type Variables = Readonly<Record<string, string | undefined>>;

export interface Expansion {
  /** Variable names used by each scalar. */
  readonly used: ReadonlyMap<unknown, readonly string[]>;
  /** Problems of scalars that could not be expanded. They keep their text. */
  readonly refused: ReadonlyMap<unknown, readonly string[]>;
  /** Replaces values of variables in a message by their `${NAME}`. */
  mask(message: string): string;
}

/**
 * Expands `${NAME}` in the string values of a parsed document; `$${` is a literal `${`. Because it runs once, after parsing, and skips map
 * keys, the value of a variable cannot change the structure of the file and is not expanded again.
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

// The longest alternative first: `$${`, `${NAME}`, then any other `${`.
const placeholders = /\$\$\{|\$\{([A-Za-z_][A-Za-z0-9_]*)\}|\$\{/g;
/** The notation of shells and Compose: `${NAME:-default}`. */
const withOperator = /^\$\{[A-Za-z_][A-Za-z0-9_]*:?[-+?=]/;
const malformedMessage = `\`\${\` must be followed by a variable name and \`}\`; write \`$\${\` for a literal \`\${\``;
const operatorMessage = `defaults and other operators (\`:-\`, \`:?\` …) are not supported; write \`\${NAME}\` and set the variable for the gateway`;
const namesSuggestedMax = 2_000;

/** Shorter values are mostly ordinary words (`gpt-5`, `eu`); masking them would garble messages. */
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
