import { createPrivateKey, type KeyObject, X509Certificate } from "node:crypto";
import { open } from "node:fs/promises";
import type { ServerCertificate } from "#api/index.ts";
import { type ConfigWatch, type TlsFiles, watchConfigFile } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { CannotStart } from "./control.ts";

/** A file with a certificate, or with its key; and how long before its end the gateway and its doctor warn. */
const certificateBytesMax = 256 * 1024;

/** What the ports show to callers, and what can be said of it. */
export interface Certificate extends ServerCertificate {
  /** Unix milliseconds. */
  readonly endsAt: number;
  /** Names and addresses that it is for. */
  readonly names: readonly string[];
}

/** The files hold no usable pair. The message names the file and never what is in it. */
export class CertificateUnusable extends Error {
  override readonly name = "CertificateUnusable";
}

/** Reads the two files anew. Throws CertificateUnusable. A certificate that has ended is one all the same: callers decide. */
export async function readCertificate(files: TlsFiles): Promise<Certificate> {
  const [chain, key] = [await contentOf(files.certificate), await contentOf(files.key)];
  const own = certificateIn(chain, files.certificate);
  if (!own.checkPrivateKey(keyIn(key, files.key))) {
    throw new CertificateUnusable(`The key in ${files.key} is not that of the certificate in ${files.certificate}.`);
  }
  return {
    chain,
    key,
    endsAt: Date.parse(own.validTo),
    names: (own.subjectAltName ?? "").split(", ").flatMap((name) => name.replace(/^(?:DNS|IP Address):/, "") || []),
  };
}

/** The same for a start. Throws CannotStart. */
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
  // Each is tried: the first is our own, and the runtime would pass over one behind it that is broken.
  const found = chain.match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    const [own] = found.map((pem) => new X509Certificate(pem));
    if (own !== undefined) return own;
  } catch {
    throw new CertificateUnusable(`${path} holds a certificate that cannot be read.`);
  }
  throw new CertificateUnusable(`${path} holds no certificate: it must be PEM, with -----BEGIN CERTIFICATE-----.`);
}

function keyIn(key: string, path: string): KeyObject {
  try {
    return createPrivateKey(key);
  } catch {
    throw new CertificateUnusable(
      `${path} holds no private key that can be read: it must be PEM without a passphrase.`,
    );
  }
}

interface WatchCertificateOptions {
  readonly clock: Clock;
  readonly observer: Pick<Observer, "log">;
  /** The one in force when watching begins. */
  readonly first: Certificate;
  readonly changed: (certificate: Certificate) => Promise<void>;
}

/**
 * Tells of another pair of certificate and key within a second or two after the files hold one. While only one of the two
 * has been written, and where they hold nothing usable, the pair before stays and the log says why.
 */
export function watchCertificate(files: TlsFiles, options: WatchCertificateOptions): ConfigWatch {
  const { clock, observer, changed } = options;
  let inForce = options.first;
  warnOfEnd(inForce, options);
  let running: Promise<void> = Promise.resolve();
  const look = async (): Promise<void> => {
    try {
      const found = await readCertificate(files);
      if (found.chain === inForce.chain && found.key === inForce.key) return;
      await changed(found);
      inForce = found;
      observer.log("info", "The ports show another certificate from now on.", facts(found));
      warnOfEnd(found, options);
    } catch (thrown) {
      if (!(thrown instanceof CertificateUnusable)) throw thrown;
      observer.log("warn", "The certificate was not renewed; the one before stays.", { reason: thrown.message });
    }
  };
  const inTurn = (): Promise<void> => {
    running = running.then(look, look);
    return running;
  };
  const onError = (thrown: unknown) =>
    observer.log("error", "The certificate was not renewed; the one before stays.", { error: thrown });
  const watches = [files.certificate, files.key].map((file) => watchConfigFile(file, inTurn, { clock, onError }));
  // Between the reading at the start and now others may have been written.
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

function warnOfEnd(certificate: Certificate, { clock, observer }: WatchCertificateOptions): void {
  if (certificate.endsAt - clock.now() > bounds.certificateSoonMs) return;
  const ended = certificate.endsAt <= clock.now();
  observer.log("warn", `The certificate of the ports ${ended ? "has ended" : "ends soon"}.`, facts(certificate));
}

function facts({ names, endsAt }: Certificate) {
  return { names: names.join(" "), ends: new Date(endsAt).toISOString() };
}
