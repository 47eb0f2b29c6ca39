import { bounds } from "#core/index.ts";
import { CertificateUnusable, readCertificate } from "#main.ts";
import { type Check, fail, ok, warn } from "./finding.ts";

/** The files that the ports' certificate is read from hold a pair that belongs together and has not ended. */
export const certificateCheck: Check = async ({ environment: { tls }, clock }) => {
  if (tls === null) return [];
  try {
    const { names, endsAt } = await readCertificate(tls);
    const left = endsAt - clock.now();
    const detail = `for ${names.join(", ") || "no name"}, until ${new Date(endsAt).toISOString()}`;
    const remedy = `put another pair into ${tls.certificate} and ${tls.key}; it is taken without a restart`;
    if (left <= 0) return [fail("certificate", `${detail}: it has ended`, remedy)];
    return [left < bounds.certificateSoonMs ? warn("certificate", detail, remedy) : ok("certificate", detail)];
  } catch (thrown) {
    if (!(thrown instanceof CertificateUnusable)) throw thrown;
    return [fail("certificate", thrown.message, "check SLUICE_TLS_CERT_FILE and SLUICE_TLS_KEY_FILE")];
  }
};
