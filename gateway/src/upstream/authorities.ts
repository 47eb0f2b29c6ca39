import { getCACertificates, rootCertificates } from "node:tls";

/** What the runtime believes by itself (PEM), with the file that NODE_EXTRA_CA_CERTS names. One list for all that asks. */
let usual: readonly string[] | null = null;

/** The usual ones and these. */
export function believedBeside(authorities: readonly string[]): readonly string[] {
  return Object.freeze([...usualAuthorities(), ...authorities]);
}

export function usualAuthorities(): readonly string[] {
  usual ??= Object.freeze([...new Set([...rootCertificates, ...getCACertificates("default")])]);
  return usual;
}
