import { Secret } from "#core/index.ts";
import type { Variables } from "./expand-variables.ts";

/**
 * Reads OTEL_ variables as OpenTelemetry's specification says: empty is not set, and what cannot be understood is told of and
 * left out, never a reason not to start. No warning shows a value: it may be a credential in the wrong place.
 */
export class OtlpVariables {
  readonly #warnings = new Set<string>();
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  /** Each once: what holds for all signals is read for each. */
  get warnings(): readonly string[] {
    return [...this.#warnings];
  }

  warn(name: string, problem: string): null {
    this.#warnings.add(`${name} ${problem}`);
    return null;
  }

  text(name: string): string | null {
    const value = this.#variables[name]?.trim() ?? "";
    if (value === "") return null;
    return value.includes("\0") ? this.warn(name, "holds a NUL character; it is not used") : value;
  }

  /** Only `true`, in whatever case, is true. */
  flag(name: string): boolean {
    const value = this.text(name)?.toLowerCase() ?? "false";
    if (value !== "true" && value !== "false") this.warn(name, "is neither true nor false; it counts as false");
    return value === "true";
  }

  oneOf<T extends string>(name: string, choices: readonly T[], instead: string): T | null {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return null;
    const known = choices.find((choice) => choice === value);
    return known ?? this.warn(name, `is none of ${choices.join(", ")}; ${instead}`);
  }

  /** A whole number; OpenTelemetry's times are milliseconds. */
  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= min && number <= max) return number;
    return this.warn(name, `is no whole number from ${min} to ${max}; it is not used`);
  }

  ratio(name: string): number {
    const value = this.text(name);
    if (value === null) return 1;
    const number = /^(?:\d+\.?\d*|\.\d+)(?:e-?\d+)?$/i.test(value) ? Number(value) : Number.NaN;
    if (number >= 0 && number <= 1) return number;
    this.warn(name, "is no number from 0 to 1; 1 is used");
    return 1;
  }

  /** An address of HTTP without a user or a password. */
  url(name: string): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const url = URL.parse(value);
    if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || url.hostname === "") {
      return this.warn(name, "must be an address that begins with http:// or https://; it is not used");
    }
    if (url.username === "" && url.password === "") return value;
    return this.warn(name, "must not hold a user or a password (say them in the headers); it is not used");
  }

  /** `name=value` pairs, separated by commas, their values percent-encoded. */
  pairs(name: string): Readonly<Record<string, string>> {
    const value = this.text(name);
    if (value === null) return {};
    const pairs = pairsOf(value);
    if (pairs !== null) return pairs;
    this.warn(name, "is not name=value pairs separated by commas; it is not used");
    return {};
  }

  /** The same as a secret, unread but checked. */
  headers(name: string): Secret | null {
    const value = this.text(name);
    if (value === null) return null;
    const pairs = pairsOf(value);
    const fits =
      pairs !== null &&
      Object.entries(pairs).every(([key, said]) => /^[!#$%&'*+.^_`|~\w-]+$/.test(key) && /^[\t -~]*$/.test(said));
    return fits ? new Secret(value) : this.warn(name, "is not name=value pairs separated by commas; it is not used");
  }
}

/** null: something in it is no pair. */
function pairsOf(text: string): Readonly<Record<string, string>> | null {
  const pairs: Record<string, string> = {};
  for (const part of text.split(",")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    const name = part.slice(0, at).trim();
    if (at <= 0 || name === "") return null;
    try {
      pairs[decodeURIComponent(name)] = decodeURIComponent(part.slice(at + 1).trim());
    } catch {
      return null;
    }
  }
  return pairs;
}
