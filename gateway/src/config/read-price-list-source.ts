import { createPublicKey, type KeyObject } from "node:crypto";
import type { VariableReader } from "./variable-reader.ts";

/** How often it is looked for, in hours. */
const priceListHours = 24;
const priceListHoursMax = 24 * 31;

/** Where newer prices are looked for, how often, and what becomes of them. */
export interface PriceListSource {
  /** An https address, or a file. */
  readonly from: string;
  readonly everyMs: number;
  /** `show`: changed prices wait for somebody. `take`: those that nobody has set are changed. */
  readonly changes: "show" | "take";
  /** SHA-256 in hexadecimal that the data must have. */
  readonly digest: string | null;
  /** Ed25519: who must have signed the data. The signature lies beside it, with `.sig` at the end. */
  readonly publicKey: KeyObject | null;
}

/** null: nowhere. */
export function readPriceListSource(reader: VariableReader): PriceListSource | null {
  const from = reader.text("SLUICE_CATALOGUE_FROM");
  const hours = reader.integer("SLUICE_CATALOGUE_HOURS", 1, priceListHoursMax) ?? priceListHours;
  const changes = reader.oneOf("SLUICE_CATALOGUE_CHANGES", ["show", "take"]) ?? "show";
  const digest = readDigest(reader);
  const publicKey = readKey(reader);
  if (from === null) {
    for (const name of ["HOURS", "CHANGES", "DIGEST", "PUBLIC_KEY"].map((one) => `SLUICE_CATALOGUE_${one}`))
      if (reader.isSet(name)) reader.refuse(name, "says nothing without SLUICE_CATALOGUE_FROM");
    return null;
  }
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//i.exec(from)?.[1]?.toLowerCase();
  if (scheme !== undefined && scheme !== "https")
    return reader.refuse("SLUICE_CATALOGUE_FROM", "must be an https address or a file");
  if (changes === "take" && digest === null && publicKey === null)
    return reader.refuse(
      "SLUICE_CATALOGUE_CHANGES",
      "is take: that needs SLUICE_CATALOGUE_PUBLIC_KEY or SLUICE_CATALOGUE_DIGEST, so that nobody else's prices are taken",
    );
  return Object.freeze({ from, everyMs: hours * 3_600_000, changes, digest, publicKey });
}

function readDigest(reader: VariableReader): string | null {
  const text = reader.text("SLUICE_CATALOGUE_DIGEST");
  if (text === null) return null;
  const hex = /^(?:sha256:)?([0-9a-f]{64})$/i.exec(text)?.[1];
  return hex?.toLowerCase() ?? reader.refuse("SLUICE_CATALOGUE_DIGEST", "must be sha256:<64 hexadecimal digits>");
}

function readKey(reader: VariableReader): KeyObject | null {
  const text = reader.text("SLUICE_CATALOGUE_PUBLIC_KEY");
  if (text === null) return null;
  const bare = text.replaceAll(/-----[A-Z ]+-----|\s/g, "");
  try {
    const key = createPublicKey({ key: Buffer.from(bare, "base64"), format: "der", type: "spki" });
    if (key.asymmetricKeyType === "ed25519") return key;
  } catch {
    // Said below.
  }
  return reader.refuse(
    "SLUICE_CATALOGUE_PUBLIC_KEY",
    "must be an Ed25519 public key in PEM, or what stands between its lines",
  );
}
