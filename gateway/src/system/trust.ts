import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { getEnvironmentData, setEnvironmentData } from "node:worker_threads";

const sharedName = "sluice.authorities";

/**
 * Adds certificate authorities (PEM) to the usual ones, as default for all connections: PostgreSQL, Redis, mail. Threads call
 * `inheritAuthorities`.
 */
export function trustAuthorities(authorities: readonly string[]): void {
  if (authorities.length === 0) return;
  setEnvironmentData(sharedName, [...authorities]);
  addAuthorities(authorities);
}

/** Applies the authorities of the process in a thread. */
export function inheritAuthorities(): void {
  const authorities: unknown = getEnvironmentData(sharedName);
  if (Array.isArray(authorities)) addAuthorities(authorities as string[]);
}

function addAuthorities(authorities: readonly string[]): void {
  setDefaultCACertificates([...new Set([...getCACertificates("default"), ...authorities])]);
}
