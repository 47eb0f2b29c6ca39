import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { open } from "node:fs/promises";
import type { ServerCertificate } from "#api/index.ts";
import { type ConfigWatch, type TlsFiles, watchConfigFile } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { CannotStart } from "./control.ts";

const certificateBytesMax = 256 * 1024;

export interface Certificate extends ServerCertificate {
  /** Unix milliseconds. */
  readonly endsAt: number;
  /** The names and addresses it is valid for. */
  readonly names: readonly string[];
}

/** The files hold no usable pair. The message names the file, but not its content. */
export class CertificateUnusable extends Error {
  override readonly name = "CertificateUnusable";
}

/** Throws CertificateUnusable, but not for an expired certificate. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [chain, key] = [await contentOf(files.certificate), await contentOf(files.key)];
  const own = certificateIn(chain, files.certificate);
  if (!own.checkPrivateKey(keyIn(key, files.key))) {
    throw new CertificateUnusable(`The key in ${files.key} does not match the certificate in ${files.certificate}.`);
  }
  return {
    chain,
    key,
    endsAt: Date.parse(own.validTo),
    names: (own.subjectAltName ?? "").split(", ").flatMap((name) => name.replace(/^(?:DNS|IP Address):/, "") || []),
  };
}

/** Like `readCertificate`, but throws CannotStart. */
export async function startCertificate(files: TlsFiles): Promise<Certificate> {
  try {
    return await readCertificate(files);
  } catch (thrown) {
    if (thrown instanceof CertificateUnusable) throw new CannotStart(thrown.message, { cause: thrown });
    throw thrown;
  }
}

async function contentOf(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(certificateBytesMax + 1), 0);
      if (bytesRead > certificateBytesMax) {
        throw new CertificateUnusable(`${path} is larger than ${certificateBytesMax / 1024} KiB.`);
      }
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (thrown) {
    if (thrown instanceof CertificateUnusable) throw thrown;
    const code = thrown instanceof Error && "code" in thrown ? String(thrown.code) : "unknown cause";
    throw new CertificateUnusable(`${path} cannot be read (${code}).`);
  }
}

function certificateIn(chain: string, path: string): X509Certificate {
  // Parses each, because the runtime would ignore a broken one after the first.
  const found = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    const [own] = found.map((pem) => new X509Certificate(pem));
    if (own !== undefined) return own;
  } catch {
    throw new CertificateUnusable(`${path} contains an invalid certificate.`);
  }
  throw new CertificateUnusable(`${path} contains no certificate: it must be PEM, with -----BEGIN CERTIFICATE-----.`);
}

function keyIn(key: string, path: string): KeyObject {
  try {
    return createPrivateKey(key);
  } catch {
    throw new CertificateUnusable(`${path} contains no valid private key: it must be PEM without a passphrase.`);
  }
}

interface WatchCertificateOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  readonly first: Certificate;
  readonly changed: (certificate: Certificate) => Promise<void>;
}

/** Calls `changed` within seconds after the files hold another valid pair. Logs a pair that is incomplete or invalid. */
export function watchCertificate(files: TlsFiles, options: WatchCertificateOptions): ConfigWatch {
  const { clock, observer, changed } = options;
  let current = options.first;
  warnBeforeExpiry(current, options);
  let running: Promise<void> = Promise.resolve();
  const check = async (): Promise<void> => {
    try {
      const found = await readCertificate(files);
      if (found.chain === current.chain && found.key === current.key) return;
      await changed(found);
      current = found;
      observer.log("info", "TLS certificate renewed", facts(found));
      warnBeforeExpiry(found, options);
    } catch (thrown) {
      if (!(thrown instanceof CertificateUnusable)) throw thrown;
      observer.log("warn", "TLS certificate not renewed; keeping the current one", { reason: thrown.message });
    }
  };
  const inTurn = (): Promise<void> => {
    running = running.then(check, check);
    return running;
  };
  const onError = (thrown: unknown) =>
    observer.log("error", "TLS certificate not renewed; keeping the current one", { error: thrown });
  const watches = [files.certificate, files.key].map((file) => watchConfigFile(file, inTurn, { clock, onError }));
  // The files may have changed since the start.
  void watches[0]?.trigger();
  return {
    trigger: async () => {
      await watches[0]?.trigger();
    },
    close: async () => {
      await Promise.all(watches.map((watch) => watch.close()));
    },
  };
}

function warnBeforeExpiry(certificate: Certificate, { clock, observer }: WatchCertificateOptions): void {
  if (certificate.endsAt - clock.now() > bounds.certificateSoonMs) return;
  const hasExpired = certificate.endsAt <= clock.now();
  observer.log("warn", hasExpired ? "TLS certificate has expired" : "TLS certificate expires soon", facts(certificate));
}

function facts({ names, endsAt }: Certificate) {
  return { names: names.join(" "), ends: new Date(endsAt).toISOString() };
}
