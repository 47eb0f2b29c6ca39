import { type Egress, EgressProxyInvalid, type ExemptRule, parseEgressProxy, parseExemptions } from "#core/index.ts";
import type { VariableReader } from "./variable-reader.ts";

/**
 * The proxies that calls leave by, from the variables that curl, Go and Python read too: in lower case first. null: none is
 * named.
 */
export function readEgress(reader: VariableReader): Egress | null {
  const all = readProxy(reader, "ALL_PROXY");
  const https = readProxy(reader, "HTTPS_PROXY") ?? all;
  const http = readProxy(reader, "HTTP_PROXY") ?? all;
  const name = nameSet(reader, "NO_PROXY");
  const { rules, unread } = parseExemptions(reader.text(name) ?? "");
  if (http === null && https === null) return null;
  if (unread.length > 0) {
    const shown = unread.slice(0, 3).map((word) => JSON.stringify(word.slice(0, 100)));
    reader.refuse(
      name,
      `must list names, .suffixes, addresses, ranges or *, each with an optional :port, separated by commas; ${shown.join(", ")} is none`,
    );
  }
  return Object.freeze({ http, https, exempt: rules });
}

/** Private places that webhooks may go to: names, suffixes, addresses and ranges. Never all of them. */
export function readWebhookPlaces(reader: VariableReader): readonly ExemptRule[] {
  const name = "SLUICE_WEBHOOK_ALLOW";
  const { rules, unread } = parseExemptions(reader.text(name) ?? "");
  const wrong = unread[0] ?? (rules.some(({ kind }) => kind === "all") ? "*" : undefined);
  if (wrong === undefined) return rules;
  const shown = JSON.stringify(wrong.slice(0, 100));
  reader.refuse(
    name,
    `must list names, .suffixes, addresses or ranges, each with an optional :port, separated by commas; ${shown} is none`,
  );
  return Object.freeze([]);
}

function readProxy(reader: VariableReader, upper: string) {
  const name = nameSet(reader, upper);
  const value = reader.text(name);
  if (value === null) return null;
  try {
    return parseEgressProxy(value);
  } catch (thrown) {
    if (!(thrown instanceof EgressProxyInvalid)) throw thrown;
    return reader.refuse(name, thrown.message);
  }
}

function nameSet(reader: VariableReader, upper: string): string {
  const lower = upper.toLowerCase();
  return reader.isSet(lower) ? lower : upper;
}
