import { X509Certificate } from "node:crypto";
import { type Egress, EgressProxyInvalid, type ExemptRule, parseEgressProxy, parseExemptions } from "#core/index.ts";
import type { VariableReader } from "./variable-reader.ts";

/** Where the certificate of the gateway's own ports is read, now and whenever it changes. */
export interface TlsFiles {
  /** PEM: its own first, then those that lead to the authority. */
  readonly certificate: string;
  /** PEM, without a passphrase. */
  readonly key: string;
}

/** null: plain HTTP. */
export function readTls(reader: VariableReader): TlsFiles | null {
  const certificate = reader.text(certificateName);
  const key = reader.text(keyName);
  if (certificate !== null && key !== null) return Object.freeze({ certificate, key });
  if (certificate !== null) return reader.refuse(keyName, `is missing, and ${certificateName} is of no use without it`);
  if (key !== null) return reader.refuse(certificateName, `is missing, and ${keyName} is of no use without it`);
  return null;
}

const certificateName = "SLUICE_TLS_CERT_FILE";
const keyName = "SLUICE_TLS_KEY_FILE";

const certificatePattern = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/** Certificate authorities (PEM, one text each) that are believed beside the usual ones; empty: no others. */
export function readAuthorities(reader: VariableReader): readonly string[] {
  const text = reader.text("SLUICE_CA");
  if (text === null) return Object.freeze([]);
  const found = text.match(certificatePattern) ?? [];
  if (found.length === 0) {
    reader.refuse("SLUICE_CA", "holds no certificate: it must be PEM, with lines -----BEGIN CERTIFICATE-----");
  }
  for (const [index, certificate] of found.entries()) {
    const problem = certificateProblem(certificate);
    if (problem === null) continue;
    reader.refuse("SLUICE_CA", `holds a certificate (number ${index + 1} of ${found.length}) that ${problem}`);
    break;
  }
  return Object.freeze([...found]);
}

/** What is wrong with a certificate (PEM), in words that go behind its name; null when nothing is. */
function certificateProblem(pem: string): string | null {
  try {
    new X509Certificate(pem);
    return null;
  } catch {
    return "cannot be read";
  }
}

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
