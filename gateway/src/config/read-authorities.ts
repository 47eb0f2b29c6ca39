import { X509Certificate } from "node:crypto";
import type { VariableReader } from "./variable-reader.ts";

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
