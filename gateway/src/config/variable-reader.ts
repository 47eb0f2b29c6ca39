import ipaddr from "ipaddr.js";
import { Secret } from "#core/index.ts";
import type { Variables } from "./expand-variables.ts";

/**
 * Reads environment variables and collects their problems. An invalid variable reads as null, so that one run finds all problems.
 * Messages never contain the value, which may be a secret in the wrong variable.
 */
export class VariableReader {
  readonly problems: string[] = [];
  /** The names of all variables that were read. */
  readonly namesRead = new Set<string>();
  readonly #variables: Variables;

  constructor(variables: Variables) {
    this.#variables = variables;
  }

  refuse(name: string, problem: string): null {
    this.problems.push(`${name} ${problem}`);
    return null;
  }

  isSet(name: string): boolean {
    return (this.#value(name) ?? "") !== "";
  }

  text(name: string): string | null {
    const value = this.#value(name)?.trim() ?? "";
    if (value === "") return null;
    return value.includes("\0") ? this.refuse(name, "must not contain a NUL character") : value;
  }

  integer(name: string, min: number, max: number): number | null {
    const value = this.text(name);
    if (value === null) return null;
    const number = /^\d{1,15}$/.test(value) ? Number(value) : Number.NaN;
    return number >= min && number <= max ? number : this.refuse(name, `must be an integer from ${min} to ${max}`);
  }

  oneOf<T extends string>(name: string, choices: readonly T[]): T | null {
    const value = this.text(name)?.toLowerCase();
    if (value === undefined) return null;
    return choices.find((choice) => choice === value) ?? this.refuse(name, `must be one of ${choices.join(", ")}`);
  }

  host(name: string): string | null {
    const value = this.text(name);
    if (value === null || isHost(value)) return value;
    return this.refuse(name, "must be an IP address or a host name, without scheme or port");
  }

  email(name: string): string | null {
    const value = this.text(name);
    if (value === null || (/^[^\s@]+@[^\s@]+$/.test(value) && value.length <= 254)) return value;
    return this.refuse(name, "must be an email address");
  }

  /** A URL without credentials, query or fragment. Trailing slashes are removed. */
  url(name: string, schemes: readonly string[]): string | null {
    const value = this.text(name);
    if (value === null) return null;
    const url = parseUrl(value, schemes);
    if (url === null) return this.refuse(name, `must be a URL that starts with ${schemeList(schemes)}`);
    if (url.username !== "" || url.password !== "") return this.refuse(name, "must not contain a username or password");
    if (url.search !== "" || url.hash !== "") return this.refuse(name, "must not contain a query or fragment");
    return value.replace(/\/+$/, "");
  }

  secretUrl(name: string, schemes: readonly string[]): Secret | null {
    const value = this.text(name);
    if (value === null) return null;
    if (parseUrl(value, schemes) !== null) return new Secret(value);
    return this.refuse(name, `must be a URL that starts with ${schemeList(schemes)}`);
  }

  /** Refuses an empty value, so that a deployment mistake does not silently disable the secret. */
  secret(name: string, lengthMin: number): Secret | null {
    const value = this.#value(name);
    if (value === undefined) return null;
    if (value.trim() === "") return this.refuse(name, "is empty; set a value or unset it");
    if (value.length < lengthMin) return this.refuse(name, `must have at least ${lengthMin} characters`);
    if (value !== value.trim()) return this.refuse(name, "starts or ends with white space");
    return new Secret(value);
  }

  #value(name: string): string | undefined {
    this.namesRead.add(name);
    return this.#variables[name];
  }
}

export function parseUrl(value: string, schemes: readonly string[]): URL | null {
  const url = URL.parse(value);
  if (url === null || !schemes.includes(url.protocol.slice(0, -1)) || url.hostname === "") return null;
  return /\s/.test(value) ? null : url;
}

function schemeList(schemes: readonly string[]): string {
  return schemes.map((scheme) => `${scheme}://`).join(" or ");
}

/** An IP address, with or without brackets, or a host name. */
export function isHost(text: string): boolean {
  const bare = text.startsWith("[") && text.endsWith("]") ? text.slice(1, -1) : text;
  if (ipaddr.IPv6.isValid(bare)) return true;
  return (
    bare.length <= 253 &&
    /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*$/.test(bare)
  );
}
