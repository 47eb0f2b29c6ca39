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
