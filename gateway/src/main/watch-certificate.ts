import { type ConfigWatch, type TlsFiles, watchConfigFile } from "#config/index.ts";
import { bounds } from "#core/index.ts";
import type { Clock, Observer } from "#ports/index.ts";
import { type Certificate, CertificateUnusable, readCertificate } from "./certificate.ts";

export interface WatchCertificateOptions {
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
